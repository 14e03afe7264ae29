"""What a chapter measures of facts, by how often the training text states them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from helpers import stats
from notebooks.kit.plots import shared_figures


def facts_of_known_exposure(
    table: pd.DataFrame, training: pd.DataFrame | None
) -> pd.DataFrame:
    """Add exposures, and keep the facts stated plainly; none if training is unknown."""
    if training is None:
        return table.head(0).assign(exposures=0)
    table = table.join(training[["exposures", "plain"]], on="item")
    return table[table["plain"].eq(True)]


def means_by_exposure(
    table: pd.DataFrame,
    titles: Mapping[str, str],
    training: pd.DataFrame | None,
    **draws: Any,
) -> pd.DataFrame:
    """Average columns by how often the text states a fact; over all where unknown."""
    means = {title: ([name], stats.mean) for name, title in titles.items()}
    if training is None:
        intervals = stats.intervals_by_group(table, means, **draws)
        return intervals.query("relation == 'all'")
    facts = facts_of_known_exposure(table, training)
    intervals = stats.intervals_by_group(facts, means, by="exposures", **draws)
    levels = intervals.query("exposures not in ['all', 'mean']")
    return levels.astype({"exposures": int})


def draw_means_by_exposure(
    rows: pd.DataFrame, ylabel: str, share: bool = True, points: bool = True
) -> Axes:
    """Draw :func:`means_by_exposure`: curves, or dots where exposures are unknown."""
    if "exposures" not in rows:
        return shared_figures.dot_plot(rows, "measure", xlabel=ylabel, share=share)
    return shared_figures.curve_plot(
        rows,
        "exposures",
        "measure",
        axis="doublings",
        points=points,
        xlabel="times the training text states the fact",
        ylabel=ylabel,
        share=share,
    )


def metrics_to_save(
    measured: pd.DataFrame, scores: pd.DataFrame, columns: Sequence[str]
) -> pd.DataFrame:
    """Return all measures of a run and its relations, and `columns` of each fact."""
    levels = measured["relation"].map({"all": "run", "mean": "mean of relations"})
    measured = measured.assign(level=levels.fillna("relation"))
    of_facts = scores.melt(
        ["item", "relation"], columns, var_name="measure", value_name="estimate"
    )
    of_facts = of_facts.assign(level="fact", n=1)
    return pd.concat([measured, of_facts], ignore_index=True)
