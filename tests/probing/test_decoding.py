"""A state is kept where it leads to the same text; a model that needs more is read again."""

import logging

import pytest
import torch

from helpers.models import tokens
from helpers.probing import engine, generate
from helpers.probing.engine import PackScorer, decoding
from tests import tiny_models

PROMPTS = [
    "Which country is Lyon in?",
    "Lyon is located in",
    "The",
    "Bern is located in",
]


@pytest.fixture(autouse=True)
def in_batches(monkeypatch):
    """Continue every model in batches of equal length."""
    monkeypatch.setattr(PackScorer, "joins", False)


def spoilt(family: str, change):
    """Return a tiny model whose logits are changed by what it is given, and how often it read."""
    lm = tiny_models.tiny_language_model(family, eos_token_id=None, pad_token_id=0)
    forward, read = lm.model.forward, []

    def changed(*args, **given):
        output = forward(*args, **given)
        read.append(given["input_ids"].shape)
        output.logits[..., 7] += 5 * change(given)
        return output

    lm.model.forward = changed
    return lm, read


def texts(lm) -> list[str]:
    found = generate(lm, PROMPTS, max_new_tokens=6, stop=("never",), progress=False)
    return list(found["text"])


@pytest.mark.parametrize("family", ["llama", "mamba"])
def test_a_right_state_is_kept(family, caplog):
    lm, read = spoilt(family, lambda given: 0)
    engine.scorer_of_model(lm)  # tried
    caplog.clear()
    assert decoding.keeps_state(lm)
    del read[:]
    texts(lm)
    lengths = {len(ids) for ids in tokens.prompt_ids(lm, PROMPTS)}
    assert sum(length > 1 for _, length in read) == len(
        lengths
    )  # those of a length together, once
    assert not [
        record for record in caplog.records if record.name.startswith("helpers")
    ]


def test_a_wrong_state_is_not_used_and_that_is_told(caplog):
    lm, read = spoilt("llama", lambda given: given.get("past_key_values") is not None)
    with caplog.at_level(logging.WARNING):
        assert not decoding.keeps_state(lm)
    assert "reading the whole text at each step, which is slow" in caplog.text
    assert texts(lm) == texts(spoilt("llama", lambda given: 0)[0])
    assert min(length for _, length in read[-5:]) > 1


def test_texts_that_change_each_other_are_continued_one_by_one():
    lm, read = spoilt("llama", lambda given: len(given["input_ids"]) > 1)
    assert not decoding.keeps_state(lm)
    del read[:]
    assert texts(lm) == texts(spoilt("llama", lambda given: 0)[0])


@pytest.mark.parametrize("family", ["llama", "mamba", "t5"])
def test_texts_that_have_ended_leave_the_others_as_they_are(family):
    lm = tiny_models.tiny_language_model(family)
    many = [
        f"{prompt} {word}" for prompt in PROMPTS for word in ("France", "Italy", "1945")
    ]
    together = generate(lm, many, stop=("a", "e", "9"), progress=False)
    alone = generate(lm, many, stop=("a", "e", "9"), progress=False, batch_size=1)
    assert list(together["tokens"]) == list(alone["tokens"])
    sums = [torch.tensor(texts["logprobs"].sum()) for texts in (together, alone)]
    assert torch.allclose(
        *sums, atol=1e-4 if family == "mamba" else 1e-5
    )  # a long recurrence
