"""The slides of the MONITOR paper: a panel that the paper lacks, and what differs."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from notebooks.kit import published
from notebooks.kit.plots import scatter_plot, style

PANELS = {"avg": "average accuracy, %", "probs": "mean primary anchor"}


def draw_monitor_against_accuracy_and_anchor() -> list[Axes]:
    """Draw MONITOR of Table 4 against accuracy and the anchor, as the slides do."""
    table = published.load_published_table("monitor_table4")
    table = table.rename(columns=PANELS).rename_axis("label").reset_index()
    _, axes = plt.subplots(2, figsize=(style.FIGURE_WIDTH, 6.4), layout="constrained")
    for ax, x in zip(axes, PANELS.values(), strict=True):
        scatter_plot(table, x, "MONITOR", ax=ax)
    return list(axes)


def differing_numbers_of_slides(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the slides' numbers that are not Table 4's, rounded."""
    is_of_slides = cells["check"].str.startswith("Slides")
    differing = cells[is_of_slides & ~cells["agrees"]]
    names = {"row": "model and column", "published": "slides", "recomputed": "Table 4"}
    return differing.rename(columns=names)[list(names.values())]
