"""Figures of latent knowledge draw what the tables hold."""

import numpy as np
import pandas as pd
import pytest

from helpers import plots
from tests.plots.drawn import texts

ENDS = {"estimate": [0.2, 0.6], "low": [0.1, 0.5], "high": [0.3, 0.7]}


def test_a_curve_bears_its_mark():
    table = pd.DataFrame({"n": [50, 1], "model": "atlas-s", **ENDS})
    ax = plots.share_curve(table, "n", marks={"atlas-s": 5})
    line = ax.get_lines()[0]
    assert line.get_xdata().tolist() == [1, 50]  # sorted
    assert line.get_ydata().tolist() == [0.6, 0.2]
    assert list(ax.get_lines()[1].get_xdata()) == [5, 5]
    assert len(plots.share_curve(table, "n", marks={"atlas-s": None}).get_lines()) == 1


def test_places_keep_their_status():
    table = pd.DataFrame(
        {
            "place": range(4),
            "probability": [0.8, 0.1, 0.4, 0.6],
            "status": ["before", "replaced", "following", "other"],
        }
    )
    ax = plots.list_places(table, title="wrong")
    dots = [line for line in ax.get_lines() if line.get_marker() == "o"]
    assert sorted(y for dot in dots for y in dot.get_ydata()) == [0.1, 0.4, 0.6, 0.8]
    assert ax.get_lines()[-1].get_ydata()[0] == pytest.approx(0.6)  # without the replaced pair
    assert len(ax.get_legend_handles_labels()[1]) == 3


def test_panels_one_a_list():
    table = pd.DataFrame({"place": [0] * 3, "probability": 0.5, "status": "other"})
    axes = plots.list_panels(table.assign(variant=list("abc")))
    assert [ax.get_title(loc="left") for ax in axes] == ["a", "b", "c"]


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


def test_reliability_has_an_interval_for_each_dot():
    table = pd.DataFrame({"confidence": [0.2, 0.9], "accuracy": [0.5, 1.0], "n": [10, 4]})
    ax = plots.reliability_diagram({"atlas-s": table})
    (segments,) = [c.get_segments() for c in ax.collections if hasattr(c, "get_segments")]
    assert segments[1][1][1] == pytest.approx(1.0)  # 4 of 4: up to 1
    assert segments[0][0][1] < 0.5 < segments[0][1][1]
