"""The map of ranks, of models in several measures."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from helpers.plots.style import empty, plain


def rank_map(
    table: pd.DataFrame,
    higher: Mapping[str, bool],
    marked: str = "",
    ax: Axes | None = None,
    by_measure: bool = False,
) -> Axes:
    """Draw the rank of every model in every measure, rank 1 being the best.

    Parameters
    ----------
    table : DataFrame
        One row a model, one column a measure; a value that is missing has no rank.
    higher : mapping of str to bool
        Measures to show, and whether more of each is better.
    marked : str
        Name of the model that is set in bold.
    ax : Axes, optional
        By default a new figure.
    by_measure : bool
        A row for each measure and a column for each model, where there are few models.

    Returns
    -------
    Axes
        Models in the order of their mean rank.

    Notes
    -----
    Zheng et al. 2024, Figures 6 and 7.

    Examples
    --------
    >>> table = pd.DataFrame({"NCR": [0.1, 0.3]}, index=["a", "b"])
    >>> [text.get_text() for text in rank_map(table, {"NCR": True}).get_yticklabels()]
    ['b', 'a']
    >>> turned = rank_map(table, {"NCR": True}, by_measure=True)
    >>> [text.get_text() for text in turned.get_xticklabels()]
    ['b', 'a']
    """
    if table.empty:
        return empty(ax, "There is no model to rank.")
    found = ranks(table, higher)
    found = found.T if by_measure else found
    ax = ax or plt.subplots(figsize=(6, 0.9 + 0.27 * len(found)))[1]
    sns.heatmap(
        found,
        annot=True,
        fmt=".3g",
        cmap="viridis_r",
        cbar=False,
        ax=ax,
        annot_kws={"fontsize": 9},
        linewidths=0.4,
    )
    names, tops = ([plain(str(name)) for name in side] for side in (found.index, found.columns))
    ax.set_yticks(np.arange(len(names)) + 0.5, names, rotation=0, fontsize=9)
    ax.xaxis.tick_top()
    ax.set_xticks(np.arange(len(tops)) + 0.5, tops, rotation=45, ha="left")
    for text in ax.get_xticklabels() if by_measure else ax.get_yticklabels():
        text.set_fontweight("bold" if text.get_text() == plain(marked) else "normal")
    ax.set(xlabel="", ylabel="")
    return ax


def ranks(table: pd.DataFrame, higher: Mapping[str, bool]) -> pd.DataFrame:
    """Rank models in every measure, ties sharing the mean of their ranks, best mean rank first.

    >>> ranks(pd.DataFrame({"WR": [0.1, 0.3]}, index=["a", "b"]), {"WR": False})["WR"].tolist()
    [1.0, 2.0]
    """
    found = pd.DataFrame(
        {name: table[name].rank(ascending=not better) for name, better in higher.items()}
    )
    return found.loc[found.mean(axis=1).sort_values(kind="stable").index]
