"""Correlations without one group at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError, stats


@given(st.integers(0, 200), st.integers(2, 5))
def test_each_is_the_correlation_of_the_rest(seed, k):
    generator = np.random.default_rng(seed)
    x, y, groups = generator.normal(size=20), generator.normal(size=20), np.arange(20) % k
    found = stats.without_each(x, y, groups)
    assert found["without"].tolist() == list(range(k))
    for row in found.itertuples():
        rest = groups != row.without
        assert row.r == pytest.approx(np.corrcoef(x[rest], y[rest])[0, 1])
        assert row.n == rest.sum()


def test_ranks_and_missing_numbers():
    x, y = [1, 2, 3, 4, np.nan], [1, 4, 9, 16, 0]
    found = stats.without_each(x, y, ["a", "a", "b", "b", "c"], "spearman").set_index("without")
    assert found.loc["c", "r"] == pytest.approx(1)
    assert found["n"].to_dict() == {"a": 2, "b": 2, "c": 4}


def test_groups_must_fit():
    with pytest.raises(UserError, match="1 groups for 2 pairs"):
        stats.without_each([1, 2], [1, 2], ["a"])
