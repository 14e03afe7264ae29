"""Groups of exposure: designed for the atlas, chosen by size for counts of one's own."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.runs.panel import levels
from helpers.runs.panel.levels import ATLAS, LEAST, OFTEN, SELDOM, SHOWN

COUNTS = st.lists(st.integers(0, 12) | st.integers(0, 10**6), max_size=300)


def test_the_atlas_has_the_levels_of_its_design():
    counts = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256]
    marked = ATLAS.mark(pd.DataFrame({"exposures": counts}))
    assert marked["level"].tolist() == counts
    groups = ["never", *["1 to 8"] * 4, *["16 to 32"] * 2, *["64 or more"] * 3]
    assert marked["group"].tolist() == groups
    sides = marked[[SHOWN, OFTEN, SELDOM]].fillna(-1).astype(int)
    assert sides[SHOWN].tolist() == [0] + [1] * 9
    assert sides[OFTEN].tolist() == [-1, 0, 0, 0, -1, -1, -1, 1, 1, 1]
    assert sides[SELDOM].tolist() == [0, 1, 1, 1, 1, -1, -1, -1, -1, -1]
    assert levels.of("atlas", [0, 3, 500]) is ATLAS


@given(COUNTS)
def test_every_count_is_in_one_group_that_is_large_enough(counts):
    found = levels.of("own", counts)
    table = found.mark(pd.DataFrame({"exposures": np.array(counts, dtype=float)}))
    seen = table[table["exposures"] > 0]
    assert set(table.loc[table["exposures"] == 0, "group"]) <= {"absent"}
    for column, most in (("group", 3), ("level", 8)):
        sizes = seen[column].value_counts()
        assert len(sizes) <= most
        assert sizes.min() >= LEAST or len(sizes) == 1 or seen.empty
        bounds = seen.groupby(column)["exposures"].agg(["min", "max"]).sort_values("min")
        assert (bounds["min"].iloc[1:].to_numpy() > bounds["max"].iloc[:-1].to_numpy()).all()
    assert not (seen["group"] == "").any()
    medians = seen.groupby("level")["exposures"].median()
    assert (medians.astype(int) == medians.index).all()
    assert (table[SHOWN] == (table["exposures"] > 0)).all()
    both = table[table[SELDOM].eq(1) & table[OFTEN].eq(1)]
    assert both.empty
    assert table.loc[table["exposures"] == 0, OFTEN].isna().all()


@pytest.mark.parametrize(
    ("counts", "groups"),
    [
        ([0] * 5, ["absent"]),
        ([7] * 90, ["absent", "7 or more"]),
        ([0] + [1] * 25 + [2] * 25 + [9] * 25, ["absent", "once", "2 to 8 times", "9 or more"]),
        ([1] * 50 + [2] * 19, ["absent", "once or more"]),
        ([3] * 30 + [1000] * 30, ["absent", "3 to 999", "1,000 or more"]),
        ([], ["absent"]),
    ],
)
def test_groups_by_hand(counts, groups):
    assert list(levels.of("own", counts).groups) == [name.removesuffix(" times") for name in groups]


def test_without_two_groups_high_and_low_are_not_compared():
    found = levels.of("own", [0] * 30 + [5] * 60)
    table = found.mark(pd.DataFrame({"exposures": [0, 5, 6]}))
    assert table[OFTEN].isna().all()
    assert table[SELDOM].tolist() == [0, 1, 1]
    assert found.said[OFTEN].startswith("facts that occur often in the searched corpus")
