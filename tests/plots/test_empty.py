"""A panel without data says why, and so does one whose numbers are undefined; alone, as text."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from notebooks.kit import plots
from notebooks.kit.plots import shared_figures
from tests.plots.figure_texts import draw_figure, label_texts

INTERVAL = {"estimate": np.nan, "low": np.nan, "high": np.nan}
ROW = {
    shared_figures.curve_plot: (("x",), {"x": 0, **INTERVAL}),
    shared_figures.dot_plot: ((), {"label": "all", **INTERVAL}),
    shared_figures.heat_map: ((), {"atlas-s": np.nan}),
    shared_figures.stacked_bar_plot: ((), {"known": np.nan}),
    plots.scatter_plot: (("x", "y"), {"label": "a", "x": np.nan, "y": 0.5}),
}
EMPTY = [(figure, *given, 0) for figure, given in ROW.items()]
EMPTY += [(figure, *given, 1) for figure, given in ROW.items()]


@pytest.mark.parametrize(
    ("figure", "words", "row", "rows"),
    EMPTY,
    ids=lambda value: getattr(value, "__name__", None),
)
@pytest.mark.parametrize("given", [True, False], ids=["given axes", "its own"])
def test_nothing_to_draw_is_said(figure, words, row, rows, given, ax, capsys):
    there = plt.get_fignums()  # of tests before it in the same process
    made = draw_figure(
        figure(pd.DataFrame([row]).head(rows), *words, ax=ax if given else None)
    )
    assert (made is ax) == given
    assert bool(capsys.readouterr().out) != given
    assert plt.get_fignums() == there
    (reason,) = label_texts(made.texts)
    assert reason.endswith(".")
    assert not made.lines
    assert not label_texts(made.get_xticklabels())


def test_labels_and_scales_set_later_leave_the_reason(ax):
    plots.empty_panel(
        ax, "Nothing $counts$ here, <b>and</b> nothing 京 will: " + 20 * "long "
    ).set_xscale("log")
    ax.set_xlabel("probability")
    (reason,) = label_texts(draw_figure(ax).texts)
    assert reason.startswith("Nothing $counts$ here, <b>and</b> nothing ▯ will")
    assert len(reason.splitlines()) == 3
    assert ax.get_xlabel() == "probability"
