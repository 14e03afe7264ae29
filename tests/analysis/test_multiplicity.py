"""Statistics of the chapter on prompt multiplicity, by hand and against plain loops."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from notebooks.analysis import multiplicity as analysis

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
    low, high = analysis.deviation_bounds_by_chance(marks, n_resamples=400, seed=0)
    expected = 100 * np.sqrt(
        0.25 / 120
    )  # of a prompt's accuracy; shuffling fixes the sums
    assert low < expected < high
    better = marks.assign(**{"0": True}).rename(columns={"0": 10})
    spread = float(better.mean().std())
    assert (
        analysis.decision_on_deviation(
            spread, analysis.deviation_bounds_by_chance(better, **DRAW)[1]
        )
        == "holds"
    )
    assert (
        analysis.decision_on_deviation(0.01, 1.04) == "undecided"
    )  # printed, both are 1.0
    assert analysis.decision_on_deviation(np.nan, 1) == "undefined"


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
    assert analysis.worst_prompt_in_words(marks) == {
        "worst": "prompt 3",
        "rest": f"{100 / np.sqrt(12):.1f}",
    }
    assert analysis.worst_prompt_in_words(marks, (3,))["worst"].endswith(
        "(a wording that training left out)"
    )
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


def test_steady_answers_stand_beside_those_about_facts_read_and_beside_draws():
    lesson = ["read 1–4 times", "read 64+ times", ""]
    close = scored(["error", "factuality", "randomness"], lesson=lesson)
    logs = [[np.log(0.9)], [np.log(0.1)]]
    alone = pd.DataFrame(
        {"item": "f", "variation": 0, "option": [0, 1], "logprobs": logs}
    )
    drawn = analysis.steady_share_of_draws(alone, 2, tau=0.75, replacement=False)
    close["item"], close["lesson"] = (
        list("deg"),
        close["lesson"].replace("", "never read"),
    )
    said = analysis.steady_shares_in_words(close, drawn.rename({"f": "g"}))
    assert (said["read"], said["n_read"]) == ("100.0", "2")
    assert float(said["drawn"]) == pytest.approx(82, abs=4)  # 0.9² + 0.1²


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
