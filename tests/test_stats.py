"""Intervals and correlations against scipy, statsmodels and simulation."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from helpers import stats
from helpers.errors import UserError


def ratio(values):
    sums = values.sum(axis=-2)
    return sums[..., 0] / sums[..., 1]


@pytest.fixture
def sample():
    generator = np.random.default_rng(1)
    bottom = generator.uniform(0.5, 1, 200)
    return np.column_stack([bottom * generator.beta(2, 3, 200), bottom])


def test_bootstrap_agrees_with_scipy(sample):
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


def test_bootstrap_of_a_mean_has_the_width_of_the_normal_interval():
    values = np.random.default_rng(0).normal(3, 2, 400)
    found = stats.bootstrap(values, n_resamples=5000)
    half = 1.96 * values.std() / math.sqrt(400)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.05)


def test_strata_keep_their_sizes():
    values = np.array([0.0] * 5 + [1.0] * 15)
    strata = np.array(["b"] * 5 + ["a"] * 15)
    order = np.random.default_rng(0).permutation(20)
    found = stats.bootstrap(values[order], strata=strata[order], n_resamples=200)
    assert (found.low, found.high) == (0.75, 0.75)
    free = stats.bootstrap(values[order], n_resamples=200)
    assert free.low < 0.7 < 0.8 < free.high


def test_every_row_of_a_stratum_can_be_drawn_equally():
    values = np.arange(6, dtype=float)
    strata = [0, 0, 0, 0, 1, 1]
    onehot = (values[:, None] == values).astype(float)
    counts = stats.replicates(
        onehot, lambda rows: rows.sum(axis=-2), strata, n_resamples=20_000
    ).mean(axis=0)
    np.testing.assert_allclose(counts, np.ones(6), atol=0.03)


def test_same_seed_same_interval_whatever_the_chunk(sample, monkeypatch):
    whole = stats.bootstrap(sample, ratio, n_resamples=300, seed=7)
    assert whole == stats.bootstrap(sample, ratio, n_resamples=300, seed=7)
    assert whole != stats.bootstrap(sample, ratio, n_resamples=300, seed=8)
    monkeypatch.setattr(stats, "_CHUNK", 1000)
    assert whole == stats.bootstrap(sample, ratio, n_resamples=300, seed=7)


def test_several_figures_at_once(sample):
    both = stats.bootstrap(sample, lambda rows: rows.mean(axis=-2), n_resamples=500)
    first = stats.bootstrap(sample[:, :1], n_resamples=500)
    assert both.low.shape == (2,)
    assert both.low[0] == pytest.approx(first.low)


def test_intervals_hold_what_they_promise():
    generator = np.random.default_rng(11)
    hits = 0
    for seed in range(300):
        values = np.concatenate([generator.random(40) < 0.3, generator.random(20) < 0.8])
        strata = [0] * 40 + [1] * 20
        found = stats.bootstrap(values, strata=strata, n_resamples=300, seed=seed)
        hits += found.low <= (0.3 * 40 + 0.8 * 20) / 60 <= found.high
    assert 0.90 <= hits / 300 <= 0.98


def test_few_facts():
    one = stats.bootstrap([0.4])
    assert one.estimate == 0.4
    assert math.isnan(one.low)
    assert math.isnan(one.high)
    none = stats.bootstrap(np.empty((0, 2)), ratio)
    assert none.n == 0
    assert math.isnan(none.estimate)


def test_resamples_without_a_number_are_left_out():
    def share(values):
        bottom = values[..., 0].sum(axis=-1)
        return np.divide(bottom, bottom, out=np.full(np.shape(bottom), np.nan), where=bottom > 0)

    found = stats.bootstrap([1.0, 0.0], share, n_resamples=100)
    assert (found.estimate, found.low, found.high) == (1, 1, 1)


@pytest.fixture
def table():
    generator = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "relation": ["P17"] * 30 + ["P36"] * 10 + ["P37"],
            "top": generator.random(41),
            "bottom": 1 + generator.random(41),
        }
    )


MEASURES = {"ratio": (["top", "bottom"], ratio), "top": (["top"], stats.mean)}


def test_intervals_by_relation(table):
    found = stats.intervals(table, MEASURES, n_resamples=200)
    assert len(found) == 2 * (3 + 2)
    rows = found[found["measure"] == "ratio"].set_index("relation")
    by_hand = {r: g["top"].sum() / g["bottom"].sum() for r, g in table.groupby("relation")}
    for relation, value in by_hand.items():
        assert rows.loc[relation, "estimate"] == pytest.approx(value)
    assert rows.loc["all", "estimate"] == pytest.approx(table["top"].sum() / table["bottom"].sum())
    assert rows.loc["mean", "estimate"] == pytest.approx(np.mean(list(by_hand.values())))
    assert rows["n"].to_dict() == {"P17": 30, "P36": 10, "P37": 1, "all": 41, "mean": 41}
    assert np.isnan(rows.loc["P37", "low"])
    inside = rows.drop(index="P37")
    assert (inside["low"] < inside["estimate"]).all()
    assert (inside["estimate"] < inside["high"]).all()


def test_a_relations_interval_depends_on_itself_alone(table):
    whole = stats.intervals(table, MEASURES, n_resamples=100)
    mixed = stats.intervals(table.sample(frac=1, random_state=2), MEASURES, n_resamples=100)
    pd.testing.assert_frame_equal(whole, mixed)
    part = stats.intervals(table[table["relation"] == "P36"], MEASURES, n_resamples=100)
    pd.testing.assert_frame_equal(
        part[part["relation"] == "P36"].reset_index(drop=True),
        whole[whole["relation"] == "P36"].reset_index(drop=True),
    )


def test_relations_are_drawn_apart(table):
    """Were both drawn alike, the mean of two like relations would be as uncertain as one."""
    one = table[table["relation"] == "P17"]
    both = pd.concat([one, one.assign(relation="P18")])
    found = stats.intervals(both, {"top": (["top"], stats.mean)}).set_index("relation")
    width = found["high"] - found["low"]
    assert width["mean"] == pytest.approx(width["P17"] / math.sqrt(2), rel=0.15)


def test_the_mean_leaves_out_relations_without_a_number(table):
    table.loc[table["relation"] == "P36", "top"] = np.nan
    found = stats.intervals(table, {"top": (["top"], stats.mean)}, n_resamples=50)
    rows = found.set_index("relation")["estimate"]
    assert np.isnan(rows["P36"])
    assert rows["mean"] == pytest.approx((rows["P17"] + rows["P37"]) / 2)


def test_centred_intervals_hold_the_estimate(table):
    """The largest of many noisy rates grows under resampling; a mean does not move."""
    marks = np.random.default_rng(0).integers(0, 2, (40, 12)).astype(float)

    def largest(values):
        return values.mean(axis=-2).max(axis=-1)

    plain = stats.bootstrap(marks, largest)
    centred = stats.bootstrap(marks, largest, centred=True)
    bias = stats.replicates(marks, largest).mean() - plain.estimate
    assert bias > 0.02
    assert centred.low == pytest.approx(plain.low - bias)
    assert centred.high == pytest.approx(plain.high - bias)
    found = stats.intervals(table, MEASURES, n_resamples=200, centred=True)
    usual = stats.intervals(table, MEASURES, n_resamples=200)
    width = (usual["high"] - usual["low"]).fillna(1)
    assert ((found["low"] - usual["low"]).abs().fillna(0) < 0.1 * width).all()


def test_intervals_of_nothing(table):
    found = stats.intervals(table.iloc[:0], MEASURES)
    assert found["relation"].tolist() == ["all", "mean"] * 2
    assert found["n"].eq(0).all()
    assert found[["estimate", "low", "high"]].isna().all(axis=None)


def test_paired_difference_is_narrower_than_unpaired():
    generator = np.random.default_rng(2)
    hard = generator.normal(size=300)
    first, second = hard + 0.2 + 0.1 * generator.normal(size=300), hard
    found = stats.paired_difference(first, second)
    assert found.estimate == pytest.approx((first - second).mean())
    t = scipy.stats.ttest_rel(first, second)
    assert found.low == pytest.approx(t.confidence_interval().low, abs=0.003)
    assert found.high == pytest.approx(t.confidence_interval().high, abs=0.003)
    assert found.p == pytest.approx(2 / 2001)
    swapped = stats.paired_difference(second, first)
    assert swapped.estimate == -found.estimate


def test_paired_p_is_that_of_the_t_test_near_the_middle():
    generator = np.random.default_rng(9)
    first, second = generator.normal(0.1, 1, 150), generator.normal(0, 1, 150)
    found = stats.paired_difference(first, second, n_resamples=10_000)
    assert found.p == pytest.approx(scipy.stats.ttest_rel(first, second).pvalue, abs=0.03)


def test_paired_difference_of_ratios(sample):
    other = sample * [0.5, 1.0]
    found = stats.paired_difference(sample, other, ratio, n_resamples=500)
    assert found.estimate == pytest.approx(ratio(sample) / 2)
    same = stats.paired_difference(sample, sample, ratio, n_resamples=500)
    assert (same.estimate, same.low, same.high, same.p) == (0, 0, 0, 1)


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


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: stats.replicates([], n_resamples=5), "at least one fact"),
        (lambda: stats.bootstrap([1.0, 2.0], n_resamples=0), "at least 1 resample"),
        (lambda: stats.bootstrap([1.0, 2.0], strata=["a"]), "1 strata for 2 facts"),
        (lambda: stats.paired_difference([1.0], [1.0, 2.0]), "1 and 2 rows"),
        (lambda: stats.correlation([1, 2], [1, 2, 3]), "not 2 and 3"),
        (lambda: stats.correlation([1, 2], [1, 2], "kendall"), 'not "kendall"'),
        (lambda: stats.wilson(3, 2), "3 successes of 2"),
        (lambda: stats.intervals(pd.DataFrame({"relation": []}), MEASURES), "column top"),
    ],
)
def test_what_cannot_be_is_refused(call, sentence):
    with pytest.raises(UserError, match=sentence):
        call()


def test_mcnemar_by_hand():
    first, second = [1] * 8 + [0] * 2 + [1] * 5, [0] * 8 + [1] * 2 + [1] * 5
    found = stats.mcnemar(first, second)
    # Ten facts differ; at most 2 or at least 8 heads of ten: 2 (1 + 10 + 45) / 1024.
    assert found.p == pytest.approx(112 / 1024)
    assert (found.first_only, found.second_only, found.n) == (8, 2, 15)
    assert stats.mcnemar(second, first).p == found.p
    assert stats.mcnemar(first, first).p == 1.0
    with pytest.raises(UserError, match="needs pairs, not 2 and 1 marks"):
        stats.mcnemar([1, 0], [1])


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_the_binomial_test(alone, other):
    first, second = [1] * alone + [0] * other, [0] * alone + [1] * other
    expected = scipy.stats.binomtest(alone, alone + other).pvalue if alone + other else 1.0
    assert stats.mcnemar(first, second).p == pytest.approx(expected)


def test_strata_within_groups_narrow_intervals():
    hits = np.repeat([0.0, 1.0], 40)
    table = pd.DataFrame({"way": "list", "relation": hits, "hit": hits})
    rates = {"rate": (["hit"], stats.mean)}
    loose = stats.intervals(table, rates, by="way")
    tight = stats.intervals(table, rates, by="way", strata="relation")
    assert loose["estimate"].eq(0.5).all()
    assert (loose["high"] - loose["low"]).iloc[:2].gt(0.1).all()
    assert tight["low"].eq(0.5).all()  # facts of one relation are alike, and each stays as it is
    assert tight["high"].eq(0.5).all()
    with pytest.raises(UserError, match="lacks the column relation"):
        stats.intervals(table.drop(columns="relation"), rates, by="way", strata="relation")
