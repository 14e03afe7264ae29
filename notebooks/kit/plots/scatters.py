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
    (8, 0, "left"),
    (-8, 0, "right"),
    (7, 8, "left"),
    (7, -8, "left"),
    (-7, 8, "right"),
    (-7, -8, "right"),
    (0, 12, "center"),
    (0, -12, "center"),
)
MOST_NAMES = 15  # more would hide the points


def scatter_plot(
    table: pd.DataFrame, x: str, y: str, ax: Axes | None = None, label: str = "label"
) -> Axes:
    """Draw one measure against another, with both intervals.

    As Figures 4 and 8 of Wang et al. 2024.

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
    >>> table = pd.DataFrame({"label": ["a", "b"], "MONITOR": [0.5, 0.6]})
    >>> table["accuracy"] = [0.4, 0.2]
    >>> scatter_plot(table, "MONITOR", "accuracy").get_xlabel()
    'MONITOR'
    """
    table = table.dropna(subset=[x, y])
    if table.empty:
        return empty_panel(ax, f"There is no pair of figures to draw: {x} and {y}.")
    ax = ax or plt.subplots()[1]
    is_named = len(table) <= MOST_NAMES
    for row in table.to_dict("records"):
        colour = model_colour(str(row[label])) if is_named else BLUE
        is_hollow = bool(row.get("published", False))
        ax.errorbar(
            row[x],
            row[y],
            error_bar_lengths(row, y),
            error_bar_lengths(row, x),
            color=colour,
            fmt="D" if is_hollow else "o",
            mfc="white" if is_hollow else colour,
            mew=1.5,
            ms=7 if is_named else 5,
            elinewidth=1.5 if is_named else 0.6,
        )
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.margins(0.12)
    r = stats.correlation_over_models(table[x], table[y])
    if not np.isnan(r.low):
        title = f"r = {r.r:.2f} [{r.low:.2f}, {r.high:.2f}], n = {r.n}"
        ax.set_title(title.replace("-", "\N{MINUS SIGN}"), loc="left")
    if is_named:
        name_points(ax, table, x, y, label)
    return ax


def name_points(ax: Axes, table: pd.DataFrame, x: str, y: str, label: str) -> None:
    """Write each name beside its point, at the side where it hides least."""
    ax.figure.draw_without_rendering()
    marks = ax.transData.transform(_points_to_keep_clear(table, x, y))
    points = marks[: len(table)]
    frame = ax.get_window_extent()
    name_boxes: list[Bbox] = []
    for number, row in enumerate(table.to_dict("records")):
        best_text = None
        best_box = None
        least_cost = np.inf
        for right, up, alignment in _SIDES:
            text = ax.annotate(
                drawable_text(str(row[label])),
                (row[x], row[y]),
                (right, up),
                textcoords="offset points",
                ha=alignment,
                va="center",
                fontsize=9,
            )
            box = text.get_window_extent()
            cost = 3 * sum(box.overlaps(name_box) for name_box in name_boxes)
            cost += _cost_of_place(box, number, points, marks, frame)
            if cost >= least_cost:
                text.remove()
                continue
            if best_text is not None:
                best_text.remove()
            best_text = text
            best_box = box
            least_cost = cost
        name_boxes.append(best_box)


def _cost_of_place(
    box: Bbox, number: int, points: np.ndarray, marks: np.ndarray, frame: Bbox
) -> int:
    """Return what speaks against a box: hidden marks, the frame, other points."""
    margin = Bbox.from_extents(box.x0 - 8, box.y0 - 2, box.x1 + 8, box.y1 + 2)
    cost = sum(margin.contains(*mark) for mark in marks)
    if box.x0 < frame.x0 or box.x1 > frame.x1:
        cost += 5
    distances = _distances_from_box(box, points)
    own_distance = _distances_from_box(box, marks[[number]])[0]
    if distances.min() < own_distance - 1:  # it seems to name another point
        cost += 2
    return cost


def _distances_from_box(box: Bbox, points: np.ndarray) -> np.ndarray:
    differences = points - np.clip(points, box.min, box.max)
    return np.hypot(differences[:, 0], differences[:, 1])


def _points_to_keep_clear(table: pd.DataFrame, x: str, y: str) -> np.ndarray:
    """Return the points and places along their intervals; names should hide none."""
    places = [table[[x, y]].to_numpy(dtype=float)]
    if {f"{x}_low", f"{x}_high"} <= set(table.columns):
        for along in _places_along_interval(table, x):
            places.append(np.column_stack([along, table[y]]).astype(float))
    if {f"{y}_low", f"{y}_high"} <= set(table.columns):
        for along in _places_along_interval(table, y):
            places.append(np.column_stack([table[x], along]).astype(float))
    marks = np.concatenate(places)
    return marks[~np.isnan(marks).any(axis=1)]


def _places_along_interval(table: pd.DataFrame, column: str) -> list[pd.Series]:
    """Return nine places of each row, from the lower to the upper bound."""
    low = table[f"{column}_low"]
    high = table[f"{column}_high"]
    return [low * (1 - share) + high * share for share in np.linspace(0, 1, 9)]
