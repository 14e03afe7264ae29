"""What the chapter on latent knowledge computes beside its measure, and what its appendix lists.

A table has one row a fact and way of asking, with ``item, relation, right``; ``draws`` are
``n_resamples`` and ``seed`` of the bootstrap over facts within relations.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers import datasets, models, stats
from helpers.metrics import subsumption
from helpers.metrics.matching import holds
from helpers.models import LanguageModel
from helpers.plots import primitives, tables
from helpers.prompts import lists
from helpers.runs import finished
from helpers.studies import latent_knowledge as study

MEASURES = {name: ([name], stats.mean) for name in ("right", "mass", "chance")}


def sides(settings: Mapping[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the facts that settings name, those that give examples and those that are asked."""
    dataset, relations, seed = (settings[name] for name in ("dataset", "relations", "seed"))
    facts = datasets.load(dataset, relations or None)
    others = facts[~facts["relation"].isin(settings["left_out"])]
    facts, notes = lists.divisible(facts if relations or others.empty else others, seed)
    print("".join(f"{note}\n" for note in [*datasets.notes(dataset, relations), *notes]), end="")
    parts = lists.split(facts, seed=seed).groupby("role")
    return facts, parts.get_group("example"), parts.get_group("test")


def running_example(facts: pd.DataFrame, focus: str) -> pd.DataFrame:
    """Return Lyon's fact of the relation, else its first; of the first relation if it is absent."""
    here = facts[facts["relation"] == focus]
    here = facts if here.empty else here
    return here.iloc[here["subject"].ne("Lyon").argsort(kind="stable")].head(1)


def commonest(tests: pd.DataFrame, pool: pd.DataFrame) -> pd.Series:
    """Tell of each fact whether its object is the commonest among its relation's examples.

    Of objects that are equally common, the first in the alphabet counts.

    >>> pool = pd.DataFrame({"relation": "r", "object": ["x", "y", "y"]})
    >>> tests = pd.DataFrame({"fact": ["a", "b"], "relation": "r", "object": ["x", "y"]})
    >>> commonest(tests, pool).tolist()
    [0.0, 1.0]
    """
    usual = pool.groupby("relation")["object"].agg(lambda objects: objects.mode().iloc[0])
    right = tests["object"] == tests["relation"].map(usual)
    return right.astype(float).set_axis(tests["fact"])


def _pairs(table: pd.DataFrame, by: str, ways: Sequence[Any]) -> pd.DataFrame:
    """Return the facts asked in all ways, a column a way; several times in one: their mean."""
    wide = table.pivot_table("right", ["relation", "item"], by)
    return wide.reindex(columns=list(dict.fromkeys(ways))).dropna()


def paired(table: pd.DataFrame, by: str, first: Any, second: Any, **draws: int) -> stats.Difference:
    """Compare two ways of asking on the facts that were asked in both.

    >>> table = pd.DataFrame({"item": ["a", "a", "b", "b"], "relation": "r", "right": [1, 0, 1, 1],
    ...                       "way": ["list", "prompt"] * 2})
    >>> paired(table, "way", "list", "prompt", n_resamples=20).estimate
    0.5
    """
    wide = _pairs(table, by, (first, second))
    if first == second or wide.empty:
        return stats.paired_difference([], [])
    strata = wide.index.get_level_values("relation")
    return stats.paired_difference(wide[first], wide[second], strata=strata, **draws)


def rates(table: pd.DataFrame, by: str, **ways: Any) -> dict[str, str]:
    """Write the accuracy of each way in percent, over the facts that were asked in all of them."""
    wide = _pairs(table, by, list(ways.values()))
    means = wide.mean()
    return {name: tables.interval(means[way], None, None, 1, 100) for name, way in ways.items()}


def levels(table: pd.DataFrame, by: str, **draws: int) -> pd.DataFrame:
    """Estimate the accuracy of each way of asking, of the mean of a fact's several askings."""
    means = table.groupby([by, "relation", "item"], sort=False)["right"].mean().reset_index()
    measure = {"right": (["right"], stats.mean)}
    found = stats.intervals(means, measure, by=by, strata="relation", **draws)
    return found[~found[by].isin(["all", "mean"])].reset_index(drop=True)


def mark_generations(texts: pd.DataFrame) -> pd.DataFrame:
    """Add ``right``: whether a greedy text contains the true object (Appendix H.7).

    As whole words; the authors' code looks for the letters anywhere.

    >>> texts = pd.DataFrame({"text": ["is Paris, too", "Romania"], "object": ["Paris", "Oman"]})
    >>> mark_generations(texts)["right"].tolist()
    [1.0, 0.0]
    """
    found = [float(holds(*pair)) for pair in zip(texts["text"], texts["object"])]
    return texts.assign(right=found)


def ranked_and_written(ways: pd.DataFrame, texts: pd.DataFrame, way: str) -> pd.DataFrame:
    """Stack what was ranked first and what was written after the same prompts of a way (``by``)."""
    both = pd.concat([ways.assign(by="ranked"), texts.assign(by="written")])
    return both[(both["way"] == way) & both["variant"].isin(texts["variant"])]


def reliability(scores: pd.DataFrame, bins: int = 10) -> pd.DataFrame:
    """Estimate the accuracy of facts of similar confidence, with Wilson's intervals.

    >>> scores = pd.DataFrame({"top": [0.2, 0.4, 0.9], "right": [0.0, 1.0, 1.0]})
    >>> reliability(scores, bins=2)[["confidence", "estimate", "n"]].round(2).values.tolist()
    [[0.3, 0.5, 2.0], [0.9, 1.0, 1.0]]
    """
    place = np.ceil(scores["top"] * bins).clip(1, bins)
    groups = [rows for _, rows in scores.groupby(place)]
    found = [stats.wilson(int(rows["right"].sum()), len(rows)) for rows in groups]
    table = pd.DataFrame(found, columns=stats.Interval._fields)
    return table.assign(confidence=[rows["top"].mean() for rows in groups])


def reliability_diagram(scores: pd.DataFrame) -> Axes:
    """Draw accuracy by confidence: they agree on the dashed line."""
    words = {"xlabel": "confidence: share of the likeliest choice", "ylabel": "accuracy"}
    ax = primitives.curves(reliability(scores), "confidence", **words)
    if ax.get_lines():
        ax.plot([0, 1], [0, 1], color="grey", lw=1, ls="--", zorder=0)
    return ax


def beyond_chance(values: np.ndarray) -> np.ndarray:
    r"""Compute how far the subsumption rate exceeds that of knowledge unrelated within relations.

    .. math:: \eta - \frac{\sum_r n_r a_r b_r}{\sum_r n_r a_r}

    Both know one and the same of two facts, where chance would have them share half of one:

    >>> float(beyond_chance(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])))
    0.5
    """
    first, second, relation = np.moveaxis(values, -1, 0)
    shared = np.zeros(values.shape[:-2])
    for code in np.unique(relation):
        here = relation == code
        shared += (first * here).sum(-1) * (second * here).sum(-1) / np.maximum(here.sum(-1), 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return subsumption.overlap(values) - shared / first.sum(-1)


def least_rate(small: float, large: float) -> float:
    r"""Compute the least subsumption rate that two accuracies allow: max(0, a + b - 1) / a.

    >>> round(least_rate(0.8, 0.5), 3)
    0.375
    """
    return max(0.0, small + large - 1) / small if small > 0 else float("nan")


def known_by(
    lm: LanguageModel,
    scores: pd.DataFrame,
    dataset: str,
    folder: Path,
    siblings: Sequence[str],
    ask: Callable[[LanguageModel], pd.DataFrame],
) -> tuple[pd.DataFrame, dict[str, float]]:
    """Return what each model knows, a column a model by size, and the sizes.

    The models are this one, those of finished runs on the data set, and bundled ones that are
    asked here; the facts are those that all were asked.
    """
    who = lm.name.rstrip("/").rpartition("/")[2]
    known, sizes = finished.by_fact("latent_knowledge", dataset, "right", folder)
    mine = scores.set_index("item")["right"]
    known = known.drop(columns=who, errors="ignore").reindex(mine.index).assign(**{who: mine})
    sizes[who] = lm.n_parameters or float("inf")
    for name in siblings:
        if name not in known:
            other = models.load(name)
            known[name] = study.facts(ask(other)).set_index("item")["right"]
            sizes[name] = other.n_parameters
    return known[sorted(known, key=lambda name: (sizes[name], name))].dropna(), sizes


def shared(known: pd.DataFrame, scores: pd.DataFrame, pair: Sequence[str], **draws: int) -> tuple:
    """Estimate how far one model holds what another knows, beyond chance within relations.

    Returns the estimate, and in words the rate and the rate by chance.
    """
    relations = known.index.map(scores.set_index("item")["relation"])
    codes = pd.factorize(relations)[0]
    rows = known[list(pair)].assign(relation=codes).to_numpy(dtype=float)
    rows = rows[: len(rows) * (pair[0] != pair[1])]
    found = stats.bootstrap(rows, beyond_chance, codes[: len(rows)], **draws)
    rate = float(subsumption.overlap(rows)) if len(rows) else float("nan")
    written = {"rate": rate, "chance": rate - found.estimate}
    return found, {name: tables.interval(value, digits=2) for name, value in written.items()}


def shared_by_pairs(known: pd.DataFrame, scores: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Tabulate the subsumption rate of each two models, its bounds, and what the larger gains."""
    rows = []
    strata = known.index.map(scores.set_index("item")["relation"])
    for small, large in combinations(known, 2):
        two = known[[small, large]]
        eta = stats.bootstrap(two, subsumption.overlap, strata, **draws)
        gain = stats.paired_difference(two[large], two[small], strata=strata, **draws)
        test = stats.mcnemar(two[small], two[large])
        rows.append(
            {
                "smaller, larger": f"{small}, {large}",
                "η": tables.interval(*eta[:3], digits=2),
                "η at least": tables.interval(least_rate(*two.mean()), digits=2),
                "η by chance": shared(known, scores, (small, large), **draws)[1]["chance"],
                "gain, points": tables.interval(*gain[:3], digits=1, scale=100),
                "one alone": f"{test.first_only} : {test.second_only}",
                "exact p": f"{test.p:.3f}" if test.p >= 0.001 else "< 0.001",
            }
        )
    names = ["smaller, larger", "η", "η at least", "η by chance", "gain, points", "one alone"]
    return pd.DataFrame(rows, columns=[*names, "exact p"]).set_index("smaller, larger")


def metrics(measured: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Return all measures of a run, of its relations, and of each fact."""
    run = measured["relation"].map({"all": "run", "mean": "mean of relations"})
    each = scores.melt(
        ["item", "relation"], ["right", "mass", "top"], var_name="measure", value_name="estimate"
    )
    measured = measured.assign(level=run.fillna("relation"))
    return pd.concat([measured, each.assign(level="fact", n=1)], ignore_index=True)
