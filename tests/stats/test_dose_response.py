"""Slopes and half doses: by hand, by another estimator, and by simulation with planted values."""

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from helpers import UserError
from helpers.stats import dose_response

LEVELS = np.array([0, 0, 0, 1, 2, 4, 8, 16, 32, 64])


def _simulate(random, relations=12, size=6, beta=0.7, spread=1.0):
    """Draw verdicts with a planted slope and an effect of each relation."""
    relation = np.repeat(np.arange(relations), size)
    exposures = random.choice(LEVELS, relation.size)
    effect = -2 + random.normal(0, spread, relations)
    logit = effect[relation] + beta * np.log2(1 + exposures)
    known = random.random(relation.size) < 1 / (1 + np.exp(-logit))
    return known.astype(int), exposures, relation


@given(st.integers(1, 9), st.integers(1, 9))
@limits(max_examples=8)
def test_pairs_give_the_odds_of_discordant_pairs(up, down):
    known = [0, 1] * up + [1, 0] * down
    relation = np.repeat(np.arange(up + down), 2)
    found = dose_response.dose_response_slope(known, [0, 1] * (up + down), relation)
    assert found.estimate == pytest.approx(np.log(up / down), abs=1e-4)
    assert found.relations == up + down


def test_the_error_of_four_pairs_by_hand():
    """Chances are 3/4, so three scores are 1/4 and one is -3/4, and the information is 3/4.

    The squared error is 4/3 (of four relations) times 3/4 over (3/4)², which is 16/9.
    """
    found = dose_response.dose_response_slope(
        [0, 1, 0, 1, 0, 1, 1, 0], [0, 1] * 4, list("aabbccdd")
    )
    t = scipy.stats.t(3)
    assert found.high - found.estimate == pytest.approx(t.ppf(0.975) * 4 / 3, rel=1e-3)
    assert found.p == pytest.approx(2 * t.sf(np.log(3) * 3 / 4), rel=1e-3)


def test_the_interval_covers_the_planted_slope():
    random = np.random.default_rng(20)
    found = [dose_response.dose_response_slope(*_simulate(random)) for _ in range(60)]
    inside = np.mean([one.low <= 0.7 <= one.high for one in found])
    assert inside >= 0.88
    assert np.median([one.estimate for one in found]) == pytest.approx(0.7, abs=0.1)


def test_no_slope_is_seldom_called_one():
    random = np.random.default_rng(3)
    found = [
        dose_response.dose_response_slope(*_simulate(random, beta=0.0))
        for _ in range(40)
    ]
    assert np.mean([one.p < 0.05 for one in found]) <= 0.15


def test_dummies_agree_where_relations_are_large():
    known, exposures, relation = _simulate(
        np.random.default_rng(1), relations=4, size=150
    )
    found = dose_response.dose_response_slope(known, exposures, relation)
    columns = [np.log2(1 + exposures), *(relation == r for r in range(4))]
    fit = sm.Logit(known, np.column_stack(columns).astype(float)).fit(disp=0)
    assert found.estimate == pytest.approx(fit.params[0], rel=0.02)


def test_relations_without_variation_are_left_out():
    found = dose_response.dose_response_slope(
        [0, 1, 1, 0, 1, 1], [0, 1, 0, 1, 0, 4], list("aabbcc")
    )
    assert (found.n, found.relations) == (4, 2)
    nothing = dose_response.dose_response_slope([1, 1], [0, 4], ["a", "a"])
    assert np.isnan(nothing.estimate)
    assert nothing.n == 0


@pytest.mark.parametrize(
    ("known", "sign"), [([0, 0, 1, 1] * 3, 1), ([1, 1, 0, 0] * 3, -1)]
)
def test_facts_parted_without_exception_have_no_finite_slope(known, sign):
    found = dose_response.dose_response_slope(
        known, [0, 1, 2, 4] * 3, np.repeat([1, 2, 3], 4)
    )
    assert found.estimate == sign * np.inf
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def test_the_half_dose_covers_the_planted_one():
    random = np.random.default_rng(8)
    drawn = [
        _simulate(random, relations=15, size=10, beta=0.5, spread=0.3)
        for _ in range(150)
    ]
    found = [dose_response.exposures_of_half_known(*one) for one in drawn]
    inside = np.mean([one.low <= 2 ** (2 / 0.5) - 1 <= one.high for one in found])
    assert 0.9 <= inside <= 0.995


def test_where_there_is_no_half_dose():
    flat = dose_response.exposures_of_half_known(
        [1, 0, 1, 0], [0, 0, 4, 4], list("abcd")
    )
    falls = dose_response.exposures_of_half_known(
        [1, 1, 0, 1, 0, 0, 1, 0], [0, 0, 0, 0, 4, 4, 4, 4], range(8)
    )
    same = dose_response.exposures_of_half_known([1, 1, 1], [0, 1, 2], list("abc"))
    assert all(np.isnan(one.estimate) for one in (flat, falls, same))
    eager = dose_response.exposures_of_half_known(
        [1, 1, 1, 0, 1, 1, 1, 1, 0], [0] * 4 + [4] * 5, range(9)
    )
    assert eager.estimate == 0 or np.isnan(eager.estimate)


@pytest.mark.parametrize(
    "figure", [dose_response.dose_response_slope, dose_response.exposures_of_half_known]
)
def test_what_is_refused(figure):
    with pytest.raises(UserError, match="at least 0"):
        figure([1, 0], [1, -1], ["a", "a"])
    with pytest.raises(UserError, match="as many exposures"):
        figure([1, 0], [1], ["a", "a"])
