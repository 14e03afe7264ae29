"""The area under the ROC curve against a count of pairs; the curve, and the interval, of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from helpers import stats
from helpers.metrics import roc_curve

ROWS = st.lists(
    st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=20
).filter(lambda rows: len({label for _, label in rows}) == 2)


def pairs(rows):
    """Return the share of (positive, negative) pairs in the right order, ties one half."""
    positive = [score for score, label in rows if label]
    negative = [score for score, label in rows if not label]
    return np.mean([(p > n) + 0.5 * (p == n) for p in positive for n in negative])


@given(ROWS, st.lists(st.integers(0, 9), max_size=5))
def test_the_area_is_the_share_of_pairs_in_order(rows, others):
    values = np.array(rows, dtype=float)
    unlabelled = np.array([[score, np.nan] for score in others]).reshape(-1, 2)
    found = roc_curve.area_under_roc_curve(np.vstack([unlabelled, values]))
    assert found == pytest.approx(pairs(rows))
    assert found == pytest.approx(roc_auc_score(values[:, 1], values[:, 0]))


ROWS_OF_RELATIONS = st.lists(
    st.tuples(
        st.integers(0, 5), st.sampled_from([0.0, 1.0, np.nan]), st.integers(0, 3)
    ),
    min_size=1,
    max_size=25,
)


@given(ROWS_OF_RELATIONS)
def test_the_area_within_relations_is_the_share_of_their_pairs_in_order(rows):
    in_order, by_relation = 0.0, {}
    for score, label, relation in rows:
        for other, its_label, its_relation in rows:
            if (label, its_label) == (1, 0) and relation == its_relation:
                won = (score > other) + 0.5 * (score == other)
                by_relation.setdefault(relation, []).append(won)
    pairs_in_order = [won for wins in by_relation.values() for won in wins]
    in_order = np.mean(pairs_in_order) if pairs_in_order else np.nan
    values = np.array(rows, dtype=float)
    for scale in (1.0, 0.37):  # ranks already, and any numbers
        scaled = values * [scale, 1, 1]
        area = roc_curve.area_within_relations(scaled)
        assert area == pytest.approx(in_order, nan_ok=True)
        of_relations = [np.mean(wins) for wins in by_relation.values()]
        alike = np.mean(of_relations) if of_relations else np.nan
        mean_area = roc_curve.mean_area_of_relations(scaled)
        assert mean_area == pytest.approx(alike, nan_ok=True)
    twice = np.stack([values, values])
    assert roc_curve.area_within_relations(twice).shape == (2,)


def test_levels_of_relations_do_not_count():
    rng = np.random.default_rng(0)
    relation, label = rng.integers(0, 6, 90), rng.integers(0, 2, 90)
    score = rng.normal(size=90)
    rows = np.column_stack([score, label, relation])
    shifted = rows + np.column_stack([10.0 * relation, 0 * label, 0 * relation])
    assert roc_curve.area_within_relations(rows) == pytest.approx(
        roc_curve.area_within_relations(shifted)
    )
    assert roc_curve.area_under_roc_curve(rows[:, :2]) != pytest.approx(
        roc_curve.area_under_roc_curve(shifted[:, :2]), abs=0.01
    )


def test_many_samples_at_once_are_as_one_by_one():
    values = np.random.default_rng(0).integers(0, 4, (5, 12, 2)) % [4, 2]
    each = [float(roc_curve.area_under_roc_curve(sample)) for sample in values]
    assert roc_curve.area_under_roc_curve(values) == pytest.approx(each, nan_ok=True)


@pytest.mark.parametrize(
    ("rows", "area"),
    [
        ([[1.0, 0], [2.0, 0]], np.nan),
        ([[1.0, 1], [2.0, 1]], np.nan),
        (np.empty((0, 2)), np.nan),
        ([[1.0, 1], [1.0, 0], [1.0, 0]], 0.5),
    ],
)
def test_one_group_alone_has_no_area_and_a_score_that_never_changes_is_a_coin(
    rows, area
):
    assert roc_curve.area_under_roc_curve(np.array(rows)) == pytest.approx(
        area, nan_ok=True
    )


def within(areas, n, m, wider=1.0):
    """Return the least and the largest of a million areas that Newcombe's rule does not reject."""
    theta = np.linspace(0, 1, 1_000_001)
    half = (n + m) / 2 - 1
    spread = 1 + half * (1 - theta) / (2 - theta) + half * theta / (1 + theta)
    kept = (areas - theta) ** 2 <= norm.ppf(0.975) ** 2 * wider * theta * (
        1 - theta
    ) * spread / (n * m)
    return theta[kept][[0, -1]]


@given(st.integers(1, 40), st.integers(1, 40), st.floats(0, 1))
def test_the_bounds_are_the_areas_that_are_not_rejected(n, m, share):
    area, label = (
        np.round(share * n * m) / (n * m),
        np.array([1] * n + [0] * m)[:, None],
    )
    found = roc_curve.newcombe_bounds_of_area(np.array(area), np.full(9, area), label)
    assert found == pytest.approx(within(area, n, m), abs=2e-6)
    assert 0 <= found[0] <= area <= found[1] <= 1


def test_resamples_that_spread_more_widen_the_bounds():
    label, draws = np.array([1] * 20 + [0] * 20)[:, None], np.array([0.5, 0.9] * 50)
    usual = 0.7 * 0.3 * (1 + 19 * (0.3 / 1.3 + 0.7 / 1.7)) / 400
    found = roc_curve.newcombe_bounds_of_area(np.array(0.7), draws, label)
    assert found == pytest.approx(within(0.7, 20, 20, 0.04 / usual), abs=2e-6)


def test_several_areas_at_once_and_one_that_is_none():
    label, areas = np.array([1, 1, 0])[:, None], np.array([0.5, np.nan, 1.0])
    low, high = roc_curve.newcombe_bounds_of_area(areas, np.tile(areas, (9, 1)), label)
    assert np.isnan([low[1], high[1]]).all()
    assert [low[2], high[2]] == pytest.approx(within(1.0, 2, 1), abs=2e-6)
    assert np.isnan(
        roc_curve.newcombe_bounds_of_area(areas, np.tile(areas, (9, 1)), label[:2])
    ).all()


def test_a_bootstrap_of_areas_has_these_bounds():
    rows = np.array([[3.0, 1], [2.0, 1], [1.0, 0], [0.0, 0]] * 5)
    found = stats.bootstrap(
        rows, roc_curve.area_under_roc_curve, rows[:, 1], n_resamples=50
    )
    assert found[:3] == pytest.approx((1, *within(1.0, 10, 10)), abs=2e-6)


def normal(draw, area, n):
    return draw.normal(np.sqrt(2) * norm.ppf(area), 1, n)


POSITIVE = {  # scores of positives, where those of negatives are normal
    "of equal spread": normal,
    "of twice the spread": lambda draw, area, n: draw.normal(
        np.sqrt(5) * norm.ppf(area), 2, n
    ),
    "exponential": lambda draw, area, n: norm.ppf(
        draw.random(n) ** ((1 - area) / area)
    ),
    "rounded": normal,  # to ten steps, as those of negatives
}


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(142, 144), (30, 60), (15, 15), (16, 59)])
@pytest.mark.parametrize("area", [0.95, 0.97, 0.99, 0.999])
@pytest.mark.parametrize("kind", POSITIVE)
def test_areas_near_one_are_covered(kind, area, sizes):
    """In 93 % of samples or more; in more than 97 % where scores are normal, as Newcombe says."""
    draw, sets = np.random.default_rng(6), 400

    def sample(n, m):
        scores = np.r_[POSITIVE[kind](draw, area, n), draw.normal(size=m)]
        scores = np.round(10 * ndtr(scores)) if kind == "rounded" else scores
        return np.column_stack([scores, np.repeat([1.0, 0.0], (n, m))])

    truth = (
        roc_curve.area_under_roc_curve(sample(200_000, 200_000))
        if kind == "rounded"
        else area
    )
    covered = []
    for seed in range(sets):
        rows = sample(*sizes)
        found = stats.bootstrap(
            rows, roc_curve.area_under_roc_curve, rows[:, 1], n_resamples=100, seed=seed
        )
        covered.append(found.low <= truth <= found.high)
    assert np.mean(covered) >= 0.93 - 2 * np.sqrt(0.05 * 0.95 / sets)
