"""What two models share: by hand, by numpy, and under hypothesis."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers import UserError
from helpers.metrics import subsumption

MARKS = arrays(bool, st.integers(1, 60))


@given(MARKS)
def test_a_model_subsumes_itself(known):
    rate = subsumption.subsumption_rate(known, known)
    assert rate == 1 if known.any() else np.isnan(rate)
    assert subsumption.overlap(np.column_stack([known, known]).astype(float)) == pytest.approx(
        rate, nan_ok=True
    )


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_subsumption_counts(pairs):
    both = sum(a and b for a, b in pairs)
    first = sum(a for a, _ in pairs)
    small, large = zip(*pairs)
    if first:
        assert subsumption.subsumption_rate(small, large) == both / first
        assert subsumption.subsumption_rate(small, np.ones(len(pairs), dtype=bool)) == 1


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_no_rate_is_below_the_least_that_the_accuracies_allow(pairs):
    small, large = np.array(pairs).T
    least = subsumption.least_rate(small.mean(), large.mean())
    assert not subsumption.subsumption_rate(small, large) < least - 1e-12
    assert np.isnan(least) != small.any()
    apart = np.sort(small), np.sort(large)[::-1]  # as little in common as can be
    assert subsumption.subsumption_rate(*apart) == pytest.approx(least, nan_ok=True)


def test_chance_within_relations_is_taken_off():
    relations = [0, 0, 0, 1, 1]
    small, large = np.array([1.0, 1, 0, 0, 1]), np.array([1.0, 0, 1, 1, 1])
    orders = [
        [*first, *second] for first in permutations(range(3)) for second in permutations((3, 4))
    ]
    draws = np.array([np.column_stack([small, large[order], relations]) for order in orders])
    assert subsumption.beyond_chance(draws).mean() == pytest.approx(0)
    # As they stand two of three are shared, where chance has 2 * 2 / 3 and 1 * 2 / 2 of them.
    assert subsumption.beyond_chance(draws[0]) == pytest.approx(2 / 3 - (4 / 3 + 1) / 3)


def test_marks_of_other_facts_are_refused():
    with pytest.raises(UserError, match="same facts of both models"):
        subsumption.subsumption_rate([True], [True, False])
