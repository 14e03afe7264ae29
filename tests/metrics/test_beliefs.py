"""What classes are compared with: bounds from published figures, examples, twins, hits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers import UserError, published
from helpers.metrics import beliefs, multiplicity


def printed(accuracy, ambiguity, binary):
    row = {"accuracy": accuracy, "ambiguity": ambiguity, "ambiguity_binary": binary}
    return pd.DataFrame(row, index=[0])


@given(arrays(int, st.tuples(st.integers(1, 8), st.integers(2, 6)), elements=st.integers(0, 2)))
def test_what_never_changes_lies_within_its_bounds(table):
    right, same = table == 0, (table == table[:, :1]).all(axis=1)
    binary = multiplicity.ambiguous_binary(table, np.zeros(len(table))).mean()
    found = beliefs.bounds(printed(right.mean(), 1 - same.mean(), binary), table.shape[1]).iloc[0]
    low, high = found["factuality_low"] - 1e-9, found["factuality_high"] + 1e-9
    assert low <= right.all(axis=1).mean() <= high
    assert same.mean() - high <= (same & ~right[:, 0]).mean() <= same.mean() - low
    assert found[["factuality", "randomness", "error"]].sum() == pytest.approx(1)


def test_with_two_variations_the_bounds_meet_in_the_truth():
    found = beliefs.bounds(printed(3 / 8, 0.5, 0.25), 2).iloc[0]
    assert found["factuality_low"] == found["factuality_high"] == 0.25
    assert found["error"] == 0.25  # another quarter changes from wrong to wrong


@pytest.mark.parametrize("name", ["multiplicity_table1", "multiplicity_table3"])
def test_published_figures_give_shares(name):
    table = published.load(name) / 100
    for benchmark in table.columns.str.rpartition(" ").get_level_values(0).unique():
        part = table.filter(regex=f"^{benchmark} ")
        part.columns = part.columns.str.removeprefix(f"{benchmark} ")
        found = beliefs.bounds(part, 10)
        assert ((found >= -1e-9) & (found <= 1)).all(axis=None)
        assert (found["factuality_low"] <= found["factuality_high"]).all()


@pytest.mark.parametrize("r", [2, 5, 10])
def test_bounds_lie_as_far_apart_as_prompts_allow(r):
    found = beliefs.bounds(printed(0.5, 0.3, 0.3), r).iloc[0]
    width = found["factuality_high"] - found["factuality_low"]
    assert width == pytest.approx((1 - 2 / r) * 0.3)


def scored(**columns):
    return pd.DataFrame({"item": list("abcdef")[: len(columns["self_consistency"])], **columns})


def test_examples_show_each_class_once_by_its_lesson_then_by_how_clear_it_is():
    scores = scored(
        **{"class": ["error", "randomness", "factuality", "error", "randomness", "factuality"]},
        default=[0, 1, 1, 0, 0, 1],
        self_consistency=[1.0, 0.2, 0.8, 0.8, 0.4, 1.0],
    )
    nothing = pd.Series("", index=scores["item"])
    assert beliefs.examples(scores, nothing) == ["f", "e", "a"]  # e is wrong at the default prompt
    due = pd.Series({**nothing, "b": "randomness", "c": "factuality", "d": "error"})
    assert beliefs.examples(scores, due) == ["c", "b", "d"]


@given(st.lists(st.sampled_from(multiplicity.CLASSES), min_size=1, max_size=6))
def test_examples_miss_no_class_that_there_is(classes):
    scores = scored(**{"class": classes}, default=0.0, self_consistency=[0.5] * len(classes))
    picked = beliefs.examples(scores, pd.Series("", index=scores["item"]))
    assert len(picked) == len(set(picked)) == min(3, len(classes))
    assert set(scores.set_index("item")["class"][picked]) == set(classes)


def test_twins_are_equally_right_and_differ_most():
    right = pd.DataFrame(
        {
            "a": [True, True, False, False],
            "b": [True, False, True, False],
            "c": [False, False, True, True],
            "d": [True, True, True, False],
        }
    )
    assert beliefs.twins(right) == ("a", "c")
    assert beliefs.twins(right[["d", "b", "a"]]) == ("b", "a")


def test_one_prompt_has_no_twin():
    with pytest.raises(UserError, match="at least 2 prompt variations, not 1"):
        beliefs.twins(pd.DataFrame({"a": [True]}))


@given(st.lists(st.tuples(*[st.sampled_from(multiplicity.CLASSES)] * 2), min_size=1, max_size=20))
def test_balanced_hits_are_the_mean_over_classes_of_the_share_found(pairs):
    found, due = (pd.Series(column) for column in zip(*pairs))
    shares = (found == due).groupby(due).mean()
    assert beliefs.balanced_hits(found, due).mean() == pytest.approx(shares.mean())


def test_where_no_class_is_due_there_are_no_hits():
    nothing = pd.Series([], dtype=str)
    assert beliefs.balanced_hits(nothing, nothing).shape == (0,)


def test_prompts_that_never_differ_are_twins_all_the_same():
    assert beliefs.twins(pd.DataFrame({"a": [True], "b": [True], "c": [True]})) == ("a", "b")
