"""Multiplicity of choices: worked cases, counts by loops, and bad input."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from helpers import UserError
from helpers.metrics import multiplicity as mp

TABLES = st.tuples(st.integers(1, 6), st.integers(2, 6)).flatmap(
    lambda size: arrays(int, size, elements=st.integers(0, 3))
)
BY_HAND = [  # choices of one item whose option 0 is right
    ([0, 0, 1], 1 / 3, 5 / 9, True, True, 0, "randomness"),
    ([2, 1, 2], 1 / 3, 5 / 9, True, False, 2, "randomness"),
    ([1, 1, 1], 1, 1, False, False, 1, "error"),
    ([0] * 9 + [1], 36 / 45, 82 / 100, True, True, 0, "factuality"),
    ([0] * 8 + [1, 2], 28 / 45, 66 / 100, True, True, 0, "randomness"),
    ([0, 1], 0, 1 / 2, True, True, mp.NO_MAJORITY, "randomness"),
]


@pytest.mark.parametrize(
    ("row", "agree", "replaced", "whole", "binary", "majority", "kind"), BY_HAND
)
def test_measures_by_hand(row, agree, replaced, whole, binary, majority, kind):
    assert mp.self_consistency([row]) == pytest.approx([agree])
    assert mp.self_consistency([row], replacement=True) == pytest.approx([replaced])
    assert mp.is_ambiguous([row]).tolist() == [whole]
    assert mp.is_binary_ambiguous([row], [0]).tolist() == [binary]
    assert mp.majority_option([row]).tolist() == [majority]
    assert mp.taxonomy_classes([row], [0]).tolist() == [kind]


def test_a_self_consistency_of_exactly_tau_is_agnostic():
    assert mp.taxonomy_classes([[0, 0, 1]], [0], tau=1 / 3).tolist() == ["factuality"]
    assert mp.taxonomy_classes([[0, 0, 1]], [0], tau=0.34).tolist() == ["randomness"]
    assert mp.TAU == 0.75


def by_loops(row, correct, tau, replacement, correct_by):
    """Return agreement, majority and class of one item, by the definitions."""
    pairs = list(product(row, row) if replacement else combinations(row, 2))
    agree = sum(a == b for a, b in pairs) / len(pairs)
    (most, times), *others = Counter(row).most_common()
    majority = mp.NO_MAJORITY if others and others[0][1] == times else most
    answer = row[0] if correct_by == "default" else majority
    kind = "factuality" if answer == correct else "error"
    return (
        agree,
        majority,
        answer == correct,
        "randomness" if agree < tau - 1e-12 else kind,
    )


TAUS = st.floats(0, 1) | st.sampled_from([0.0, 1 / 3, 0.4, 0.5, 1.0])
RULES = st.sampled_from([*mp.CORRECT_BY_COLUMNS])


@given(TABLES, st.data(), TAUS, st.booleans(), RULES)
def test_measures_are_those_of_loops(table, data, tau, replacement, rule):
    correct = data.draw(arrays(int, len(table), elements=st.integers(0, 3)))
    each = [
        by_loops(list(r), c, tau, replacement, rule) for r, c in zip(table, correct)
    ]
    agree, majority, right, kinds = map(list, zip(*each))
    assert mp.self_consistency(table, replacement) == pytest.approx(agree)
    assert mp.majority_option(table).tolist() == majority
    assert mp.is_judged_correct(table, correct, rule).tolist() == right
    assert mp.taxonomy_classes(table, correct, tau, replacement, rule).tolist() == kinds
    assert mp.is_ambiguous(table).tolist() == [len({*row}) > 1 for row in table]
    binary = [len({*(row == c)}) > 1 for row, c in zip(table, correct)]
    assert mp.is_binary_ambiguous(table, correct).tolist() == binary
    shares = [[list(row).count(option) for option in range(4)] for row in table]
    assert mp.answer_entropy(table) == pytest.approx(
        stats.entropy(shares, base=2, axis=1), abs=1e-12
    )


@given(TABLES)
def test_rarefied_ambiguity_is_the_mean_over_all_subsets_of_variations(table):
    for r in range(1, table.shape[1] + 1):
        subsets = list(combinations(range(table.shape[1]), r))
        brute = [np.mean([len({*row[list(s)]}) > 1 for s in subsets]) for row in table]
        assert mp.rarefied_ambiguity(table, r) == pytest.approx(brute)


@given(TABLES, st.data(), st.lists(TAUS, min_size=1), RULES)
def test_classes_over_tau_are_those_of_the_taxonomy(table, data, taus, rule):
    correct = data.draw(arrays(int, len(table), elements=st.integers(0, 3)))
    scores = pd.DataFrame({"item": np.arange(len(table))})
    scores["self_consistency"] = mp.self_consistency(table)
    scores["majority_right"] = mp.majority_option(table) == correct
    scores["default"] = (table[:, 0] == correct).astype(float)
    curves = mp.classes_over_tau(scores, taus, rule)
    assert curves["tau"].tolist() == [tau for tau in taus for _ in table]
    assert (curves[list(mp.CLASSES)].sum(axis=1) == 1).all()
    named = curves[list(mp.CLASSES)].idxmax(axis=1).tolist()
    assert named == [
        k
        for tau in taus
        for k in mp.taxonomy_classes(table, correct, tau, correct_by=rule)
    ]


def test_no_item_has_no_score():
    nothing = np.empty((0, 3))
    alone = (
        mp.is_ambiguous,
        mp.self_consistency,
        mp.majority_option,
        mp.answer_entropy,
    )
    for measure in (*alone, lambda table: mp.rarefied_ambiguity(table, 2)):
        assert measure(nothing).shape == (0,)
    for measure in (mp.is_binary_ambiguous, mp.taxonomy_classes):
        assert measure(nothing, []).shape == (0,)


ONE = pd.DataFrame({"item": [1], "self_consistency": [1.0], "majority_right": [True]})
ALONE = (
    mp.option_counts,
    mp.is_ambiguous,
    mp.self_consistency,
    mp.majority_option,
    mp.answer_entropy,
)
REFUSED = [
    (
        mp.taxonomy_classes,
        ([[0, 1]], [0], 0.75, False, "best"),
        "majority or default, not 'best'",
    ),
    *(
        (measure, ([[0], [1]],), "at least 2 prompt variations, not 1")
        for measure in ALONE
    ),
    *(
        (mp.option_counts, ([[0, odd]],), "A choice is the number of")
        for odd in (-1, 0.5, np.nan)
    ),
    *(
        (mp.option_counts, (odd,), "one row an item and one")
        for odd in ([0, 1], np.zeros((2, 2, 2)))
    ),
    *(
        (mp.taxonomy_classes, ([[0, 1]], [0], tau), "between 0 and 1, not")
        for tau in (-0.1, 1.1, np.nan)
    ),
    *(
        (mp.classes_over_tau, (ONE, [tau]), "between 0 and 1, not")
        for tau in (-0.1, np.nan)
    ),
    *(
        (mp.rarefied_ambiguity, ([[0, 0, 1]], r), f"the 3 .* are, not {r}")
        for r in (0, 4)
    ),
    *(
        (
            measure,
            ([[0, 1], [1, 1]], [0, 1, 1]),
            "2 items need as many correct options, not 3",
        )
        for measure in (mp.is_binary_ambiguous, mp.taxonomy_classes)
    ),
]


@pytest.mark.parametrize(("measure", "given", "sentence"), REFUSED)
def test_what_cannot_be_measured_is_refused(measure, given, sentence):
    with pytest.raises(UserError, match=sentence):
        measure(*given)
