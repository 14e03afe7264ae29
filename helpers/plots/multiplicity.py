"""Figures of prompt multiplicity: what becomes of right and wrong when the prompt changes."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import PercentFormatter

from helpers.plots.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    RED,
    band,
    colours,
    empty,
    legend_above,
    name_rows,
    plain,
    share_axis,
)

COLOURS = {"factuality": GREEN, "randomness": "#c9c9c9", "error": RED}
NAMES = {
    "factuality": "prompt-agnostic factuality",
    "randomness": "randomness",
    "error": "prompt-agnostic error",
}


def two_prompts(right: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw which items are right under two prompts: one row per prompt, one tile an item.

    Parameters
    ----------
    right : DataFrame
        Two columns of bool, one per prompt; the index names the items.
    ax : Axes, optional
        By default a new figure.

    Returns
    -------
    Axes
        A frame marks the items whose mark differs.

    Notes
    -----
    Ganesh et al. 2026 (earlier version), Figure 1.

    Examples
    --------
    >>> right = pd.DataFrame({"first": [True, False], "second": [False, True]})
    >>> [text.get_text() for text in two_prompts(right).get_yticklabels()]
    ['first: 50 % right', 'second: 50 % right']
    """
    if right.empty:
        return empty(ax, "No question was asked in two prompts.")
    ax = ax or plt.subplots(figsize=(6, 1.6))[1]
    marks = right.to_numpy(dtype=bool).T
    for row, column in np.ndindex(marks.shape):
        shade = GREEN if marks[row, column] else RED
        ax.add_patch(Rectangle((column + 0.05, row + 0.1), 0.9, 0.8, color=shade, alpha=0.8, lw=0))
        sign = "✓" if marks[row, column] else "✗"
        ax.text(column + 0.5, row + 0.5, sign, ha="center", va="center", color="white", size=9)
    for column in np.flatnonzero(marks[0] != marks[-1]):
        frame = Rectangle((column, 0), 1, len(marks), fill=False, ec=INK, lw=1.5)
        ax.add_patch(frame)
    ax.set_xlim(-0.1, marks.shape[1] + 0.1)
    ax.set_ylim(len(marks) + 0.05, -0.05)
    names = [f"{name}: {share:.0%} right" for name, share in zip(right.columns, marks.mean(axis=1))]
    ax.set_yticks(np.arange(len(marks)) + 0.5, [plain(n.replace("%", " %")) for n in names])
    ax.set_xticks([])
    ax.grid(False)
    for side in ax.spines.values():
        side.set_visible(False)
    return ax


def mapping(scores: pd.DataFrame, ax: Axes | None = None) -> Axes:
    r"""Draw how right and wrong answers at the default prompt divide into three classes.

    Parameters
    ----------
    scores : DataFrame
        ``default`` (1 right, 0 wrong at the default prompt) and ``class``, one row per item.
    ax : Axes, optional
        By default a new figure.

    Returns
    -------
    Axes
        Widths of the streams are numbers of items, written on both sides.

    Notes
    -----
    Ganesh et al. 2026 (earlier version), Figure 3.

    Examples
    --------
    >>> scores = pd.DataFrame({"default": [1, 0, 0], "class": ["factuality", "error", "error"]})
    >>> [text.get_text() for text in mapping(scores).texts][:2]
    ['right, one prompt\n1', 'wrong, one prompt\n2']
    """
    if scores.empty:
        return empty(ax, "There is no question to divide into classes.")
    ax = ax or plt.subplots(figsize=(6, 3.6))[1]
    sides = {"right, one prompt": GREEN, "wrong, one prompt": RED}
    left = np.where(scores["default"] > 0, *sides)
    flows = pd.crosstab(left, scores["class"]).reindex(
        index=list(sides), columns=list(COLOURS), fill_value=0
    )
    gap = 0.07 * len(scores)  # the height of a line, so that classes without items keep apart
    starts, ends = _tops(flows.sum(axis=1), gap), _tops(flows.sum(), gap)
    for name, shade in sides.items():
        _end(ax, 0, starts[name], flows.loc[name].sum(), shade, name, "right")
    for name, shade in COLOURS.items():
        _end(ax, 1, ends[name], flows[name].sum(), shade, NAMES[name], "left")
    for name, row in flows.iterrows():
        for target, n in row.items():
            _stream(ax, starts[name], ends[target], n, COLOURS[target])
            starts[name] += n
            ends[target] += n
    ax.set_xlim(-0.8, 1.85)
    ax.set_ylim(max(ends.max(), starts.max()) + gap, -gap)
    ax.set_axis_off()
    return ax


def class_bars(
    table: pd.DataFrame, ax: Axes | None = None, names: Mapping[str, str] = NAMES
) -> Axes:
    """Draw the three shares as one bar a row: factuality, randomness, error.

    Parameters
    ----------
    table : DataFrame
        ``label`` and the shares ``factuality, randomness, error``, which sum to 1; the
        intervals of the first and the last as ``factuality_low`` and so on, drawn at their edges.
    ax : Axes, optional
        By default a new figure, tall enough for the rows.
    names : mapping
        What the legend calls the three.

    Returns
    -------
    Axes

    Notes
    -----
    Ganesh et al. 2026 (earlier version), Figures 4 and 5.

    Examples
    --------
    >>> table = pd.DataFrame({"label": ["a"], "factuality": [0.5], "randomness": [0.3],
    ...                       "error": [0.2]})
    >>> len(class_bars(table).patches)
    3
    """
    if table.empty:
        return empty(ax, "There are no shares to draw.")
    ax = ax or plt.subplots(figsize=(6, 1.2 + 0.34 * len(table)))[1]
    places, start = np.arange(len(table)), np.zeros(len(table))
    for name, shade in COLOURS.items():
        width = table[name].to_numpy(dtype=float)
        ax.barh(places, width, 0.7, left=start, color=shade, label=names[name], lw=0)
        start += width
    for place, row in zip(places, table.to_dict("records")):
        for name in ("factuality", "error"):
            if pd.notna(row.get(f"{name}_low")):
                ends = np.array([row[f"{name}_low"], row[f"{name}_high"]], dtype=float)
                ends = 1 - ends if name == "error" else ends
                shift = 0.12 if name == "error" else -0.12
                ax.plot(ends, [place + shift] * 2, color=INK, lw=1.5, marker="|", ms=5)
    name_rows(ax, table["label"])
    ax.set_xlim(0, 1)
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.set_xlabel("share of items")
    ax.grid(axis="y", visible=False)
    legend_above(ax)
    return ax


def lines(
    table: pd.DataFrame,
    x: str,
    line: str,
    ax: Axes | None = None,
    xlabel: str = "",
    ylabel: str = "share of items",
) -> Axes:
    """Draw shares along an axis, one line with its band of intervals for each name.

    Parameters
    ----------
    table : DataFrame
        Columns `x`, `line`, ``estimate, low, high``.
    x, line : str
        Column along the axis, and of the lines' names; the three classes have their colours.
    ax : Axes, optional
        By default a new figure.
    xlabel, ylabel : str

    Returns
    -------
    Axes

    Examples
    --------
    >>> table = pd.DataFrame({"tau": [0.5, 1], "class": "error", "estimate": [0.4, 0.1],
    ...                       "low": [0.3, 0.0], "high": [0.5, 0.2]})
    >>> lines(table, "tau", "class").get_lines()[0].get_label()
    'prompt-agnostic error'
    """
    if table["estimate"].isna().all():
        return empty(ax, "There is no question to draw.")
    ax = ax or plt.subplots()[1]
    shades = colours(table[line].unique()) | COLOURS | {"randomness": GREY}
    styles = ("-", "--", "-.", ":")
    for number, (name, part) in enumerate(table.groupby(line, sort=False)):
        part, shade = part.sort_values(x), shades[name]
        dashes = styles[number % len(styles)]
        shown = NAMES.get(name, name)
        band(ax, part[x], part, shade, shown, ls=dashes)
    share_axis(ax.yaxis)
    ax.set_xlabel(xlabel or x)
    ax.set_ylabel(ylabel)
    legend_above(ax)
    return ax


def roc_curves(curves: Mapping[str, pd.DataFrame], ax: Axes | None = None) -> Axes:
    """Draw ROC curves over the diagonal of a score that tells nothing.

    Parameters
    ----------
    curves : mapping
        Name to a table from :func:`helpers.metrics.detection.roc`; where that is empty, the name
        has no curve.
    ax : Axes, optional
        By default a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> points = pd.DataFrame({"false_positive_rate": [0, 1], "true_positive_rate": [0, 1]})
    >>> roc_curves({"perplexity": points}).get_xlabel()
    'false alarms'
    """
    if all(points.empty for points in curves.values()):
        told = "; ".join(curves)
        return empty(ax, f"Without cases of both kinds there is no curve: {told}.")
    ax = ax or plt.subplots(figsize=(5, 5))[1]
    ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls=":")
    dashes = ("-", "--", "-.")
    for number, (name, points) in enumerate(curves.items()):
        shade, style = (ORANGE, BLUE, GREEN)[number % 3], dashes[number % 3]
        xy = points["false_positive_rate"], points["true_positive_rate"]
        ax.plot(*xy, color=shade, ls=style, lw=2, label=plain(name))
    ax.set_xlabel("false alarms")
    ax.set_ylabel("found")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(PercentFormatter(1))
    ax.set_aspect("equal")
    legend_above(ax)
    return ax


def _tops(sizes: pd.Series, gap: float) -> pd.Series:
    """Return where each block of a stack begins."""
    return (sizes.cumsum() - sizes + gap * np.arange(len(sizes))).astype(float)


def _end(ax: Axes, x: float, top: float, n: float, shade: str, name: str, side: str) -> None:
    """Draw a block at one end of the streams, with its name and number."""
    out = -1 if side == "right" else 1
    ax.add_patch(Rectangle((min(x, x + 0.05 * out), top), 0.05, n, color=shade, lw=0))
    told = f"{name}\n{n:.0f}" if n else f"{name}: 0"
    ax.text(x + 0.08 * out, top + n / 2, told, ha=side, va="center", size=10)


def _stream(ax: Axes, start: float, end: float, n: float, shade: str) -> None:
    """Draw a stream from one block to another."""
    x = np.linspace(0, 1, 50)
    bend = x**2 * (3 - 2 * x)
    top = start + (end - start) * bend
    ax.fill_between(x, top, top + n, color=shade, alpha=0.45, lw=0)
