"""Box plots with every value in them."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from notebooks.kit.plots import style


def box_plot(table: pd.DataFrame, label: str, value: str, xlabel: str = "") -> Axes:
    """Draw a box for each label, and its values as dots; values are shares.

    A box reaches from quarter to quarter with the median in it, its whiskers to the
    least and the largest value.

    >>> table = pd.DataFrame({"kind": ["QA", "QA", "WP"], "accuracy": [0.2, 0.4, 0.1]})
    >>> ax = box_plot(table, "kind", "accuracy")
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['QA', 'WP']
    """
    table = table.dropna(subset=[value])
    if table.empty:
        return style.empty_panel(None, "There are no values to draw.")
    labels = list(dict.fromkeys(table[label]))
    height = 1.1 + 0.35 * len(labels)
    _, ax = plt.subplots(figsize=(style.FIGURE_WIDTH, height))
    for row, name in enumerate(labels):
        values = table.loc[table[label] == name, value].to_numpy(dtype=float)
        ax.boxplot(
            values,
            positions=[row],
            orientation="horizontal",
            widths=0.6,
            whis=(0, 100),
            showfliers=False,
            medianprops={"color": style.INK, "lw": 1.5},
        )
        # So that equal values do not hide each other
        places = (np.arange(len(values)) + 0.5) / len(values) - 0.5
        ax.plot(values, row + 0.4 * places, ".", color=style.BLUE, ms=7)
    style.name_rows(ax, labels)
    style.show_axis_in_percent(ax.xaxis)
    ax.set_xlabel(xlabel)
    return ax
