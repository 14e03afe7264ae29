"""What others' published answers of real models show, each with its control.

The tables are those of `notebooks.kit.public_answers`: counts of facts and questions,
which are laid out again as a row a fact where intervals draw facts.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from helpers import stats
from helpers.stats.within_groups import sums_by_group
from notebooks.kit.plots import result_tables

MODEL_TITLES = {
    "EleutherAI_pythia-1.4b": "Pythia 1.4B",
    "Phi-1_5": "Phi 1.5",
    "Mistral-7B-v0.1": "Mistral 7B",
    "Meta-Llama-3-8B": "Llama 3 8B",
    "1b": "Llama 3.2 1B",
    "3b": "Llama 3.2 3B",
    "70b": "Llama 3.1 70B",
}
RARE_SUBJECT = 1_000  # occurrences: below
FREQUENT_SUBJECT = 100_000  # occurrences: at least
CHANGE_TITLES = {
    "blank_space": "a blank more",
    "typo": "a typo",
    "example": "an example first",
}
MEASURE_TITLES = {
    "sum": "log-probability",
    "lead": "less the other options",
    "share": "share of the options",
    "PMI": "PMI",
    "answer": "right answer",
}
TRAINED_ON_WIKIPEDIA = "GPT-2, Wikipedia alone"
RELEASED = "GPT-2, released"
RECALL_CONTROLS = {
    "favourite": "its favourite option",
    "other": "the option after the right one",
}
CONFIDENCE_TITLES = {
    "own": "median, own confidence",
    "other models": "median, that of the others",
}
# Models whose confidence tells least.
SHOWN_ALONE = ("falcon-7b", "mpt-7b")


def row_a_unit(counts: pd.DataFrame, units: str) -> pd.DataFrame:
    """Lay out counts of facts or questions as a row each.

    >>> counts = pd.DataFrame({"right": [1, 0], "facts": [1, 2]})
    >>> row_a_unit(counts, "facts")["right"].tolist()
    [1, 0, 0]
    """
    rows = counts.loc[counts.index.repeat(counts[units])]
    return rows.drop(columns=units).reset_index(drop=True)


def means_by_level_within_groups(rows: np.ndarray) -> np.ndarray:
    """Estimate the mean at each level that relations do not explain: a statistic.

    Relation and level each add their part to a value (least squares). A level's mean is
    then that of all values plus what the level adds, so that it does not matter which
    relations have many facts there. With two levels, their difference is the mean of
    the relations' differences, each weighted by n m / (n + m) for n and m facts.

    Parameters
    ----------
    rows : ndarray, shape (..., n, 3)
        Values, and level and relation as whole numbers from 0.

    Returns
    -------
    ndarray, shape (..., levels)

    Examples
    --------
    The second relation has higher values and more facts at level 1:

    >>> rows = [[0.0, 0, 0], [0.0, 0, 0], [0.2, 1, 0], [0.6, 0, 1], [0.8, 1, 1]]
    >>> low, high = means_by_level_within_groups(np.array(rows))
    >>> round(float(high - low), 3)
    0.2
    """
    values, levels, groups = np.moveaxis(np.asarray(rows, dtype=float), -1, 0)
    n_levels = int(levels.max()) + 1
    n_groups = int(groups.max()) + 1
    cells = groups * n_levels + levels
    shape = (*values.shape[:-1], n_groups, n_levels)
    sizes = _sums_by_cell(np.ones(values.shape), cells, shape)
    sums = _sums_by_cell(values, cells, shape)
    group_sizes = sizes.sum(axis=-1, keepdims=True)
    shares = sizes / np.where(group_sizes > 0, group_sizes, 1.0)
    # The normal equations of the levels, once the relations are taken out.
    level_sizes = sizes.sum(axis=-2)
    within = np.einsum("...gk,...gl->...kl", shares, sizes)
    matrix = level_sizes[..., np.newaxis] * np.eye(n_levels) - within
    group_sums = sums.sum(axis=-1, keepdims=True)
    right_side = (sums - shares * group_sums).sum(axis=-2)
    inverse = np.linalg.pinv(matrix, hermitian=True)
    added = np.einsum("...kl,...l->...k", inverse, right_side)
    total = level_sizes.sum(axis=-1, keepdims=True)
    middle = (added * level_sizes).sum(axis=-1, keepdims=True) / total
    means = values.mean(axis=-1)[..., np.newaxis] + added - middle
    return np.where(level_sizes > 0, means, np.nan)


def _sums_by_cell(
    values: np.ndarray, cells: np.ndarray, shape: tuple[int, ...]
) -> np.ndarray:
    """Return sums in the cells of groups and levels, also where the last are empty."""
    sums = sums_by_group(values, cells)
    n_missing = shape[-2] * shape[-1] - sums.shape[-1]
    padding = [(0, 0)] * (sums.ndim - 1) + [(0, n_missing)]
    return np.pad(sums, padding).reshape(shape)


def means_by_occurrences(facts: pd.DataFrame, value: str, **draws: int) -> pd.DataFrame:
    """Estimate a mean at each number of occurrences, overall and within relations.

    `facts` has a row a fact of one model. Columns: ``occurrences, estimate, low, high``
    within relations, ``pooled``, ``n``; intervals draw facts within relations.
    """
    levels, occurrences = pd.factorize(facts["occurrences"], sort=True)
    groups, _ = pd.factorize(facts["relation"])
    rows = np.column_stack([facts[value], levels, groups]).astype(float)
    replicates = stats.bootstrap_replicates(
        rows, means_by_level_within_groups, groups, **draws
    )
    low, high = stats.interval_bounds(replicates, len(rows), groups)
    by_level = facts.groupby("occurrences")[value]
    return pd.DataFrame(
        {
            "occurrences": occurrences,
            "estimate": means_by_level_within_groups(rows),
            "low": low,
            "high": high,
            "pooled": by_level.mean().to_numpy(),
            "n": by_level.size().to_numpy(),
        }
    )


def kept_answers_by_occurrences(counts: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Return by model how often answers stay, by occurrences of the subject.

    The unit is the fact, whose value is the share of its answers that stay.
    """
    facts = _kept_shares_of_facts(counts)
    parts = []
    for name, title in _titles_of_models(counts).items():
        curve = means_by_occurrences(facts[facts["model"] == name], "kept", **draws)
        parts.append(curve.assign(model=title))
    return pd.concat(parts, ignore_index=True)


def _titles_of_models(counts: pd.DataFrame) -> dict[str, str]:
    """Return the titles of the models that a table has."""
    names = set(counts["model"])
    return {name: title for name, title in MODEL_TITLES.items() if name in names}


def _kept_shares_of_facts(counts: pd.DataFrame) -> pd.DataFrame:
    facts = row_a_unit(counts, "facts")
    return facts.assign(
        kept=facts["kept"] / facts["asked"], neither=facts["neither"] / facts["asked"]
    )


class DifferenceOfEnds(NamedTuple):
    """Often less seldom: over all, within relations, and without one relation."""

    model: str
    pooled: float
    estimate: float
    low: float
    high: float
    n: int
    relations: int
    least: float
    without: str


def difference_of_ends_by_model(counts: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Return how much more often facts of frequent subjects stay than of rare ones.

    ``estimate`` is within relations, of which ``relations`` have both kinds; ``least``
    is the least difference once one relation is left out, ``without`` that relation.
    """
    facts = _kept_shares_of_facts(counts)
    is_often = facts["occurrences"] >= FREQUENT_SUBJECT
    at_an_end = is_often | (facts["occurrences"] < RARE_SUBJECT)
    ends = facts.assign(often=is_often, value=facts["kept"])[at_an_end]
    rows = []
    for name, title in _titles_of_models(counts).items():
        rows.append(difference_of_ends(ends[ends["model"] == name], title, **draws))
    return pd.DataFrame(rows)


def recall_difference_by_model(counts: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Return how much more facts are completed rightly that stand in text most often.

    Those of the highest number of occurrences less those that never occur.
    """
    most = counts["occurrences"].max()
    at_an_end = counts["occurrences"].isin([0, most])
    rows = []
    for model, of_model in counts[at_an_end].groupby("model"):
        facts = _facts_of_counts(of_model, "right")
        facts = facts.assign(often=facts["occurrences"] == most)
        rows.append(difference_of_ends(facts, model, **draws))
    return pd.DataFrame(rows)


def difference_of_ends(
    facts: pd.DataFrame, model: str, **draws: int
) -> DifferenceOfEnds:
    """Compare ``value`` of facts met often and seldom, in relations that have both."""
    means = facts.groupby("often")["value"].mean()
    n_kinds = facts.groupby("relation")["often"].transform("nunique")
    both = facts[n_kinds == 2]
    codes, names = pd.factorize(both["relation"])
    rows = np.column_stack([both["value"], both["often"], codes]).astype(float)
    interval = stats.bootstrap(rows, difference_of_two_levels, codes, **draws)
    without = {}
    for code, name in enumerate(names):
        rest = rows[codes != code]
        rest_codes, _ = pd.factorize(rest[:, 2])
        rest = np.column_stack([rest[:, :2], rest_codes])
        without[name] = float(difference_of_two_levels(rest))
    least = min(without, key=without.__getitem__)
    return DifferenceOfEnds(
        model=model,
        pooled=float(means[True] - means[False]),
        estimate=interval.estimate,
        low=interval.low,
        high=interval.high,
        n=interval.n,
        relations=len(names),
        least=without[least],
        without=least,
    )


def difference_of_two_levels(rows: np.ndarray) -> np.ndarray:
    """Return the second level's mean less the first's, within groups: a statistic."""
    means = means_by_level_within_groups(rows)
    return means[..., 1] - means[..., 0]


def changes_by_prompt(counts: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Return how often an answer changes: asked again, and in a changed prompt.

    A row for each model and kind of change, ``answers`` as in the counts: the share of
    changed answers of ``prompts`` and of ``reruns``, with what the change adds
    (``estimate``, paired over questions) and the share of it that is sampling.
    """
    titles = _titles_of_models(counts)
    rows = []
    for (model, change, answers), group in counts.groupby(
        ["model", "change", "answers"]
    ):
        questions = row_a_unit(group, "questions")
        prompts = questions["prompts_changed"] / questions["prompts"]
        reruns = questions["reruns_changed"] / questions["reruns"]
        row = {
            "model": titles[model],
            "change": CHANGE_TITLES[change],
            "answers": answers,
            "changed": stats.bootstrap(prompts, **draws),
            "asked again": stats.bootstrap(reruns, **draws),
            "added": stats.paired_difference(prompts, reruns, **draws),
            "sampling": reruns.mean() / prompts.mean(),
        }
        rows.append(row)
    changes = pd.DataFrame(rows)
    # In the order of the titles, the models first.
    for column, ordered in (("change", CHANGE_TITLES), ("model", titles)):
        places = pd.Categorical(changes[column], list(ordered.values()))
        changes = changes.iloc[places.codes.argsort(kind="stable")]
    return changes.reset_index(drop=True)


def rows_of_changes(changes: pd.DataFrame) -> pd.DataFrame:
    """Return changes as rows with intervals: each kind, and the prompt asked again.

    >>> rerun = stats.Interval(0.1, 0.08, 0.12, 9)
    >>> typo = stats.Interval(0.2, 0.18, 0.22, 9)
    >>> changes = pd.DataFrame([{"model": "a", "change": "a typo", "asked again": rerun,
    ...                          "changed": typo, "answers": "all"}])
    >>> rows_of_changes(changes)[["what", "estimate"]].values.tolist()
    [['the same prompt again', 0.1], ['a typo', 0.2]]
    """
    rows = []
    for model, group in changes.groupby("model", sort=False):
        again = group["asked again"].iloc[0]
        what = "the same prompt again"
        rows.append({"model": model, "what": what, **again._asdict()})
        for _, row in group.iterrows():
            changed = row["changed"]._asdict()
            rows.append({"model": model, "what": row["change"], **changed})
    return pd.DataFrame(rows)


def changes_by_confidence(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the share of changed answers by fifth of confidence, of each model.

    Mean over the three prompts that give the confidence. Wilson's intervals, of the
    questions of one prompt: they would hold if the three said the same.
    """
    keys = ["model", "confidence", "fifth"]
    shares = counts.assign(share=counts["changed"] / counts["questions"])
    means = shares.groupby(keys).agg(share=("share", "mean"), n=("questions", "min"))
    rows = []
    for key, row in means.iterrows():
        interval = stats.wilson_interval(row["share"] * row["n"], row["n"])
        rows.append(dict(zip(keys, key, strict=True)) | interval._asdict())
    return pd.DataFrame(rows)


def median_changes_by_confidence(by_model: pd.DataFrame) -> pd.DataFrame:
    """Return the median over models, with the quartiles of the models as bounds."""
    groups = by_model.groupby(["confidence", "fifth"])["estimate"]
    medians = {
        "estimate": groups.median(),
        "low": groups.quantile(0.25),
        "high": groups.quantile(0.75),
    }
    return pd.DataFrame(medians).reset_index()


def curves_of_confidence(by_model: pd.DataFrame) -> pd.DataFrame:
    """Return the curves of a figure: both confidences of the median, two models."""
    medians = median_changes_by_confidence(by_model)
    medians = medians.assign(whose=medians["confidence"].map(CONFIDENCE_TITLES))
    own = by_model[by_model["confidence"] == "own"]
    alone = own[own["model"].isin(SHOWN_ALONE)]
    alone = alone.assign(whose=alone["model"] + ", own confidence")
    return pd.concat([medians, alone], ignore_index=True)


def falls_by_confidence(by_model: pd.DataFrame) -> pd.DataFrame:
    """Return by model how much less the surest fifth changes than the least sure one.

    ``own``: by the model's own confidence; ``other models``: by theirs.
    """
    of_fifth = by_model.set_index(["fifth", "model", "confidence"])["estimate"]
    falls = (of_fifth.loc[1] - of_fifth.loc[5]).rename("fall").reset_index()
    return falls.pivot_table(index="model", columns="confidence", values="fall")


def recall_by_occurrences(
    counts: pd.DataFrame, model: str, titles: Mapping[str, str], **draws: int
) -> pd.DataFrame:
    """Return of one model the share of right answers by occurrences, and its controls.

    Columns as :func:`means_by_occurrences`, and ``what``.
    """
    parts = []
    of_model = counts[counts["model"] == model]
    for column, title in titles.items():
        facts = _facts_of_counts(of_model, column)
        curve = means_by_occurrences(facts, "value", **draws)
        parts.append(curve.assign(what=title))
    return pd.concat(parts, ignore_index=True)


def recall_and_controls(counts: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Return recall of GPT-2 by occurrences for a figure: both models, two controls."""
    titles = {"right": TRAINED_ON_WIKIPEDIA, **RECALL_CONTROLS}
    of_wikipedia = recall_by_occurrences(counts, TRAINED_ON_WIKIPEDIA, titles, **draws)
    released = recall_by_occurrences(counts, RELEASED, {"right": RELEASED}, **draws)
    return pd.concat([of_wikipedia, released], ignore_index=True)


def _facts_of_counts(counts: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a row a fact with ``value`` 1 or 0, as many ones as the column says."""
    groups = counts[["relation", "occurrences"]]
    ones = groups.assign(value=1.0, facts=counts[column])
    zeros = groups.assign(value=0.0, facts=counts["facts"] - counts[column])
    return row_a_unit(pd.concat([ones, zeros], ignore_index=True), "facts")


def table_of_measures(measures: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return one model's correlations of measures with occurrences, for a figure."""
    rows = measures[measures["model"] == model]
    objects = {"right": "right object", "other": "placebo"}
    shown = rows[rows["object"].isin(objects)]
    return shown.assign(
        label=shown["score"].map(MEASURE_TITLES), object=shown["object"].map(objects)
    )


def table_of_changes(changes: pd.DataFrame) -> pd.DataFrame:
    """Return what changes of the prompt add, of all answers and of those read."""
    rows = []
    for _, row in changes.iterrows():
        added = row["added"]
        text = result_tables.interval(added.estimate, added.low, added.high, digits=2)
        rows.append(
            {
                "model": row["model"],
                "change": row["change"],
                "answers": row["answers"],
                "changed": row["changed"].estimate,
                "asked again": row["asked again"].estimate,
                "added": text,
                "sampling": row["sampling"],
                "questions": row["changed"].n,
            }
        )
    return pd.DataFrame(rows)


def effects_and_controls(
    tables: Mapping[str, pd.DataFrame], **draws: int
) -> pd.DataFrame:
    """Return what the four chapters find in others' answers, each with its control.

    `tables` are the counts by name. Of confidences, low and high are the least and the
    most of the models, without an interval.
    """
    rows = []
    for ends, what in (
        (
            difference_of_ends_by_model(tables["contradictions"], **draws),
            "own object kept: frequent less rare subjects",
        ),
        (
            recall_difference_by_model(tables["recall"], **draws),
            "right: in 1,024 sentences or more less in none",
        ),
    ):
        for row in ends.itertuples():
            control = f"pooled {row.pooled:.2f}; least {row.least:.2f}"
            rows.append(_effect(what, row.model, row, control))
    changes = changes_by_prompt(tables["reruns"], **draws)
    typos = changes[(changes["change"] == "a typo") & (changes["answers"] == "all")]
    for _, row in typos.iterrows():
        again = row["asked again"].estimate
        control = f"asked again {again:.2f}"
        what = "answer changed: a typo less asking again"
        rows.append(_effect(what, row["model"], row["added"], control))
    falls = falls_by_confidence(changes_by_confidence(tables["confidence"]))
    own = falls["own"]
    range_of_models = stats.Interval(own.median(), own.min(), own.max(), len(own))
    control = f"others' confidence {falls['other models'].median():.2f}"
    what = "answer changed: least sure less surest fifth"
    rows.append(_effect(what, "median of 16 models", range_of_models, control))
    return pd.DataFrame(rows)


def _effect(
    what: str,
    model: str,
    interval: stats.Interval | stats.Difference | DifferenceOfEnds,
    control: str,
) -> dict[str, object]:
    """Return a row of the table of effects and controls."""
    text = result_tables.interval(
        interval.estimate, interval.low, interval.high, digits=2
    )
    return {"what": what, "model": model, "effect": text, "control": control}
