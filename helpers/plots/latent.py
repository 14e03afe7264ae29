"""Figures of the chapter on latent knowledge: curves, places of a list, estimators, calibration."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from helpers import stats
from helpers.plots.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    RED,
    band,
    colour_bar,
    colours,
    empty,
    legend_above,
    name_rows,
    number_map,
    plain,
    share_axis,
)

STATUS = {"before": BLUE, "other": BLUE, "following": ORANGE, "replaced": RED}


def share_curve(
    table: pd.DataFrame,
    x: str,
    ax: Axes | None = None,
    marks: Mapping[str, float] | None = None,
) -> Axes:
    """Draw a share along a number, a line and a band of intervals for each model.

    Parameters
    ----------
    table : DataFrame
        Columns `x`, ``estimate, low, high`` and ``model``.
    x : str
        The number on the axis.
    ax : Axes, optional
        By default a new figure.
    marks : mapping, optional
        Model to the number at which a dashed line stands.

    Returns
    -------
    Axes

    Notes
    -----
    Wu et al. 2025, Figures 1 and 8.

    Examples
    --------
    >>> table = pd.DataFrame({"n": [1, 50], "estimate": [0.2, 0.5], "low": [0.1, 0.4],
    ...                       "high": [0.3, 0.6], "model": "atlas-s"})
    >>> share_curve(table, "n", marks={"atlas-s": 50}).get_ylabel()
    'accuracy'
    """
    if table["estimate"].isna().all():
        return empty(ax, f"There is nothing to draw by {x}.")
    ax = ax or plt.subplots()[1]
    shades = colours(table["model"])
    for name, part in table.groupby("model", sort=False):
        part, colour = part.sort_values(x), shades[name]
        band(ax, part[x], part, colour, name, marker="o", ms=5)
        if marks and marks.get(str(name)) is not None:
            ax.axvline(marks[str(name)], color=colour, lw=1, ls="--")
    ax.set_xlabel(x)
    ax.set_ylabel("accuracy")
    share_axis(ax.yaxis)
    legend_above(ax)
    return ax


def list_places(table: pd.DataFrame, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw the probability of each object along a list (Wu et al. 2025, Figure 2).

    >>> table = pd.DataFrame({"place": [0, 1], "probability": [0.1, 0.7], "status": "other"})
    >>> list_places(table).get_xlabel()
    'place in the list'
    """
    if table.empty:
        return empty(ax, "The list holds no pair.")
    ax = ax or plt.subplots()[1]
    names = {"other": "true pair", "following": "right after a replaced pair"}
    for status, colour in STATUS.items():
        part = table[table["status"] == status]
        label = None if status == "before" else names.get(status, "replaced pair")
        ax.plot(
            part["place"], part["probability"], "o", color=colour, ms=4, alpha=0.75, label=label
        )
    kept = table.loc[table["status"] != "replaced", "probability"]
    ax.axhline(kept.mean(), color=INK, lw=1, ls="--")
    ax.set_xlabel("place in the list")
    ax.set_ylabel("probability")
    ax.set_ylim(-0.03, 1.03)
    ax.set_title(title, loc="left")
    return ax


def grouped_dots(
    table: pd.DataFrame, label: str, by: str, ax: Axes | None = None, xlabel: str = "accuracy"
) -> Axes:
    """Draw estimates with their intervals, one row per group and one colour per way of asking.

    Parameters
    ----------
    table : DataFrame
        Columns `label`, `by`, ``estimate, low, high``. Rows stand in order of appearance.
    label, by : str
        What names the rows; what has its own colour.
    ax : Axes, optional
        By default a new figure, tall enough.
    xlabel : str
        Name of the share.

    Returns
    -------
    Axes

    Notes
    -----
    Wu et al. 2025, Figures 3 and 12.

    Examples
    --------
    >>> table = pd.DataFrame({"relation": ["P17", "P17"], "way": ["list", "HGP"],
    ...                       "estimate": [0.5, 0.4], "low": [0.4, 0.3], "high": [0.6, 0.5]})
    >>> [text.get_text() for text in grouped_dots(table, "relation", "way").get_yticklabels()]
    ['P17']
    """
    if table["estimate"].isna().all():
        return empty(ax, "No fact was asked in any of these ways.")
    rows, ways = list(dict.fromkeys(table[label])), list(dict.fromkeys(table[by]))
    ax = ax or plt.subplots(figsize=(6, 1.3 + 0.16 * (len(table) + len(rows))))[1]
    shades, places = colours(ways), np.zeros(len(table))
    for place, name in enumerate(rows):  # the ways that a row has share its height
        here = np.flatnonzero(table[label] == name)
        places[here] = place + 0.7 * ((np.arange(len(here)) + 0.5) / len(here) - 0.5)
    for way in ways:
        part, at = table[table[by] == way], places[table[by] == way]
        ax.hlines(at, part["low"], part["high"], color=shades[way], lw=2, alpha=0.55)
        ax.plot(part["estimate"], at, "o", color=shades[way], ms=5, label=plain(str(way)))
    name_rows(ax, rows)
    ax.set_xlabel(xlabel)
    share_axis(ax.xaxis)
    legend_above(ax)
    return ax


def accuracy_map(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw accuracies as a map, relations by models, each number written in its field.

    Parameters
    ----------
    table : DataFrame
        One row per relation, one column per model; shares in [0, 1], not a number left white.
    ax : Axes, optional
        By default a new figure, tall enough.

    Returns
    -------
    Axes

    Notes
    -----
    Wu et al. 2025, Figures 5 and 13.

    Examples
    --------
    >>> table = pd.DataFrame({"atlas-s": [0.5, np.nan]}, index=["capital", "currency"])
    >>> [text.get_text() for text in accuracy_map(table).texts]
    ['50']
    """
    if table.isna().all(axis=None):
        return empty(ax, "There is no fact that all the models were asked.")
    if ax is None:
        size = (max(4.2, 2.6 + 0.8 * table.shape[1]), 1.2 + 0.26 * len(table))
        _, ax = plt.subplots(figsize=size)
    values = table.to_numpy(dtype=float)
    shades = {"cmap": "cividis", "vmin": 0, "vmax": 1, "aspect": "auto"}
    shown = number_map(
        ax, values, lambda value: f"{value:.0%}"[:-1], lambda value: value < 0.55, **shades
    )
    ax.set_xticks(range(table.shape[1]), [plain(str(name)) for name in table.columns])
    ax.tick_params(axis="x", rotation=30)
    ax.set_yticks(range(len(table)), [plain(str(name)) for name in table.index])
    colour_bar(shown, ax, "accuracy", format=PercentFormatter(1))
    return ax


def reliability_diagram(tables: Mapping[str, pd.DataFrame], ax: Axes | None = None) -> Axes:
    """Draw accuracy against confidence; on the dashed line they agree.

    Parameters
    ----------
    tables : mapping
        Model's name to ``confidence, accuracy, n``, as from
        :func:`helpers.metrics.latent_knowledge.reliability`.
    ax : Axes, optional
        By default a new figure.

    Returns
    -------
    Axes
        Bars are 95 % Wilson intervals; a dot's size grows with its number of facts.

    Examples
    --------
    >>> table = pd.DataFrame({"confidence": [0.3], "accuracy": [0.5], "n": [10]})
    >>> reliability_diagram({"atlas-s": table}).get_xlabel()
    'confidence: probability of the likeliest choice'
    """
    if all(table.empty for table in tables.values()):
        return empty(ax, "There is no fact with a confidence.")
    ax = ax or plt.subplots()[1]
    shades = colours(tables)
    ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls="--")
    for name, table in tables.items():
        found = [stats.wilson(round(r.accuracy * r.n), int(r.n)) for r in table.itertuples()]
        ends = ([one.low for one in found], [one.high for one in found])
        ax.vlines(table["confidence"], *ends, color=shades[name], lw=1.5, alpha=0.7)
        ax.plot(table["confidence"], table["accuracy"], color=shades[name], lw=1, alpha=0.6)
        sizes = 18 + 140 * table["n"] / table["n"].sum()
        label = f"{plain(name)}, n = {table['n'].sum()}"
        ax.scatter(table["confidence"], table["accuracy"], sizes, shades[name], label=label)
    ax.set_xlabel("confidence: probability of the likeliest choice")
    ax.set_ylabel("accuracy")
    for axis in (ax.xaxis, ax.yaxis):
        share_axis(axis)
    legend_above(ax)
    return ax


def list_panels(table: pd.DataFrame) -> list[Axes]:
    """Draw one panel of :func:`list_places` for each list, on common scales.

    Parameters
    ----------
    table : DataFrame
        ``place, probability``, ``status`` (before, other, following, replaced) and ``variant``,
        which tells lists apart and names the panels.

    Returns
    -------
    list of Axes

    Examples
    --------
    >>> table = pd.DataFrame({"place": [0, 0], "probability": [0.1, 0.7], "status": "other",
    ...                       "variant": ["all true", "wrong"]})
    >>> [ax.get_title(loc="left") for ax in list_panels(table)]
    ['all true', 'wrong']
    """
    lists = list(table.groupby("variant", sort=False))
    if not lists:
        return [empty(None, "There is no list to draw.")]
    rows = -(-len(lists) // 2)
    size = (6.2, 0.5 + 2.2 * rows)
    figure, grid = plt.subplots(rows, 2, figsize=size, sharex=True, sharey=True, squeeze=False)
    for ax, (name, part) in zip(grid.flat, lists):
        list_places(part, ax, plain(str(name))).label_outer()
    for ax in grid.flat[len(lists) :]:
        ax.set_axis_off()
    for ax in grid.flat[max(0, len(lists) - 2) : len(lists)]:
        ax.tick_params(labelbottom=True)
        ax.set_xlabel("place in the list")
    handles, labels = grid.flat[len(lists) - 1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=2)
    return list(grid.flat[: len(lists)])
