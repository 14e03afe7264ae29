"""Figures of multiplicity show what their tables hold."""

import pandas as pd
import pytest

from helpers.plots import multiplicity as figures
from tests.plots.drawn import texts


def test_two_prompts_frame_the_items_that_differ():
    right = pd.DataFrame({"one": [True, True, False], "two": [True, False, True]})
    ax = figures.two_prompts(right)
    assert len(ax.patches) == 6 + 2  # a tile an item and prompt, a frame where marks differ
    assert texts(ax.texts) == ["✓", "✓", "✗", "✓", "✗", "✓"]


def test_the_mapping_counts_items_on_both_sides():
    scores = pd.DataFrame(
        {
            "default": [1, 1, 0, 0, 0],
            "class": ["factuality", "randomness", "randomness"] + ["error"] * 2,
        }
    )
    found = [text.get_text().split("\n") for text in figures.mapping(scores).texts]
    assert [int(n) for _, n in found] == [2, 3, 1, 2, 2]


def test_bars_of_the_classes_fill_the_row():
    table = pd.DataFrame(
        {"label": ["a", "b"], "factuality": [0.5, 0.2], "randomness": [0.3, 0.8], "error": [0.2, 0]}
    )
    ax = figures.class_bars(table)
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(2)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "b"]


def test_lines_and_curves_carry_their_names():
    table = pd.DataFrame({"tau": [1, 0.5], "class": "factuality", "estimate": [0.1, 0.4]})
    ax = figures.lines(table.assign(low=0.0, high=0.5), "tau", "class")
    assert ax.get_lines()[0].get_label() == "prompt-agnostic factuality"
    assert list(ax.get_lines()[0].get_xdata()) == [0.5, 1]
    points = pd.DataFrame({"false_positive_rate": [0, 1], "true_positive_rate": [0, 1]})
    ax = figures.roc_curves({"first": points, "second": points})
    assert [line.get_label() for line in ax.get_lines()[1:]] == ["first", "second"]
