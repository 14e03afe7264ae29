"""The expanded level: by Student's t, and where it changes nothing."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from helpers import stats
from helpers.stats.percentiles import expanded, percentiles


def test_the_interval_of_a_mean_is_as_wide_as_students():
    values = np.random.default_rng(0).normal(size=15)
    found = stats.bootstrap(values, n_resamples=20_000)
    theirs = scipy.stats.ttest_1samp(values, 0).confidence_interval()
    assert found.high - found.low == pytest.approx(theirs.high - theirs.low, rel=0.04)


def test_ten_strata_of_five_facts():
    # 40 degrees of freedom: t = 2.0211, times sqrt(50 / 40) is 2.2596
    found = expanded(0.95, 50, np.repeat(np.arange(10), 5))
    assert found == pytest.approx(1 - 2 * scipy.stats.norm.sf(2.2596), abs=1e-5)


@given(st.floats(0.5, 0.99), st.integers(2, 500), st.integers(1, 20))
def test_it_expands_and_fades(level, n, k):
    strata = np.arange(n) % k
    found = expanded(level, n, strata)
    assert level <= found <= 1
    assert expanded(level, 10 * n, np.tile(strata, 10)) <= found or k >= n
    assert expanded(level, n, np.arange(n)) == level
    assert expanded(level, 10**6) == pytest.approx(level, abs=1e-4)


def test_bounds_need_two_facts_and_a_number():
    draws = np.array([[1.0, np.nan], [3.0, np.nan]])
    low, high = percentiles(draws, 0.5, n=2)
    assert (low[0], high[0]) == (1.5, 2.5)
    assert math.isnan(low[1])
    assert np.isnan(percentiles(draws, 0.5, n=1)).all()
