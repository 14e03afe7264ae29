"""Groups of exposure: designed for the atlas, chosen by size for counts of one's own."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.datasets.panel import STAND_IN
from notebooks.analysis import exposure_levels
from notebooks.analysis.exposure_levels import (
    ATLAS_LEVELS,
    FEWEST_FACTS,
    OFTEN_OR_SELDOM,
    SELDOM_OR_NEVER,
    SHOWN_OR_NEVER,
)

TRAINING = re.compile(r"\bread\b|readings|training|shown")


def of(dataset, counts, stand_in=""):
    table = pd.DataFrame(
        {"item": range(len(counts)), "exposures": np.array(counts, dtype=float)}
    )
    if stand_in:
        table["stand_in"] = stand_in
    return exposure_levels.levels_of_dataset(dataset, table)


COUNTS = st.lists(st.integers(0, 12) | st.integers(0, 10**6), max_size=300)


def test_the_atlas_has_the_levels_of_its_design():
    counts = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256]
    marked = ATLAS_LEVELS.mark(pd.DataFrame({"exposures": counts}))
    assert marked["level"].tolist() == counts
    groups = ["never", *["1 to 4"] * 3, *["8 to 32"] * 3, *["64 or more"] * 3]
    assert marked["group"].tolist() == groups
    sides = (
        marked[[SHOWN_OR_NEVER, OFTEN_OR_SELDOM, SELDOM_OR_NEVER]]
        .fillna(-1)
        .astype(int)
    )
    assert sides[SHOWN_OR_NEVER].tolist() == [0] + [1] * 9
    assert sides[OFTEN_OR_SELDOM].tolist() == [-1, 0, 0, 0, -1, -1, -1, 1, 1, 1]
    assert sides[SELDOM_OR_NEVER].tolist() == [0, 1, 1, 1, 1, -1, -1, -1, -1, -1]
    assert of("atlas", [0, 3, 500]) is ATLAS_LEVELS


@given(COUNTS)
def test_every_count_is_in_one_group_that_is_large_enough(counts):
    found = of("own", counts)
    table = found.mark(pd.DataFrame({"exposures": np.array(counts, dtype=float)}))
    seen = table[table["exposures"] > 0]
    assert set(table.loc[table["exposures"] == 0, "group"]) <= {"absent"}
    for column, most in (("group", 3), ("level", 8)):
        sizes = seen[column].value_counts()
        assert len(sizes) <= most
        assert sizes.min() >= FEWEST_FACTS or len(sizes) == 1 or seen.empty
        bounds = (
            seen.groupby(column)["exposures"].agg(["min", "max"]).sort_values("min")
        )
        assert (
            bounds["min"].iloc[1:].to_numpy() > bounds["max"].iloc[:-1].to_numpy()
        ).all()
    assert not (seen["group"] == "").any()
    medians = seen.groupby("level")["exposures"].median()
    assert (medians.astype(int) == medians.index).all()
    assert (table[SHOWN_OR_NEVER] == (table["exposures"] > 0)).all()
    both = table[table[SELDOM_OR_NEVER].eq(1) & table[OFTEN_OR_SELDOM].eq(1)]
    assert both.empty
    assert table.loc[table["exposures"] == 0, OFTEN_OR_SELDOM].isna().all()


@pytest.mark.parametrize(
    ("counts", "groups"),
    [
        ([0] * 5, ["absent"]),
        ([7] * 90, ["absent", "7 or more"]),
        (
            [0] + [1] * 25 + [2] * 25 + [9] * 25,
            ["absent", "once", "2 to 8 times", "9 or more"],
        ),
        ([1] * 50 + [2] * 19, ["absent", "once or more"]),
        ([3] * 30 + [1000] * 30, ["absent", "3 to 999", "1,000 or more"]),
        ([], ["absent"]),
    ],
)
def test_groups_by_hand(counts, groups):
    assert list(of("own", counts).groups) == [
        name.removesuffix(" times") for name in groups
    ]


def texts(found):
    """Return all words that levels lend to sentences, tables and figures."""
    own = [found.never, found.dose, found.alarm, found.times, found.axis, found.unread]
    return [
        *own,
        *found.questions,
        *found.said.values(),
        *found.labels.values(),
        *found.groups,
    ]


@pytest.mark.parametrize(
    "found", [of("own", [0] * 30 + [1] * 30 + [5] * 30 + [80] * 30), of("own", [])]
)
def test_counts_of_ones_own_are_no_readings(found):
    said = [
        text for text in texts(found) if text != ATLAS_LEVELS.unread
    ]  # which is not asked there
    assert not [text for text in said if TRAINING.search(text)]
    assert not [text for text in texts(ATLAS_LEVELS) if "corpus" in text]


def test_frequencies_that_stand_in_are_cut_in_halves_and_thirds():
    counts = [0] * 40 + list(range(1, 81))
    found = of("atlas", counts, STAND_IN)
    marked = found.mark(pd.DataFrame({"exposures": np.array(counts, dtype=float)}))
    assert marked[SHOWN_OR_NEVER].value_counts().to_dict() == {0.0: 60, 1.0: 60}
    assert marked[OFTEN_OR_SELDOM].notna().sum() == 80
    assert (marked["group"] != "").all()
    assert not [text for text in texts(found) if TRAINING.search(text)]
    assert STAND_IN in found.note
