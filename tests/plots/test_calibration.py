"""Figures of methods compared: what is drawn is what the tables say."""

import numpy as np
import pandas as pd

from helpers import plots
from helpers.stats import agreement
from tests.plots.drawn import texts


def test_upset_stacks_groups_and_marks_methods():
    table = pd.DataFrame({"a": [1, 1, 0, 0], "b": [1, 1, 1, 0]})
    counts = agreement.combinations(table, ["x", "y", "x", "x"], ["x", "y"])
    above, below = plots.upset(counts)
    heights = np.array([bar.get_height() for bar in above.patches]).reshape(2, -1)
    assert heights.sum(axis=0).tolist() == [2, 1, 1]
    assert texts(above.texts) == ["2", "1", "1"]
    assert len(below.collections[0].get_offsets()) == 6
    assert above.get_ylim()[1] > 2


def test_agreement_map_has_one_measure_on_each_side():
    pair = pd.DataFrame({"first": ["a"], "second": ["b"], "estimate": [0.5], "low": [0.4],
                         "high": [0.6]})  # fmt: skip
    ax = plots.agreement_map(pair, pair.assign(estimate=-0.2), ["a", "b"])
    field = ax.images[0].get_array().data
    assert field[0, 1] == 0.5
    assert field[1, 0] == -0.2
    assert ax.texts[1].get_text().startswith("\N{MINUS SIGN}0.20")


def test_cost_plane_draws_intervals_and_both_prices():
    table = pd.DataFrame({"method": ["MONITOR", "IC-LKE"], "tokens": [200.0, 9000.0],
                          "forwarded": [100.0, 90.0], "estimate": [0.2, 0.1],
                          "low": [0.1, 0.0], "high": [0.3, 0.2]})  # fmt: skip
    ax = plots.cost_plane(table)
    ends = [line.get_xdata().tolist() for line in ax.lines if len(line.get_xdata()) == 2]
    assert [100.0, 200.0] in ends
    assert [90.0, 9000.0] in ends
    assert len(ax.containers) == 2
    names = {text.get_text() for text in ax.get_xticklabels()}
    assert {"100", "1,000", "10,000"} <= names
    assert not any("$" in name for name in names)  # formulas are switched off


def test_without_facts_each_figure_says_so():
    nothing = pd.DataFrame(
        {"first": [], "second": [], "estimate": [], "contrast": [], "method": []}
    )
    drawn = [
        plots.agreement_map(nothing, nothing, ["a", "b"]),
        plots.area_dots(nothing, "contrast", "method"),
        plots.cost_plane(nothing),
        plots.upset(pd.DataFrame())[0],
    ]
    assert all("Too few facts" in ax.texts[0].get_text() for ax in drawn)


def test_an_undefined_agreement_is_written_as_such():
    pair = pd.DataFrame({"first": ["a"], "second": ["b"], "estimate": [0.5], "low": [np.nan],
                         "high": [np.nan]})  # fmt: skip
    ax = plots.agreement_map(pair, pair.assign(estimate=np.nan), ["a", "b"])
    assert texts(ax.texts) == ["0.50", "undefined"]


def test_area_dots_show_the_coin():
    table = pd.DataFrame({"contrast": ["c"] * 2, "method": ["MONITOR", "asked once"]})
    table = table.assign(estimate=[0.7, 0.8], low=[0.6, 0.7], high=[0.8, 0.9])
    ax = plots.area_dots(table, "contrast", "method", low=0.4)
    assert any(list(line.get_xdata()) == [0.5, 0.5] for line in ax.lines)
    assert ax.get_xlim()[0] == 0.4
