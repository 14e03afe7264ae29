"""Paired differences against the t test; Holm by hand and by statsmodels."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from helpers import UserError, stats


def test_paired_difference_is_narrower_than_unpaired():
    generator = np.random.default_rng(2)
    hard = generator.normal(size=300)
    first, second = hard + 0.2 + 0.1 * generator.normal(size=300), hard
    found = stats.paired_difference(first, second)
    assert found.estimate == pytest.approx((first - second).mean())
    t = scipy.stats.ttest_rel(first, second)
    assert found.low == pytest.approx(t.confidence_interval().low, abs=0.003)
    assert found.high == pytest.approx(t.confidence_interval().high, abs=0.003)
    assert found.p == pytest.approx(2 / 1001)
    swapped = stats.paired_difference(second, first)
    assert swapped.estimate == -found.estimate


def test_paired_p_is_that_of_the_t_test_near_the_middle():
    generator = np.random.default_rng(9)
    first, second = generator.normal(0.1, 1, 150), generator.normal(0, 1, 150)
    found = stats.paired_difference(first, second, n_resamples=10_000)
    assert found.p == pytest.approx(
        scipy.stats.ttest_rel(first, second).pvalue, abs=0.03
    )


def test_paired_difference_of_ratios(sample, ratio):
    other = sample * [0.5, 1.0]
    found = stats.paired_difference(sample, other, ratio, n_resamples=500)
    assert found.estimate == pytest.approx(ratio(sample) / 2)
    same = stats.paired_difference(sample, sample, ratio, n_resamples=500)
    assert same.estimate == 0
    assert np.isnan(same[1:4]).all()


def test_pairs_that_are_not_there_differ_by_no_number():
    found = stats.paired_difference([], [], strata=[])
    assert np.isnan(found[:4]).all()
    assert found.n == 0
    alone = stats.paired_difference([1.0], [0.0])
    assert (alone.estimate, alone.n) == (1.0, 1)
    assert np.isnan([alone.low, alone.high, alone.p]).all()
    undefined = stats.paired_difference(
        [1, 0], [0, 0], lambda rows: rows[..., 0, 0] * np.nan
    )
    assert np.isnan(undefined[:4]).all()
    with pytest.raises(UserError, match="1 and 2 rows"):
        stats.paired_difference([1.0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("first", "second", "n"), [(1, 0, 19), (0.6, 0.5, 200), (0.1, 0.1, 200)]
)
def test_few_pairs_that_all_differ_alike_and_other_numbers_are_not_decided(
    first, second, n
):
    noise = np.random.default_rng(n).random(n) * (
        n > 100
    )  # the same for both, but for rounding
    found = stats.paired_difference(first + noise, second + noise, strata=np.arange(n))
    assert (found.estimate, found.n) == (pytest.approx(first - second), n)
    assert np.isnan([found.low, found.high, found.p]).all()


@given(st.integers(20, 400), st.lists(st.booleans(), min_size=20, max_size=40))
def test_marks_that_all_differ_alike_have_newcombes_interval(n, marks):
    """Its formula, from Wilson's bounds: of n facts w = z² / (n + z²) may be otherwise."""
    w = (z := scipy.stats.norm.ppf(0.975) ** 2) / (n + z)
    better = stats.paired_difference(np.ones(n), np.zeros(n), n_resamples=20)
    assert better[:3] == pytest.approx((1, 1 - np.sqrt(2) * w, 1))
    worse = stats.paired_difference(np.zeros(n), np.ones(n), n_resamples=20)
    assert worse[:4] == pytest.approx((-1, -better.high, -better.low, better.p))
    same, w = (
        stats.paired_difference(marks, marks, n_resamples=20),
        z / (len(marks) + z),
    )
    assert same[:4] == pytest.approx((0, -w, w, 1))


def test_marks_that_hardly_differ_have_about_the_same_interval_as_those_that_never_do():
    """One pair of 200 that differs is resampled; Newcombe's must not be narrower or far wider."""
    first, second = np.ones(200), np.arange(200) > 0
    never, once = (stats.paired_difference(first, each) for each in (first, second))
    assert once.high - once.low < never.high - never.low < 3 * (once.high - once.low)


def test_holm_by_hand():
    # 3 times 0.01; 2 times 0.03; once 0.04, which must not be less than the one before.
    assert stats.holm_adjusted_p_values([0.04, 0.01, 0.03]) == pytest.approx(
        [0.06, 0.03, 0.06]
    )
    assert stats.holm_adjusted_p_values([0.9, 0.8]).tolist() == [1, 1]
    assert stats.holm_adjusted_p_values([]).size == 0


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_holm_agrees_with_statsmodels(p):
    reject, theirs, *_ = multipletests(p, method="holm")
    found = stats.holm_adjusted_p_values(p)
    assert found == pytest.approx(theirs, abs=1e-12)
    assert ((found <= 0.05) == reject)[np.abs(theirs - 0.05) > 1e-9].all()


@given(st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=20))
def test_what_is_no_p_value_does_not_count(p):
    p = np.array(p, dtype=float)
    found = stats.holm_adjusted_p_values(p)
    assert np.isnan(found).tolist() == np.isnan(p).tolist()
    assert (
        found[~np.isnan(p)].tolist()
        == stats.holm_adjusted_p_values(p[~np.isnan(p)]).tolist()
    )
