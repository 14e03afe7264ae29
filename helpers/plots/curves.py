"""Curves by exposure in the training text."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers.plots.style import (
    BLUE,
    band,
    colours,
    empty,
    legend_above,
    share_axis,
)


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
