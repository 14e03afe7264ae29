"""Numbers beside others: printed and recomputed ones, and paired models."""

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
    log_scale,
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
_SMALLEST, _LARGEST = 0.01, 1000.0  # of differences over tolerances, for the eye


def differences(cells: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the difference of every cell, one row a check, as a multiple of its tolerance.

    Parameters
    ----------
    cells : DataFrame
        ``check, difference, tolerance, agrees``, as from :func:`helpers.published.checks.cells`.
        Where nothing is allowed to differ, any difference counts as the largest drawn.
    ax : Axes, optional
        By default a new figure, tall enough.

    Returns
    -------
    Axes
        Cells that agree are blue and left of 1; multiples below 0.01 stand at 0.01, those above
        1000 at 1000.

    Examples
    --------
    >>> cells = pd.DataFrame({"check": ["a", "b"], "difference": [0.0, 2.0],
    ...                       "tolerance": [1.0, 1.0], "agrees": [True, False]})
    >>> [text.get_text() for text in differences(cells).get_yticklabels()]
    ['a', 'b']
    """
    names = list(dict.fromkeys(cells["check"]))
    ax = ax or plt.subplots(figsize=(6, 1 + 0.24 * len(names)))[1]
    size, room = cells["difference"].abs().to_numpy(), cells["tolerance"].to_numpy()
    exact = np.where(cells["agrees"], 0.0, np.inf)
    times = np.divide(size, room, out=exact, where=room > 0)
    times = np.clip(np.nan_to_num(times, nan=np.inf), _SMALLEST, _LARGEST)
    place = cells["check"].map({name: i for i, name in enumerate(names)}).to_numpy(dtype=float)
    place += 0.5 * (np.arange(len(cells)) * 0.618 % 1 - 0.5)  # so that cells do not hide each other
    for agrees, colour, name in ((True, BLUE, "agrees"), (False, RED, "differs")):
        here = cells["agrees"].to_numpy() == agrees
        ax.plot(times[here], place[here], ".", ms=4, color=colour, label=name, alpha=0.7)
    ax.axvline(1, color=INK, lw=1)
    log_scale(ax)
    ax.set_xlim(_SMALLEST / 1.5, _LARGEST * 1.5)
    name_rows(ax, names, fontsize=9)
    ax.set_xlabel("difference / tolerance")
    legend_above(ax)
    return ax


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
        One column a part: verdicts, as from :func:`helpers.published.claims.counts`.
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


def forest(
    table: pd.DataFrame,
    ax: Axes | None = None,
    label: str = "pair",
    xlabel: str = "Pearson's r",
    printed: str = "printed",
    ticks: tuple[str, str] | None = ("least", "most"),
    names: tuple[str, str] = ("recomputed, 95 % interval", "printed"),
) -> Axes:
    """Draw estimates with intervals, one row each, with printed figures and a second range.

    Parameters
    ----------
    table : DataFrame
        Columns `label`, ``estimate, low, high``, `printed` (may be not a number) and those of
        `ticks`. Rows stand in their order.
    ax : Axes, optional
        By default a new figure, tall enough.
    label, xlabel : str
        The column of names, the name of the estimate.
    printed : str
        The column of printed figures, drawn as hollow diamonds.
    ticks : pair of str, optional
        Columns of a second range, drawn as short upright strokes.
    names : pair of str
        What the legend calls the estimates and the printed figures.

    Returns
    -------
    Axes

    Examples
    --------
    >>> table = pd.DataFrame({"pair": ["a, b"], "estimate": [0.5], "low": [0.1], "high": [0.8],
    ...                       "printed": [0.5], "least": [0.3], "most": [0.6]})
    >>> forest(table).get_xlabel()
    "Pearson's r"
    """
    ax = ax or plt.subplots(figsize=(6, 1.4 + 0.27 * len(table)))[1]
    places = np.arange(len(table))
    ax.axvline(0, color=GREY, lw=1, zorder=0)
    ax.hlines(places, table["low"], table["high"], color=BLUE, lw=2, alpha=0.55)
    ax.plot(table["estimate"], places, "o", color=BLUE, ms=5, label=names[0])
    if ticks is not None:
        for column in ticks:
            ax.plot(table[column], places, "|", color=INK, ms=9, mew=1.2)
        ax.plot([], [], "|", color=INK, ms=9, label="lowest and highest without one family")
    ax.plot(table[printed], places, "D", mfc="none", mec=RED, mew=1.3, ms=7, label=names[1])
    name_rows(ax, table[label], fontsize=9)
    ax.set_xlabel(xlabel)
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
