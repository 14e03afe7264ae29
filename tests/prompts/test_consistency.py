"""Multiple-choice questions: what they offer, that draws are stable, what chance gives."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError
from helpers.metrics import accuracy
from helpers.metrics import knowledge_base as kb
from helpers.prompts import consistency_questions
from helpers.prompts.prompt_texts import question_above_options

POOL = {"places": [f"Place {number}" for number in range(40)], "few": ["x", "y"]}


def replies(n=3, text=" Place 3"):
    return pd.DataFrame(
        {
            "item": [f"q{i}" for i in range(n)],
            "question": [f"Where is {i}?" for i in range(n)],
            "text": text,
            "pool": "places",
        }
    )


def probes(n=3, k=20, seed=0, **settings):
    said = replies(n)
    said = said.assign(
        distractors=consistency_questions.draw_response_distractors(
            said, POOL, seed=seed
        )
    )
    return consistency_questions.consistency_probes(said, k, seed=seed, **settings)


def test_every_question_offers_the_response_three_others_and_unsure():
    made = probes()
    assert len(made) == 3 * 20 * 5
    for _, rows in made.groupby(["item", "variant"]):
        assert rows["correct"].sum() == 1
        assert rows.loc[rows["correct"], "shown"].item() == "Place 3"
        assert (rows["shown"] == "unsure").sum() == 1
        assert rows["shown"].nunique() == 5
        question = f"Where is {rows['item'].iloc[0][1:]}?"
        assert rows["prompt"].iloc[0] == question_above_options(
            question, list(rows["shown"])
        )
        assert rows["continuation"].tolist() == [f" {text}" for text in rows["shown"]]


def test_places_of_the_response_are_drawn_evenly():
    made = probes(n=100)
    places = made.loc[made["correct"], "option"].value_counts(normalize=True)
    assert places.between(0.15, 0.25).all()
    assert len(places) == 5


def test_letters_stand_for_the_options_above_them():
    made = probes(n=1, k=1, by="letter")
    assert made["continuation"].tolist() == [" A", " B", " C", " D", " E"]
    for letter, text in zip("ABCDE", made["shown"]):
        assert f"\n{letter}. {text}\n" in made["prompt"].iloc[0]


@given(st.permutations(range(4)), st.integers(0, 5))
def test_draws_hang_on_item_text_and_seed_alone(order, seed):
    said = replies(4)
    drawn = consistency_questions.draw_response_distractors(said, POOL, seed=seed)
    again = consistency_questions.draw_response_distractors(
        said.iloc[list(order)], POOL, seed=seed
    )
    assert again == [drawn[i] for i in order]
    assert all(len(set(each)) == 20 and "Place 3" not in each for each in drawn)
    few = said.assign(distractors=drawn)
    whole = consistency_questions.consistency_probes(few, 2, seed=seed)
    part = consistency_questions.consistency_probes(few.iloc[[order[0]]], 2, seed=seed)
    same = whole[whole["item"] == f"q{order[0]}"].reset_index(drop=True)
    pd.testing.assert_frame_equal(part, same)


@pytest.mark.parametrize(
    "text",
    [
        " the Place 3.",
        "Place three",
        "Place 3. It lies on a river.",
        "The answer is Place 3.",
        r"\boxed{Place 3}",
        "<think>Place 4?</think>Place 3",
        "Place 3[1]",
    ],
)
def test_distractors_are_no_reading_of_the_response(text):
    said = replies(1, text=text)
    drawn = consistency_questions.draw_response_distractors(said, POOL, n=40)[0]
    assert "Place 3" not in drawn
    assert len(drawn) == len(POOL["places"]) - 1


def test_a_response_in_two_settings_is_asked_about_once():
    said = replies(2).assign(label=["correct", "uninformative"])
    other = said.assign(text=["Place 3", "Place 9"], label=["correct", "wrong"])
    found = consistency_questions.responses_to_ask_again(pd.concat([said, other]))
    assert found["item"].tolist() == ["q0 Place 3", "q1 Place 9"]
    marked = pd.DataFrame({"item": ["q0 Place 3"] * 2, "right": [True, False]})
    steady = kb.add_consistency(pd.concat([said, other], ignore_index=True), marked)
    np.testing.assert_array_equal(steady["consistency"], [0.5, np.nan, 0.5, np.nan])


def test_a_model_without_preference_is_consistent_in_one_of_five():
    made = probes(n=150)
    random = np.random.default_rng(3)
    scores = [[value] for value in random.normal(size=len(made))]
    each = kb.consistency_by_response(
        accuracy.mark_choices(made.assign(logprobs=scores))
    )
    assert each["consistency"].mean() == pytest.approx(0.2, abs=0.03)
    stubborn = made.assign(logprobs=[[float(right)] for right in made["correct"]])
    assert (
        kb.consistency_by_response(accuracy.mark_choices(stubborn))["consistency"] == 1
    ).all()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"k": 0}, "at least 1 question"),
        ({"n_options": 2}, "3 to 10 options"),
        ({"by": "colour"}, 'not by "colour"'),
    ],
)
def test_bad_settings_are_refused(settings, sentence):
    said = replies(1).assign(distractors=[POOL["places"]])
    with pytest.raises(UserError, match=sentence):
        consistency_questions.consistency_probes(said, **settings)


def test_a_response_with_too_few_others_of_its_kind_is_not_asked_again():
    said = replies(3).assign(pool=["few", "places", "none such"])
    said = said.assign(
        distractors=consistency_questions.draw_response_distractors(said, POOL)
    )
    assert consistency_questions.consistency_probes(said, 2)[
        "item"
    ].unique().tolist() == ["q1"]
    assert consistency_questions.consistency_probes(said, 2, n_options=4)[
        "item"
    ].unique().tolist() == [
        "q0",
        "q1",
    ]


def test_who_says_nothing_is_not_asked_again():
    said = pd.DataFrame(
        {"item": ["a"], "text": [" unsure"], "label": ["uninformative"]}
    )
    told = consistency_questions.responses_to_ask_again(said)
    assert told.empty
    assert list(told) == list(said)
    made = consistency_questions.consistency_probes(
        told.assign(question="", distractors=[])
    )
    assert list(made) == list(probes(n=1, k=1))
    assert accuracy.mark_choices(made.assign(logprobs=[])).empty
