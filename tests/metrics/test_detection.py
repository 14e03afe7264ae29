"""The area under the ROC curve against a count of pairs, and the curve against the area."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from helpers.metrics import detection

ROWS = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=20).filter(
    lambda rows: len({label for _, label in rows}) == 2
)


def pairs(rows):
    """Return the share of (positive, negative) pairs in the right order, ties one half."""
    positive = [score for score, label in rows if label]
    negative = [score for score, label in rows if not label]
    return np.mean([(p > n) + 0.5 * (p == n) for p in positive for n in negative])


@given(ROWS)
def test_the_area_is_the_share_of_pairs_in_order_and_that_under_the_curve(rows):
    values = np.array(rows, dtype=float)
    assert detection.area(values) == pytest.approx(pairs(rows))
    assert detection.area(values) == pytest.approx(roc_auc_score(values[:, 1], values[:, 0]))
    curve = detection.roc(*zip(*rows))
    x, y = curve["false_positive_rate"], curve["true_positive_rate"]
    assert np.trapezoid(y, x) == pytest.approx(pairs(rows))
    assert x.is_monotonic_increasing
    assert y.is_monotonic_increasing
    assert curve.iloc[[0, -1]].to_numpy().tolist() == [[0, 0], [1, 1]]
    assert len(curve) == len({score for score, _ in rows}) + 1


@given(ROWS, st.lists(st.integers(0, 9), max_size=5))
def test_rows_without_a_label_count_nowhere(rows, others):
    values = np.array(rows, dtype=float)
    more = np.array([[score, np.nan] for score in others]).reshape(-1, 2)
    assert detection.area(np.vstack([more, values])) == pytest.approx(detection.area(values))


@given(ROWS)
def test_a_score_turned_around_has_the_rest_of_the_area(rows):
    values = np.array(rows, dtype=float)
    assert detection.area(values * [-1, 1]) == pytest.approx(1 - detection.area(values))


def test_many_samples_at_once_are_as_one_by_one():
    values = np.random.default_rng(0).integers(0, 4, (5, 12, 2)) % [4, 2]
    each = [float(detection.area(sample)) for sample in values]
    assert detection.area(values) == pytest.approx(each, nan_ok=True)


@pytest.mark.parametrize("label", [0, 1])
def test_one_group_alone_has_no_area_and_no_curve(label):
    assert np.isnan(detection.area(np.array([[1.0, label], [2.0, label]])))
    assert detection.roc([1, 2], [bool(label)] * 2).empty


def test_no_case_at_all_has_no_area_and_no_curve():
    assert np.isnan(detection.area(np.empty((0, 2))))
    curve = detection.roc([], [])
    assert curve.empty
    assert list(curve) == ["false_positive_rate", "true_positive_rate"]


def test_a_score_that_never_changes_is_a_coin():
    assert detection.area(np.array([[1.0, 1], [1.0, 0], [1.0, 0]])) == 0.5
    assert detection.roc([1, 1, 1], [True, False, False]).to_numpy().tolist() == [[0, 0], [1, 1]]
