"""Exact p-values of rank correlations against every pairing, and against printed tables."""

from itertools import permutations
from math import comb, factorial

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError, stats
from helpers.stats import ranks

# Smallest rho with a two-sided p of at most 0.05 and 0.01 (Zar 1984, Table B.20).
CRITICAL = {6: (0.886, 1.0), 8: (0.738, 0.881), 9: (0.700, 0.833), 10: (0.648, 0.794)}
SAMPLES = [
    ([1, 2, 3, 4, 5, 6, 7], [2, 1, 4, 3, 7, 5, 6]),
    ([1, 1, 2, 3, 3, 4], [5, 1, 1, 2, 6, 6]),
    ([0.1, 0.1, 0.1, 0.9, 0.8], [3, 3, 1, 1, 2]),
    ([1, 2, 3, 4], [1, 1, 1, 2]),
]


def every_pairing(x, y):
    """Return rho and p of all pairings, each correlated by numpy."""
    a, b = scipy.stats.rankdata(x), scipy.stats.rankdata(y)
    rhos = [
        np.corrcoef(a, b[list(order)])[0, 1] for order in permutations(range(len(b)))
    ]
    return rhos[0], np.mean(np.abs(rhos) >= abs(rhos[0]) - 1e-12)


@pytest.mark.parametrize(("x", "y"), SAMPLES)
def test_p_is_that_of_every_pairing(x, y):
    found = stats.rank_correlation_test(x, y)
    assert found[:2] == pytest.approx(every_pairing(x, y))
    assert found[2:] == (len(x), 0)


@pytest.mark.parametrize("n", CRITICAL)
def test_critical_values_are_those_in_print(n):
    ways, middle = (
        ranks._pairings_by_sum(tuple(range(n)), tuple(range(n))),
        n * (n - 1) ** 2 / 4,
    )
    rhos = np.abs(np.arange(len(ways)) - middle) / (n * (n * n - 1) / 12)
    assert ways.sum() == factorial(n)
    found = []
    for level in (0.05, 0.01):
        there = [
            r
            for r in np.unique(rhos[ways > 0])
            if ways[rhos >= r].sum() <= level * ways.sum()
        ]
        found.append(round(there[0], 3))
    assert tuple(found) == CRITICAL[n]


def test_a_perfect_order_of_sixteen_is_two_of_all():
    assert stats.rank_correlation_test(range(16), range(16)).p == pytest.approx(
        2 / factorial(16)
    )


def test_more_pairs_are_drawn_and_never_give_zero():
    found = stats.rank_correlation_test(range(20), range(20), n_draws=999)
    assert (found.p, found.n, found.draws) == (1 / 1000, 20, 999)
    x = np.random.default_rng(1).normal(size=(2, 40))
    drawn = stats.rank_correlation_test(*x, n_draws=20_000)
    assert drawn.p == pytest.approx(scipy.stats.spearmanr(*x).pvalue, abs=0.02)
    assert drawn == stats.rank_correlation_test(*x, n_draws=20_000)


def test_drawn_pairings_as_far_as_the_one_found_count():
    """The only one meets a zero (rho = -1/19) or the other one (rho = 1): none is nearer to 0."""
    one = [1] + [0] * 19
    assert stats.rank_correlation_test(one, one[::-1], n_draws=99) == (
        pytest.approx(-1 / 19),
        1.0,
        20,
        99,
    )


def test_a_rank_test_at_its_edges():
    for x, y in (([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3])):
        found = stats.rank_correlation_test(x, y)
        assert np.isnan([found.rho, found.p]).all()
        assert found.n == len(x)
    assert stats.rank_correlation_test(
        [1, 2, 3, np.nan], [1, 2, 3, 4]
    ).p == pytest.approx(1 / 3)
    with pytest.raises(UserError, match="needs pairs, not 2 and 3"):
        stats.rank_correlation_test([1, 2], [1, 2, 3])


def test_partial_is_the_correlation_of_residual_ranks():
    rows = np.random.default_rng(2).normal(size=(30, 3))
    x, y, z = (scipy.stats.rankdata(column) for column in rows.T)
    left = [each - np.polyval(np.polyfit(z, each, 1), z) for each in (x, y)]
    assert float(stats.partial_spearman_correlation(rows)) == pytest.approx(
        np.corrcoef(*left)[0, 1]
    )
    assert np.isnan(stats.partial_spearman_correlation(np.column_stack([x, y, x])))


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=40)
)
def test_spearman_is_scipys_and_keeps_under_what_keeps_order(rows):
    values = np.array(rows, dtype=float)
    if not np.ptp(values, axis=0).all():
        assert np.isnan(stats.spearman_correlation(values))
        return
    expected = scipy.stats.spearmanr(values).statistic
    assert stats.spearman_correlation(values) == pytest.approx(expected, abs=1e-9)
    grown = np.stack([np.exp(values[:, 0]), values[:, 1] ** 3], axis=1)
    assert stats.spearman_correlation(grown) == pytest.approx(expected, abs=1e-9)


def test_groups_are_drawn_whole():
    """Of two groups, a draw holds one, the other, or both: three values of the mean."""
    values, groups = np.array([[0.0], [0.0], [3.0]]), ["a", "a", "b"]
    seen = []

    def mean(rows):
        seen.append(rows.mean())
        return seen[-1]

    found = stats.bootstrap_over_groups(values, groups, mean, n_resamples=200)
    assert sorted(set(seen)) == [0.0, 1.0, 3.0]
    assert (found.estimate, found.low, found.high) == (1.0, 0.0, 3.0)
    assert (found.n, found.groups, found.left_out) == (3, 2, 0)
    assert len(seen) == comb(3, 2) + 1  # each different draw once, and the estimate


def test_groups_of_equals_count_once_each():
    values = np.random.default_rng(4).normal(size=(8, 1))
    one = stats.bootstrap_over_groups(values, range(8), stats.mean)
    four = stats.bootstrap_over_groups(
        values.repeat(4, axis=0), np.arange(8).repeat(4), stats.mean
    )
    assert four[:3] == pytest.approx(one[:3])
    assert (four.n, four.groups) == (32, 8)


def test_draws_without_an_estimate_are_left_out_and_counted():
    pairs, groups = [[1, 1], [2, 2], [3, 3]], ["a", "b", "c"]
    found = stats.bootstrap_over_groups(pairs, groups, n_resamples=900)
    assert found.estimate == 1.0
    assert np.isnan([found.low, found.high]).all()  # three groups that are all alike
    assert found.left_out == pytest.approx(
        900 / 9, abs=40
    )  # one group three times: 3 of 27


def test_groups_at_their_edges():
    assert np.isnan(stats.bootstrap_over_groups(np.zeros((0, 2)), []).estimate)
    with pytest.raises(UserError, match="2 groups for 3 rows"):
        stats.bootstrap_over_groups(np.zeros((3, 2)), ["a", "b"])
