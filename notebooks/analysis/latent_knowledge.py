"""What the chapter on latent knowledge computes beside its measure, and what its appendix lists.

A table has one row a fact and way of asking, with ``item, relation, right``; ``draws`` are
``n_resamples`` and ``seed`` of the bootstrap over facts within relations.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers import datasets, stats
from helpers.metrics.matching import holds
from helpers.models import LanguageModel
from helpers.plots import primitives, tables
from helpers.prompts import lists
from helpers.studies import fitting
from helpers.studies import latent_knowledge as study

JOINED = {"HGP 1": "people's sentence", "MMP 1": "mined sentence", "released": "authors' code"}
MEASURES = {name: ([name], stats.mean) for name in ("right", "mass", "chance")}


def sides(settings: Mapping[str, Any]) -> tuple[pd.DataFrame, ...]:
    """Return the facts that settings name: all, for examples, to ask, and of the close-ups.

    Last comes the number of examples: no more than the largest relation has.
    """
    for name in filter(None, (settings["separator"], *settings["separators"])):
        lists.style(name)  # refuses an unknown one before anything is asked
    dataset, relations, seed = (settings[name] for name in ("dataset", "relations", "seed"))
    facts = datasets.load(dataset, relations or None)
    others = facts[~facts["relation"].isin(settings["left_out"])]
    facts, notes = lists.divisible(facts if relations or others.empty else others, seed)
    print("".join(f"{note}\n" for note in [*datasets.notes(dataset, relations), *notes]), end="")
    parts = lists.split(facts, seed=seed).groupby("role")
    pool, asked = parts.get_group("example"), parts.get_group("test")
    close = asked.groupby("relation").head(settings["n_close"])
    most = int(pool["relation"].value_counts().max())
    return facts, pool, asked, close, min(settings["n_examples"], most)


def separators_tried(lm: LanguageModel, given: Mapping[str, Any]) -> pd.DataFrame:
    """Try separators on facts that are not tested, unless one is set."""
    if given["separator"]:
        return pd.DataFrame(columns=["right", "mass", "n"]).rename_axis("separator")
    return study.try_separators(lm, **fitting(study.try_separators, given))


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


def by_way(table: pd.DataFrame) -> pd.DataFrame:
    """Add ``way``: IC-LKE, or the kind of the prompt, which its variant numbers."""
    return table.assign(way=table["variant"].str.rstrip("0123456789"))


def by_number(table: pd.DataFrame) -> pd.DataFrame:
    """Add ``examples`` and ``draw``, which the variant of a list names."""
    numbers = table["variant"].str.split(expand=True).astype(int)
    return table.assign(examples=numbers[0], draw=numbers[1])


def full_list(tried: pd.DataFrame, tests: pd.DataFrame, n_examples: int) -> pd.DataFrame:
    """Return the answers of some facts behind the longest list of the first draw, as IC-LKE."""
    first = tried["variant"] == f"{n_examples} 0"
    return tried[first & tried["item"].isin(tests["fact"])].assign(variant="IC-LKE")


def firsts(listed: pd.DataFrame, prompted: pd.DataFrame) -> pd.DataFrame:
    """Return each fact's list and its first prompt of each kind, to be continued freely."""
    both = pd.concat([listed, prompted]).drop_duplicates(["item", "variant"])
    return both.loc[both["variant"].isin(["IC-LKE", "HGP1", "MMP1"]), list(lists.COLUMNS)]


def two_groups(groups: Mapping[str, pd.DataFrame], chance: float) -> Axes:
    """Draw the accuracy of ways of asking in groups, and guessing as a dashed line.

    The first column of a group names its ways; numbers are numbers of examples.
    """
    rows = []
    for what, table in groups.items():
        ways = table.iloc[:, 0].replace(JOINED)
        label = ways.map(lambda way: way if isinstance(way, str) else f"{way} examples")
        rows.append(table.assign(what=what, label=label))
    ax = primitives.dots(pd.concat(rows), by="what", xlabel="accuracy", share=True)
    if ax.get_lines():
        ax.axvline(chance, color="grey", lw=1, ls="--", zorder=0)
    return ax


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
    """Draw accuracy by confidence, which agree on the dashed line; above it the Brier score."""
    words = {"xlabel": "confidence: share of the likeliest choice", "ylabel": "accuracy"}
    ax = primitives.curves(reliability(scores), "confidence", **words)
    if ax.get_lines():
        brier = ((scores["top"] - scores["right"]) ** 2).mean()
        ax.plot([0, 1], [0, 1], color="grey", lw=1, ls="--", zorder=0)
        ax.set_title(f"Brier score {brier:.3f}", loc="left")
    return ax


def parts(**answers: pd.DataFrame) -> pd.DataFrame:
    """Stack all answers of a run, each with the part of the chapter that asked for it."""
    return pd.concat([rows.assign(part=part) for part, rows in answers.items()])


def metrics(measured: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Return all measures of a run, of its relations, and of each fact."""
    run = measured["relation"].map({"all": "run", "mean": "mean of relations"})
    each = scores.melt(
        ["item", "relation"], ["right", "mass", "top"], var_name="measure", value_name="estimate"
    )
    measured = measured.assign(level=run.fillna("relation"))
    return pd.concat([measured, each.assign(level="fact", n=1)], ignore_index=True)
