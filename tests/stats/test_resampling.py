"""The bootstrap against scipy, the normal interval and counts by hand."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from helpers import UserError, stats
from helpers.stats import resampling
from helpers.stats.resampling import expanded_confidence_level, pooled_strata


def test_bootstrap_agrees_with_scipy(sample, ratio):
    ours = stats.bootstrap(sample, ratio, n_resamples=20_000, seed=3)
    theirs = scipy.stats.bootstrap(
        (sample[:, 0], sample[:, 1]),
        lambda x, y, axis: x.sum(axis=axis) / y.sum(axis=axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=20_000,
        rng=np.random.default_rng(4),
    )
    width = ours.high - ours.low
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.03 * width)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.03 * width)
    assert ours.estimate == ratio(sample)
    assert ours.n == 200


def test_strata_keep_their_sizes():
    values = np.array([0.0] * 5 + [1.0] * 15)
    strata = np.array(["b"] * 5 + ["a"] * 15)
    order = np.random.default_rng(0).permutation(20)
    draws = stats.bootstrap_replicates(
        values[order], strata=strata[order], n_resamples=200
    )
    assert (draws == 0.75).all()
    found = stats.bootstrap(values[order], strata=strata[order], n_resamples=200)
    assert found[1:3] == pytest.approx(proportion_confint(15, 20, method="wilson"))


def test_every_row_of_a_stratum_can_be_drawn_equally():
    values = np.arange(6, dtype=float)
    strata = [0, 0, 0, 0, 1, 1]
    onehot = (values[:, None] == values).astype(float)
    counts = stats.bootstrap_replicates(
        onehot, lambda rows: rows.sum(axis=-2), strata, n_resamples=20_000
    ).mean(axis=0)
    np.testing.assert_allclose(counts, np.ones(6), atol=0.03)


def test_same_seed_same_interval_whatever_the_chunk(sample, monkeypatch, ratio):
    whole = stats.bootstrap(sample, ratio, n_resamples=300, seed=7)
    assert whole == stats.bootstrap(sample, ratio, n_resamples=300, seed=7)
    assert whole != stats.bootstrap(sample, ratio, n_resamples=300, seed=8)
    monkeypatch.setattr(resampling, "_NUMBERS_AT_ONCE", 1000)
    assert whole == stats.bootstrap(sample, ratio, n_resamples=300, seed=7)


def test_several_figures_at_once(sample):
    both = stats.bootstrap(sample, lambda rows: rows.mean(axis=-2), n_resamples=500)
    first = stats.bootstrap(sample[:, :1], n_resamples=500)
    assert both.low.shape == (2,)
    assert both.low[0] == pytest.approx(first.low)


def test_few_facts(ratio):
    one = stats.bootstrap([0.4])
    assert one.estimate == 0.4
    assert math.isnan(one.low)
    assert math.isnan(one.high)
    none = stats.bootstrap(np.empty((0, 2)), ratio)
    assert none.n == 0
    assert math.isnan(none.estimate)


def test_resamples_without_a_number_are_left_out():
    def sometimes(rows):
        return np.where(rows[..., 0, 0] > 0, rows[..., 0].mean(axis=-1), np.nan)

    found = stats.bootstrap([1.0, 0.0] * 10, sometimes, n_resamples=100)
    assert found.low < found.estimate == 0.5 < found.high


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: stats.bootstrap_replicates([], n_resamples=5), "at least one fact"),
        (lambda: stats.bootstrap([1.0, 2.0], n_resamples=0), "at least 1 resample"),
        (lambda: stats.bootstrap([1.0, 2.0], strata=["a"]), "1 strata for 2 facts"),
    ],
)
def test_what_cannot_be_is_refused(call, sentence):
    with pytest.raises(UserError, match=sentence):
        call()


def test_ten_strata_of_five_facts():
    # 40 degrees of freedom: t = 2.0211, times sqrt(50 / 40) is 2.2596
    found = expanded_confidence_level(50, np.repeat(np.arange(10), 5))
    assert found == pytest.approx(1 - 2 * scipy.stats.norm.sf(2.2596), abs=1e-5)


@given(st.integers(2, 500), st.integers(1, 20))
def test_it_expands_and_fades(n, k):
    strata = np.arange(n) % k
    found = expanded_confidence_level(n, strata)
    assert 0.95 <= found <= 1
    assert expanded_confidence_level(10 * n, np.tile(strata, 10)) <= found or n < 5 * k
    assert expanded_confidence_level(n, np.arange(n)) == expanded_confidence_level(n)
    assert expanded_confidence_level(10**6) == pytest.approx(0.95, abs=1e-4)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=80))
def test_no_stratum_that_is_drawn_from_is_small(labels):
    found, sizes = pooled_strata(labels), np.bincount(labels)
    assert np.bincount(found)[found].min() >= min(5, len(labels))
    for label in set(labels):
        assert len(set(found[np.equal(labels, label)])) == 1
    kept = [
        label
        for label in set(labels)
        if (found == found[labels.index(label)]).sum() == sizes[label]
    ]
    joined = set(labels) - set(kept)
    assert sum(sizes[label] >= 5 for label in joined) <= 1
    assert len({found[labels.index(label)] for label in joined}) <= 1


def test_strata_of_five_facts_stay_as_they_are():
    strata = np.array(["b", "a", "c"] * 5)
    assert pooled_strata(strata).tolist() == [1, 0, 2] * 5
    few = np.append(strata, ["d", "e"])
    assert pooled_strata(few).tolist() == [1, 3, 2] * 5 + [3, 3]


def test_facts_in_relations_of_their_own_are_drawn_as_from_one():
    values = np.random.default_rng(0).normal(size=30)
    assert stats.bootstrap(values, strata=np.arange(30)) == stats.bootstrap(values)


def test_few_facts_that_are_all_alike_have_no_interval():
    for n in (2, 19):
        found = stats.bootstrap(np.ones(n))
        assert np.isnan([found.low, found.high]).all()
    share = stats.bootstrap(np.ones(20))
    assert share[1:3] == pytest.approx(proportion_confint(20, 20, method="wilson"))
    for rows, statistic in (
        ([0.3] * 200, stats.mean),
        ([1.0] * 200, lambda rows: rows.max((-2, -1))),
    ):
        found = stats.bootstrap(rows, statistic)
        assert found.estimate == pytest.approx(rows[0])
        assert np.isnan([found.low, found.high]).all()
    within = stats.bootstrap([1.0] * 5 + [0.0] * 10, strata=[0] * 5 + [1] * 10)
    assert within.estimate == pytest.approx(1 / 3)
    assert np.isnan([within.low, within.high]).all()


def test_bounds_need_two_facts_and_a_number():
    draws = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    low, high = stats.interval_bounds(draws, n=20)
    edge = (1 - expanded_confidence_level(20)) / 2
    assert (low[0], high[0]) == pytest.approx((1 + 2 * edge, 3 - 2 * edge))
    assert math.isnan(low[1])
    assert np.isnan(stats.interval_bounds(draws, n=1)).all()
