"""What the measurements ask is what their names say."""

import numpy as np
import pytest

from helpers import datasets
from notebooks.atlas import skills
from notebooks.atlas.reading_documents import EVERYDAY_WORDINGS


@pytest.fixture(scope="module")
def facts():
    return datasets.load("atlas", relations=["P17", "P36", "P30", "P297"])


@pytest.fixture(scope="module")
def frames():
    return datasets.prompt_frames("atlas")


def test_lists_grow_and_never_tell_what_is_asked(facts):
    asked = skills.list_completion_probes(facts, 3)
    sizes = {f"list, {n} examples": n for n in skills.EXAMPLE_COUNTS}
    for row in asked.itertuples():
        *told, last = row.prompt.split("\n")
        assert len(told) == sizes[row.condition]
        assert last == f"{row.subject}:"
        assert not any(line.startswith(f"{row.subject}:") for line in told)


def test_a_hundred_choices_have_one_right_one(facts):
    asked = skills.hundred_choice_probes(facts, 2)
    assert asked.groupby(["item"])["correct"].sum().eq(1).all()
    assert asked.groupby("item").size().eq(100).all()
    assert set(asked["relation"]) == {"P17", "P36", "P297"}


def test_choices_show_every_option_but_where_they_are_hidden(facts, frames):
    asked = skills.multiple_choice_probes(facts.head(3), frames)
    assert asked.groupby(["item", "variant"])["correct"].sum().eq(1).all()
    for (_, variant), rows in asked.groupby(["item", "variant"]):
        prompt = rows["prompt"].iloc[0]
        words = [word.strip() for word in rows["continuation"]]
        assert len(words) == int(variant[-1])
        if variant.startswith("by letter"):
            assert words == list("ABCDE")[: len(words)]
        elif variant.startswith("not shown"):
            assert not any(word in prompt for word in words)
        else:
            assert all(word in prompt for word in words)


def test_exercises_tell_their_answer_first(facts, frames):
    asked = skills.reading_exercise_probes(facts, frames, 10)
    assert asked["condition"].value_counts().eq(10).all()
    for row in asked.itertuples():
        assert row.object in ("True", "False") or row.object in row.prompt
    unheard = asked[asked["condition"].str.endswith("unheard")]
    assert unheard["prompt"].str.contains("can be found at").all()
    trained = " ".join(text for pair in EVERYDAY_WORDINGS for text in pair)
    assert "found at" not in trained
    assert "At which" not in trained


def test_variations_change_the_order_and_nothing_else(facts, frames):
    asked = skills.varied_prompt_probes(facts.head(4), frames, n=3)
    for (_, condition), rows in asked.groupby(["item", "condition"]):
        assert len(rows) == 3
        if condition != "changed by frame":
            lines = {
                tuple(sorted(prompt.replace("; ", "\n").split()))
                for prompt in rows["prompt"]
            }
            assert len(lines) == 1


def test_instructed_says_what_is_new(facts, frames):
    told = datasets.training_exposure("atlas-s").assign(tuned=0)
    told.loc[facts["fact"].iloc[0], "tuned"] = 3
    asked = skills.instructed_probes(facts.head(2), frames, told)
    assert asked.groupby("condition").size().to_dict() == {
        "used frames, used facts": 4,
        "kept frames, used facts": 1,
        "new frames, used facts": 2,
        "used frames, new facts": 4,
        "kept frames, new facts": 1,
        "new frames, new facts": 2,
    }
    assert asked["prompt"].str.startswith("INSTRUCTION:").all()
    assert np.all(asked["prompt"].str.endswith("ANSWER:"))
