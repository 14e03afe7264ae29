"""Figures of many models: how measures go along, and how far apart paired models are."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from helpers.plots.style import BLUE, GREY, INK, plain


def correlation_map(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw correlations as a square map, each written in its field.

    Notes
    -----
    Zheng et al. 2024, Table 2; Wang et al. 2024, Figure 4.

    >>> table = pd.DataFrame([[1.0, -0.5], [-0.5, 1.0]], ["a", "b"], ["a", "b"])
    >>> [text.get_text() for text in correlation_map(table).texts]
    ['−.50', '−.50']
    """
    if ax is None:
        side = 1.6 + 0.44 * len(table)
        _, ax = plt.subplots(figsize=(side + 0.6, side))
    values = table.to_numpy(dtype=float).copy()
    np.fill_diagonal(values, np.nan)
    shade = ax.imshow(values, cmap="PuOr", vmin=-1, vmax=1)
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            ink = "white" if abs(value) > 0.75 else INK
            text = f"{value:.2f}".replace("0.", ".").replace("-", "−")
            ax.text(column, row, text, ha="center", va="center", color=ink, size=8)
    names = [plain(str(name)) for name in table.columns]
    ax.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(names)), names)
    ax.grid(visible=False)
    bar = ax.figure.colorbar(shade, ax=ax, shrink=0.7)
    bar.set_label("Pearson's r")
    bar.outline.set_visible(False)
    return ax


def gap_panels(table: pd.DataFrame, columns: int = 3) -> list[Axes]:
    """Draw differences between paired models, one panel a measure, each on its own scale.

    Parameters
    ----------
    table : DataFrame
        ``measure`` (title of the panel), ``pair`` (name of the row), ``estimate, low, high``.
    columns : int
        Panels side by side.

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
    lines, height = -(-len(groups) // columns), 0.7 + 0.3 * table["pair"].nunique()
    _, axes = plt.subplots(
        lines, columns, figsize=(1.2 + 2.6 * columns, height * lines), squeeze=False, sharey=True
    )
    pairs = list(dict.fromkeys(table["pair"]))
    for ax, (measure, rows) in zip(axes.flat, groups):
        places = [pairs.index(pair) for pair in rows["pair"]]
        ax.axvline(0, color=GREY, lw=1)
        ax.hlines(places, rows["low"], rows["high"], color=BLUE, lw=2)
        ax.plot(rows["estimate"], places, "o", color=BLUE, ms=5)
        ax.set_title(plain(str(measure)), loc="left", fontsize=10)
    axes[0, 0].set_yticks(range(len(pairs)), [plain(str(pair)) for pair in pairs])
    axes[0, 0].set_ylim(len(pairs) - 0.5, -0.5)
    for ax in axes.flat[len(groups) :]:
        ax.set_visible(False)
    return list(axes.flat[: len(groups)])
