"""Accuracy, mass and their kin: by hand, as published, and under hypothesis."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers import UserError
from helpers.metrics import latent_knowledge as lke

PROBABILITIES = arrays(
    float,
    st.tuples(st.integers(1, 8), st.integers(2, 12)),
    elements=st.floats(1e-6, 1, allow_subnormal=False),
)

# The authors' released output of Llama 2 7B for ten facts of one relation (seed 10):
# normalised probability of the truth, and of the likeliest other choice. It prints
# accuracy 0.3 and probability mass 0.2886122686182959.
RELEASED = [
    (0.313398001409848, 0.44946334647602854),
    (0.0063467794187475075, 0.3078129833275652),
    (0.20951053972391598, 0.5761419984921532),
    (0.00015194825693138172, 0.411022040643393),
    (0.8896755125918293, 0.020064710614599066),
    (0.9102247537296481, 0.054333123507013685),
    (0.5264593272949225, 0.1528944726910912),
    (0.005738932144690484, 0.1662050570431351),
    (0.015696620373152788, 0.24294400679292688),
    (0.008920271239272925, 0.43667701504158174),
]


def released(scale=1.0):
    """Return a hundred choices a fact: the published two, the rest of the mass spread evenly."""
    rows = [
        [other, *[(1 - truth - other) / 98] * 98, truth] for truth, other in RELEASED
    ]
    return np.array(rows) * scale


def answers_of(matrix, seed=0):
    """Return answers whose choices have these probabilities, two tokens each, in random order."""
    random = np.random.default_rng(seed)
    rows = []
    for fact, row in enumerate(matrix):
        for place in random.permutation(len(row)):
            half = np.log(row[place]) / 2
            last = place == len(row) - 1
            rows.append(
                (f"f{fact}", "r", "ic", int(place), last, [half, half], f"c{place}")
            )
    columns = ["item", "relation", "variant", "option", "correct", "logprobs", "choice"]
    return pd.DataFrame(rows, columns=columns)


def scores_of(matrix):
    """Return the scores of facts whose choices have these probabilities, the true one last."""
    return lke.fact_scores(answers_of(matrix))


@pytest.mark.parametrize("scale", [1.0, 3e-9])
def test_released_output_gives_the_printed_figures(scale):
    scores = scores_of(released(scale))
    assert scores["chance"].tolist() == [0.01] * 10
    assert scores["right"].mean() == 0.3
    assert scores["mass"].mean() == pytest.approx(0.2886122686182959, abs=1e-12)


def test_by_hand():
    matrix = [[0.02, 0.01, 0.03], [0.03, 0.01, 0.03], [0.05, 0.03, 0.02]]
    scores = scores_of(matrix)
    assert scores["right"].tolist() == [1, 0, 0]  # a tie is lost
    assert scores["mass"].tolist() == pytest.approx([3 / 6, 3 / 7, 2 / 10])
    assert scores["top"].tolist() == pytest.approx([3 / 6, 3 / 7, 5 / 10])


def test_a_fact_with_fewer_choices_has_no_number_there():
    answers = answers_of([[0.1, 0.2, 0.3], [0.6, 0.1, 0.3]])
    fewer = answers[(answers["item"] == "f0") | (answers["option"] > 0)]
    scores = lke.fact_scores(fewer)
    assert scores["right"].tolist() == [1, 1]
    assert scores["mass"].tolist() == pytest.approx([0.5, 0.75])
    assert scores["chance"].tolist() == [1 / 3, 1 / 2]


@given(PROBABILITIES, st.integers(0, 99))
def test_scores_of_answers_are_those_of_the_matrix(matrix, seed):
    matrix = np.round(matrix, 3) + 1e-4  # differences that survive a logarithm
    answers = answers_of(matrix, seed)
    scores = lke.fact_scores(answers)
    shares = matrix / matrix.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(scores["mass"], shares[:, -1])
    np.testing.assert_allclose(scores["top"], shares.max(axis=1))
    assert scores["chance"].eq(1 / matrix.shape[1]).all()
    best = np.sort(matrix, axis=1)
    clear = best[:, -1] - best[:, -2] > 1e-6
    assert (scores["right"] == (matrix.argmax(axis=1) == matrix.shape[1] - 1))[
        clear
    ].all()
    said = [f"c{place}" for place in matrix.argmax(axis=1)]
    assert (scores["said"] == said)[clear].all()


def test_long_objects_do_not_vanish():
    answers = answers_of([[0.3, 0.7]])
    answers["logprobs"] = [[-800.0], [-801.0]]
    scores = lke.fact_scores(answers)
    assert scores["top"].item() == pytest.approx(1 / (1 + np.exp(-1)))


def test_answers_without_a_relation_are_refused():
    with pytest.raises(UserError, match="relation"):
        lke.fact_scores(pd.DataFrame({"item": []}))


def test_a_fact_needs_one_true_choice():
    answers = answers_of([[0.1, 0.2, 0.3]])
    with pytest.raises(UserError, match="f0 has 0 correct choices in ic"):
        lke.fact_scores(answers.assign(correct=False))
    with pytest.raises(UserError, match="f0 has 3 correct"):
        lke.fact_scores(answers.assign(correct=True))
