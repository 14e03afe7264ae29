"""Scatters name their points and draw what the tables hold."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from notebooks.kit import plots, published
from tests.plots.figure_texts import draw_figure, label_texts


def test_scatter_names_every_point_and_tells_r(ax):
    table = (
        published.load_published_table("monitor_table4")
        .reset_index()
        .assign(published=True)
    )
    draw_figure(plots.scatter_plot(table, "MONITOR", "avg", ax, label="row"))
    assert sorted(label_texts(ax.texts)) == sorted(table["row"])
    assert ax.get_title("left") == "r = −0.85 [−0.96, −0.53], n = 12"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("MONITOR", "avg")


@pytest.mark.parametrize(("n", "given"), [(5, False), (6, True)])
def test_fewer_than_six_points_have_no_correlation(ax, n, given):
    table = pd.DataFrame(
        {"label": list("abcdef"), "x": range(6), "y": [1, 0, 2, 3, 5, 4]}
    ).head(n)
    assert ("r =" in plots.scatter_plot(table, "x", "y", ax).get_title("left")) == given


def test_scatter_draws_both_intervals(ax):
    table = pd.DataFrame(
        {
            "label": ["a", "b"],
            "x": [0.1, 0.2],
            "x_low": [0.05, np.nan],
            "x_high": [0.2, np.nan],
            "y": [1.0, 2.0],
            "y_low": [0.5, 1.5],
            "y_high": [1.5, 2.5],
        }
    )
    draw_figure(plots.scatter_plot(table, "x", "y", ax))
    bars = [len(container[2]) for container in ax.containers]
    assert bars == [2, 1]
    across, up = ax.containers[0][2]
    np.testing.assert_allclose(across.get_segments()[0][:, 0], [0.05, 0.2])
    np.testing.assert_allclose(up.get_segments()[0][:, 1], [0.5, 1.5])


def test_names_do_not_lie_on_each_other(ax):
    table = pd.DataFrame(
        {"label": ["first", "second"], "x": [0.5, 0.501], "y": [0.5, 0.5]}
    )
    draw_figure(plots.scatter_plot(table, "x", "y", ax))
    first, second = (text.get_window_extent() for text in ax.texts)
    assert not first.overlaps(second)


def test_any_text_is_drawn_as_it_is(ax):
    names = ["$x_$", "100 %", "京都", r"\frac", "a_b^c"]
    table = pd.DataFrame({"label": names, "x": range(5), "y": range(5)})
    draw_figure(plots.scatter_plot(table, "x", "y", ax))
    assert "▯▯" in label_texts(ax.texts)


def test_scatter_of_many_points_leaves_the_names_out():
    many = pd.DataFrame(
        {"label": list("abcdefghijklmnopqrst"), "x": range(20), "y": range(20)}
    )
    few = many.head(5)
    for table, names in ((few, list("abcde")), (many, [])):
        _, ax = plt.subplots()
        plots.scatter_plot(table, "x", "y", ax)
        assert label_texts(ax.texts) == names
        plt.close(ax.figure)
