"""Judges: how their verdicts are read, and that only what may change does."""

import dataclasses

import pandas as pd
import pytest

from helpers import UserError
from helpers.metrics import responses
from notebooks.analysis import judges
from tests import tiny_models


@pytest.fixture(scope="module")
def lm():
    return dataclasses.replace(
        tiny_models.tiny_language_model("llama"), max_length=None
    )


def marked():
    table = pd.DataFrame(
        {
            "question": ["Capital of Peru?"] * 3,
            "answers": [["Lima"], ["Lima"], []],
            "text": ["city of Lima", "Lima", "Cusco"],
            "seen": [True, True, False],
        },
        index=[3, 5, 8],
    )
    return responses.mark_responses(table)


def test_the_verdict_is_the_more_probable_word(lm):
    prompt = judges.same_meaning_prompt("Capital of Peru?", ["Lima"], "city of Lima")
    ids = lm.tokenizer(prompt)["input_ids"]
    sums = []
    for word in judges.VERDICTS:
        whole = lm.tokenizer(prompt + word)["input_ids"]
        assert whole[: len(ids)] == ids
        sums.append(sum(tiny_models.naive_logprobs(lm, whole, len(ids))))
    verdicts = judges.judge_same_meaning(lm, marked())
    assert verdicts.to_dict() == {3: sums[0] > sums[1]}


@pytest.mark.parametrize(("no", "kind"), [(-2.0, "correct"), (-1.0, "wrong")])
def test_a_judge_that_says_yes_accepts_only_the_wrong_seen_one(
    lm, monkeypatch, no, kind
):
    """A tie of the two words is a no."""

    def score(model, probes, **_):
        return probes.assign(
            logprobs=[[no if option else -1.0] for option in probes["option"]]
        )

    monkeypatch.setattr(judges, "score", score)
    table = marked()
    judged = responses.apply_judge_verdicts(table, judges.judge_same_meaning(lm, table))
    assert judged["kind"].tolist() == [kind, "correct", "wrong"]
    assert judges.judge_same_meaning(lm, table.assign(kind="correct")).empty


def test_changing_questions_are_asked_in_blocks(lm, monkeypatch):
    asked = []

    def generate(model, prompts, **_):
        asked.extend(prompts)
        return pd.DataFrame({"text": ["1, 20", "2"]})

    monkeypatch.setattr(judges, "generate", generate)
    found = judges.judge_of_changing_answers(lm)([f"question {i}" for i in range(23)])
    assert [i for i, changing in enumerate(found) if changing] == [0, 19, 21]
    assert len(found) == 23
    assert "3. question 22\n" in asked[1]


def test_written_distractors_are_read_apart(lm, monkeypatch):
    text = " Bergen; Oslo; Bergen; Trondheim."
    monkeypatch.setattr(
        judges, "generate", lambda *_, **__: pd.DataFrame({"text": [text]})
    )
    found = judges.write_distractors(
        lm, pd.DataFrame({"question": ["?"], "text": ["Oslo"]}), n=2
    )
    assert found == [["Bergen", "Oslo"]]


def test_a_judge_that_does_not_load_is_named_as_such():
    with pytest.raises(
        UserError, match="The judge does not load: There is no folder"
    ) as caught:
        judges.load_judge("no-such-folder/judge/")
    assert "\n" not in str(caught.value)
