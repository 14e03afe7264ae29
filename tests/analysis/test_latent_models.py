"""Examples needed, accuracy@K, relations over models: by hand."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from notebooks.analysis import latent_models

COUNTS = np.array([0, 1, 5, 50])


def test_the_number_of_examples_needed_by_hand():
    """Accuracies .3, .7, .8 and .8: .76 is 95 % of the last, and 5 reach it first."""
    columns = [[1] * n + [0] * (10 - n) for n in (3, 7, 8, 8)]
    rows = np.array(columns).T
    assert latent_models.fewest_examples(rows, COUNTS) == 5
    two_samples = np.stack([rows, np.ones_like(rows)])
    assert latent_models.fewest_examples(two_samples, COUNTS).tolist() == [5, 0]


@given(
    accuracies=st.lists(st.integers(0, 20), min_size=4, max_size=4),
)
def test_what_is_needed_reaches_the_share_and_nothing_before_it_does(accuracies):
    columns = [[1] * n + [0] * (20 - n) for n in accuracies]
    needed = latent_models.fewest_examples(np.array(columns).T, COUNTS)
    place = int(np.flatnonzero(needed == COUNTS)[0])
    least = 0.95 * accuracies[-1]
    assert accuracies[place] >= least - 1e-9
    assert all(n < least + 1e-9 for n in accuracies[:place])


def test_the_table_of_examples_needed():
    rows = []
    for item in range(10):
        for examples, n_right in ((0, 3), (1, 7), (5, 8), (50, 8)):
            for draw in range(2):
                mark = float(item < n_right)
                rows.append(("m", "r", f"f{item}", examples, draw, mark))
    columns = ["model", "relation", "item", "examples", "draw", "right"]
    table = latent_models.examples_needed(
        pd.DataFrame(rows, columns=columns), n_resamples=100, seed=0
    )
    assert table.loc["m", "facts"] == 10
    assert table.loc["m", "accuracy there, %"].startswith("80.0 ")
    assert table.loc["m", "enough for 95 % of it"].startswith("5 ")
    assert table.loc["m", "SD of draws, 1 example"] == 0


def test_accuracy_at_confidence_counts_those_above():
    facts = pd.DataFrame(
        {"model": "m", "top": [0.2, 0.5, 0.51, 0.9], "right": [1.0, 0.0, 0.0, 1.0]}
    )
    table = latent_models.accuracy_at_confidence(facts).set_index("K")
    assert table.loc[0.0, ["estimate", "n"]].tolist() == [0.5, 4]
    assert table.loc[0.5, ["estimate", "n"]].tolist() == [0.5, 2]  # not .5 itself
    assert table.loc[0.8, ["estimate", "n"]].tolist() == [1.0, 1]
    assert 0.9 not in table.index  # nothing is above it
    laid_out = latent_models.table_of_accuracy_at_confidence(facts)
    assert laid_out.loc[0.5, "m"].endswith("n = 2")


def test_relations_over_models():
    known = pd.DataFrame(
        {"small": [1, 0, 0, 0, 1, 1], "large": [1, 1, 0, 0, 1, 1]},
        index=list("abcdef"),
        dtype=float,
    )
    relations = pd.Series(["r", "r", "s", "s", "t", "t"], index=list("abcdef"))
    table = latent_models.accuracy_by_relation_and_model(known, relations)
    assert table.index.tolist() == ["t", "r", "s"]
    assert table.loc["r"].tolist() == [0.5, 1.0]
    labels = pd.Series({"r": "river", "t": "town"})
    named = latent_models.best_and_worst_relations(table, labels, n=1)
    assert named.loc["small", "best known"] == "town 100 %"
    assert named.loc["large", "best known"] == "town 100 % (1 more alike)"
    assert named.loc["large", "least known"] == "s 0 %"
    matrix = latent_models.correlations_between_models(table)
    # (1, .5, 0) and (1, 1, 0): r = .5 / sqrt(.5 * 2 / 3)
    assert float(matrix.loc["small", "large"].split()[0]) == pytest.approx(0.87)
    assert matrix.loc["small", "small"] == ""
