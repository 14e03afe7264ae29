"""Agreement and information, against scikit-learn, scipy and worked cases."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import settings as limits
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, mutual_info_score

from helpers.stats import agreement

pairs = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=4, max_size=60)


def _both_vary(values):
    return (np.ptp(values, axis=0) > 0).all()


@limits(max_examples=40)
@given(pairs)
def test_kappa_is_that_of_scikit_learn(rows):
    values = np.array(rows, dtype=int)
    assume(_both_vary(values))
    assert agreement.cohen_kappa(values) == pytest.approx(
        cohen_kappa_score(*values.T), abs=1e-12
    )


def test_where_both_say_the_same_of_all():
    assert np.isnan(agreement.cohen_kappa(np.ones((5, 2))))
    assert agreement.mutual_information(np.ones((9, 2))) == 0


@pytest.mark.parametrize(
    "measure", [agreement.cohen_kappa, agreement.mutual_information]
)
def test_many_samples_at_once_are_as_one_by_one(measure):
    drawn = (np.random.default_rng(0).random((4, 30, 2)) < [0.7, 0.4]).astype(float)
    assert measure(drawn) == pytest.approx([float(measure(sample)) for sample in drawn])


@limits(max_examples=40)
@given(pairs)
def test_information_is_that_of_scikit_learn_less_its_bias(rows):
    values = np.array(rows, dtype=int)
    assume(_both_vary(values))
    bits = mutual_info_score(*values.T) / np.log(2)
    expected = bits - 1 / (2 * len(values) * np.log(2))
    assert agreement.mutual_information(values) == pytest.approx(expected, abs=1e-9)
    assert agreement.mutual_information(1 - values) == pytest.approx(expected, abs=1e-9)


def test_pairwise_averages_models_and_leaves_out_what_is_no_number():
    wide = pd.DataFrame(
        {
            ("one", "x"): [1, 1, 0, 0],
            ("one", "y"): [1, 0, 0, 0],
            ("two", "x"): [1, 1, 1, 1],
            ("two", "y"): [1, 1, 1, 1],
        },
        dtype=float,
    )
    strata = pd.Series([1, 1, 1, 1])
    found = agreement.pairwise_agreement(
        wide, agreement.cohen_kappa, strata, n_resamples=50
    )
    assert found["estimate"].item() == pytest.approx(0.5)  # of the first model alone
    assert found["low"].item() <= 0.5 <= found["high"].item()
