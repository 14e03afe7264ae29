"""Figures of spread: over frames, relations, anchors and the objects of one prompt."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from helpers.plots.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    RED,
    colours,
    empty,
    legend_above,
    name_rows,
    plain,
    reach,
)

SHADES = {"": BLUE, "true": GREEN, "false": RED}


def accuracy_boxes(
    table: pd.DataFrame, ax: Axes | None = None, order: Sequence[str] | None = None
) -> Axes:
    """Draw the accuracies of the frames as a box for each kind of probe.

    Parameters
    ----------
    table : DataFrame
        One row per prompt: ``probe`` (kind shown below the box), ``frame``, ``accuracy`` in [0, 1];
        with ``low, high`` each point bears its interval, with ``model`` each model has its own box.
    ax : Axes, optional
        By default a new figure.
    order : sequence of str, optional
        Probes from left to right; by default as they come.

    Returns
    -------
    Axes

    Notes
    -----
    Wang et al. 2024, Figure 11. The box spans the quartiles, with a line at the median; all frames
    are drawn, so there are no whiskers. The base frame (0) is a white diamond.

    Examples
    --------
    >>> table = pd.DataFrame({"probe": "QA", "frame": [0, 1], "accuracy": [0.5, 0.7]})
    >>> accuracy_boxes(table).get_ylabel()
    'accuracy'
    """
    if table["accuracy"].isna().all():
        return empty(ax, "There is no prompt with an accuracy to draw.")
    ax = ax or plt.subplots()[1]
    probes = list(dict.fromkeys(table["probe"])) if order is None else list(order)
    models = list(dict.fromkeys(table["model"])) if "model" in table else [None]
    width = 0.8 / len(models)
    shades = {None: BLUE} if "model" not in table else colours(models)
    for number, model in enumerate(models):
        colour = shades[model]
        part = table if model is None else table[table["model"] == model]
        for place, probe in enumerate(probes):
            middle = place + (number - (len(models) - 1) / 2) * width
            rows = part[part["probe"] == probe].sort_values("frame")
            if len(rows):
                _box(ax, rows, middle, width * 0.85, colour)
        if model is not None:
            ax.plot([], [], "s", color=colour, alpha=0.6, label=plain(model))
    ax.plot([], [], "D", color="white", markeredgecolor=INK, label="base frame")
    ax.set_xticks(range(len(probes)), [plain(probe) for probe in probes])
    ax.set_ylabel("accuracy")
    ax.set_ylim(-0.03, 1.03)
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.grid(visible=False, axis="x")
    legend_above(ax)
    return ax


def dots(
    table: pd.DataFrame,
    ax: Axes | None = None,
    published: Mapping[str, float] | None = None,
    published_label: str = "published",
) -> Axes:
    """Draw an estimate with its interval for each relation, one below the other.

    Parameters
    ----------
    table : DataFrame
        ``relation, estimate, low, high``, as from :func:`helpers.stats.intervals`. The
        rows ``all`` and ``mean`` are set apart at the foot, the others are sorted.
    ax : Axes, optional
        By default a new figure, tall enough for the rows.
    published : mapping, optional
        Name to a published figure, drawn as a hollow diamond.
    published_label : str
        What the legend calls it.

    Returns
    -------
    Axes

    Examples
    --------
    >>> table = pd.DataFrame({"relation": ["P17", "all"], "estimate": [0.5, 0.6],
    ...                       "low": [0.4, 0.5], "high": [0.6, 0.7]})
    >>> [text.get_text() for text in dots(table).get_yticklabels()]
    ['P17', 'all']
    """
    if table["estimate"].isna().all():
        return empty(ax, "Undefined: there is no fact to take it over.")
    summary = table["relation"].isin(["all", "mean"])
    ordered = pd.concat([table[~summary].sort_values("estimate"), table[summary]])
    places = np.arange(len(ordered), dtype=float)
    places[(~summary).sum() :] += 0.5
    ax = ax or plt.subplots(figsize=(6, 1.2 + 0.28 * len(ordered)))[1]
    for place, row in zip(places, ordered.to_dict("records")):
        end = row["relation"] in ("all", "mean")
        shade = INK if end else BLUE
        ax.plot([row["low"], row["high"]], [place, place], color=shade, lw=2, alpha=0.55)
        ax.plot(row["estimate"], place, "s" if end else "o", color=shade, ms=6)
        if published is not None and row["relation"] in published:
            value = published[row["relation"]]
            ax.plot(value, place, "D", mfc="white", mec=RED, mew=1.5, ms=6)
    if published is not None:
        ax.plot([], [], "o-", color=BLUE, label="this model")
        ax.plot([], [], "D", mfc="white", mec=RED, mew=1.5, label=plain(published_label))
        legend_above(ax)
    ax.set_yticks(places, [plain(str(name)) for name in ordered["relation"]])
    ax.set_ylim(len(places) + 0.1 if summary.any() else len(places) - 0.4, -0.6)
    ax.set_xlabel("MONITOR (lower is better)")
    return ax


def object_bars(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the probability of each object as a bar with its value, the likeliest on top.

    The probabilities of one prompt are no sample, so there are no intervals to draw. A column
    `before` holds those of another prompt, drawn as hollow bars.

    >>> table = pd.DataFrame({"object": ["Peru", "France"], "probability": [0.0003, 0.7],
    ...                       "told": ["", "true"]})
    >>> ax = object_bars(table)
    >>> [text.get_text() for text in ax.get_yticklabels()], [text.get_text() for text in ax.texts]
    (['France (true)', 'Peru'], ['70.0 %', 'below 0.1 %'])
    """
    if table.empty:
        return empty(ax, "There is no object to draw.")
    table = table.sort_values("probability", ascending=False, kind="stable")
    ax = ax or plt.subplots(figsize=(6, 0.8 + 0.3 * len(table)))[1]
    places = range(len(table))
    ax.barh(places, table["probability"], height=0.7, color=table["told"].map(SHADES))
    if "before" in table:
        ax.barh(places, table["before"], height=0.8, fill=False, edgecolor=GREY, linestyle="--")
    for place, value in zip(places, table["probability"]):
        share = f"{100 * value:.1f} %" if value >= 0.0005 else "below 0.1 %"
        ax.text(value + 0.01, place, share, va="center", fontsize=9)
    marks = table["told"].map({"": "", "true": " (true)", "false": " (stated falsely)"})
    name_rows(ax, table["object"] + marks)
    ax.set_xlim(0, 1.12)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1])
    ax.xaxis.set_major_formatter(PercentFormatter(1))
    ax.set_xlabel("probability")
    ax.grid(visible=False, axis="y")
    return ax


def _box(ax: Axes, rows: pd.DataFrame, middle: float, width: float, colour: str) -> None:
    """Draw one box with its points side by side, the base frame as a diamond."""
    ax.boxplot(
        rows["accuracy"],
        positions=[middle],
        widths=width,
        whis=(0, 100),
        manage_ticks=False,
        patch_artist=True,
        boxprops={"facecolor": f"{colour}33", "edgecolor": colour, "linewidth": 1.5},
        whiskerprops={"linewidth": 0},
        showcaps=False,
        medianprops={"color": colour, "linewidth": 2.5},
    )
    places = middle + width * 0.35 * np.linspace(-1, 1, len(rows))
    rows = rows.rename(columns={"low": "accuracy_low", "high": "accuracy_high"})
    for place, row in zip(places, rows.to_dict("records")):
        base = row["frame"] == 0
        ax.errorbar(
            place,
            row["accuracy"],
            yerr=reach(row, "accuracy"),
            fmt="D" if base else "o",
            ms=6 if base else 4,
            color=colour,
            mfc="white" if base else colour,
            mec=INK if base else colour,
            elinewidth=1,
            zorder=3,
        )
