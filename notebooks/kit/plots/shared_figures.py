"""Six figures that all chapters share: rows of dots, forests, curves, scatters, maps, bars."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from notebooks.kit.plots import style
from notebooks.kit.plots.scatters import scatter_plot
from notebooks.kit.plots.style import (
    BLUE,
    FIGURE_WIDTH,
    GREY,
    INK,
    RED,
    curve_colours,
    drawable_text,
    empty_panel,
)

__all__ = [
    "stacked_bar_plot",
    "curve_plot",
    "dot_plot",
    "forest_plot",
    "heat_map",
    "scatter_plot",
]
NEVER_POSITION = -1.5  # where "never" stands on an axis of doublings that begins at 0
LINE_STYLES = ("-", "--", "-.", ":")


def dot_plot(
    table: pd.DataFrame,
    label: str = "label",
    by: str = "",
    ax: Axes | None = None,
    xlabel: str = "",
    mark: str = "",
    shades: Mapping[str, str] | None = None,
    share: bool = False,
    nothing: str = "There is nothing to draw.",
) -> Axes:
    """Draw estimates with intervals, a row for each label, a colour for each value of `by`.

    >>> table = pd.DataFrame({"label": ["P17", "all"], "estimate": [0.5, 0.6],
    ...                       "low": [0.4, 0.5], "high": [0.6, 0.7]})
    >>> [text.get_text() for text in dot_plot(table).get_yticklabels()]
    ['P17', 'all']
    """
    if table.empty or table["estimate"].isna().all():
        return empty_panel(ax, nothing)
    rows = list(dict.fromkeys(table[label]))
    ax = (
        ax
        or plt.subplots(figsize=(FIGURE_WIDTH, 1.1 + 0.13 * (len(table) + len(rows))))[
            1
        ]
    )
    named = table[by or label].astype(str)
    own = curve_colours(named) if by else dict.fromkeys(named, BLUE)
    own |= {str(name): shade for name, shade in (shades or {}).items()}
    places = np.zeros(len(table))
    for place, name in enumerate(rows):  # what shares a row shares its height
        here = np.flatnonzero(table[label] == name)
        places[here] = place + 0.7 * ((np.arange(len(here)) + 0.5) / len(here) - 0.5)
    for name in dict.fromkeys(named):
        part, at = table[named == name], places[named == name]
        if {"low", "high"} <= set(table.columns):
            ax.hlines(at, part["low"], part["high"], color=own[name], lw=2, alpha=0.55)
        ax.plot(
            part["estimate"],
            at,
            "o",
            color=own[name],
            ms=5,
            label=drawable_text(name) if by else None,
        )
    if mark:
        ax.plot(
            table[mark],
            places,
            "D",
            mfc="none",
            mec=RED,
            mew=1.3,
            ms=7,
            label=drawable_text(mark),
        )
    style.name_rows(ax, rows)
    ax.set_xlabel(xlabel)
    if share:
        style.show_axis_in_percent(ax.xaxis)
    style.put_legend_above(ax)
    return ax


def forest_plot(table: pd.DataFrame, null: float = 0.0, **given: object) -> Axes:
    """Draw differences or correlations with intervals, a row each, beside the line of no effect.

    >>> table = pd.DataFrame({"label": ["b - a"], "estimate": [0.2], "low": [0.1], "high": [0.3]})
    >>> forest_plot(table).get_lines()[-1].get_xdata()
    [0.0, 0.0]
    """
    ax = dot_plot(table, **given)
    if ax.get_yticks().size:
        ax.axvline(null, color=GREY, lw=1, zorder=0)
    return ax


def curve_plot(
    table: pd.DataFrame,
    x: str,
    by: str = "",
    ax: Axes | None = None,
    xlabel: str = "",
    ylabel: str = "",
    axis: str = "",
    points: bool = True,
    shades: Mapping[str, str] | None = None,
    share: bool = True,
    nothing: str = "There is nothing to draw.",
) -> Axes:
    """Draw estimates along an axis, a line with its intervals for each value of `by`.

    >>> table = pd.DataFrame({"exposures": [0, 1, 4], "estimate": [0.1, 0.3, 0.6]})
    >>> ax = curve_plot(table, "exposures", axis="doublings")
    >>> [text.get_text() for text in ax.get_xticklabels()], ax.get_lines()[0].get_xdata().tolist()
    (['0', '1', '4'], [-1.5, 0.0, 2.0])
    """
    if table.empty or table["estimate"].isna().all():
        return empty_panel(ax, nothing)
    ax = ax or plt.subplots()[1]
    values = np.array(sorted(table[x].unique()))
    groups = list(table.groupby(by, sort=False)) if by else [(None, table)]
    own = curve_colours([str(name) for name, _ in groups]) | {
        None: BLUE,
        **(shades or {}),
    }
    for number, (name, part) in enumerate(groups):
        part = part.sort_values(x)
        at = _places(part[x].to_numpy(dtype=float), values, axis)
        shade = own.get(name, own.get(str(name)))
        line = {
            "ls": "-" if points else LINE_STYLES[number % len(LINE_STYLES)],
            "lw": 2,
            "color": shade,
        }
        ax.plot(
            at,
            part["estimate"],
            label=None if name is None else drawable_text(str(name)),
            **line,
        )
        if points:
            ax.plot(at, part["estimate"], "o", color=shade, ms=6)
        if {"low", "high"} <= set(part.columns):
            ax.fill_between(
                at, part["low"], part["high"], color=shade, alpha=0.15, lw=0
            )
            if points:
                ax.vlines(at, part["low"], part["high"], color=shade, lw=1.5)
    if axis in ("doublings", "even"):
        ax.set_xticks(
            _places(values.astype(float), values, axis), [f"{v:,g}" for v in values]
        )
    elif axis == "log":
        style.set_log_scale(ax)
    ax.set(xlabel=xlabel or x, ylabel=ylabel)
    if share:
        style.show_axis_in_percent(ax.yaxis)
    style.put_legend_above(ax)
    return ax


def heat_map(
    table: pd.DataFrame,
    label: str = "",
    ax: Axes | None = None,
    nothing: str = "There is nothing to draw.",
    **shading: object,
) -> Axes:
    """Draw a table as a map with the number in each field.

    >>> table = pd.DataFrame({"atlas-s": [0.5, np.nan]}, index=["capital", "currency"])
    >>> [text.get_text() for text in heat_map(table).texts]
    ['0.50']
    """
    if table.isna().all(axis=None):
        return empty_panel(ax, nothing)
    if ax is None:
        size = (max(4.2, 2.4 + 0.6 * table.shape[1]), 1.1 + 0.24 * len(table))
        _, ax = plt.subplots(figsize=size)
    values = table.to_numpy(dtype=float)
    shown = ax.imshow(values, **{"cmap": "cividis", "aspect": "auto"} | shading)
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            dark = np.dot(shown.cmap(shown.norm(value))[:3], (0.3, 0.59, 0.11)) < 0.5
            ink = {"color": "white" if dark else INK, "ha": "center", "va": "center"}
            ax.text(column, row, f"{value:.2f}", fontsize=9, **ink)
    ax.grid(visible=False)
    ax.set_xticks(
        range(table.shape[1]), [drawable_text(str(name)) for name in table.columns]
    )
    ax.tick_params(axis="x", rotation=30)
    ax.set_yticks(range(len(table)), [drawable_text(str(name)) for name in table.index])
    if label:
        bar = ax.figure.colorbar(shown, ax=ax)
        bar.set_label(label)
        bar.outline.set_visible(False)
    return ax


def stacked_bar_plot(
    table: pd.DataFrame,
    shades: Mapping[str, str] | None = None,
    ax: Axes | None = None,
    xlabel: str = "",
    nothing: str = "There are no shares to draw.",
) -> Axes:
    """Draw shares that add up to one as a stacked bar for each row.

    >>> table = pd.DataFrame({"known": [0.5], "shaky": [0.3], "unknown": [0.2]}, index=["a"])
    >>> len(stacked_bar_plot(table).patches)
    3
    """
    names = [name for name in table if not str(name).endswith(("_low", "_high"))]
    if table.empty or table[names].isna().all(axis=None):
        return empty_panel(ax, nothing)
    ax = (
        ax
        or plt.subplots(
            figsize=(FIGURE_WIDTH, 0.8 + 0.15 * len(names) + 0.28 * len(table))
        )[1]
    )
    own = curve_colours(names) | dict(shades or {})
    places, start = np.arange(len(table)), np.zeros(len(table))
    for name in names:
        width = table[name].to_numpy(dtype=float)
        ax.barh(
            places,
            width,
            0.7,
            left=start,
            color=own[name],
            label=drawable_text(str(name)),
            lw=0,
        )
        start += np.nan_to_num(width)
    first = names[0]
    if f"{first}_low" in table:
        for place, low, high in zip(
            places, table[f"{first}_low"], table[f"{first}_high"]
        ):
            ax.plot([low, high], [place] * 2, color=INK, lw=1.5, marker="|", ms=5)
    style.name_rows(ax, table.index)
    style.show_axis_in_percent(ax.xaxis)
    ax.set_xlim(0, 1)
    ax.set_xlabel(xlabel)
    ax.grid(visible=False, axis="y")
    style.put_legend_above(ax)
    return ax


def _places(found: np.ndarray, values: np.ndarray, axis: str) -> np.ndarray:
    """Return where values stand on an axis."""
    if axis == "doublings":
        return np.where(found > 0, np.log2(np.maximum(found, 1)), NEVER_POSITION)
    return np.searchsorted(values, found) if axis == "even" else found
