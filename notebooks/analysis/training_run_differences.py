"""Training runs of one recipe: how far they differ, and what decides a verdict."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pandas as pd
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from helpers import stats
from helpers.stats.components import variance_components
from helpers.studies import STUDIES, measurable, measure_named
from helpers.studies.model_comparison import measure_differences
from notebooks.analysis import comparison
from notebooks.analysis.comparison import (
    INTERVAL_COLUMNS,
    MAIN_MEASURES,
    FactsByChapterAndModel,
    estimates_by_model,
)
from notebooks.kit import appendix
from notebooks.kit.plots import result_tables
from notebooks.kit.trained_answers import PROMPT_COLUMNS

# Effects of a verdict's causes: their names
VARIANCE_PARTS = {
    "r": "relation",
    "f": "fact",
    "m": "model",
    "fm": "fact by model",
    "ms": "training run",
    "fms": "fact by training run",
}
VARIANCE_PARTS_BY_PROMPT = VARIANCE_PARTS | {
    "p": "prompt",
    "fp": "fact by prompt",
    "mp": "model by prompt",
    "msp": "run by prompt",
    "fmp": "fact by model by prompt",
    "fmsp": "the rest",
}
METHOD_BY_PROMPT = "multiplicity, by prompt"
FACT_LEAD_LABEL = "fact and relation, less fact by training run"


def estimates_and_run_differences(
    trained: pd.DataFrame, **draw: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return training runs' figures in every measure, and the gaps within each recipe.

    Measures that are newer than the runs are left out: :func:`note_on_newer_measures`
    names them.
    """
    figures = []
    gaps = []
    for name, study in STUDIES.items():
        rows = _rows_of_study(trained, name)
        measures = measurable(study, rows)
        facts = _facts_by_recipe_and_run(rows)
        labelled = {}
        for recipe, runs in facts.items():
            for run, table in runs.items():
                labelled[f"{recipe}, {run}"] = table
        estimates = estimates_by_model(labelled, measures, **draw)
        parts = estimates["model"].str.extract(r"(?P<recipe>.*), (?P<run>run \d+)$")
        figures.append(estimates.join(parts).assign(study=name))
        for recipe, runs in facts.items():
            differences = measure_differences(runs, measures, **draw)
            gaps.append(differences.assign(study=name, recipe=recipe))
    return pd.concat(figures, ignore_index=True), pd.concat(gaps, ignore_index=True)


def _rows_of_study(trained: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a study's rows, with the columns that any of its training runs has."""
    return trained[trained["study"] == name].dropna(axis=1, how="all")


def _facts_by_recipe_and_run(rows: pd.DataFrame) -> dict[str, dict[str, pd.DataFrame]]:
    """Return the facts, by item, of each recipe's runs: "run 1" is of start 0."""
    rows = rows.sort_values(["model", "start"], kind="stable").set_index("item")
    facts: dict[str, dict[str, pd.DataFrame]] = {}
    for (recipe, start), table in rows.groupby(["model", "start"], sort=False):
        facts.setdefault(recipe, {})[f"run {start + 1}"] = table
    return facts


def note_on_newer_measures(trained: pd.DataFrame) -> str:
    """Name the measures that the training runs lack, for they are newer; "" if none."""
    lines = []
    for name, study in STUDIES.items():
        measures = measurable(study, _rows_of_study(trained, name))
        titles = [
            measure.title for measure in study.MEASURES if measure not in measures
        ]
        if titles:
            lines.append(
                f"{study.TITLE}: {', '.join(titles)} is newer than "
                "these training runs.\n"
            )
    return "".join(lines)


def chapters_on_same_facts(
    trained: pd.DataFrame, facts: FactsByChapterAndModel
) -> list[str]:
    """Return the chapters whose models were all asked the training runs' facts.

    >>> trained = pd.DataFrame({"study": "monitor", "item": ["a", "b"]})
    >>> facts = pd.DataFrame(index=["b", "a"])
    >>> chapters_on_same_facts(trained, {"monitor": {"m": facts, "n": facts}})
    ['monitor']
    >>> chapters_on_same_facts(trained, {"monitor": {"m": facts, "n": facts.head(1)}})
    []
    """
    items = trained.groupby("study")["item"].agg(set)
    chapters = []
    for chapter, models in facts.items():
        items_of_chapter = items.get(chapter)
        if all(set(table.index) == items_of_chapter for table in models.values()):
            chapters.append(chapter)
    return chapters


def differences_beyond_training_runs(
    gaps: pd.DataFrame, between: pd.DataFrame, tuned: Collection[tuple[str, str]] = ()
) -> pd.DataFrame:
    """Set differences that Holm's correction keeps beside those between training runs.

    ``most`` is the largest of these in the measure, ``beyond``: the estimate is larger,
    ``whole``: so is the whole interval. The pairs `tuned` are left out.
    """
    pairs = pd.MultiIndex.from_frame(gaps[["first", "second"]])
    tested = gaps[~pairs.isin(list(tuned))].dropna(subset=["estimate"])
    rows = comparison.differences_kept_by_holm(tested)
    sizes = between["estimate"].abs()
    most = sizes.groupby(between["measure"]).max()
    rows = rows.assign(most=rows["measure"].map(most).astype(float))
    nearest = rows[["low", "high"]].abs().min(axis=1)  # no interval of these contains 0
    beyond = rows["estimate"].abs() > rows["most"]
    return rows.assign(beyond=beyond, whole=nearest > rows["most"])


def recipe_differences_over_runs(
    figures: pd.DataFrame, larger: str, smaller: str
) -> pd.DataFrame:
    """Compare two recipes' means over their training runs (t, equal variances)."""
    rows = []
    computed = figures.dropna(subset=["estimate"])
    for measure in figures["measure"].unique():
        of_measure = computed[computed["measure"] == measure]
        one = of_measure.loc[of_measure["recipe"] == larger, "estimate"]
        two = of_measure.loc[of_measure["recipe"] == smaller, "estimate"]
        if len(one) < 2 or len(two) < 2:
            continue
        n = len(one) + len(two)
        squares = one.var() * (len(one) - 1) + two.var() * (len(two) - 1)
        within = np.sqrt(squares / (n - 2))
        means = CompareMeans(DescrStatsW(one), DescrStatsW(two))
        low, high = means.tconfint_diff(usevar="pooled")
        rows.append((measure, one.mean() - two.mean(), low, high, within, n))
    return pd.DataFrame(rows, columns=["measure", *INTERVAL_COLUMNS, "within", "n"])


def ranks_of_training_runs(figures: pd.DataFrame) -> pd.DataFrame:
    """Rank each recipe's training runs in the main measures, 1 the best, by run."""
    rows = figures[figures["measure"].isin(MAIN_MEASURES)]
    higher = [measure_named(name).higher for name in rows["measure"]]
    is_higher_better = np.array(higher, dtype=bool)
    turned = rows["estimate"].where(is_higher_better, -rows["estimate"])
    groups = turned.groupby([rows["recipe"], rows["measure"]])
    rows = rows.assign(place=groups.rank(ascending=False))
    wide = rows.pivot_table("place", ["recipe", "run"], "measure")
    wide = wide.reindex(columns=list(MAIN_MEASURES))
    titles = {name: measure_named(name).title for name in MAIN_MEASURES}
    return wide.rename(columns=titles).rename_axis(columns=None)


def shares_of_variance(
    trained: pd.DataFrame, n_resamples: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Divide the variance of verdicts by fact, model, training run and prompt.

    Facts are drawn within relations; for `FACT_LEAD_LABEL`, which counts what these
    differ by, relations are.
    """
    draw = {"n_resamples": n_resamples, "seed": seed}
    parts = []
    for name, study in STUDIES.items():
        verdicts = _verdicts_by_training_run(
            trained[trained["study"] == name], ["known"]
        )
        shares = _shares_by_part(verdicts, VARIANCE_PARTS, **draw)
        parts.append(shares.assign(method=study.TITLE))
    prompts = [name for name in PROMPT_COLUMNS if name in trained]
    if prompts:
        asked = trained.dropna(subset=prompts, how="all")
        verdicts = _verdicts_by_training_run(asked, prompts)
        shares = _shares_by_part(verdicts, VARIANCE_PARTS_BY_PROMPT, **draw)
        parts.append(shares.assign(method=METHOD_BY_PROMPT))
    table = pd.concat(parts, ignore_index=True)
    return table[["method", "part", *INTERVAL_COLUMNS, "n"]]


def _verdicts_by_training_run(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Return verdicts by relation and item, and by column, model and start."""
    wide = rows.pivot_table(columns, ["relation", "item"], ["model", "start"])
    return wide[columns].dropna().sort_index()


def _shares_by_part(
    verdicts: pd.DataFrame, parts: dict[str, str], n_resamples: int, seed: int
) -> pd.DataFrame:
    """Return each part's share of the variance of verdicts, and the lead of facts."""
    relations = verdicts.index.get_level_values("relation").to_numpy()
    sizes = np.unique(relations, return_counts=True)[1]
    n_models = verdicts.columns.get_level_values("model").nunique()
    n_prompts = verdicts.columns.get_level_values(0).nunique()
    n_starts = verdicts.shape[1] // (n_models * n_prompts)
    shape = (n_prompts, n_models, n_starts)

    def shares(values: np.ndarray) -> np.ndarray:
        return _variance_shares(values, sizes, shape, list(parts))

    interval = stats.bootstrap(
        verdicts, shares, relations, n_resamples, seed, centred=True
    )
    facts_of_relations = np.split(verdicts.to_numpy(), np.cumsum(sizes)[:-1])
    generator = np.random.default_rng(seed)
    draws = generator.integers(len(sizes), size=(n_resamples, len(sizes)))
    leads = []
    for places in draws:
        sample = np.concatenate([facts_of_relations[place] for place in places])
        leads.append(_variance_shares(sample, sizes[places], shape, list(parts))[-1])
    low, high = stats.interval_bounds(
        np.array(leads), len(sizes), centre=interval.estimate[-1]
    )
    interval.low[-1] = low
    interval.high[-1] = high
    least = np.zeros(len(parts) + 1)
    least[-1] = -1.0  # the lead is a difference of shares
    table = pd.DataFrame(
        {
            "part": [*parts.values(), FACT_LEAD_LABEL],
            "estimate": interval.estimate,
            "low": np.clip(interval.low, least, 1),
            "high": np.clip(interval.high, least, 1),
        }
    )
    return table.assign(n=len(verdicts))


def _variance_shares(
    values: np.ndarray,
    sizes: np.ndarray,
    shape: tuple[int, int, int],
    effects: list[str],
) -> np.ndarray:
    """Return effects' shares of the variance, then the lead of fact and relation.

    `values` have the shape (..., facts, product of `shape`): prompts, models, starts.
    `sizes` are the facts of each relation.
    """
    by_cause = values.reshape(*values.shape[:-1], *shape)
    by_cause = np.moveaxis(by_cause, -3, -1)  # prompts last
    below_relation = [effect for effect in effects if effect != "r"]
    components = variance_components(by_cause, sizes, below_relation)
    parts = [np.maximum(components[effect], 0) for effect in effects]
    shares = np.stack(parts, axis=-1)
    with np.errstate(invalid="ignore"):  # relations that are all alike have no shares
        shares = shares / shares.sum(axis=-1, keepdims=True)
    relation = shares[..., effects.index("r")]
    fact = shares[..., effects.index("f")]
    run = shares[..., effects.index("fms")]
    lead = relation + fact - run
    return np.concatenate([shares, lead[..., np.newaxis]], axis=-1)


def comparisons_for_appendix(
    figures: pd.DataFrame, between: pd.DataFrame, shares: pd.DataFrame
) -> Iterator[tuple[str, Sequence[float]]]:
    """Yield what is compared without a sentence: its label and the statistic."""
    main = between[between["measure"].isin(MAIN_MEASURES)]
    label = "{measure}: {recipe}, {first} minus {second}"
    yield from appendix.labelled_estimates(main, label)
    means = recipe_differences_over_runs(figures, "atlas-s", "atlas-xs")
    label = "{measure}: mean of runs, atlas-s minus atlas-xs"
    yield from appendix.labelled_estimates(means, label)
    leads = shares[shares["part"] == FACT_LEAD_LABEL]
    label = FACT_LEAD_LABEL + ": {method}"
    yield from appendix.labelled_estimates(leads, label)


def tables_for_appendix(
    figures: pd.DataFrame, shares: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the tables of the appendix: measures of the runs, shares of variance."""
    pages = {}
    for study, rows in figures.groupby("study", sort=False):
        measures = rows["measure"].unique()
        table = comparison.measures_by_model(rows, measures)
        pages[f"training_runs_{study}"] = table
    methods = list(shares["method"].unique())
    titles = {name: f"{name}, %" for name in methods}
    table = shares.rename(columns={"method": "measure"})
    pages["shares"] = result_tables.wide_interval_table(
        table, titles, methods, by="part"
    )
    return pages
