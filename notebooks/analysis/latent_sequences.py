"""EIC-LKE beside IC-LKE: the same facts and choices, many in one sequence, and alone.

Source: Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs",
Appendices C.2 and F, Figures 3, 12, 13 and 15.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from helpers import probing, stats
from helpers.models import LanguageModel
from helpers.prompts import sequences
from helpers.prompts.lists import ic_lke_probes
from notebooks.kit.plots import result_tables, shared_figures

SPACES = "IC-LKE, spaces"  # as printed, C.1
ALONE = "IC-LKE"  # with the separator of sequences
TOGETHER = "EIC-LKE"
TRUTHS_BEFORE = "EIC-LKE, truths before"
WAYS = (SPACES, ALONE, TOGETHER, TRUTHS_BEFORE)
BASE_AND_TUNED = ("atlas-m", "atlas-m-chat")
MEAN_RIGHT = {"right": (["right"], stats.mean)}


def probes_alone_and_together(
    tests: pd.DataFrame,
    pool: pd.DataFrame,
    options: dict[str, list[str]],
    n_examples: int = 50,
    seed: int = 0,
) -> pd.DataFrame:
    """Ask facts behind lists of their own and in sequences; ``way`` says in which."""
    parts = []
    for way, separator in ((SPACES, "space"), (ALONE, sequences.SEQUENCE_SEPARATOR)):
        lists = ic_lke_probes(tests, pool, options, n_examples, separator, seed, way)
        parts.append(lists.assign(way=way))
    for truths_before in (False, True):
        probes = sequences.eic_lke_probes(
            tests, pool, options, seed=seed, truths_before=truths_before
        )
        parts.append(probes)
    return pd.concat(parts, ignore_index=True)


def tokens_by_way(lm: LanguageModel, probes: pd.DataFrame) -> pd.DataFrame:
    """Count the tokens that each way takes, in a plain loop and beginnings once.

    In a plain loop IC-LKE takes a pass for each choice, and EIC-LKE one for each
    sequence, of which all its facts are read.
    """
    rows = []
    for way, asked in probes.groupby("way", sort=False):
        passes = asked
        if way == TOGETHER:
            passes = asked.groupby(["sequence", "option"]).tail(1)
        row = {
            "way": way,
            "facts": asked["item"].nunique(),
            "choices": int(asked.groupby("item").size().max()),
            "passes": len(passes),
            "plain": probing.scoring_work(lm, passes)["tokens"],
            "shared": probing.scoring_work(lm, asked)["forwarded"],
        }
        rows.append(row)
    return pd.DataFrame(rows)


def slots_of_relations(pool: pd.DataFrame) -> pd.DataFrame:
    """Return the examples of each relation's sequence, and how many facts it holds."""
    examples = pool.groupby("relation").size()
    examples = examples.clip(upper=sequences.EXAMPLES_IN_SEQUENCE)
    first = examples // 2
    slots = 1 + (examples - first) // sequences.EXAMPLES_BETWEEN_TESTS
    return pd.DataFrame({"examples": examples, "before": first, "slots": slots})


def accuracy_by_model_and_way(facts: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Estimate each model's accuracy in each way of asking."""
    parts = []
    for model, rows in facts.groupby("model", sort=False):
        rates = stats.intervals_by_group(
            rows, MEAN_RIGHT, by="way", strata="relation", **draws
        )
        rates = rates[rates["way"].isin(WAYS)]
        order = rates["way"].map(WAYS.index)
        parts.append(rates.assign(model=model).loc[order.sort_values().index])
    return pd.concat(parts, ignore_index=True)


def agreement_with_lists(facts: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Compare EIC-LKE with IC-LKE in each model: a row a model.

    ``difference`` of accuracies, ``alike`` (the share of facts with the same verdict),
    and correlations: of the truth's mass over facts, less its relation's mean, and of
    accuracy over relations.
    """
    rows = []
    for model, of_model in facts.groupby("model", sort=False):
        right = _by_way(of_model, "right")
        mass = _by_way(of_model, "mass")
        relations = right.index.get_level_values("relation")
        difference = stats.paired_difference(
            right[TOGETHER], right[ALONE], strata=relations, **draws
        )
        same = (right[TOGETHER] == right[ALONE]).astype(float)
        alike = stats.bootstrap(same, strata=relations, **draws)
        within = mass - mass.groupby("relation").transform("mean")
        over_facts = stats.bootstrap(
            within[[TOGETHER, ALONE]], stats.pearson_correlation, relations, **draws
        )
        means = right.groupby("relation").mean()
        over_relations = stats.correlation(means[TOGETHER], means[ALONE])
        row = {
            "model": model,
            "facts": len(right),
            "IC-LKE, %": _percent(right[ALONE].mean()),
            "EIC-LKE, %": _percent(right[TOGETHER].mean()),
            "EIC less IC, points": _percent(*difference[:3]),
            "same verdict, %": _percent(*alike[:3]),
            "r within relations": result_tables.interval(*over_facts[:3], digits=2),
            "r over relations": result_tables.interval(*over_relations[:3], digits=2),
        }
        rows.append(row)
    return pd.DataFrame(rows).set_index("model")


def _by_way(facts: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a column of the facts that were asked in all ways, a column a way."""
    return facts.pivot_table(column, ["relation", "item"], "way").dropna()


def _percent(*shares: float) -> str:
    return result_tables.interval(*shares, digits=1, scale=100)


def effect_of_sequences(
    facts: pd.DataFrame, first: str, second: str, **draws: int
) -> stats.Difference:
    """Estimate how many more facts one way of asking finds than another."""
    if facts.empty:
        return stats.paired_difference([], [])
    right = _by_way(facts, "right")
    relations = right.index.get_level_values("relation")
    return stats.paired_difference(
        right[first], right[second], strata=relations, **draws
    )


def comparisons_of_sequences(
    facts: pd.DataFrame, **draws: int
) -> Iterator[tuple[str, stats.Difference]]:
    """Yield EIC-LKE less IC-LKE and less its control, by model; and tuned less base."""
    for model, rows in facts.groupby("model", sort=False):
        for other in (ALONE, TRUTHS_BEFORE):
            gain = effect_of_sequences(rows, TOGETHER, other, **draws)
            yield f"{model}: {TOGETHER}, less {other}", gain
    base, tuned = BASE_AND_TUNED
    marks = facts[facts["way"] == TOGETHER]
    wide = marks.pivot_table("right", ["relation", "item"], "model")
    if {base, tuned} <= set(wide):
        pairs = wide[[base, tuned]].dropna()
        relations = pairs.index.get_level_values("relation")
        gain = stats.paired_difference(
            pairs[tuned], pairs[base], strata=relations, **draws
        )
        yield f"{TOGETHER}: {tuned}, less {base}", gain


def draw_accuracy_by_way(facts: pd.DataFrame, **draws: int) -> Axes:
    """Draw each model's accuracy behind lists, in sequences and in their control."""
    rates = accuracy_by_model_and_way(facts, **draws)
    return shared_figures.dot_plot(rates, "model", "way", xlabel="accuracy", share=True)


def draw_accuracy_by_slot(facts: pd.DataFrame, model: str, **draws: int) -> Axes:
    """Draw a model's accuracy by the place in a sequence, beside truths before it."""
    of_model = facts[(facts["model"] == model) & facts["way"].isin(WAYS[2:])]
    parts = []
    for way, rows in of_model.groupby("way", sort=False):
        rates = stats.intervals_by_group(rows, MEAN_RIGHT, by="slot", **draws)
        rates = rates[~rates["slot"].isin(["all", "mean"])]
        parts.append(rates.assign(way=way, slot=rates["slot"].astype(int) + 1))
    return shared_figures.curve_plot(
        pd.concat(parts),
        "slot",
        "way",
        axis="even",
        xlabel="place among the tested facts of a sequence",
        ylabel="accuracy",
    )


def draw_accuracy_by_relation(facts: pd.DataFrame, labels: pd.Series) -> Axes:
    """Draw a map of EIC-LKE's accuracy: relations by models, the easiest first."""
    of_sequences = facts[facts["way"] == TOGETHER]
    table = of_sequences.pivot_table("right", "relation", "model", sort=False)
    order = table.mean(axis=1).sort_values(ascending=False).index
    table = table.loc[order]
    table.index = [f"{name} {labels.get(name, '')}" for name in order]
    _, ax = plt.subplots(figsize=(6.2, 1.1 + 0.26 * len(table)))
    return shared_figures.heat_map(table, ax=ax)
