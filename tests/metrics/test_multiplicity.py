"""Multiplicity of choices: worked cases, what always holds, brute force, and bad input."""

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


def tables(options=4):
    """Return tables of choices with 1 to 6 items and 2 to 6 variations."""
    shape = st.tuples(st.integers(1, 6), st.integers(2, 6))
    return shape.flatmap(lambda size: arrays(int, size, elements=st.integers(0, options - 1)))


def test_answers_0_0_1_agree_in_a_third_of_distinct_pairs_and_in_five_ninths_of_all():
    assert mp.self_consistency([[0, 0, 1]]) == pytest.approx([1 / 3])
    assert mp.self_consistency([[0, 0, 1]], replacement=True) == pytest.approx([5 / 9])


def test_identical_columns_are_never_ambiguous_and_wholly_consistent():
    table = np.repeat([[0], [3], [1]], 5, axis=1)
    assert not mp.ambiguous(table).any()
    assert not mp.ambiguous_binary(table, [0, 0, 0]).any()
    for replacement in (False, True):
        assert mp.self_consistency(table, replacement).tolist() == [1, 1, 1]
    assert mp.majority(table).tolist() == [0, 3, 1]
    assert mp.taxonomy(table, [0, 0, 1]).tolist() == ["factuality", "error", "factuality"]


def test_a_change_among_wrong_options_is_ambiguous_but_not_so_of_two_classes():
    table, correct = [[1, 2], [0, 1], [1, 1]], [0, 0, 0]
    assert mp.ambiguous(table).tolist() == [True, True, False]
    assert mp.ambiguous_binary(table, correct).tolist() == [False, True, False]


def test_ten_variations_with_one_astray_are_agnostic_and_with_two_are_not():
    one, two = [0] * 9 + [1], [0] * 8 + [1, 2]
    assert mp.self_consistency([one, two]) == pytest.approx([36 / 45, 28 / 45])
    assert mp.taxonomy([one, two], [0, 0]).tolist() == ["factuality", "randomness"]
    assert mp.taxonomy([one, two], [1, 1]).tolist() == ["error", "randomness"]


def test_a_self_consistency_of_exactly_tau_is_agnostic():
    assert mp.taxonomy([[0, 0, 1]], [0], tau=1 / 3).tolist() == ["factuality"]
    assert mp.taxonomy([[0, 0, 1]], [0], tau=0.34).tolist() == ["randomness"]
    assert mp.taxonomy([[0, 0, 1]], [0], tau=0.5, replacement=True).tolist() == ["factuality"]
    assert mp.TAU == 0.75


def test_a_tie_has_no_majority_and_counts_as_wrong():
    assert mp.majority([[0, 1], [0, 1]]).tolist() == [mp.NO_MAJORITY] * 2
    assert mp.taxonomy([[0, 1]], [0], tau=0).tolist() == ["error"]


def test_the_default_prompt_may_be_the_one_astray():
    default_wrong, default_right = [1] + [0] * 9, [0] + [1] * 9
    table = [default_wrong, default_right]  # A is 0 and right
    assert mp.taxonomy(table, [0, 0]).tolist() == ["factuality", "error"]
    assert mp.taxonomy(table, [0, 0], correct_by="default").tolist() == ["error", "factuality"]
    scores = pd.DataFrame({"item": [0, 1], "self_consistency": mp.self_consistency(table)})
    scores = scores.assign(majority_right=[True, False], default=[0.0, 1.0])
    for correct_by, first in (("majority", [1, 0]), ("default", [0, 1])):
        assert mp.classes_over_tau(scores, [0.75], correct_by)["factuality"].tolist() == first


@given(tables(), st.data())
def test_both_rules_agree_where_the_default_answer_is_the_majority(table, data):
    correct = data.draw(arrays(int, len(table), elements=st.integers(0, 3)))
    by_default = mp.judged(table, correct, "default")
    assert by_default.tolist() == (table[:, 0] == correct).tolist()
    same = mp.majority(table) == table[:, 0]
    assert (mp.judged(table, correct)[same] == by_default[same]).all()
    classes = [mp.taxonomy(table, correct, correct_by=rule) for rule in mp.CORRECT_BY]
    random = [found == "randomness" for found in classes]
    assert (random[0] == random[1]).all()
    assert (classes[0] == classes[1])[same].all()


@given(tables())
def test_entropy_is_scipys_and_least_where_all_agree(table):
    found = mp.entropy(table)
    shares = mp.counts(table) / table.shape[1]
    assert found == pytest.approx(stats.entropy(shares, base=2, axis=1), abs=1e-12)
    assert ((found > 0) == mp.ambiguous(table)).all()
    assert (found <= np.log2(min(table.shape[1], 4)) + 1e-12).all()


@given(tables(), st.randoms())
def test_entropy_depends_neither_on_the_order_of_prompts_nor_on_names_of_options(table, random):
    names, prompts = list(range(4)), list(range(table.shape[1]))
    random.shuffle(names)
    random.shuffle(prompts)
    moved = np.array(names)[table][:, prompts]
    assert mp.entropy(moved) == pytest.approx(mp.entropy(table), abs=1e-12)


@given(tables(), st.data())
def test_binary_ambiguity_is_at_most_that_of_all_options(table, data):
    correct = data.draw(arrays(int, len(table), elements=st.integers(0, 3)))
    assert (mp.ambiguous_binary(table, correct) <= mp.ambiguous(table)).all()


@given(tables(options=2), st.data())
def test_with_two_options_the_two_ambiguities_are_equal(table, data):
    correct = data.draw(arrays(int, len(table), elements=st.integers(0, 1)))
    assert (mp.ambiguous_binary(table, correct) == mp.ambiguous(table)).all()


@given(tables())
def test_self_consistency_is_the_share_of_agreeing_pairs(table):
    r = table.shape[1]
    distinct = [np.mean([row[a] == row[b] for a, b in combinations(range(r), 2)]) for row in table]
    every = [np.mean([a == b for a, b in product(row, row)]) for row in table]
    assert mp.self_consistency(table) == pytest.approx(distinct)
    assert mp.self_consistency(table, replacement=True) == pytest.approx(every)


@given(tables(), st.data(), st.floats(0, 1))
def test_the_order_of_variations_and_items_and_the_names_of_options_decide_nothing(
    table, data, tau
):
    correct = data.draw(arrays(int, len(table), elements=st.integers(0, 3)))
    columns = data.draw(st.permutations(range(table.shape[1])))
    rows = data.draw(st.permutations(range(len(table))))
    names = np.array(data.draw(st.permutations(range(4))))
    moved, right = names[table[:, columns][rows]], names[correct[rows]]
    assert (
        mp.taxonomy(moved, right, tau).tolist() == mp.taxonomy(table, correct, tau)[rows].tolist()
    )
    assert mp.self_consistency(moved) == pytest.approx(mp.self_consistency(table)[rows])
    assert (mp.ambiguous(moved) == mp.ambiguous(table)[rows]).all()
    assert (mp.ambiguous_binary(moved, right) == mp.ambiguous_binary(table, correct)[rows]).all()
    assert mp.rarefied_ambiguity(moved, 2) == pytest.approx(mp.rarefied_ambiguity(table, 2)[rows])


@given(tables())
def test_rarefied_ambiguity_is_the_mean_over_all_subsets_of_variations(table):
    last = np.zeros(len(table))
    for r in range(1, table.shape[1] + 1):
        subsets = list(combinations(range(table.shape[1]), r))
        brute = [np.mean([len({*row[list(s)]}) > 1 for s in subsets]) for row in table]
        found = mp.rarefied_ambiguity(table, r)
        assert found == pytest.approx(np.array(brute))
        assert (found >= last - 1e-12).all()  # it can only grow with r
        last = found
    assert last == pytest.approx(mp.ambiguous(table).astype(float))
    assert mp.rarefied_ambiguity(table, 2) == pytest.approx(1 - mp.self_consistency(table))


@given(tables(), st.data())
def test_shares_sum_to_one_at_every_tau_and_randomness_grows_with_it(table, data):
    correct = data.draw(arrays(int, len(table), elements=st.integers(0, 3)))
    scores = pd.DataFrame({"item": np.arange(len(table))})
    scores["self_consistency"] = mp.self_consistency(table)
    scores["majority_right"] = mp.majority(table) == correct
    taus = [0, 0.25, 1 / 3, 0.5, 0.75, 1]
    curves = mp.classes_over_tau(scores, taus)
    assert len(curves) == len(taus) * len(table)
    assert (curves[list(mp.CLASSES)].sum(axis=1) == 1).all()
    shares = curves.groupby("tau")[list(mp.CLASSES)].mean()
    assert shares.sum(axis=1).tolist() == pytest.approx([1] * len(taus))
    assert shares["randomness"].is_monotonic_increasing
    for tau in taus:
        named = curves.loc[curves["tau"] == tau, list(mp.CLASSES)].idxmax(axis=1)
        assert named.tolist() == mp.taxonomy(table, correct, tau).tolist()


def test_no_item_has_no_score():
    nothing = np.empty((0, 3))
    alone = (mp.ambiguous, mp.self_consistency, mp.majority, mp.entropy)
    for measure in (*alone, lambda table: mp.rarefied_ambiguity(table, 2)):
        assert measure(nothing).shape == (0,)
    for measure in (mp.ambiguous_binary, mp.taxonomy):
        assert measure(nothing, []).shape == (0,)


ONE = pd.DataFrame({"item": [1], "self_consistency": [1.0], "majority_right": [True]})
ALONE = (mp.counts, mp.ambiguous, mp.self_consistency, mp.majority, mp.entropy)
REFUSED = [
    (mp.taxonomy, ([[0, 1]], [0], 0.75, False, "best"), "majority or default, not 'best'"),
    *((measure, ([[0], [1]],), "at least 2 prompt variations, not 1") for measure in ALONE),
    *((mp.counts, ([[0, odd]],), "A choice is the number of") for odd in (-1, 0.5, np.nan)),
    *((mp.counts, (odd,), "one row an item and one") for odd in ([0, 1], np.zeros((2, 2, 2)))),
    *((mp.taxonomy, ([[0, 1]], [0], tau), "between 0 and 1, not") for tau in (-0.1, 1.1, np.nan)),
    *((mp.classes_over_tau, (ONE, [tau]), "between 0 and 1, not") for tau in (-0.1, np.nan)),
    *((mp.rarefied_ambiguity, ([[0, 0, 1]], r), f"the 3 .* are, not {r}") for r in (0, 4)),
    *(
        (measure, ([[0, 1], [1, 1]], [0, 1, 1]), "2 items need as many correct options, not 3")
        for measure in (mp.ambiguous_binary, mp.taxonomy)
    ),
]


@pytest.mark.parametrize(("measure", "given", "sentence"), REFUSED)
def test_what_cannot_be_measured_is_refused(measure, given, sentence):
    with pytest.raises(UserError, match=sentence):
        measure(*given)
