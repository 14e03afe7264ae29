"""Box plots: a box for each label, and each value a dot."""

import pandas as pd

from notebooks.kit.plots import boxes
from tests.plots.figure_texts import draw_figure, label_texts


def test_each_value_is_a_dot_in_the_row_of_its_label():
    table = pd.DataFrame(
        {"kind": ["a", "b", "a", "a"], "share": [0.1, 0.5, 0.3, float("nan")]}
    )
    ax = draw_figure(boxes.box_plot(table, "kind", "share", xlabel="share"))
    assert label_texts(ax.get_yticklabels()) == ["a", "b"]
    dots = [line for line in ax.get_lines() if line.get_marker() == "."]
    assert [line.get_xdata().tolist() for line in dots] == [[0.1, 0.3], [0.5]]
    assert dots[1].get_ydata().tolist() == [1.0]


def test_without_values_there_is_a_sentence():
    ax = boxes.box_plot(pd.DataFrame({"kind": [], "share": []}), "kind", "share")
    assert not ax.get_lines()
