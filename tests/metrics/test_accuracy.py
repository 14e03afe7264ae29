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
from helpers.prompts import labels


def test_marks_follow_the_rule():
    texts = pd.DataFrame({"text": ["Lima", "Lima, Peru", "Limassol"], "object": "Lima"})
    assert accuracy.mark_texts(texts)["right"].tolist() == [True, False, False]
    assert accuracy.mark_texts(texts, "starts_with")["right"].tolist() == [
        True,
        True,
        False,
    ]
    with pytest.raises(UserError, match="lacks the column object"):
        accuracy.mark_texts(texts[["text"]])


def test_rules_beside_each_other():
    said = {
        "right": "Lima",
        "frame0": "Lima, Peru",
        "frame1": "It is Lima.",
        "wrong0": "Rome",
    }
    other = {
        "right": "It is Oslo.",
        "frame0": "Oslo",
        "frame1": "Rome",
        "wrong0": "Oslo",
    }
    rows = [
        (item, "P36", variant, text, obj)
        for item, obj, texts in (("a", "Lima", said), ("b", "Oslo", other))
        for variant, text in texts.items()
    ]
    table = labels.add_columns(
        pd.DataFrame(rows, columns=["item", "relation", "variant", "text", "object"])
    )
    found = accuracy.accuracy_and_coverage_by_rule(
        table, pd.Series({"a": True, "b": True})
    )
    assert found["accuracy"].tolist() == pytest.approx([2 / 6, 3 / 6, 4 / 6])
    assert found["coverage"].tolist() == [0.5, 0.5, 1.0]
    split = accuracy.accuracy_and_coverage_by_rule(
        table, pd.Series({"a": False, "b": True})
    )
    assert split["coverage"].tolist() == [0.0, 0.0, 0.5]
    control = table[(table["context"] == "none") & (table["frame"] == 0)]
    control = control.assign(variant="unrelated0", context="unrelated", text="Rome")
    noun = control.assign(variant="noun0", context="noun")
    more = accuracy.accuracy_and_coverage_by_rule(
        pd.concat([table, control, noun]), pd.Series({"a": True, "b": True})
    )
    pd.testing.assert_frame_equal(more, found)  # they are not the paper's prompts


def test_echoes_are_the_word_before():
    facts = pd.DataFrame(
        {"fact": ["a", "b"], "distractors": [["Peru", "Chad"], ["Laos", "Peru"]]}
    )
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
    assert accuracy.mark_echoed_wrong_words(texts, facts)["right"].tolist() == [
        True,
        True,
        False,
        False,
    ]
    loose = accuracy.mark_echoed_wrong_words(texts, facts, "starts_with")
    assert loose["right"].tolist() == [True, True, False, True]
    shares = accuracy.marks_by_fact_and_prompt(loose, prompt="context").set_index(
        "item"
    )["wrong"]
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
    table = pd.DataFrame(
        rows, columns=["item", "variant", "option", "correct", "logprobs"]
    )
    return labels.add_columns(table.assign(relation="P17"))


def test_choices_take_the_largest_sum_and_ties_are_wrong(checks):
    marked = accuracy.mark_choices(checks)
    assert marked["variant"].tolist() == ["fc0+pos", "fc0+neg0", "fc0+neg1", "fc0+pos"]
    assert marked["right"].tolist() == [True, False, True, False]
    assert marked["option"].tolist() == [0, 0, 1, 1]  # of the tied, the wrong one


def test_marks_spread_to_one_row_a_fact_and_one_column_a_prompt():
    marks = {"qa0": [1, 1, 0], "qa1": [1, 0, 0], "qa2": [1, 1, 1]}
    rows = [
        (i, "P17", v, bool(r))
        for v, right in marks.items()
        for i, r in zip("abc", right)
    ]
    wide = accuracy.marks_by_fact_and_prompt(
        pd.DataFrame(rows, columns=["item", "relation", "variant", "right"])
    )
    assert wide.to_dict("list") == {"item": [*"abc"], "relation": ["P17"] * 3, **marks}
    with pytest.raises(ValueError, match="median"):
        accuracy.accuracy_over_prompts(np.ones((2, 2)), "median")


def test_a_prompt_that_a_relation_lacks_is_left_out_without_warning():
    values = np.array([[1.0, 0.0, np.nan], [1.0, 1.0, np.nan]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert accuracy.accuracy_over_prompts(values, "average") == 0.75
        assert accuracy.accuracy_over_prompts(values, "maximum") == 1
        assert accuracy.accuracy_over_prompts(values, "minimum") == 0.5
        assert accuracy.accuracy_over_prompts(values, "deviation") == pytest.approx(
            math.sqrt(1 / 8)
        )
        assert np.isnan(accuracy.accuracy_over_prompts(values[:, 2:], "average"))
        assert np.isnan(accuracy.accuracy_over_prompts(values[:, :1], "deviation"))


def test_many_samples_at_once_give_what_one_gives():
    values = np.random.default_rng(0).integers(0, 2, (4, 9, 5)).astype(float)
    for how in ("average", "maximum", "minimum", "base", "deviation"):
        together = accuracy.accuracy_over_prompts(values, how)
        np.testing.assert_allclose(
            together, [accuracy.accuracy_over_prompts(v, how) for v in values]
        )


def test_the_grid_of_frames_and_wrong_words_by_hand():
    facts = pd.DataFrame(
        {"fact": ["a", "b"], "relation": "P17", "subject": ["Lyon", "Oslo"]}
        | {
            "object": ["France", "Norway"],
            "distractors": [["Peru", "Chad"], ["Togo", "Cuba"]],
        }
    )
    frames = pd.DataFrame(
        {"relation": "P17", "kind": "qa", "frame": [0, 1, 2]}
        | {"template": ["Where is [X]?", "[X] is where?", "Whose is [X]?"]}
    )
    asked = prompts.question_probes(facts, frames, contexts=("wrong",))
    assert len(asked) == 2 * 3 * 2  # facts, R frames, M wrong words
    # Lyon is right but in the last frame, Oslo after the first word alone.
    said = np.where(
        asked["item"].eq("a"), asked["frame"] < 2, asked["context_index"] == 0
    )
    texts = asked.assign(text=np.where(said, asked["object"], "Rome"))
    values = accuracy.marks_by_fact_and_prompt(accuracy.mark_texts(texts)).iloc[:, 2:]
    # In the order qa0+wrong0, qa0+wrong1, qa1+wrong0, ...: the share of two facts
    # answered rightly.
    assert accuracy.prompt_accuracies(values).tolist() == [1, 0.5, 1, 0.5, 0.5, 0]
    reduced = {
        how: float(accuracy.accuracy_over_prompts(values, how))
        for how in ("average", "deviation")
    }
    assert reduced["average"] == pytest.approx(3.5 / 6)
    # Squares of the distances from 7/12: 2 (5/12)^2 + 3 (1/12)^2 + (7/12)^2 = 102/144.
    assert reduced["deviation"] == pytest.approx(math.sqrt(102 / 144 / 5))


def gaps(values):
    """Compare best and worst prompt of each half of the facts on the other, by loops."""
    found = []
    for fact, row in enumerate(values):
        others = [other for n, other in enumerate(values) if n % 2 != fact % 2]
        rates = [
            np.mean([other[p] for other in others]) for p in range(len(row)) if others
        ]
        ends = (
            [rates.index(end) for end in (max(rates), min(rates))] if rates else [0, 0]
        )
        found.append(row[ends[0]] - row[ends[1]] if rates else np.nan)
    return found


@given(
    arrays(
        float,
        st.tuples(st.integers(1, 9), st.integers(1, 12)),
        elements=st.integers(0, 1),
    )
)
def test_reductions_are_those_of_loops(values):
    rates = [np.mean([row[p] for row in values]) for p in range(values.shape[1])]
    expected = {"average": np.mean(rates), "maximum": max(rates), "minimum": min(rates)}
    expected |= {
        "base": rates[0],
        "deviation": np.std(rates, ddof=1) if len(rates) > 1 else np.nan,
    }
    for how, value in expected.items():
        assert accuracy.accuracy_over_prompts(values, how) == pytest.approx(
            value, nan_ok=True
        )
    assert accuracy.held_out_prompt_gaps(values) == pytest.approx(
        gaps(values), nan_ok=True
    )


def test_a_prompt_that_facts_lack_is_neither_best_nor_worst():
    values = np.array([[1.0, np.nan, 0.0]] * 4)
    assert accuracy.held_out_prompt_gaps(values).tolist() == [1.0] * 4
