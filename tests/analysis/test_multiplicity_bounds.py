"""What printed accuracy and ambiguity allow for answers that never change."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from notebooks.analysis import multiplicity_bounds as analysis


def printed(accuracy, ambiguity, binary):
    row = {"accuracy": accuracy, "ambiguity": ambiguity, "ambiguity_binary": binary}
    return pd.DataFrame(row, index=["a model"])


@given(
    arrays(
        int,
        st.tuples(st.integers(1, 8), st.integers(2, 6)),
        elements=st.integers(0, 2),
    )
)
def test_what_never_changes_lies_within_its_bounds(table):
    right, same = table == 0, (table == table[:, :1]).all(axis=1)
    binary = (right.any(axis=1) & ~right.all(axis=1)).mean()
    shares = printed(right.mean(), 1 - same.mean(), binary)
    bounds = analysis.bounds_of_unchanged_answers(shares, table.shape[1]).iloc[0]
    always_right = right.all(axis=1).mean()
    assert bounds["low"] - 1e-9 <= always_right <= bounds["high"] + 1e-9
    assert bounds["same"] == pytest.approx(same.mean())


def test_with_two_prompts_the_bounds_meet_in_the_truth():
    bounds = analysis.bounds_of_unchanged_answers(printed(3 / 8, 0.5, 0.25), 2)
    assert bounds.to_numpy().tolist() == [[0.25, 0.25, 0.5]]


@pytest.mark.parametrize("r", [2, 5, 10])
def test_bounds_lie_as_far_apart_as_prompts_allow(r):
    bounds = analysis.bounds_of_unchanged_answers(printed(0.5, 0.3, 0.3), r).iloc[0]
    assert bounds["high"] - bounds["low"] == pytest.approx((1 - 2 / r) * 0.3)


def test_classes_of_a_model_by_hand():
    """Of 0.5 right, 0.02 to 0.18 come from the fifth that changes between right and wrong."""
    table = analysis.bounds_of_classes(printed(0.5, 0.3, 0.2)).set_index("answers")
    assert table.loc[analysis.RIGHT, ["low", "high"]].tolist() == pytest.approx(
        [0.32, 0.48]
    )
    assert table.loc[analysis.WRONG, ["low", "high"]].tolist() == pytest.approx(
        [0.22, 0.38]
    )
    assert table.loc[analysis.CHANGES, "estimate"] == pytest.approx(0.3)


def test_the_printed_tables_give_shares_of_all_models():
    by_benchmark = analysis.printed_shares_by_benchmark()
    assert [len(table) for table in by_benchmark.values()] == [16] * 3 + [14] * 3
    for table in by_benchmark.values():
        bounds = analysis.bounds_of_classes(table)[["low", "high"]]
        assert ((bounds >= -1e-9) & (bounds <= 1)).all(axis=None)
        assert (bounds["low"] <= bounds["high"]).all()


def test_only_truthfulqa_decides_between_the_papers_models():
    """The lead's bounds are as they were worked out for an earlier edition of the chapter."""
    choices = analysis.choices_between_paper_models()
    one = choices.loc["TruthfulQA"]
    assert one["most accurate"] == "Llama3-8B-I"
    assert one[["lead right under all, at least", "at most"]].tolist() == pytest.approx(
        [0.701, 15.589]
    )
    assert one["lead in accuracy"] == pytest.approx(39.50 - 33.19)
    assert choices.index[choices["choice"] == "the same"].tolist() == ["TruthfulQA"]
    assert set(choices["choice"]) == {"the same", "cannot be told"}
    # Section 5 prints 9 to 12 %, which a threshold of 1 cannot give
    assert one["randomness at τ = 1"] == "13.3 to 20.6"
