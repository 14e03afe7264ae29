"""One measure against another, each point named."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from helpers import stats
from notebooks.kit.plots.style import (
    BLUE,
    drawable_text,
    empty_panel,
    error_bar_lengths,
    model_colour,
)

# Where a name may stand, the best first: points right, points up, alignment.
_SIDES = (
    *((8, 0, "left"), (-8, 0, "right"), (7, 8, "left"), (7, -8, "left")),
    *((-7, 8, "right"), (-7, -8, "right"), (0, 12, "center"), (0, -12, "center")),
)
MOST_NAMES = 15  # more would hide the points


def scatter_plot(
    table: pd.DataFrame, x: str, y: str, ax: Axes | None = None, label: str = "label"
) -> Axes:
    """Draw one measure against another, with both intervals (Wang et al. 2024, Figures 4 and 8).

    Parameters
    ----------
    table : DataFrame
        Columns `label`, `x`, `y`; intervals in ``<x>_low, <x>_high`` and likewise for
        y, not a number where there is none; with ``published`` (bool), such points are
        hollow.
    x, y : str
        Columns; they also name the axes.
    ax : Axes, optional
        By default a new figure.
    label : str
        Column of names, of which up to 15 are written, in colours that their points
        share.

    Returns
    -------
    Axes
        Above it stands Pearson's r with its interval and n, if there are six points or
        more.

    Examples
    --------
    >>> table = pd.DataFrame({"label": ["a", "b"], "MONITOR": [0.5, 0.6], "accuracy": [0.4, 0.2]})
    >>> scatter_plot(table, "MONITOR", "accuracy").get_xlabel()
    'MONITOR'
    """
    table = table.dropna(subset=[x, y])
    if table.empty:
        return empty_panel(ax, f"There is no pair of figures to draw: {x} and {y}.")
    ax = ax or plt.subplots()[1]
    named = len(table) <= MOST_NAMES
    for row in table.to_dict("records"):
        colour = model_colour(str(row[label])) if named else BLUE
        hollow = bool(row.get("published", False))
        shape = {
            "fmt": "D" if hollow else "o",
            "mfc": "white" if hollow else colour,
            "mew": 1.5,
        }
        shape |= {"ms": 7 if named else 5, "elinewidth": 1.5 if named else 0.6}
        ax.errorbar(
            row[x],
            row[y],
            error_bar_lengths(row, y),
            error_bar_lengths(row, x),
            color=colour,
            **shape,
        )
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.margins(0.12)
    found = stats.correlation_over_models(table[x], table[y])
    if not np.isnan(found.low):
        text = f"r = {found.r:.2f} [{found.low:.2f}, {found.high:.2f}], n = {found.n}"
        ax.set_title(text.replace("-", "\N{MINUS SIGN}"), loc="left")
    if named:
        name_points(ax, table, x, y, label)
    return ax


def name_points(ax: Axes, table: pd.DataFrame, x: str, y: str, label: str) -> None:
    """Write each name beside its point, at the side where it hides least."""
    ax.figure.draw_without_rendering()
    marks = ax.transData.transform(_marks(table, x, y))
    frame, taken = ax.get_window_extent(), []
    for place, row in enumerate(table.to_dict("records")):
        candidates = []
        for left, up, align in _SIDES:
            put = {
                "textcoords": "offset points",
                "ha": align,
                "va": "center",
                "fontsize": 9,
            }
            text = ax.annotate(
                drawable_text(str(row[label])), (row[x], row[y]), (left, up), **put
            )
            box = text.get_window_extent()
            wide = Bbox.from_extents(box.x0 - 8, box.y0 - 2, box.x1 + 8, box.y1 + 2)
            cost = 3 * sum(box.overlaps(other) for other in taken)
            cost += sum(wide.contains(*mark) for mark in marks)
            cost += 5 * (box.x0 < frame.x0 or box.x1 > frame.x1)
            cost += 2 * (
                _away(box, marks[: len(table)]).min()
                < _away(box, marks[[place]])[0] - 1
            )
            candidates.append((cost, text, box))
        best = min(candidates, key=lambda candidate: candidate[0])
        for candidate in candidates:
            if candidate is not best:
                candidate[1].remove()
        taken.append(best[2])


def _away(box: Bbox, points: np.ndarray) -> np.ndarray:
    """Return how far points are from a box."""
    return np.hypot(*(points - np.clip(points, box.min, box.max)).T)


def _marks(table: pd.DataFrame, x: str, y: str) -> np.ndarray:
    """Return places along the points and their intervals, which names should not hide."""
    places = [table[[x, y]].to_numpy(dtype=float)]
    for across, column in ((True, x), (False, y)):
        if {f"{column}_low", f"{column}_high"} <= set(table.columns):
            for share in np.linspace(0, 1, 9):
                along = (
                    table[f"{column}_low"] * (1 - share)
                    + table[f"{column}_high"] * share
                )
                pair = [along, table[y]] if across else [table[x], along]
                places.append(np.column_stack(pair).astype(float))
    marks = np.concatenate(places)
    return marks[~np.isnan(marks).any(axis=1)]
