"""Do intervals hold what they promise? Simulated studies whose truth is known.

Each study is 500 synthetic data sets of facts that cluster in relations of unequal size, each
relation with a rate of its own. The truth is that of the relations at hand, as the chapters report
it; a 95 % interval must cover it in 93 to 97 % of data sets.
"""

import numpy as np
import pandas as pd
import pytest

from helpers import stats

SETS = 500
SIZES = np.array([12, 15, 18, 20, 20, 22, 25, 28, 30, 40])
LABELS = np.repeat(np.arange(len(SIZES)), SIZES)


def covered(found, truth):
    return found.low <= truth <= found.high


def study(simulate, seed):
    """Return the share of data sets for which `simulate` says that the truth was covered."""
    generator = np.random.default_rng(seed)
    return np.mean([simulate(generator, number) for number in range(SETS)])


def marks(generator):
    rates = generator.beta(2, 2, len(SIZES))
    return generator.random(len(LABELS)) < rates[LABELS], rates


def rate(generator, seed):
    hits, rates = marks(generator)
    found = stats.bootstrap(hits, strata=LABELS, n_resamples=400, seed=seed)
    return covered(found, np.average(rates, weights=SIZES))


def mean_over_relations(generator, seed):
    hits, rates = marks(generator)
    table = pd.DataFrame({"relation": LABELS, "hit": hits})
    found = stats.intervals(table, {"rate": (["hit"], stats.mean)}, n_resamples=200, seed=seed)
    row = found[found["relation"] == "mean"].iloc[0]
    return covered(row, rates.mean())


def difference_of_pairs(generator, seed):
    gains = generator.normal(0.1, 0.3, len(SIZES))
    hard = generator.normal(size=len(LABELS))
    first = hard + gains[LABELS] + generator.normal(0, 0.5, len(LABELS))
    second = hard + generator.normal(0, 0.5, len(LABELS))
    found = stats.paired_difference(first, second, strata=LABELS, n_resamples=400, seed=seed)
    return covered(found, np.average(gains, weights=SIZES))


def five_facts_a_relation(generator, seed):
    labels = np.repeat(np.arange(10), 5)
    middles = generator.normal(size=10)
    values = middles[labels] + generator.normal(size=50)
    found = stats.bootstrap(values, strata=labels, n_resamples=400, seed=seed)
    return covered(found, middles.mean())


def ratio_of_sums(generator, seed):
    shares = generator.uniform(0.2, 0.8, len(SIZES))
    bottom = generator.uniform(0.5, 1.5, len(LABELS))
    top = bottom * generator.beta(8 * shares[LABELS], 8 * (1 - shares[LABELS]))

    def ratio(rows):
        sums = rows.sum(axis=-2)
        return sums[..., 0] / sums[..., 1]

    both = np.column_stack([top, bottom])
    found = stats.bootstrap(both, ratio, strata=LABELS, n_resamples=400, seed=seed)
    return covered(found, np.average(shares, weights=SIZES))


@pytest.mark.parametrize(
    "simulate",
    [
        rate,
        pytest.param(mean_over_relations, marks=pytest.mark.slow),
        difference_of_pairs,
        five_facts_a_relation,
        ratio_of_sums,
    ],
)
def test_a_bootstrap_interval_covers_as_it_says(simulate):
    assert 0.93 <= study(simulate, seed=1) <= 0.97


@pytest.mark.parametrize("method", ["pearson", "spearman"])
@pytest.mark.parametrize("n", [12, 26])
def test_a_correlations_interval_covers_as_it_says(method, n):
    rho = -0.7
    ranks = 6 / np.pi * np.arcsin(rho / 2)  # Spearman's rho of a bivariate normal
    truth = rho if method == "pearson" else ranks

    def simulate(generator, _):
        x, y = generator.multivariate_normal([0, 0], [[1, rho], [rho, 1]], n).T
        return covered(stats.correlation(x, y, method), truth)

    assert 0.93 <= study(simulate, seed=2) <= 0.97


def test_relations_that_were_not_asked_are_not_covered():
    """Facts are drawn within relations, so an interval says nothing of relations not at hand."""

    def simulate(generator, seed):
        hits, _ = marks(generator)
        return covered(stats.bootstrap(hits, strata=LABELS, n_resamples=200, seed=seed), 0.5)

    assert study(simulate, seed=3) < 0.8
