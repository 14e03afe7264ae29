"""Published models in the plane of two measures, in their two orders, and a map of correlations."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from helpers.plots.scatters import name_points
from helpers.plots.style import GREY, INK, empty, family_colour, plain

MARKS = {"base": "o", "tuned": "^"}


def family_scatter(
    table: pd.DataFrame, x: str, y: str, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw two measures of models, coloured by family and marked by kind, each with its name.

    Parameters
    ----------
    table : DataFrame
        Index ``model``; ``family``, ``kind`` ("base" or "tuned"), `x`, `y`; with ``doubtful``
        (bool), such points are hollow.
    x, y : str
        Measures; models that lack one are left out. They also name the axes.
    ax : Axes, optional
        By default a new figure.
    title : str
        Above the axes.

    Returns
    -------
    Axes
        Legends above say what the marks and the colours mean.

    Examples
    --------
    >>> table = pd.DataFrame({"family": ["a", "a"], "kind": ["base", "tuned"], "p": [0.5, 0.6],
    ...                       "q": [0.4, 0.2]}, index=pd.Index(["m", "n"], name="model"))
    >>> [text.get_text() for text in family_scatter(table, "p", "q").texts]
    ['m', 'n']
    """
    table = table.dropna(subset=[x, y])
    if table.empty:
        return empty(ax, f"No model has both {x} and {y}.")
    ax = ax or plt.subplots(figsize=(6, 4.4))[1]
    rows = table.assign(doubtful=table.get("doubtful", False)).reset_index(names="model")
    for row in rows.to_dict("records"):
        colour = family_colour(row["family"])
        face = "white" if row["doubtful"] else colour
        ax.plot(row[x], row[y], MARKS[row["kind"]], ms=7, color=colour, mfc=face, mew=1.5)
    ax.set_xlabel(plain(x))
    ax.set_ylabel(plain(y))
    ax.set_title(plain(title), loc="left")
    ax.margins(0.16, 0.12)
    _legends(ax, rows)
    name_points(ax, rows, x, y, "model")
    return ax


def _legends(ax: Axes, rows: pd.DataFrame) -> None:
    """Say above the axes what the marks and the colours mean, those that are there."""
    kinds = [kind for kind in MARKS if (rows["kind"] == kind).any()]
    look = {"color": GREY, "ls": "", "ms": 7, "mew": 1.5}
    handles = [Line2D([], [], marker=MARKS[kind], label=kind, **look) for kind in kinds]
    if rows["doubtful"].any():
        handles.append(Line2D([], [], marker="o", mfc="white", label="match in doubt", **look))
    named = {family_colour(name): name for name in sorted(set(rows["family"]), reverse=True)}
    if GREY in named:
        named = {**named, GREY: "other families"}
    families = [
        Line2D([], [], marker="s", label=plain(name), **look | {"color": colour})
        for colour, name in sorted(named.items(), key=lambda item: (item[0] == GREY, item[1]))
    ]
    spaces = {"loc": "lower right", "borderaxespad": 0.3, "columnspacing": 1.0}
    spaces |= {"handletextpad": 0.2}
    above = ax.legend(
        handles=families, ncols=min(5, len(families)), bbox_to_anchor=(1, 1.07), **spaces
    )
    ax.legend(handles=handles, ncols=len(handles), bbox_to_anchor=(1, 1), **spaces)
    ax.add_artist(above).set_clip_on(False)  # else the layout leaves it no room


def two_orders(table: pd.DataFrame, names: tuple[str, str], ax: Axes | None = None) -> Axes:
    """Draw the places of models by two measures, a line per model, the best on top.

    Parameters
    ----------
    table : DataFrame
        Index ``model``; ``family``, ``kind``, ``rank_x``, ``rank_y`` (1 is best), as from
        :func:`helpers.published.joint.apart`.
    names : pair of str
        What the two measures are called.
    ax : Axes, optional
        By default a new figure, tall enough.

    Returns
    -------
    Axes
        Lines of tuned models are dashed; of models that share a place the names share a line.

    Examples
    --------
    >>> table = pd.DataFrame({"family": ["a", "b"], "kind": "base", "rank_x": [1, 2],
    ...                       "rank_y": [2, 1]}, index=["m", "n"])
    >>> [text.get_text() for text in two_orders(table, ("first", "second")).texts]
    ['m', 'n', 'n', 'm']
    """
    if table.empty:
        return empty(ax, f"No model has both {names[0]} and {names[1]}.")
    ax = ax or plt.subplots(figsize=(6, 1 + 0.27 * len(table)))[1]
    for row in table.to_dict("records"):
        style = "-" if row["kind"] == "base" else "--"
        look = {"color": family_colour(row["family"]), "lw": 1.8, "marker": "o", "ms": 5}
        ax.plot([0, 1], [row["rank_x"], row["rank_y"]], style, **look)
    for at, column, align in ((-0.04, "rank_x", "right"), (1.04, "rank_y", "left")):
        for place, rows in table.groupby(column):
            text = plain(", ".join(rows.index))
            ax.text(at, place, text, ha=align, va="center", fontsize=9)
    ax.set_xlim(-0.9, 1.9)
    ax.invert_yaxis()
    ax.set_xticks([0, 1], [plain(name) for name in names])
    ax.xaxis.tick_top()
    ax.set_yticks([])
    ax.grid(visible=False)
    ax.spines[:].set_visible(False)
    return ax


def correlation_map(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    r"""Draw rank correlations as a map, each with the number of models; too few leave it blank.

    Parameters
    ----------
    table : DataFrame
        ``x, y, n, rho``, as from :func:`helpers.published.joint.square`; the lower half is drawn.
    ax : Axes, optional
        By default a new figure.

    Returns
    -------
    Axes
        In each field rho above n.

    Examples
    --------
    >>> table = pd.DataFrame({"x": ["b", "a"], "y": ["a", "b"], "n": [7, 7], "rho": [0.5, 0.5]})
    >>> [text.get_text() for text in correlation_map(table).texts]
    ['0.50\n7']
    """
    if table.empty:
        return empty(ax, "There is no pair of measures.")
    order = list(dict.fromkeys([*table["x"], *table["y"]]))
    rho, n = (
        table.pivot_table(value, "x", "y").reindex(index=order, columns=order)
        for value in ("rho", "n")
    )
    lower = np.tril(np.ones(rho.shape, dtype=bool), -1)
    shown = np.where(lower, rho, np.nan)[1:, :-1]
    ax = ax or plt.subplots(figsize=(6, 1.6 + 0.4 * len(order)))[1]
    ax.imshow(shown, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    for row, column in zip(*np.nonzero(lower)):
        value, count = rho.iloc[row, column], n.iloc[row, column]
        blank = np.isnan(value)
        ax.text(
            column,
            row - 1,
            f"{count:.0f}" if blank else f"{value:.2f}\n{count:.0f}",
            ha="center",
            va="center",
            fontsize=7.5,
            color=GREY if blank else "white" if abs(value) > 0.6 else INK,
        )
    names = [plain(str(name)) for name in order]
    ax.set_xticks(range(len(order) - 1), names[:-1], rotation=60, ha="right", fontsize=8)
    ax.set_yticks(range(len(order) - 1), names[1:], fontsize=8)
    ax.grid(visible=False)
    return ax
