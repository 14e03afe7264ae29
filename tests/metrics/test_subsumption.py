"""What two models share: by hand, by numpy, and under hypothesis."""

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
    assert subsumption.subsumption_statistic(
        np.column_stack([known, known]).astype(float)
    ) == pytest.approx(rate, nan_ok=True)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_subsumption_counts(pairs):
    both = sum(a and b for a, b in pairs)
    first = sum(a for a, _ in pairs)
    small, large = zip(*pairs)
    if first:
        assert subsumption.subsumption_rate(small, large) == both / first
        assert subsumption.subsumption_rate(small, np.ones(len(pairs), dtype=bool)) == 1


def test_marks_of_other_facts_are_refused():
    with pytest.raises(UserError, match="same facts of both models"):
        subsumption.subsumption_rate([True], [True, False])
