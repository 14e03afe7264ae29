"""Bars of shares with their counts, and differences between paired models."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers.plots.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    RED,
    SKY,
    TAN,
    legend_above,
    name_rows,
    plain,
    share_axis,
)

VERDICTS = {
    "supported": GREEN,
    "partly": ORANGE,
    "contradicted": RED,
    "not decided": GREY,
    "agrees": BLUE,
    "differs": RED,
}
PALE = (ORANGE, SKY, TAN)  # grounds for dark letters


def verdict_bars(
    counts: pd.DataFrame,
    ax: Axes | None = None,
    xlabel: str = "",
    colours: Mapping[str, str] = VERDICTS,
) -> Axes:
    """Draw a bar of shares for each row, such as the verdicts on the sentences of each paper.

    Parameters
    ----------
    counts : DataFrame
        One column a part.
    ax : Axes, optional
        By default a new figure, tall enough.
    xlabel : str
        What is counted.
    colours : mapping
        Part to colour.

    Returns
    -------
    Axes
        A bar of shares for each row; each part that is wide enough bears its count.

    Examples
    --------
    >>> counts = pd.DataFrame({"agrees": [3], "differs": [1]}, index=["MONITOR"])
    >>> [text.get_text() for text in verdict_bars(counts).texts]
    ['3', '1']
    """
    ax = ax or plt.subplots(figsize=(6, 1 + 0.35 * len(counts)))[1]
    shares, start = counts.div(counts.sum(axis=1), axis=0), np.zeros(len(counts))
    for name in counts:
        drawn = ax.barh(range(len(counts)), shares[name], 0.7, start, color=colours[name])
        drawn.set_label(name)
        texts = counts[name].map("{:,}".format).where(shares[name] > 0.04, "")
        ink = INK if colours[name] in PALE else "white"
        ax.bar_label(drawn, texts, label_type="center", color=ink, weight="bold")
        start += shares[name]
    name_rows(ax, counts.index)
    share_axis(ax.xaxis)
    ax.set_xlabel(xlabel)
    ax.grid(visible=False, axis="y")
    legend_above(ax)
    return ax


def gap_panels(
    table: pd.DataFrame, columns: int = 3, shades: Mapping[str, str] | None = None
) -> list[Axes]:
    """Draw differences between paired models, one panel a measure, each on its own scale.

    Parameters
    ----------
    table : DataFrame
        ``measure`` (title of the panel), ``pair`` (name of the row), ``estimate, low, high``.
    columns : int
        Panels side by side.
    shades : mapping of str to str, optional
        Colours of rows by their names; the others are blue.

    Returns
    -------
    list of Axes
        One a measure, with a line at 0.

    Examples
    --------
    >>> table = pd.DataFrame({"measure": ["UR"], "pair": ["b − a"], "estimate": [0.2],
    ...                       "low": [0.1], "high": [0.3]})
    >>> [ax.get_title(loc="left") for ax in gap_panels(table)]
    ['UR']
    """
    groups = list(table.groupby("measure", sort=False))
    columns = min(columns, len(groups))
    lines, height = -(-len(groups) // columns), 0.85 + 0.3 * table["pair"].nunique()
    _, axes = plt.subplots(
        lines, columns, figsize=(1.2 + 2.6 * columns, height * lines), squeeze=False, sharey=True
    )
    pairs = list(dict.fromkeys(table["pair"]))
    for ax, (measure, rows) in zip(axes.flat, groups):
        places = [pairs.index(pair) for pair in rows["pair"]]
        ax.axvline(0, color=GREY, lw=1)
        colours = [(shades or {}).get(pair, BLUE) for pair in rows["pair"]]
        ax.hlines(places, rows["low"], rows["high"], color=colours, lw=2)
        ax.scatter(rows["estimate"], places, color=colours, s=25, zorder=3)
        ax.set_title(plain(str(measure)), loc="left", fontsize=10)
        ax.locator_params(axis="x", nbins=5)
    name_rows(axes[0, 0], pairs, 0.5)
    for ax in axes.flat[len(groups) :]:
        ax.set_visible(False)
    return list(axes.flat[: len(groups)])
