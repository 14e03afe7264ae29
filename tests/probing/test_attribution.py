"""Attributions equal integrated gradients written out, and leave the model as it was."""

import pandas as pd
import pytest
import torch

from helpers import UserError
from helpers.models import tokens
from helpers.probing import attribution
from helpers.probing.attribution import (
    attribute_probability,
    attribute_until_converged,
    baseline_ids,
    has_converged,
)
from tests import tiny_models

PROMPT = "France. Which country is Bern in?"


def integrated_gradients(lm, row, at: int, points: int = 100):
    """Return the attributions of the token at a place, and what they must sum to."""
    ids = row.source or row.ids[:at]
    embed = lm.model.get_input_embeddings()
    text, blank = (
        embed(torch.tensor([i])).detach() for i in (ids, baseline_ids(lm, ids))
    )
    decoder = {"decoder_input_ids": torch.tensor([row.ids[:at]])} if row.source else {}

    def probability(embedded):
        return (
            lm.model(inputs_embeds=embedded, **decoder)
            .logits[0, -1]
            .softmax(-1)[row.ids[at]]
        )

    total = torch.zeros_like(text)
    for point in range(points):
        between = (blank + (point + 0.5) / points * (text - blank)).requires_grad_(True)
        total += torch.autograd.grad(probability(between), between)[0] / points
    change = (probability(text) - probability(blank)).item()
    return ((text - blank) * total).sum(-1)[0], change


@pytest.mark.parametrize("family", ["llama", "gpt2", "gpt_neox", "bloom", "t5"])
def test_scores_are_integrated_gradients(family):
    lm = tiny_models.tiny_language_model(family)
    found = attribute_probability(lm, PROMPT, " Italy", n_steps=60)
    row = tokens.rows_of_continuations(lm, [PROMPT], [" Italy"], [("a",)])[0]
    assert found["step"].nunique() == len(row.scored)
    for step, part in found.groupby("step"):
        own, change = integrated_gradients(lm, row, row.start + step)
        # A sum over points is as near as the gradients are smooth: T5's jump (ReLU).
        near = own.abs().sum().item() / (10 if family == "t5" else 50)
        assert part["score"].tolist() == pytest.approx(own.tolist(), abs=near)
        assert part["score"].sum() == pytest.approx(change, abs=near)
        assert part["change"].tolist() == pytest.approx([change] * len(part), abs=1e-5)
        assert part["norm"].sum() == pytest.approx(1, abs=1e-4)
        assert part["position"].tolist() == list(range(len(part)))


def test_points_are_added_until_the_integral_converges(monkeypatch):
    tried = []

    def off_by(lm, prompt, continuation, n_steps):
        tried.append(n_steps)
        return pd.DataFrame(
            {"step": [0, 0], "score": [0.5, 1 / n_steps], "change": 0.5}
        )

    monkeypatch.setattr(attribution, "attribute_probability", off_by)
    monkeypatch.setattr(attribution, "N_STEPS_TRIED", (10, 100, 1000))
    assert has_converged(attribute_until_converged(None, PROMPT, " Italy"))
    assert tried == [10, 100]  # off by a fifth of the change, then by a fiftieth
    monkeypatch.setattr(attribution, "N_STEPS_TRIED", (4, 10))
    assert not has_converged(attribute_until_converged(None, PROMPT, " Italy"))
    one = pd.DataFrame({"step": [0, 1], "score": [0.5, 0.004], "change": [0.5, 0.0]})
    assert has_converged(one)  # a small error of a token that adds nothing
    assert not has_converged(one.assign(change=[0.4, 0.0]))


def test_steps_and_tokens_are_those_of_score():
    lm = tiny_models.tiny_language_model("gpt2", tiny_models.byte_tokenizer())
    found = attribute_probability(
        lm, "He was born in 19", "45", n_steps=10
    )  # one piece with its prompt's end
    assert found["step_token"].unique().tolist() == ["Ġ1945"]
    assert "".join(found["token"]).replace("Ġ", " ") == "He was born in"


def test_the_model_is_left_as_it_was():
    lm = tiny_models.tiny_language_model("gpt2", pad_token_id=None)
    before = (
        lm.model.config.to_dict(),
        lm.tokenizer.pad_token,
        lm.tokenizer.padding_side,
    )
    ids = torch.tensor([lm.tokenizer(PROMPT)["input_ids"]])
    with torch.no_grad():
        logits = lm.model(input_ids=ids).logits
        first = attribute_probability(lm, PROMPT, " Italy", n_steps=5)
        assert torch.equal(lm.model(input_ids=ids).logits, logits)
    assert (
        lm.model.config.to_dict(),
        lm.tokenizer.pad_token,
        lm.tokenizer.padding_side,
    ) == before
    assert all(
        weight.requires_grad and weight.grad is None for weight in lm.model.parameters()
    )
    assert first.equals(attribute_probability(lm, PROMPT, " Italy", n_steps=5))


def test_a_prompt_over_the_context_is_refused():
    with pytest.raises(UserError, match="at most 128"):
        attribute_probability(
            tiny_models.tiny_language_model("llama"), PROMPT * 20, " Italy"
        )


@pytest.mark.parametrize("most", [5, 1, 0])
def test_want_of_memory_is_met_with_fewer_points(most):
    lm = tiny_models.tiny_language_model("llama")
    wanted = attribute_probability(lm, PROMPT, " Italy", n_steps=20)

    def scarce(module, inputs):
        if len(inputs[0]) > most:
            raise torch.OutOfMemoryError("no memory")

    lm.model.model.layers[0].register_forward_pre_hook(scarce)
    if not most:
        with pytest.raises(UserError, match="does not fit into the memory"):
            attribute_probability(lm, PROMPT, " Italy", n_steps=20)
    else:
        found = attribute_probability(lm, PROMPT, " Italy", n_steps=20)
        pd.testing.assert_frame_equal(found, wanted, atol=1e-7)


def test_a_templates_tokens_have_their_share():
    lm = tiny_models.tiny_language_model(
        "llama", tiny_models.chat_tokenizer(), chat=True
    )
    found = attribute_probability(lm, PROMPT, " Italy", n_steps=60)
    first = "".join(found.loc[found["step"] == 0, "token"])
    assert (
        first.replace("Ġ", " ").replace("Ċ", "\n")
        == tokens.strings_read_by_model(lm, [PROMPT])[0].strip()
    )
    assert has_converged(found)
