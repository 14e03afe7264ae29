"""Confidence and being right: by hand, and what must hold of any answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers.metrics import confidence

answers = st.integers(1, 40).flatmap(
    lambda n: st.tuples(
        arrays(float, n, elements=st.floats(0, 1, width=32)),
        arrays(float, n, elements=st.sampled_from([0.0, 1.0])),
    )
)


@given(answers)
def test_each_is_a_share_and_does_not_depend_on_order(pair):
    rows = np.column_stack(pair)
    turned = rows[::-1]
    for statistic in (
        confidence.brier_score,
        confidence.expected_calibration_error,
        confidence.area_under_risk_coverage,
    ):
        value = float(statistic(rows))
        assert -1e-9 <= value <= 1 + 1e-9
        assert value == pytest.approx(float(statistic(turned)), abs=1e-9)


@given(answers)
def test_the_calibration_error_is_at_least_the_overconfidence(pair):
    sure, right = pair
    rows = np.column_stack(pair)
    error = float(confidence.expected_calibration_error(rows))
    assert error >= abs(sure.mean() - right.mean()) - 1e-9


def test_confidence_that_says_nothing_gives_the_share_wrong():
    rows = np.array([[0.5, 1.0], [0.5, 0.0], [0.5, 0.0], [0.5, 1.0]])
    assert float(confidence.area_under_risk_coverage(rows)) == 0.5


def test_the_risk_by_hand():
    # Surest first: right, then two of one confidence of which one is wrong, then wrong.
    # Risks 0, 1/3, 1/3 (given together) and 2/4.
    rows = np.array([[0.4, 0.0], [0.6, 1.0], [0.6, 0.0], [0.9, 1.0]])
    expected = (0 + 1 / 3 + 1 / 3 + 1 / 2) / 4
    assert float(confidence.area_under_risk_coverage(rows)) == pytest.approx(expected)


def test_probabilities_that_are_met_have_no_error():
    rng = np.random.default_rng(0)
    sure = rng.random(200_000)
    rows = np.column_stack([sure, rng.random(200_000) < sure])
    assert float(confidence.expected_calibration_error(rows)) < 0.01
    # E (p - y)^2 of calibrated p is E p (1 - p), one sixth of uniform ones
    assert float(confidence.brier_score(rows)) == pytest.approx(1 / 6, abs=0.005)


def test_many_samples_at_once_are_each_alone():
    rng = np.random.default_rng(1)
    rows = np.stack([rng.random((3, 30)), rng.integers(0, 2, (3, 30))], axis=-1)
    for statistic in (
        confidence.brier_score,
        confidence.expected_calibration_error,
        confidence.area_under_risk_coverage,
    ):
        together = statistic(rows)
        assert together.tolist() == [pytest.approx(float(statistic(r))) for r in rows]
