"""Figures of spread: over frames, relations, anchors and the objects of one prompt."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from helpers.plots.style import (
    BLUE,
    GREEN,
    GREY,
    RED,
    WIDTH,
    empty,
    name_rows,
)

SHADES = {"": BLUE, "true": GREEN, "false": RED}


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
    size = (WIDTH - 0.5, 0.7 + 0.24 * len(table))  # stands in a box with margins
    ax = ax or plt.subplots(figsize=size)[1]
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
