"""Figures of multiplicity show what their tables hold."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from helpers.plots import multiplicity as figures
from tests.plots.drawn import draw, legend, texts


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


POINTS = pd.DataFrame({"false_positive_rate": [0.0, 1.0], "true_positive_rate": [0.0, 1.0]})
SHARES = pd.DataFrame({"label": ["a"], "factuality": 0.5, "randomness": 0.5, "error": 0.0})
LINE = pd.DataFrame({"tau": [0.5], "class": "error", "estimate": np.nan, "low": np.nan})
NOTHING = {
    "two_prompts": lambda ax: figures.two_prompts(pd.DataFrame({"a": [], "b": []}), ax),
    "mapping": lambda ax: figures.mapping(pd.DataFrame({"default": [], "class": []}), ax),
    "class_bars": lambda ax: figures.class_bars(SHARES[:0], ax),
    "lines": lambda ax: figures.lines(LINE[:0], "tau", "class", ax),
    "lines, undefined": lambda ax: figures.lines(LINE, "tau", "class", ax),
    "roc_curves": lambda ax: figures.roc_curves({"finds errors, 0 of 9": POINTS[:0]}, ax),
}


@pytest.mark.parametrize("figure", NOTHING.values(), ids=list(NOTHING))
@pytest.mark.parametrize("given", [True, False], ids=["given axes", "its own"])
def test_nothing_to_draw_is_said(figure, given, ax):
    made = draw(figure(ax if given else None))
    assert (made is ax) == given
    (reason,) = texts(made.texts)
    assert reason.endswith(".")
    assert not made.lines
    assert not made.patches


def test_a_score_without_cases_of_both_kinds_is_named_without_a_curve(ax):
    figures.roc_curves({"finds errors, 0 of 9": POINTS[:0], "finds randomness": POINTS}, ax)
    assert legend(draw(ax)) == ["finds errors, 0 of 9", "finds randomness"]
    assert [len(line.get_xdata()) for line in ax.lines[1:]] == [0, 2]
    alone = draw(figures.roc_curves({"finds errors, 0 of 9": POINTS[:0]}))
    assert "finds errors, 0 of 9" in texts(alone.texts)[0].replace("\n", " ")


@pytest.mark.parametrize("name", ["factuality", "randomness", "error"])
def test_names_of_classes_without_a_question_keep_apart(name):
    scores = pd.DataFrame({"default": [1.0] * 8, "class": name})
    ax = draw(figures.mapping(scores))
    found = texts(ax.texts)
    assert sum(text.endswith(": 0") for text in found) == 3
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(one.overlaps(two) for one, two in combinations(boxes, 2))
