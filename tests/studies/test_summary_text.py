"""Tests of a summary as people read it."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.studies import measures, summary_text

COLUMNS = ["measure", "estimate", "low", "high", "n"]
ABOUT = [
    measures.mean_measure("mass", "mean probability", meaning="the object's share")
]


def lines_of(*rows, about=()):
    table = pd.DataFrame(rows, columns=COLUMNS)
    return summary_text.summary_as_text(table, about).splitlines()


def test_a_table_by_hand():
    """A bound is told from the other by as many digits as it takes, or is none."""
    few, none = ("mass", 0.0002, 0.0001, 0.0004, 20), ("right", 0.0, 0.0, 0.0, 9)
    assert lines_of(few, none, about=ABOUT) == [
        "measure            title estimate    low   high  n",
        "   mass mean probability   0.0002 0.0001 0.0004 20",
        "  right                     0.000      -      -  9",
        "mass: the object's share.",
        summary_text.NOTE_ON_NO_INTERVAL,
        "Fewer than 10 facts or questions count for right (9): too few to say anything "
        "of the model. Take a hundred.",
    ]


def test_an_undefined_measure_has_no_interval():
    nan = float("nan")
    assert lines_of(("mass", nan, nan, nan, 0))[1].split() == [
        "mass",
        "nan",
        "-",
        "-",
        "0",
    ]


@pytest.mark.parametrize(("n", "told"), [(9, True), (10, False)])
def test_few_facts_are_told(n, told):
    assert ("Fewer than 10" in lines_of(("mass", 0.5, 0.1, 0.9, n))[-1]) == told


@given(st.floats(0, 1), st.floats(0, 1))
def test_no_interval_without_width_is_printed(one, other):
    low, high = sorted([one, other])
    shown = lines_of(("mass", low, low, high, 50))[1].split()
    assert shown[2:4] == ["-", "-"] or shown[2] != shown[3]
