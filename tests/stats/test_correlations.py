"""Correlations and their intervals against scipy."""

import math

import numpy as np
import pytest
import scipy.stats

from helpers import stats
from helpers.errors import UserError


@pytest.mark.parametrize("method", ["pearson", "spearman"])
def test_correlation_agrees_with_scipy(method):
    generator = np.random.default_rng(3)
    x = generator.normal(size=40)
    y = x + generator.normal(size=40)
    found = stats.correlation(x, y, method)
    theirs = getattr(scipy.stats, f"{method}r")(x, y)
    assert (found.r, found.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    if method == "pearson":
        interval = theirs.confidence_interval()
        assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    else:
        assert found.low < stats.correlation(scipy.stats.rankdata(x), scipy.stats.rankdata(y)).low


def test_correlation_at_its_edges():
    assert stats.correlation([1, 2, 3, 4], [2, 4, 6, 8])[:3] == pytest.approx((1, 1, 1))
    assert math.isnan(stats.correlation([1, 1, 1], [1, 2, 3]).r)
    assert math.isnan(stats.correlation([1, 2, 3], [1, 2, 4]).low)
    gaps = stats.correlation([1, 2, 3, 4, np.nan, 5], [2, 1, 4, 3, 9, np.nan])
    assert gaps == stats.correlation([1, 2, 3, 4], [2, 1, 4, 3])


def test_correlation_gives_the_printed_interval():
    """Hollander and Wolfe's tuna (1973, p. 187), as R's manual prints it under cor.test."""
    lightness = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1]
    panel = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8]
    found = stats.correlation(lightness, panel)
    assert found.r == pytest.approx(0.5711816, abs=5e-8)
    assert (found.low, found.high) == pytest.approx((-0.1497426, 0.8955795), abs=5e-8)
    assert found.p == pytest.approx(0.1082, abs=5e-5)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: stats.correlation([1, 2], [1, 2, 3]), "not 2 and 3"),
        (lambda: stats.correlation([1, 2], [1, 2], "kendall"), 'not "kendall"'),
    ],
)
def test_what_cannot_be_is_refused(call, sentence):
    with pytest.raises(UserError, match=sentence):
        call()
