"""Wilson's interval against statsmodels."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from helpers import UserError, stats


@given(st.integers(0, 60), st.integers(0, 60))
def test_wilson_agrees_with_statsmodels(successes, failures):
    n = successes + failures
    found = stats.wilson(successes, n)
    if n == 0:
        assert math.isnan(found.estimate)
        return
    low, high = proportion_confint(successes, n, method="wilson")
    assert (found.low, found.high) == pytest.approx((max(low, 0), min(high, 1)), abs=1e-12)
    assert 0 <= found.low <= found.estimate + 1e-12
    assert found.estimate <= found.high + 1e-12 <= 1 + 1e-11


def test_more_successes_than_trials_are_refused():
    with pytest.raises(UserError, match="3 successes of 2"):
        stats.wilson(3, 2)
