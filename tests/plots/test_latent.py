"""Rows of dots and maps draw what the tables hold."""

import numpy as np
import pandas as pd

from helpers import plots
from tests.plots.drawn import texts

ENDS = {"estimate": [0.2, 0.6], "low": [0.1, 0.5], "high": [0.3, 0.7]}


def test_dots_of_a_row_do_not_cover_each_other():
    table = pd.DataFrame({"relation": ["P17", "P17"], "way": ["list", "HGP"], **ENDS})
    ax = plots.grouped_dots(table, "relation", "way")
    heights = [line.get_ydata()[0] for line in ax.get_lines()]
    assert len(set(heights)) == 2
    single = table.assign(relation=["P17", "P36"])
    ax = plots.grouped_dots(single, "relation", "way")
    assert [line.get_ydata()[0] for line in ax.get_lines()] == [0, 1]  # in the row's middle


def test_the_map_writes_its_numbers():
    table = pd.DataFrame({"a": [0.5, np.nan], "b": [1.0, 0.043]}, index=["x$", "y"])
    ax = plots.accuracy_map(table)
    assert texts(ax.texts) == ["50", "100", "4"]
    assert ax.get_yticklabels()[0].get_text() == "x$"
