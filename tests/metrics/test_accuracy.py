"""Accuracies against counts made by hand."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers import UserError, prompts
from helpers.metrics import accuracy


def test_marks_follow_the_rule():
    texts = pd.DataFrame({"text": ["Lima", "Lima, Peru", "Limassol"], "object": "Lima"})
    assert accuracy.mark_texts(texts)["right"].tolist() == [True, False, False]
    assert accuracy.mark_texts(texts, "starts_with")["right"].tolist() == [True, True, False]
    with pytest.raises(UserError, match="lacks the column object"):
        accuracy.mark_texts(texts[["text"]])


def test_rules_beside_each_other():
    said = {"right": "Lima", "frame0": "Lima, Peru", "frame1": "It is Lima.", "wrong0": "Rome"}
    other = {"right": "It is Oslo.", "frame0": "Oslo", "frame1": "Rome", "wrong0": "Oslo"}
    rows = [
        (item, "P36", variant, text, obj)
        for item, obj, texts in (("a", "Lima", said), ("b", "Oslo", other))
        for variant, text in texts.items()
    ]
    table = pd.DataFrame(rows, columns=["item", "relation", "variant", "text", "object"])
    found = accuracy.by_rule(table, pd.Series({"a": True, "b": True}))
    assert found["accuracy"].tolist() == pytest.approx([2 / 6, 3 / 6, 4 / 6])
    assert found["coverage"].tolist() == [0.5, 0.5, 1.0]
    split = accuracy.by_rule(table, pd.Series({"a": False, "b": True}))
    assert split["coverage"].tolist() == [0.0, 0.0, 0.5]
    control = table[table["variant"] == "frame0"].assign(variant="unrelated0", text="Rome")
    more = accuracy.by_rule(pd.concat([table, control]), pd.Series({"a": True, "b": True}))
    pd.testing.assert_frame_equal(more, found)  # they are not the paper's prompts


def test_echoes_are_the_word_before():
    facts = pd.DataFrame({"fact": ["a", "b"], "distractors": [["Peru", "Chad"], ["Laos", "Peru"]]})
    texts = pd.DataFrame(
        {
            "item": ["a", "a", "b", "b", "b"],
            "relation": "P17",
            "context": ["right", "wrong", "wrong", "wrong", "wrong"],
            "context_index": [0, 1, 1, 0, 0],
            "text": ["Peru", " Chad.", "Peru", "Peru", "Laos, I think"],
        },
        index=[7, 7, 8, 9, 9],
    )
    assert accuracy.mark_echoes(texts, facts)["right"].tolist() == [True, True, False, False]
    loose = accuracy.mark_echoes(texts, facts, "starts_with")
    assert loose["right"].tolist() == [True, True, False, True]
    shares = accuracy.by_fact(loose, prompt="context").set_index("item")["wrong"]
    assert shares.to_dict() == {"a": 1, "b": pytest.approx(2 / 3)}


@pytest.fixture
def checks():
    """Return two facts' checks: probabilities of True and False are given in the comments."""
    rows = [
        ("a", "fc0+pos", 0, True, [-0.1]),  # True wins: right
        ("a", "fc0+pos", 1, False, [-2.0]),
        ("a", "fc0+neg0", 0, False, [-0.5]),  # True wins: wrong
        ("a", "fc0+neg0", 1, True, [-0.4, -0.2]),
        ("a", "fc0+neg1", 0, False, [-3.0]),  # False wins: right
        ("a", "fc0+neg1", 1, True, [-0.1]),
        ("b", "fc0+pos", 0, True, [-1.0]),  # a tie: wrong
        ("b", "fc0+pos", 1, False, [-0.5, -0.5]),
    ]
    table = pd.DataFrame(rows, columns=["item", "variant", "option", "correct", "logprobs"])
    context = np.where(table["variant"].str.contains("pos"), "right", "wrong")
    return table.assign(relation="P17", kind="fc", frame=0, context=context)


def test_choices_take_the_largest_sum_and_ties_are_wrong(checks):
    marked = accuracy.mark_choices(checks)
    assert marked["variant"].tolist() == ["fc0+pos", "fc0+neg0", "fc0+neg1", "fc0+pos"]
    assert marked["right"].tolist() == [True, False, True, False]
    assert marked["option"].tolist() == [0, 0, 1, 1]  # of the tied, the wrong one


def test_choices_do_not_depend_on_the_order_of_rows(checks):
    expected = accuracy.mark_choices(checks).set_index(["item", "variant"]).sort_index()
    for seed in range(5):
        mixed = accuracy.mark_choices(checks.sample(frac=1, random_state=seed))
        found = mixed.set_index(["item", "variant"]).sort_index()
        pd.testing.assert_frame_equal(found, expected)


def test_distractors_are_averaged_before_facts(checks):
    more = checks[checks["variant"] == "fc0+neg1"].assign(item="b")
    marked = accuracy.mark_choices(pd.concat([checks, more]))
    found = accuracy.by_prompt(marked).set_index("context")
    assert found.loc["right", "accuracy"] == 0.5
    assert found.loc["wrong", "accuracy"] == (0.5 + 1) / 2
    assert found["n"].tolist() == [2, 2]


def test_by_fact_and_over_prompts():
    marked = pd.DataFrame(
        {
            "item": ["a", "b", "c"] * 3,
            "relation": "P17",
            "variant": ["qa0"] * 3 + ["qa1"] * 3 + ["qa2"] * 3,
            "right": [True, True, False, True, False, False, True, True, True],
        }
    )
    wide = accuracy.by_fact(marked)
    assert wide.columns.tolist() == ["item", "relation", "qa0", "qa1", "qa2"]
    values = wide[["qa0", "qa1", "qa2"]].to_numpy()
    rates = [2 / 3, 1 / 3, 1]
    np.testing.assert_allclose(accuracy.prompt_rates(values), rates)
    expected = {"average": 2 / 3, "maximum": 1, "minimum": 1 / 3, "base": 2 / 3}
    for how, value in expected.items():
        assert accuracy.over_prompts(values, how) == pytest.approx(value)
    assert accuracy.over_prompts(values, "deviation") == pytest.approx(1 / 3)


def test_a_prompt_that_a_relation_lacks_is_left_out_without_warning():
    values = np.array([[1.0, 0.0, np.nan], [1.0, 1.0, np.nan]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert accuracy.over_prompts(values, "average") == 0.75
        assert accuracy.over_prompts(values, "maximum") == 1
        assert accuracy.over_prompts(values, "minimum") == 0.5
        assert accuracy.over_prompts(values, "deviation") == pytest.approx(math.sqrt(1 / 8))
        assert np.isnan(accuracy.over_prompts(values[:, 2:], "average"))
        assert np.isnan(accuracy.over_prompts(values[:, :1], "deviation"))


def test_many_samples_at_once_give_what_one_gives():
    values = np.random.default_rng(0).integers(0, 2, (4, 9, 5)).astype(float)
    for how in ("average", "maximum", "minimum", "base", "deviation"):
        together = accuracy.over_prompts(values, how)
        np.testing.assert_allclose(together, [accuracy.over_prompts(v, how) for v in values])


def test_unknown_reduction():
    with pytest.raises(ValueError, match="median"):
        accuracy.over_prompts(np.ones((2, 2)), "median")


def test_the_grid_of_frames_and_wrong_words_by_hand():
    facts = pd.DataFrame(
        {"fact": ["a", "b"], "relation": "P17", "subject": ["Lyon", "Oslo"]}
        | {"object": ["France", "Norway"], "distractors": [["Peru", "Chad"], ["Togo", "Cuba"]]}
    )
    frames = pd.DataFrame(
        {"relation": "P17", "kind": "qa", "frame": [0, 1, 2]}
        | {"template": ["Where is [X]?", "[X] is where?", "Whose is [X]?"]}
    )
    asked = prompts.questions(facts, frames, contexts=("wrong",))
    assert len(asked) == 2 * 3 * 2  # facts, R frames, M wrong words
    # Lyon is right but in the last frame, Oslo after the first word alone.
    said = np.where(asked["item"].eq("a"), asked["frame"] < 2, asked["context_index"] == 0)
    texts = asked.assign(text=np.where(said, asked["object"], "Rome"))
    values = accuracy.by_fact(accuracy.mark_texts(texts)).iloc[:, 2:]
    # In the order qa0+wrong0, qa0+wrong1, qa1+wrong0, ...: the share of two facts answered rightly.
    assert accuracy.prompt_rates(values).tolist() == [1, 0.5, 1, 0.5, 0.5, 0]
    reduced = {how: float(accuracy.over_prompts(values, how)) for how in ("average", "deviation")}
    assert reduced["average"] == pytest.approx(3.5 / 6)
    # Squares of the distances from 7/12: 2 (5/12)^2 + 3 (1/12)^2 + (7/12)^2 = 102/144.
    assert reduced["deviation"] == pytest.approx(math.sqrt(102 / 144 / 5))


@given(arrays(float, st.tuples(st.integers(1, 9), st.integers(1, 12)), elements=st.integers(0, 1)))
def test_reductions_keep_their_order(values):
    low, middle, high = (
        accuracy.over_prompts(values, how) for how in ("minimum", "average", "maximum")
    )
    assert 0 <= low <= middle + 1e-12
    assert middle <= high + 1e-12 <= 1 + 1e-12
    gaps = accuracy.held_out_gaps(values)
    assert np.isnan(gaps).all() == (len(values) == 1)
    assert np.nanmax(np.abs(gaps), initial=0) <= 1
    same = np.repeat(values[:, :1], values.shape[1], axis=1)
    assert np.nansum(np.abs(accuracy.held_out_gaps(same))) == 0  # prompts that are alike


def test_a_lucky_prompt_is_not_ahead_on_the_facts_that_did_not_choose_it():
    values = np.random.default_rng(0).integers(0, 2, (400, 35)).astype(float)
    few = values.reshape(50, 8, 35)
    ahead = [
        accuracy.over_prompts(part, "maximum") - accuracy.over_prompts(part, "minimum")
        for part in few
    ]
    gaps = np.hstack([accuracy.held_out_gaps(part) for part in few])
    assert np.mean(ahead) > 0.5
    assert abs(gaps.mean()) < 0.1
    best = np.where(np.arange(35) == 7, 1.0, np.where(np.arange(35) == 3, 0.0, 0.5))
    true = (np.random.default_rng(1).random((400, 35)) < best).astype(float)
    assert accuracy.held_out_gaps(true).mean() == 1
    lacking = values[:4].copy()
    lacking[:, 1] = np.nan
    assert not np.isnan(accuracy.held_out_gaps(lacking)).any()
