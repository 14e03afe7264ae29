"""Planned sizes: by hand, against the widths that samples of a population show, and two models."""

import numpy as np
import pytest

from helpers import UserError, exchange, stats
from helpers.exchange import planning
from helpers.exchange.planning import (
    DIFFERENCE_QUANTILES,
    WIDTH_QUANTILES,
    MeasureSpread,
)


def ratio(rows):
    return rows[..., 0].sum(-1) / rows[..., 1].sum(-1)


def population(kind, chance, n=4000):
    """Return values, statistic and strata of many facts."""
    strata = np.arange(n) % 10
    if kind == "shares":
        return (
            (chance.random(n) < 0.1 + 0.08 * strata).astype(float),
            stats.mean,
            strata,
        )
    if kind == "amounts":
        return chance.gamma(2, 1, n) + strata, stats.mean, strata
    asked = (chance.random(n) < 0.7).astype(float)
    return np.column_stack([asked * (chance.random(n) < 0.4), asked]), ratio, None


DESIGNS = [(k, p, n) for k in ("shares", "amounts", "ratio") for p in (100, 200, 800)
           for n in (60, 150, 400)]  # fmt: skip


@pytest.mark.parametrize(("kind", "pilot", "n"), DESIGNS)
def test_widths_are_those_planned(kind, pilot, n):
    """From pilots of some size to runs of another: 27 designs, within ten per cent."""
    chance = np.random.default_rng([pilot, n])
    values, statistic, strata = population(kind, chance)

    def sample(size):
        rows = chance.choice(len(values) // 10, size // 10, replace=False)
        chosen = (
            10 * rows[:, None] + np.arange(10)
        ).ravel()  # as many of each relation
        return values[chosen], None if strata is None else strata[chosen]

    planned, seen = [], []
    for _ in range(12):
        rows, layers = sample(pilot)
        planned.append(
            float(
                planning.standard_error_times_quantiles(
                    planning.measure_spread(rows, statistic, layers), n, WIDTH_QUANTILES
                )
            )
        )
        rows, layers = sample(n)
        found = stats.bootstrap(rows, statistic, layers, n_resamples=400)
        seen.append(found.high - found.low)
    assert np.mean(planned) == pytest.approx(np.mean(seen), rel=0.1)


@pytest.mark.parametrize("asked", [4, 10])
@pytest.mark.parametrize("wanted", [2, 5, 20, 100, 1000])
@pytest.mark.parametrize("firm", [0.3, 2.0])
def test_widths_in_other_numbers_of_wordings_are_those_planned(asked, wanted, firm):
    """Shares of wordings that are right, facts between steady and chance: 20 designs."""
    chance = np.random.default_rng([asked, wanted])
    known = chance.beta(firm, firm, (2, 20_000))
    right = chance.random((asked, 20_000)) < known[0]
    spreads = [
        MeasureSpread(rows.mean(0).std(ddof=1), 500, 1) for rows in (right, right[::2])
    ]
    planned = planning.spread_with_wordings(*spreads, asked, len(right[::2]), wanted)
    seen = MeasureSpread(
        (chance.binomial(wanted, known[1]) / wanted).std(ddof=1), 500, 1
    )
    widths = [
        float(planning.standard_error_times_quantiles(each, 500, WIDTH_QUANTILES))
        for each in (planned, seen)
    ]
    assert widths[0] == pytest.approx(widths[1], rel=0.1)


def test_the_spread_of_a_mean_is_its_standard_deviation_within_relations():
    values, relations = [0, 1, 0, 1, 1, 5, 6, 5, 6, 6], ["a"] * 5 + ["b"] * 5
    found = planning.measure_spread(values, strata=relations)
    assert found == pytest.approx((np.sqrt(2 * 1.2 / 8), 10, 2))


def test_a_difference_is_told_as_often_as_planned():
    chance = np.random.default_rng(5)
    n = planning.fewest_facts_needed(
        MeasureSpread(1.0, 50, 1), 0.3, DIFFERENCE_QUANTILES
    )
    gaps = chance.normal(0.3, 1, (2000, int(n)))
    error = gaps.std(axis=1, ddof=1) / np.sqrt(n)
    told = np.abs(gaps.mean(axis=1)) > 1.96 * error
    assert told.mean() == pytest.approx(0.8, abs=0.04)


def test_what_cannot_be_planned():
    with pytest.raises(UserError, match="too few to plan from"):
        planning.measure_spread([1.0, 0.0])
    with pytest.raises(UserError, match="all alike"):
        planning.measure_spread([1.0] * 30)
    for bad in ({"width": 0}, {"difference": 0}, {"wordings": 0}):
        with pytest.raises(UserError, match="is 0: give a number above 0"):
            exchange.facts_needed_by_measure("runs", **bad)
    assert (
        planning.fewest_facts_needed(MeasureSpread(0.5, 20, 1), 1e-4, WIDTH_QUANTILES)
        == np.inf
    )
