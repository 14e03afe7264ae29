"""Curves over exposures, sizes and numbers hold what the tables hold."""

import numpy as np
import pandas as pd

from helpers import plots
from tests.plots.drawn import draw, legend, texts


def test_exposure_axis_is_logarithmic_with_zero_at_its_left(ax):
    table = pd.DataFrame({"exposures": [8, 0, 1, 2], "estimate": [0.9, 0.1, 0.2, 0.4]})
    table = table.assign(low=table["estimate"] - 0.1, high=table["estimate"] + 0.1)
    both = pd.concat([table.assign(model=m) for m in ("atlas-s", "atlas-m")])
    draw(plots.exposure_curve(both, ax))
    assert texts(ax.get_xticklabels()) == ["0", "1", "2", "8"]
    assert ax.get_xticks()[1:].tolist() == [0, 1, 3]
    assert ax.get_xticks()[0] < 0
    assert legend(ax) == ["atlas-s", "atlas-m"]
    assert ax.get_lines()[0].get_xdata().tolist() == [0, 1, 3]


def test_scale_axis_counts_in_millions(ax):
    table = pd.DataFrame(
        {"series": "atlas", "parameters": [4e6, 1e6], "estimate": [0.5, 0.7]}
    ).assign(low=0.4, high=0.8)
    draw(plots.scale_curve(table, ax))
    assert {"1 M", "2 M"} <= set(texts(ax.get_xticklabels()))
    assert ax.get_lines()[0].get_xdata().tolist() == [1e6, 4e6]


def test_points_without_an_interval_are_drawn_beside_those_with_one(ax):
    table = pd.DataFrame(
        {
            "series": ["BLOOMZ", "BLOOMZ", "runs"],
            "parameters": [1e9, 3e9, 4e6],
            "estimate": [0.7, 0.6, 0.5],
            "low": [np.nan, np.nan, 0.4],
            "high": [np.nan, np.nan, 0.6],
        }
    )
    draw(plots.scale_curve(table, ax))
    assert legend(ax) == ["BLOOMZ", "runs"]


def test_lines_by_number_have_points_and_bars_where_there_are_intervals(ax):
    table = pd.DataFrame(
        {
            "model": ["atlas-s", "atlas-s", "atlas-m", "atlas-m"],
            "examples": [0, 50, 50, 0],
            "estimate": [0.1, 0.4, 0.6, 0.2],
        }
    )
    draw(plots.line_curve(table, "examples", ax, even=True))
    assert texts(ax.get_xticklabels()) == ["0", "50"]
    assert [line.get_xydata().tolist() for line in ax.lines] == [
        [[0, 0.1], [1, 0.4]],
        [[0, 0.2], [1, 0.6]],
    ]
    assert [line.get_color() for line in ax.lines] == [
        plots.model_colour(name) for name in ("atlas-s", "atlas-m")
    ]
    bare = len(ax.collections)
    other = draw(plots.line_curve(table.assign(low=0.0, high=1.0), "examples", xlabel="shots"))
    assert other.get_xlabel() == "shots"
    assert len(other.collections) == bare + 2 * 2  # a band and its bars for each model
    assert other.lines[0].get_xdata().tolist() == [0, 50]


def test_contexts_by_exposure_are_named_at_their_curves(ax):
    counts = [0, 1, 8]
    rows = [
        pd.DataFrame({"context": name, "exposures": counts, "estimate": [low, low, 0.9]})
        for name, low in (("none", 0.2), ("right", 0.5), ("wrong", 0.1))
    ]
    table = pd.concat(rows).assign(low=0.05, high=0.95)
    draw(plots.context_curves(table, ax))
    assert {text.get_text() for text in ax.texts} == set(plots.CONTEXTS.values())
    assert [line.get_ydata().tolist() for line in ax.lines[::2]] == [
        [0.5, 0.9],
        [0.2, 0.9],
        [0.1, 0.9],
    ]
    assert texts(ax.get_xticklabels()) == ["0", "1", "8"]


def test_contexts_of_unknown_exposure_are_points(ax):
    table = pd.DataFrame({"context": ["wrong", "none"], "estimate": [0.3, 0.8]})
    draw(plots.context_curves(table.assign(low=0.2, high=0.9), ax))
    assert texts(ax.get_xticklabels()) == [plots.CONTEXTS["none"], plots.CONTEXTS["wrong"]]
    assert [line.get_ydata().tolist() for line in ax.lines] == [[0.8], [0.3]]
