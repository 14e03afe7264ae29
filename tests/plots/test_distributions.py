"""Distributions and dots: in the order asked for, with their intervals."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from helpers import plots
from helpers.plots.distributions import SHADES
from tests.plots.drawn import draw, legend, texts

OBJECTS = pd.DataFrame(
    {
        "object": ["Chad", "$5", "Peru"],
        "probability": [0.04, 0.9, 0.06],
        "told": ["false", "", "true"],
    }
)


@pytest.fixture
def accuracies():
    table = pd.DataFrame(
        [(probe, frame) for probe in ("WP", "QA", "FC-pos") for frame in range(7)],
        columns=["probe", "frame"],
    )
    table["accuracy"] = np.linspace(0.1, 0.9, len(table))
    return table.assign(low=table["accuracy"] - 0.05, high=table["accuracy"] + 0.05)


def test_boxes_stand_in_the_order_asked_for(ax, accuracies):
    found = draw(plots.accuracy_boxes(accuracies, ax, order=["QA", "WP", "FC-pos"]))
    assert found is ax
    assert texts(ax.get_xticklabels()) == ["QA", "WP", "FC-pos"]
    assert len(ax.containers) == 3 * 7
    assert legend(ax) == ["base frame"]
    assert len(ax.patches) == 3


def test_boxes_draw_each_points_interval(ax, accuracies):
    plots.accuracy_boxes(accuracies, ax)
    first = ax.containers[0]
    _, _, (bars,) = first
    np.testing.assert_allclose(bars.get_segments()[0][:, 1], [0.05, 0.15])


def test_boxes_of_two_models_have_their_colours(ax, accuracies):
    both = pd.concat([accuracies.assign(model=m) for m in ("atlas-s", "atlas-m")])
    plots.accuracy_boxes(both.drop(columns=["low", "high"]), draw(ax))
    assert legend(ax) == ["atlas-s", "atlas-m", "base frame"]
    assert len(ax.patches) == 6
    edges = {mpl.colors.to_hex(patch.get_edgecolor()) for patch in ax.patches}
    assert edges == {plots.model_colour("atlas-s"), plots.model_colour("atlas-m")}


def test_dots_are_sorted_with_the_summary_at_the_foot():
    table = pd.DataFrame(
        {
            "relation": ["P36", "P17", "P37", "all", "mean"],
            "estimate": [0.6, 0.4, 0.5, 0.45, 0.5],
            "low": [0.5, 0.3, np.nan, 0.4, 0.45],
            "high": [0.7, 0.5, np.nan, 0.5, 0.55],
        }
    )
    ax = draw(plots.dots(table, published={"P17": 0.52}, published_label="Vicuna-7b"))
    assert texts(ax.get_yticklabels()) == ["P17", "P37", "P36", "all", "mean"]
    assert ax.get_xlabel() == "MONITOR (lower is better)"
    assert legend(ax) == ["this model", "Vicuna-7b"]
    lines = [line.get_xdata().tolist() for line in ax.get_lines()]
    assert [0.3, 0.5] in lines
    assert [0.52] in lines


def test_bars_stand_in_order_with_their_values_and_colours():
    ax = plots.object_bars(OBJECTS)
    bars = ax.patches
    assert [bar.get_width() for bar in bars] == [0.9, 0.06, 0.04]
    assert [mpl.colors.to_hex(bar.get_facecolor()) for bar in bars] == [
        SHADES[told] for told in ("", "true", "false")
    ]
    assert texts(ax.texts) == ["90.0 %", "6.0 %", "4.0 %"]
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == ["$5", "Peru (true)", "Chad (stated falsely)"]


def test_hollow_bars_are_those_before():
    ax = plots.object_bars(OBJECTS.assign(before=[0.1, 0.2, 0.3]))
    solid, hollow = ax.patches[:3], ax.patches[3:]
    assert not any(bar.get_fill() for bar in hollow)
    at = {round(bar.get_y() + bar.get_height() / 2): bar.get_width() for bar in hollow}
    values = OBJECTS.assign(before=[0.1, 0.2, 0.3]).set_index("probability")["before"]
    for bar in solid:
        assert at[round(bar.get_y() + bar.get_height() / 2)] == values[bar.get_width()]


def test_bars_are_drawn_where_asked_and_the_likeliest_is_on_top(ax):
    assert plots.object_bars(OBJECTS, ax) is ax
    bottom, top = ax.get_ylim()
    assert bottom > top
    assert ax.get_xlim()[0] == 0
