"""Statistics of the chapter on prompt multiplicity, by hand and against plain loops."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from notebooks.analysis import multiplicity as analysis
from notebooks.kit import findings

DRAW = {"n_resamples": 99, "seed": 0}
CLASSES = ("factuality", "error", "randomness")


def scored(kinds, **columns):
    """Return scores of questions of these classes."""
    table = pd.DataFrame({"class": list(kinds), **columns})
    return table.assign(
        **{name: (table["class"] == name).astype(float) for name in CLASSES}
    )


@given(
    arrays(float, st.tuples(st.integers(1, 4)), elements=st.floats(-5, 0)),
    st.integers(2, 4),
)
def test_draws_from_one_prompt_are_those_of_all_sequences(logs, r):
    answers = pd.DataFrame(
        {
            "item": "a",
            "variation": 0,
            "option": range(len(logs)),
            "logprobs": [[x] for x in logs],
        }
    )
    found = analysis.expected_ambiguity_of_draws(answers, r).loc["a"]
    p = np.exp(logs) / np.exp(logs).sum()
    changed = sum(
        np.prod(p[list(s)]) for s in product(range(len(p)), repeat=r) if len(set(s)) > 1
    )
    assert found["ambiguous"] == pytest.approx(changed)
    assert found["self_consistency"] == pytest.approx(np.dot(p, p))


def test_draws_take_the_default_prompt_alone():
    rows = {"item": ["a"] * 4, "variation": [0, 0, 1, 1], "option": [0, 1, 0, 1]}
    answers = pd.DataFrame({**rows, "logprobs": [[-0.5, -0.5], [-1.0], [-9.0], [0.0]]})
    assert analysis.expected_ambiguity_of_draws(answers, 2).to_numpy().tolist() == [
        [0.5, 0.5]
    ]


def test_equally_good_prompts_scatter_as_their_marks_do():
    rng = np.random.default_rng(1)
    marks = pd.DataFrame(rng.random((120, 10)) < 0.5)
    mean, low, high, n = analysis.deviation_by_chance(marks, n_resamples=400, seed=0)
    # Of a prompt's accuracy; shuffling fixes the sums.
    expected = np.sqrt(0.25 / 120)
    assert low < expected < high
    assert mean == pytest.approx(expected, rel=0.1)
    assert n == 120
    better = marks.assign(**{"0": True}).rename(columns={"0": 10})
    spread = float(better.mean().std())
    chance = analysis.deviation_by_chance(better, **DRAW)
    assert analysis.decision_on_deviation(spread, chance.high) == "holds"
    # Printed, both are 1.0.
    assert analysis.decision_on_deviation(0.01, 0.0104) == "undecided"
    assert analysis.decision_on_deviation(np.nan, 0.01) == "undefined"


def test_two_prompts_of_two_questions_deviate_by_chance_in_half_of_the_shuffles():
    """Both questions are right under one prompt: accuracies of 1 and 0, or 0.5 twice."""
    marks = pd.DataFrame([[True, False], [True, False]])
    chance = analysis.deviation_by_chance(marks, n_resamples=4000, seed=0)
    assert chance.estimate == pytest.approx(np.sqrt(0.5) / 2, abs=0.02)
    assert chance.low == 0
    assert chance.high == pytest.approx(np.sqrt(0.5))
    # As far apart as can be, and still what half of the shuffles show.
    assert analysis.decision_on_deviation(np.sqrt(0.5), chance.high) == "undecided"


def test_marks_beside_the_default_give_accuracies_and_differences():
    marks = pd.DataFrame(np.random.default_rng(0).random((30, 4)) < 0.5)
    shares = analysis.mark_shares_beside_default(marks)
    assert shares.sum(axis=1).tolist() == pytest.approx([1] * 3)
    for other, row in zip(marks.columns[1:], shares.to_numpy()):
        assert row[0] + row[1] == pytest.approx(marks[0].mean())
        assert row[0] + row[2] == pytest.approx(marks[other].mean())
        assert row[1] + row[2] == pytest.approx((marks[0] != marks[other]).mean())


def test_classes_of_right_and_wrong_answers_are_their_shares():
    kinds = ["factuality", "randomness", "randomness", "error", "error", "error"]
    rows = analysis.class_shares_by_group(
        scored(kinds, default=[1, 1, 0, 0, 0, 0]),
        "default",
        analysis.DEFAULT_MARK_TITLES,
    )
    assert rows.index.tolist() == ["right by default (2)", "wrong by default (4)"]
    names = list(analysis.CLASS_TITLES.values())
    assert rows[names].to_numpy().tolist() == [[0, 0.5, 0.5], [0.75, 0.25, 0]]
    low, high = rows.iloc[1][[f"{names[0]}_low", f"{names[0]}_high"]]
    assert low < 0.75 < high
    assert (
        len(
            analysis.class_shares_by_group(
                scored(["error"], default=[1]), "default", analysis.DEFAULT_MARK_TITLES
            )
        )
        == 1
    )


def test_the_prompt_of_least_accuracy_is_named_and_left_out():
    marks = pd.DataFrame(
        [[1, 1, 1, 0], [1, 0, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0]]
    ).astype(bool)
    number, rest = analysis.deviation_without_least_accurate_prompt(marks)
    assert number == 3
    assert rest == pytest.approx(1 / np.sqrt(12))
    unread = analysis.unread_wordings("frames", marks)
    assert unread == (5, 6)
    assert (
        analysis.unread_wordings("options", marks)
        == analysis.unread_wordings("frames", None)
        == ()
    )
    rows = analysis.mark_shares_beside_default(pd.DataFrame(np.eye(7) > 0), unread)
    assert rows.index.tolist()[3:] == [
        f"prompt {n}" for n in (4, "5, unread wording", "6, unread wording")
    ]


def default_prompt(item, *logprobs):
    """Return the options of a question under its default prompt."""
    n = range(len(logprobs))
    return pd.DataFrame(
        {"item": item, "variation": 0, "option": n, "logprobs": list(logprobs)}
    )


def test_draws_follow_the_rule_and_the_temperature():
    """One option of two tokens, 0.25 and 1, against one of one token, 0.75."""
    answers = default_prompt("a", [np.log(0.25), 0.0], [np.log(0.75)])
    shares = {
        ("sum", 1.0): [0.25, 0.75],
        ("mean", 1.0): [0.4, 0.6],  # 0.5 and 0.75
        ("sum", 0.5): [0.1, 0.9],  # 0.0625 and 0.5625
    }
    for (rule, temperature), expected in shares.items():
        p = analysis.option_probabilities(answers, rule, temperature)
        assert p.tolist() == pytest.approx(expected)


CHOSEN = {"tau": 0.75, "replacement": False, "correct_by": "majority"}


def test_draws_are_steady_whichever_option_they_agree_on():
    alone = default_prompt("f", [np.log(0.9)], [np.log(0.1)])
    drawn = analysis.steady_share_of_draws(alone, 2, CHOSEN)
    assert drawn["f"] == pytest.approx(0.82, abs=0.04)  # 0.9² + 0.1²


def test_prompts_are_compared_with_draws_at_each_temperature():
    """Two draws of 0.9 and 0.1 differ with 0.18; sharpened to 81 : 1, with 0.0241."""
    tables = [
        default_prompt(item, [np.log(0.9)], [np.log(0.1)]) for item in "abcdefghij"
    ]
    answers = pd.concat(tables, ignore_index=True)
    close = scored(
        ["error"] * 5 + ["randomness"] * 5,
        item=list("abcdefghij"),
        relation="r",
        default=0.0,
        ambiguous=[0.0] * 5 + [1.0] * 5,
    )
    table = analysis.differences_by_draw_rule(close, answers, 2, CHOSEN, **DRAW)
    rows = table.set_index("temperature", append=True)
    usual = rows.loc[("sum", 1.0)]
    assert usual["drawn: changed"] == "18.0"
    assert usual["changed by prompts, less"].startswith("32.0 [")
    sharp = rows.loc[("sum", 0.5)]
    assert sharp["drawn: changed"] == "2.4"
    assert sharp["changed by prompts, less"].startswith("47.6 [")
    assert (table.loc["sum"].to_numpy() == table.loc["mean"].to_numpy()).all()
    steady = float(usual["drawn: steady"])
    assert float(usual["errors that stay, less"].split()[0]) == pytest.approx(
        50 - steady, abs=0.11
    )


@pytest.mark.parametrize(
    ("difference", "decision"),
    [
        ((0.14, 0.04, 0.24), "holds"),
        ((-0.11, -0.22, -0.01), "opposite"),
        ((0.003, -0.03, 0.04), "equivalent"),
        ((0.003, -0.09, 0.09), "undecided"),
        ((0.003, -0.05, 0.04), "undecided"),  # 5 points are not within 5 points
    ],
)
def test_prompts_change_more_fewer_or_as_many_answers_as_draws(difference, decision):
    """Four answers to one question, the margin of 5 points among them."""
    found = findings.Findings("multiplicity")
    result = found("answers_change", (*difference, 120), r=10, changed="39.2")
    assert result.decision == decision
    assert "39.2 % " in result.sentence


def test_examples_show_each_class_once_by_its_lesson_then_by_how_clear_it_is():
    kinds = ["error", "randomness", "factuality"] * 2
    scores = scored(
        kinds,
        item=list("abcdef"),
        default=[0, 1, 1, 0, 0, 1],
        self_consistency=[1.0, 0.2, 0.8, 0.8, 0.4, 1.0],
    )
    nothing = pd.Series("", index=scores["item"])
    assert analysis.example_questions(scores, nothing) == [
        "f",
        "e",
        "a",
    ]  # e is wrong at the default prompt
    due = pd.Series({**nothing, "b": "randomness", "c": "factuality", "d": "error"})
    assert analysis.example_questions(scores, due) == ["c", "b", "d"]


@given(st.lists(st.sampled_from(CLASSES), min_size=1, max_size=6))
def test_examples_miss_no_class_that_there_is(kinds):
    items = list("abcdef")[: len(kinds)]
    scores = scored(kinds, item=items, default=0.0, self_consistency=0.5)
    picked = analysis.example_questions(scores, pd.Series("", index=items))
    assert len(picked) == len(set(picked)) == min(3, len(kinds))
    assert set(scores.set_index("item")["class"][picked]) == set(kinds)


def test_twins_are_equally_right_and_differ_most():
    right = pd.DataFrame(
        [[1, 1, 0, 1], [1, 0, 0, 1], [0, 1, 1, 1], [0, 0, 1, 0]]
    ).astype(bool)
    right.columns = list("abcd")
    assert analysis.prompt_pair_of_nearest_accuracy(right) == ("a", "c")
    assert analysis.prompt_pair_of_nearest_accuracy(right[["d", "b", "a"]]) == (
        "b",
        "a",
    )


@given(st.lists(st.tuples(*[st.sampled_from(CLASSES)] * 2), min_size=1, max_size=20))
def test_balanced_hits_are_the_mean_over_classes_of_the_share_found(pairs):
    found, due = (pd.Series(column) for column in zip(*pairs))
    shares = (found == due).groupby(due).mean()
    assert analysis.balanced_hit_weights(found, due).mean() == pytest.approx(
        shares.mean()
    )


def test_the_strongest_other_kind_is_subtracted():
    each = {
        "frames": np.ones(4),
        "order": np.zeros(4),
        "options": np.array([1, 1, 0, 0]),
    }
    other, less = analysis.lead_over_strongest_other_kind(each, "frames", **DRAW)
    assert (other, less.estimate, less.n) == ("options", 0.5, 4)
    other, less = analysis.lead_over_strongest_other_kind(
        {"frames": np.ones(4)}, "frames", **DRAW
    )
    assert other == "none"
    assert np.isnan(less.estimate)


def test_groups_apart_are_the_difference_of_their_means():
    values, first = (
        pd.Series([0.9, 0.7, 0.2, 0.4]),
        pd.Series([True, True, False, False]),
    )
    found = analysis.varied_group_mean_difference(values, first, **DRAW)
    assert found.estimate == pytest.approx(0.5)
    assert found.low <= found.estimate <= found.high
    lone = analysis.varied_group_mean_difference(
        values, pd.Series([True, False, False, False]), **DRAW
    )
    assert np.isnan(lone.low)
    assert np.isnan(
        analysis.varied_group_mean_difference(values, ~first & first, **DRAW).estimate
    )


def test_a_detector_of_guesses_leads_by_the_difference_of_its_areas():
    kinds = [kind for kind in ("randomness", "error", "factuality") for _ in range(10)]
    spread = np.tile(np.linspace(0, 0.01, 10), 3)
    doubt = pd.Series(np.repeat([0.9, 0.1, 0.1], 10) + spread)
    found = analysis.detector_lead_on_randomness(doubt, scored(kinds), **DRAW)
    assert found.estimate == pytest.approx(
        0.5
    )  # finds all guesses, and no error better than chance
    assert found.low > 0
    halves = scored(
        kinds, item=[f"q{i}" for i in range(30)], entropy=doubt, logprob=doubt
    )
    areas = analysis.areas_by_detector(
        halves, pd.Series("", index=halves["item"]), **DRAW
    )
    assert areas["estimate"].tolist() == pytest.approx(
        [1, 0, 0.5, 0.5]
    )  # logprob is less doubt
    lesson = ["read 64+ times"] * 15 + ["mostly stated wrongly"] * 15
    lesson = pd.Series(lesson, index=halves["item"])
    assert analysis.areas_by_detector(halves, lesson, **DRAW)["n"].tolist() == [
        30,
        30,
        20,
        20,
        15,
        15,
    ]


def test_a_steady_error_is_planted_if_it_names_the_false_object():
    close = scored(
        ["error", "error", "factuality"], item=list("abc"), said=["x", "y", "x"]
    )
    items = pd.DataFrame({"item": list("abc"), "false_object": "x"})
    lesson = pd.Series("mostly stated wrongly", index=list("abc"))
    assert analysis.scores_with_training_lessons(close, items, lesson, None)[
        "planted"
    ].tolist() == [1, 0, 0]
    own = analysis.scores_with_training_lessons(
        close, items[["item"]], lesson.replace("mostly stated wrongly", ""), None
    )
    assert own["planted"].tolist() == [0, 0, 0]
    assert analysis.class_shares_by_lesson(own, **DRAW).empty
