"""Six figures that all chapters share: dots, forests, curves, scatters, maps, bars."""

from collections.abc import Iterable, Mapping

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
    "curve_plot",
    "dot_plot",
    "forest_plot",
    "heat_map",
    "scatter_plot",
    "stacked_bar_plot",
]
NEVER_POSITION = -1.5  # where "never" stands on an axis of doublings that begins at 0
LINE_STYLES = ("-", "--", "-.", ":")


def dot_plot(
    table: pd.DataFrame,
    label: str = "label",
    by: str = "",
    ax: Axes | None = None,
    xlabel: str = "",
    *,
    mark: str = "",
    shades: Mapping[str, str] | None = None,
    share: bool = False,
    nothing: str = "There is nothing to draw.",
) -> Axes:
    """Draw estimates with intervals, a row for each label, a colour for each `by`.

    >>> table = pd.DataFrame({"label": ["P17", "all"], "estimate": [0.5, 0.6],
    ...                       "low": [0.4, 0.5], "high": [0.6, 0.7]})
    >>> [text.get_text() for text in dot_plot(table).get_yticklabels()]
    ['P17', 'all']
    """
    if table.empty or table["estimate"].isna().all():
        return empty_panel(ax, nothing)
    rows = list(dict.fromkeys(table[label]))
    if ax is None:
        height = 1.1 + 0.13 * (len(table) + len(rows))
        _, ax = plt.subplots(figsize=(FIGURE_WIDTH, height))
    series = table[by or label].astype(str)
    colours = curve_colours(series) if by else dict.fromkeys(series, BLUE)
    for name, colour in (shades or {}).items():
        colours[str(name)] = colour
    heights = _heights_of_dots(table[label], rows)
    has_intervals = {"low", "high"} <= set(table.columns)
    for name in dict.fromkeys(series):
        is_member = series == name
        part = table[is_member]
        y = heights[is_member]
        colour = colours[name]
        if has_intervals:
            ax.hlines(y, part["low"], part["high"], color=colour, lw=2, alpha=0.55)
        legend = drawable_text(name) if by else None
        ax.plot(part["estimate"], y, "o", color=colour, ms=5, label=legend)
    if mark:
        diamond = {"mfc": "none", "mec": RED, "mew": 1.3, "ms": 7}
        ax.plot(table[mark], heights, "D", label=drawable_text(mark), **diamond)
    style.name_rows(ax, rows)
    ax.set_xlabel(xlabel)
    if share:
        style.show_axis_in_percent(ax.xaxis)
    style.put_legend_above(ax)
    return ax


def _heights_of_dots(labels: pd.Series, rows: list[object]) -> np.ndarray:
    """Return the height of each dot; those of one row share its height."""
    heights = np.zeros(len(labels))
    for row, label in enumerate(rows):
        members = np.flatnonzero(labels == label)
        n = len(members)
        heights[members] = row + 0.7 * ((np.arange(n) + 0.5) / n - 0.5)
    return heights


def forest_plot(table: pd.DataFrame, null: float = 0.0, **given: object) -> Axes:
    """Draw differences or correlations with intervals, beside the line of no effect.

    The other arguments are those of :func:`dot_plot`.

    >>> table = pd.DataFrame({"label": ["b - a"], "estimate": [0.2],
    ...                       "low": [0.1], "high": [0.3]})
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
    *,
    axis: str = "",
    points: bool = True,
    shades: Mapping[str, str] | None = None,
    share: bool = True,
    nothing: str = "There is nothing to draw.",
) -> Axes:
    """Draw estimates along an axis, a line with its intervals for each value of `by`.

    >>> table = pd.DataFrame({"exposures": [0, 1, 4], "estimate": [0.1, 0.3, 0.6]})
    >>> ax = curve_plot(table, "exposures", axis="doublings")
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['0', '1', '4']
    >>> ax.get_lines()[0].get_xdata().tolist()
    [-1.5, 0.0, 2.0]
    """
    if table.empty or table["estimate"].isna().all():
        return empty_panel(ax, nothing)
    ax = ax or plt.subplots()[1]
    values = np.array(sorted(table[x].unique()))
    groups = list(table.groupby(by, sort=False)) if by else [(None, table)]
    colours = curve_colours([str(name) for name, _ in groups])
    colours |= {None: BLUE, **(shades or {})}
    for number, (name, part) in enumerate(groups):
        part = part.sort_values(x)
        positions = _positions_on_axis(part[x].to_numpy(dtype=float), values, axis)
        colour = colours.get(name, colours.get(str(name)))
        line_style = "-" if points else LINE_STYLES[number % len(LINE_STYLES)]
        legend = None if name is None else drawable_text(str(name))
        line = {"ls": line_style, "lw": 2, "color": colour, "label": legend}
        ax.plot(positions, part["estimate"], **line)
        if points:
            ax.plot(positions, part["estimate"], "o", color=colour, ms=6)
        _draw_intervals(ax, part, positions, colour, points)
    if axis in ("doublings", "even"):
        ticks = _positions_on_axis(values.astype(float), values, axis)
        ax.set_xticks(ticks, [f"{value:,g}" for value in values])
    elif axis == "log":
        style.set_log_scale(ax)
    ax.set(xlabel=xlabel or x, ylabel=ylabel)
    if share:
        style.show_axis_in_percent(ax.yaxis)
    style.put_legend_above(ax)
    return ax


def _draw_intervals(
    ax: Axes, part: pd.DataFrame, positions: np.ndarray, colour: str, with_bars: bool
) -> None:
    """Draw the intervals of a curve, if it has any, as a band and perhaps as bars."""
    if not {"low", "high"} <= set(part.columns):
        return
    ax.fill_between(
        positions, part["low"], part["high"], color=colour, alpha=0.15, lw=0
    )
    if with_bars:
        ax.vlines(positions, part["low"], part["high"], color=colour, lw=1.5)


def _positions_on_axis(xs: np.ndarray, values: np.ndarray, axis: str) -> np.ndarray:
    """Return where `xs` stand on an axis; `values` are all those of the figure."""
    if axis == "doublings":
        return np.where(xs > 0, np.log2(np.maximum(xs, 1)), NEVER_POSITION)
    if axis == "even":
        return np.searchsorted(values, xs)
    return xs


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
        width = max(4.2, 2.4 + 0.6 * table.shape[1])
        _, ax = plt.subplots(figsize=(width, 1.1 + 0.24 * len(table)))
    values = table.to_numpy(dtype=float)
    image = ax.imshow(values, **({"cmap": "cividis", "aspect": "auto"} | shading))
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        red_green_blue = image.cmap(image.norm(value))[:3]
        is_dark = np.dot(red_green_blue, (0.3, 0.59, 0.11)) < 0.5
        ink = "white" if is_dark else INK
        text = {"fontsize": 9, "color": ink, "ha": "center", "va": "center"}
        ax.text(column, row, f"{value:.2f}", **text)
    ax.grid(visible=False)
    ax.set_xticks(range(table.shape[1]), _drawable_names(table.columns))
    ax.tick_params(axis="x", rotation=30)
    ax.set_yticks(range(len(table)), _drawable_names(table.index))
    if label:
        bar = ax.figure.colorbar(image, ax=ax)
        bar.set_label(label)
        bar.outline.set_visible(False)
    return ax


def _drawable_names(names: Iterable[object]) -> list[str]:
    return [drawable_text(str(name)) for name in names]


def stacked_bar_plot(
    table: pd.DataFrame,
    shades: Mapping[str, str] | None = None,
    ax: Axes | None = None,
    xlabel: str = "",
    nothing: str = "There are no shares to draw.",
) -> Axes:
    """Draw shares that add up to one as a stacked bar for each row.

    >>> table = pd.DataFrame({"known": [0.5], "shaky": [0.3], "unknown": [0.2]})
    >>> len(stacked_bar_plot(table).patches)
    3
    """
    names = [name for name in table if not str(name).endswith(("_low", "_high"))]
    if table.empty or table[names].isna().all(axis=None):
        return empty_panel(ax, nothing)
    if ax is None:
        height = 0.8 + 0.15 * len(names) + 0.28 * len(table)
        _, ax = plt.subplots(figsize=(FIGURE_WIDTH, height))
    colours = curve_colours(names) | dict(shades or {})
    rows = np.arange(len(table))
    start = np.zeros(len(table))
    for name in names:
        width = table[name].to_numpy(dtype=float)
        bar = {"color": colours[name], "label": drawable_text(str(name)), "lw": 0}
        ax.barh(rows, width, 0.7, left=start, **bar)
        start += np.nan_to_num(width)
    low, high = f"{names[0]}_low", f"{names[0]}_high"
    if low in table:
        bounds = table[[low, high]].to_numpy()
        for row, interval in zip(rows, bounds, strict=True):
            ax.plot(interval, [row, row], color=INK, lw=1.5, marker="|", ms=5)
    style.name_rows(ax, table.index)
    style.show_axis_in_percent(ax.xaxis)
    ax.set_xlim(0, 1)
    ax.set_xlabel(xlabel)
    ax.grid(visible=False, axis="y")
    style.put_legend_above(ax)
    return ax
