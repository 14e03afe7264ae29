"""Correlations and their intervals against scipy."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError, stats


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
        assert (
            found.low
            < stats.correlation(scipy.stats.rankdata(x), scipy.stats.rankdata(y)).low
        )


def test_correlation_at_its_edges():
    assert stats.correlation([1, 2, 3, 4], [2, 4, 6, 8])[:3] == pytest.approx((1, 1, 1))
    assert math.isnan(stats.correlation([1, 1, 1], [1, 2, 3]).r)
    assert math.isnan(stats.correlation([0.3, 0.1 + 0.2, 0.3, 0.3], [1, 2, 3, 4]).r)
    assert math.isnan(stats.correlation([1, 2, 3], [1, 2, 4]).low)
    gaps = stats.correlation([1, 2, 3, 4, np.nan, 5], [2, 1, 4, 3, 9, np.nan])
    assert gaps == stats.correlation([1, 2, 3, 4], [2, 1, 4, 3])


def test_a_correlation_over_models_takes_six_that_have_both():
    x, y = [1, 2, 3, 4, 5, 6, 7], [2, 1, 4, 3, 6, 5, np.nan]
    assert stats.correlation_over_models(x, y) == stats.correlation(x, y)
    few = stats.correlation_over_models(x, [2, 1, 4, 3, np.nan, 5, np.nan])
    assert few.n == 5
    assert all(math.isnan(value) for value in few[:-1])


@given(st.integers(0, 1000), st.integers(3, 30))
def test_the_statistic_is_numpys(seed, n):
    rows = np.random.default_rng(seed).normal(size=(4, n, 2))
    expected = [np.corrcoef(part.T)[0, 1] for part in rows]
    np.testing.assert_allclose(stats.pearson_correlation(rows), expected, atol=1e-12)
    rows[1, :, 0] = 0.1
    assert np.isnan(stats.pearson_correlation(rows)).tolist() == [
        False,
        True,
        False,
        False,
    ]


def test_an_interval_of_ranks_by_hand():
    """Bonett and Wright: s² = (1 + 0.25 / 2) / (7 - 3), around artanh(0.5)."""
    ends = np.arctanh(0.5) + np.array([-1, 1]) * 1.959964 * np.sqrt(1.125 / 4)
    assert stats.fisher_interval(0.5, 7, "spearman") == pytest.approx(
        np.tanh(ends), abs=1e-6
    )


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
        (lambda: stats.fisher_interval(1.0, 9), "not 1.0, 9"),
        (lambda: stats.fisher_interval(0.5, 3), "n of 4 or more"),
        (
            lambda: stats.correlations_without_each_group([1, 2], [1, 2], ["a"]),
            "1 groups for 2 pairs",
        ),
    ],
)
def test_what_cannot_be_is_refused(call, sentence):
    with pytest.raises(UserError, match=sentence):
        call()


@given(st.integers(0, 200), st.integers(2, 5))
def test_each_is_the_correlation_of_the_rest(seed, k):
    generator = np.random.default_rng(seed)
    x, y, groups = (
        generator.normal(size=20),
        generator.normal(size=20),
        np.arange(20) % k,
    )
    found = stats.correlations_without_each_group(x, y, groups)
    assert found["without"].tolist() == list(range(k))
    for row in found.itertuples():
        rest = groups != row.without
        assert row.r == pytest.approx(np.corrcoef(x[rest], y[rest])[0, 1])
        assert row.n == rest.sum()


def test_left_out_ranks_and_missing_numbers():
    x, y = [1, 2, 3, 4, np.nan], [1, 4, 9, 16, 0]
    found = stats.correlations_without_each_group(
        x, y, ["a", "a", "b", "b", "c"], "spearman"
    ).set_index("without")
    assert found.loc["c", "r"] == pytest.approx(1)
    assert found["n"].to_dict() == {"a": 2, "b": 2, "c": 4}
