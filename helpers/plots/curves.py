"""Curves: by exposure in the training text, by the size of the model."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from helpers.plots.style import (
    BLUE,
    OTHER,
    PALETTE,
    band,
    colours,
    empty,
    legend_above,
    plain,
    set_apart,
    share_axis,
)

MARKS = {"paper": "o", "same": "D", "other": "X"}  # by whose questions a model was asked


def exposure_curve(
    table: pd.DataFrame,
    ax: Axes | None = None,
    ylabel: str = "accuracy",
    shades: Mapping[str, str] | None = None,
) -> Axes:
    """Draw a measure by how often the training text, or a corpus, contains the fact.

    Parameters
    ----------
    table : DataFrame
        ``exposures`` (0, 1, 2, 4, ...), ``estimate, low, high``; with ``model`` a curve for each.
    ax : Axes, optional
        By default a new figure.
    ylabel : str
        Name of the measure, a share in [0, 1].
    shades : mapping, optional
        Name of each curve to its colour; by default one that is the model's in every chapter.

    Returns
    -------
    Axes
        On a logarithmic axis; facts never seen stand at its left.

    Examples
    --------
    >>> table = pd.DataFrame({"exposures": [0, 1, 4], "estimate": [0.1, 0.2, 0.8],
    ...                       "low": [0.0, 0.1, 0.7], "high": [0.2, 0.3, 0.9]})
    >>> [text.get_text() for text in exposure_curve(table).get_xticklabels()]
    ['0', '1', '4']
    """
    if table["estimate"].isna().all():
        return empty(ax, "There is no fact of known exposure to draw.")
    ax = ax or plt.subplots()[1]
    shades = shades or ({None: BLUE} if "model" not in table else colours(table["model"]))
    for name, part in _by_model(table):
        part = part.astype({"exposures": float}).sort_values("exposures")
        places = _exposure_places(part["exposures"])
        colour = shades[name]
        seen = part["exposures"].to_numpy() > 0
        band(ax, places[seen], part[seen], colour, name)
        _bars(ax, places, part, colour)
    _exposure_axis(ax, table["exposures"])
    ax.set_ylabel(ylabel)
    share_axis(ax.yaxis)
    legend_above(ax)
    return ax


def size_panels(tables: Mapping[str, pd.DataFrame]) -> list[Axes]:
    """Draw measures by the size of the model: the paper's models, and below them other runs.

    No line joins two models. Runs on the paper's questions are outlined diamonds among its models;
    those on other questions are crosses in a hatched panel of their own, with scales of its own.

    Parameters
    ----------
    tables : mapping
        Name of the measure to a table: ``series`` (one colour each), ``parameters`` (above 0),
        ``estimate`` and ``questions``: "paper" for the paper's models, "same" or "other" for runs
        on its questions or on other ones; with ``low, high`` the intervals. A model whose
        parameters are not known (not a number, infinite) is left out.

    Returns
    -------
    list of Axes
        One or two for each measure, on logarithmic axes.

    Notes
    -----
    Wang et al. 2024, Figures 7 and 8.

    Examples
    --------
    >>> table = pd.DataFrame({"series": ["BLOOMZ", "here"], "parameters": [1e9, 4e6],
    ...                       "estimate": [0.7, 0.5], "questions": ["paper", "other"]})
    >>> [ax.get_legend().get_title().get_text() for ax in size_panels({"MONITOR": table})]
    ['', 'other questions']
    """
    panels = []
    for name, table in tables.items():
        known = table[np.isfinite(table["parameters"].astype(float))].dropna(subset="estimate")
        apart = known["questions"] == "other"
        parts = [part for part in (known[~apart], known[apart]) if len(part)]
        panels += [(name, part) for part in parts or [known]]
    heights = [2 if _apart(part) else 3.2 for _, part in panels]
    size = (6, sum(heights) + 0.8 * len(heights))
    _, axes = plt.subplots(len(panels), figsize=size, height_ratios=heights, squeeze=False)
    for ax, (name, part) in zip(axes[:, 0], panels):
        if part.empty:
            empty(ax, "There is no model of known size for which this is defined.")
        else:
            _by_size(part, ax)
        ax.set_ylabel(name)
    return list(axes[:, 0])


def _by_size(table: pd.DataFrame, ax: Axes) -> None:
    """Draw the models of one panel; those of a legend's entry share colour and mark."""
    shades = dict(zip(table["series"].unique(), PALETTE * len(table)))
    for (name, questions), part in table.groupby(["series", "questions"], sort=False):
        places, colour = part["parameters"].to_numpy(dtype=float), shades[name]
        if {"low", "high"} <= set(part.columns):
            ends = part[["parameters", "low", "high"]].dropna().to_numpy(dtype=float).T
            ax.vlines(*ends, color=colour, lw=1.5)
        mark = {"marker": MARKS[questions], "color": colour, "mew": 1.5}
        fill = "white" if questions == "same" else colour
        ax.plot(places, part["estimate"], ls="", ms=7, mfc=fill, label=plain(str(name)), **mark)
    if _apart(table):
        set_apart(ax)
    ax.set_xscale("log")
    ax.margins(x=0.08, y=0.1)
    low, high = ax.get_xlim()
    # Labels at 1, 2 and 5 would run into each other where the axis spans many decades.
    ax.xaxis.set_major_locator(LogLocator(subs=(1,) if high > 300 * low else (1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda count, _: _short(count)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("parameters")
    legend_above(ax, OTHER if _apart(table) else None)


def _apart(table: pd.DataFrame) -> bool:
    return len(table) > 0 and bool(table["questions"].eq("other").all())


def line_curve(
    table: pd.DataFrame,
    x: str,
    ax: Axes | None = None,
    xlabel: str = "",
    ylabel: str = "accuracy",
    even: bool = False,
) -> Axes:
    """Draw a share by any number: the step of a training, the examples in a prompt.

    Parameters
    ----------
    table : DataFrame
        ``model`` (one line each, in order of appearance), ``estimate`` in [0, 1] and the column
        `x`; with ``low, high`` points and intervals are drawn too.
    x : str
        Column of the horizontal axis.
    ax : Axes, optional
        By default a new figure.
    xlabel, ylabel : str
        Names of the axes; the column's name by default.
    even : bool
        Whether the values of `x`, few and uneven, stand side by side.

    Returns
    -------
    Axes

    Examples
    --------
    >>> table = pd.DataFrame({"model": "atlas-s", "examples": [0, 50], "estimate": [0.1, 0.4]})
    >>> [text.get_text() for text in line_curve(table, "examples", even=True).get_xticklabels()]
    ['0', '50']
    """
    if table["estimate"].isna().all():
        return empty(ax, f"There is nothing to draw by {xlabel or x}.")
    ax = ax or plt.subplots()[1]
    values = sorted(table[x].unique())
    shades = colours(table["model"])
    for name, part in _by_model(table):
        part = part.sort_values(x)
        places = np.searchsorted(values, part[x]) if even else part[x].to_numpy(dtype=float)
        band(ax, places, part, shades[name], name)
        if "low" in table:
            _bars(ax, places, part, shades[name])
    if even:
        ax.set_xticks(range(len(values)), [f"{value:g}" for value in values])
    ax.set_xlabel(xlabel or x)
    ax.set_ylabel(ylabel)
    share_axis(ax.yaxis)
    legend_above(ax)
    return ax


def _bars(ax: Axes, x: np.ndarray, part: pd.DataFrame, colour: str) -> None:
    """Draw points with the bars of their intervals."""
    ax.plot(x, part["estimate"], "o", color=colour, ms=6)
    if {"low", "high"} <= set(part.columns):
        ax.vlines(x, part["low"], part["high"], color=colour, lw=1.5)


def _by_model(table: pd.DataFrame) -> list[tuple[str | None, pd.DataFrame]]:
    return list(table.groupby("model", sort=False)) if "model" in table else [(None, table)]


def _exposure_axis(ax: Axes, exposures: pd.Series) -> None:
    counts = sorted(exposures.unique())
    ax.set_xticks(_exposure_places(pd.Series(counts)), [f"{count:,.0f}" for count in counts])
    ax.set_xlabel("times the training text states the fact")


def _exposure_places(exposures: pd.Series) -> np.ndarray:
    """Return log2 of the counts; facts never seen stand one and a half steps left of one."""
    counts = exposures.to_numpy(dtype=float)
    return np.where(counts > 0, np.log2(np.maximum(counts, 1)), -1.5)


def _short(count: float) -> str:
    """Write a count of parameters as 5 M or 1.2 B."""
    for size, unit in ((1e9, " B"), (1e6, " M"), (1e3, " k")):
        if count >= size:
            return f"{count / size:g}{unit}"
    return f"{count:g}"
