"""Do intervals hold what they promise? Simulated studies whose truth is known.

Each study is 500 synthetic data sets of facts that cluster in relations of unequal
size, each relation with a rate of its own. The truth is that of the relations at hand,
as the chapters report it; a 95 % interval must cover it in 93 to 97 % of data sets.
"""

from functools import partial

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


def ratio(rows):
    sums = rows.sum(axis=-2)
    return sums[..., 0] / sums[..., 1]


def difference_of_pairs(generator, seed):
    gains = generator.normal(0.1, 0.3, len(SIZES))
    hard = generator.normal(size=len(LABELS))
    first = hard + gains[LABELS] + generator.normal(0, 0.5, len(LABELS))
    second = hard + generator.normal(0, 0.5, len(LABELS))
    found = stats.paired_difference(
        first, second, strata=LABELS, n_resamples=400, seed=seed
    )
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

    both = np.column_stack([top, bottom])
    found = stats.bootstrap(both, ratio, strata=LABELS, n_resamples=400, seed=seed)
    return covered(found, np.average(shares, weights=SIZES))


@pytest.mark.parametrize(
    "simulate", [difference_of_pairs, five_facts_a_relation, ratio_of_sums]
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


def test_relations_that_were_not_asked_are_not_covered_unless_whole_ones_are_drawn():
    """Facts are drawn within relations, so an interval says nothing of relations not at hand."""

    def within(generator, seed):
        hits, _ = marks(generator)
        return covered(
            stats.bootstrap(hits, strata=LABELS, n_resamples=200, seed=seed), 0.5
        )

    def whole(generator, seed):
        hits, _ = marks(generator)
        return covered(
            stats.bootstrap_over_groups(hits[:, None], LABELS, stats.mean, 200, seed),
            0.5,
        )

    assert study(within, seed=3) < 0.8
    assert 0.92 <= study(whole, seed=3) <= 0.98


# Facts in each relation, from one on: what `n_facts`, `relations` and the facts that
# count make.
DESIGNS = {
    "30 x 1": [1] * 30,
    "27 of 1 or 2": [1] * 14 + [2] * 13,
    "23 of 1 or 2": [1] * 12 + [2] * 11,
    "100 x 1, 2 x 5": [1] * 100 + [5] * 2,
    "30 x 2": [2] * 30,
    "2 x 3": [3] * 2,
    "3 x 3": [3] * 3,
    "10 x 3": [3] * 10,
    "3 x 4": [4] * 3,
    "10 x 4": [4] * 10,
    "3 x 5": [5] * 3,
    "6 x 5": [5] * 6,
    "10 x 5": [5] * 10,
    "6 x 8": [8] * 6,
    "4 x 12": [12] * 4,
    "1 to 15": [1, 2, 3, 4, 6, 8, 10, 15] * 3,
    "30 and 5 x 1": [30] + [1] * 5,
    "2 x 10 and 1": [10, 10, 1],
    "1 x 8": [8],
    "1 x 20": [20],
    "8 x 1": [1] * 8,
}
FAST = ["30 x 1", "10 x 3", "6 x 5", "30 and 5 x 1"]


def shares(generator, labels, known):
    """Return marks of two models that know each fact by the same chance, and the truth."""
    rates = generator.beta(*known, labels[-1] + 1)[labels]
    return (generator.random((2, len(labels))) < rates).astype(float), rates.mean()


def ratios(generator, labels):
    """Return MONITOR's kind, tops and bottoms of two models, and the truth of both."""
    each = generator.uniform(0.2, 0.6, labels[-1] + 1)[labels]
    bottom = generator.uniform(0.5, 1, len(labels))
    tops = [bottom * generator.beta(6 * each, 6 * (1 - each)) for _ in range(2)]
    return [np.column_stack([top, bottom]) for top in tops], each.mean()


def design(sizes, n_sets, draw, statistic=stats.mean, n_resamples=1000):
    """Return how often intervals cover, and how often equal models differ, of sets with either.

    Relations have rates of their own; two models that are equal know each fact by the
    same chance.
    """
    labels = np.repeat(np.arange(len(sizes)), sizes)
    generator, covers, differs = np.random.default_rng(4), [], []
    for seed in range(n_sets):
        (one, two), truth = draw(generator, labels)
        how = {"strata": labels, "n_resamples": n_resamples, "seed": seed}
        found = stats.estimate_with_interval(one, statistic, **how)
        if found.high >= found.low:
            covers.append(covered(found, truth))
        gap = stats.paired_difference(one, two, statistic, **how)
        if gap.high >= gap.low:
            differs.append(gap.low > 0 or gap.high < 0)
    return np.mean(covers), np.mean(differs)


@pytest.mark.parametrize(
    ("name", "n_sets"),
    [
        *((name, 150) for name in FAST),
        *(pytest.param(name, 2000, marks=pytest.mark.slow) for name in DESIGNS),
    ],
)
def test_any_number_of_facts_a_relation_is_covered_or_has_no_interval(name, n_sets):
    covers, differs = design(DESIGNS[name], n_sets, partial(shares, known=(2, 2)))
    room = 2 * np.sqrt(0.05 * 0.95 / n_sets)  # the simulation's own error
    assert covers >= 0.93 - room
    assert (
        covers <= 0.97 + room or sum(DESIGNS[name]) < 20
    )  # few answers make few intervals
    assert differs <= 0.06 + room


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("kind", ["nearly all known", "ratios"])
def test_high_rates_and_ratios_are_covered_and_equal_ones_not_told_apart(name, kind):
    """Rates of 0.95 on average: a sample of hits alone has Wilson's interval, which is wide.

    The least is 0.92, of 110 facts in 102 relations: percentiles of few misses are
    short above.
    """
    draw, more = (
        (ratios, (ratio, 500))
        if kind == "ratios"
        else (partial(shares, known=(20, 1)), ())
    )
    covers, differs = design(DESIGNS[name], 800, draw, *more)
    room = 2 * np.sqrt(0.05 * 0.95 / 800)
    assert covers >= 0.93 - room
    # Pooled strata: rather too wide.
    assert kind != "ratios" or covers <= 0.98 + room or min(DESIGNS[name]) < 5
    assert differs <= 0.06 + room


@pytest.mark.slow
@pytest.mark.parametrize(
    "sizes", [[1] * 30, [2] * 10, [3] * 6, [1, 2, 3, 5, 8, 12, 15] * 2, SIZES]
)
def test_a_mean_over_small_relations_is_covered(sizes):
    labels = np.repeat(np.arange(len(sizes)), sizes)

    def simulate(generator, seed):
        rates = generator.beta(2, 2, len(sizes))
        hits = (generator.random(len(labels)) < rates[labels]).astype(float)
        table = pd.DataFrame({"relation": labels, "hit": hits})
        found = stats.intervals_by_group(
            table, {"rate": (["hit"], stats.mean)}, n_resamples=300, seed=seed
        )
        return covered(found.iloc[-1], rates.mean())

    assert 0.92 <= study(simulate, seed=5) <= 0.985
