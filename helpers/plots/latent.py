"""Rows of dots by group, and accuracies as a map."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from helpers.plots.style import (
    colour_bar,
    colours,
    empty,
    legend_above,
    name_rows,
    number_map,
    plain,
    share_axis,
)


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
