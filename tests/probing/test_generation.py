"""Greedy text equals transformers' own; anchors follow the model's own tokens."""

import dataclasses
import math
import types

import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import UserError
from helpers.metrics import matching
from helpers.models import tokens
from helpers.models.language_model import Known
from helpers.probing import generate, score, score_and_generate, work_counter
from helpers.probing.engine import decoding
from helpers.probing.engine.decoding import ContinuationTask
from tests import tiny_models

PROMPTS = [
    "Which country is Lyon in?",
    "Which country is Bern in?",
    "France. Which country is Lyon in?",
    "Lyon is located in",
    "The",
]
NEVER = ("never such a string",)


def endless(family: str, tokenizer=None, seed: int = 0):
    """Return a tiny model whose configuration names no end-of-text token."""
    return tiny_models.tiny_language_model(
        family, tokenizer, seed, eos_token_id=None, pad_token_id=0
    )


@pytest.mark.parametrize("family", tiny_models.ALL_FAMILIES)
def test_every_family_continues_as_transformers_does(family):
    lm = tiny_models.tiny_language_model(family)
    found = generate(lm, PROMPTS, max_new_tokens=7, stop=NEVER, progress=False)
    for prompt, pieces, logprobs in zip(PROMPTS, found["tokens"], found["logprobs"]):
        ids = torch.tensor([tokens.prompt_ids(lm, [prompt])[0]])
        out = lm.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            max_new_tokens=7,
            pad_token_id=0,
            return_dict_in_generate=True,
            output_logits=True,
        )
        new = (
            out.sequences[0, 1:]
            if lm.kind == "seq2seq"
            else out.sequences[0, ids.shape[1] :]
        )
        kept = [i for i in new.tolist() if i != lm.tokenizer.eos_token_id]
        assert pieces == tokens.token_names(lm, kept)
        values = [
            out.logits[i][0].log_softmax(-1)[t].item() for i, t in enumerate(kept)
        ]
        assert logprobs == pytest.approx(values, abs=1e-5)


@settings(max_examples=5)
@given(seed=st.integers(0, 99), size=st.sampled_from([1, 2, 7]))
def test_order_and_batch_size_change_nothing(seed, size):
    frame = pd.DataFrame({"prompt": PROMPTS, "anchor": [" France and Italy"] * 5})
    mixed = frame.sample(frac=1, random_state=seed)
    for lm in MODELS:
        whole = generate(lm, frame, anchors=frame["anchor"], progress=False)
        found = generate(
            lm, mixed, anchors=mixed["anchor"], progress=False, batch_size=size
        )
        found = found.sort_index()
        assert list(found["text"]) == list(whole["text"])
        for name in ("logprobs", "anchor_logprobs"):
            for left, right in zip(found[name], whole[name]):
                assert left == pytest.approx(right, abs=1e-5)


MODELS = [tiny_models.tiny_language_model(name) for name in ("gpt2", "mistral", "t5")]


class ScriptedModel(torch.nn.Module):
    """A model of a fixed script: after the token a comes the token follow[a], with chance 0.9."""

    def __init__(self, follow, size):
        super().__init__()
        self.table = torch.full((size, size), math.log(0.1 / (size - 1)))
        for token, following in follow.items():
            self.table[token, following] = math.log(0.9)

    def get_input_embeddings(self):
        return torch.nn.Embedding.from_pretrained(self.table)

    def forward(
        self, input_ids, attention_mask=None, past_key_values=None, use_cache=True
    ):
        return type(
            "Output", (), {"logits": self.table[input_ids], "past_key_values": "past"}
        )()


def scripted(text: str):
    """Return a model that says a text after the prompt "Lyon?" and then goes round for ever."""
    lm = tiny_models.tiny_language_model("gpt2", tiny_models.byte_tokenizer())
    ids = lm.tokenizer("?" + text)["input_ids"]
    assert len(set(ids)) == len(ids), "a script says each token once"
    model = ScriptedModel(dict(zip(ids, [*ids[1:], ids[0]])), len(lm.tokenizer))
    model.config = lm.model.config
    return dataclasses.replace(tiny_models.untried(lm), model=model, weights_sha=text)


@pytest.mark.parametrize(
    ("script", "settings", "text"),
    [
        (" France\nItaly", {}, " France"),
        (" France and", {"stop": ["anc"]}, " Fr"),
        (" France\nItaly Bern", {"stop": ["\nItaly"]}, " France"),
        (" France</s>", {"stop": NEVER}, " France"),
        (" France and", {"max_new_tokens": 1}, " France"),
    ],
    ids=["stop", "stop inside a token", "stop of many tokens", "end token", "limit"],
)
def test_where_a_text_ends(script, settings, text):
    found = generate(scripted(script), ["Lyon?"], progress=False, **settings).iloc[0]
    assert found["text"] == text
    assert found["tokens"] == ["ĠFrance"]
    assert found["logprobs"] == pytest.approx([math.log(0.9)], abs=1e-5)


# Fences, markup, what announces an answer, and what nobody sees.
SAY_NOTHING = (
    *("\u200b", "\ufeff", "\u200e", "\u2800", "\u3164", "```", "~~~text", "**", "-"),
    *("…", ":", "<br>", "<!-- x -->", "&nbsp;", "Answer:", "答案：", "|---|", "======"),
    *("\\begin{quote}", "[b]"),
)


@pytest.mark.parametrize(
    ("text", "stop", "before"),
    [
        ("\n\nFrance\nQ", ["\n"], "\n\nFrance"),
        (" \r\n France\nQ", ["\n"], " \r\n France"),
        ("\n\n", ["\n"], None),
        ("\nQUESTION: x", ["\n", "QUESTION"], "\n"),
        ("\n\nQuestion", ["\nQuestion"], "\n"),
        ("<think>Rome?\nBern", ["\n"], None),
        ("<think>Rome?\n</think>\n\nBern\nQ", ["\n"], "<think>Rome?\n</think>\n\nBern"),
        ("Bern\n<think>", ["\n"], "Bern"),
        ("France", ["\n"], None),
        *[(f"{line}\nBern\nQ", ["\n"], f"{line}\nBern") for line in SAY_NOTHING],
        ("**\n\n", ["\n"], None),
        *[(f"{sign}\nQ", ["\n"], sign) for sign in (" +", "83. ", "👩", "[1]", "°C")],
        ("```\nBern\n```", ["```"], "```\nBern\n"),
        ("Answer: Bern\nAnswer: x", ["Answer:"], "Answer: Bern\n"),
    ],
)
def test_a_stop_string_ends_an_answer_and_not_what_stands_before_it(
    monkeypatch, text, stop, before
):
    """Here each character is a token."""

    def decoded(model, task, ids):
        return "".join(map(chr, ids))

    monkeypatch.setattr(decoding, "decode_new_tokens", decoded)
    ids = [ord(character) for character in text]
    found = decoding.text_before_stop(None, None, ids, stop)
    assert found == (None if before is None else (before, len(before)))


def test_special_tokens_that_mark_thoughts_are_read():
    tokenizer = tiny_models.byte_tokenizer()
    marks = ["[THINK]", "[/THINK]", "<|end|>"]
    tokenizer.add_special_tokens({"additional_special_tokens": marks})
    lm = types.SimpleNamespace(tokenizer=tokenizer, known=Known())
    text = "[THINK] Italy[/THINK] France<|end|>"
    ids = tuple(tokenizer(text, add_special_tokens=False)["input_ids"])
    task = ContinuationTask(tuple(tokenizer("Lyon?")["input_ids"]))
    found = decoding.decode_new_tokens(lm, task, ids)
    assert found == "[THINK] Italy[/THINK] France"
    assert matching.exact_match(found, "France")
    begun = ContinuationTask((*task.ids, *ids[:1]))
    found = decoding.decode_new_tokens(lm, begun, ids[1:2])
    assert found.startswith("[THINK]")
    assert not matching.holds_answer(found)


def test_anchor_is_read_along_the_models_own_tokens():
    lm = scripted(" France and\n Italy")
    anchors = [" France\n\n Italy Bern"]
    found = generate(lm, ["Lyon?"], anchors=anchors, progress=False).iloc[0]
    assert found["text"] == " France and"
    anchor = lm.tokenizer.convert_ids_to_tokens(lm.tokenizer(anchors[0])["input_ids"])
    assert anchor[:2] == ["ĠFrance", "Ċ"]
    rare = math.log(0.1 / (len(lm.tokenizer) - 1))
    # Step 0 says France; step 1 " and" where the anchor has a line end; step 2 ends the
    # text with the very token that the anchor has there; from then on there is nothing
    # to read.
    expected = [math.log(0.9), rare, math.log(0.9)] + [-math.inf] * (len(anchor) - 3)
    assert found["anchor_logprobs"] == pytest.approx(expected, abs=1e-5)


def test_anchor_past_the_limit_has_probability_zero():
    lm = scripted(" France and\n Italy")
    found = generate(
        lm, ["Lyon?"], anchors=[" France and"], max_new_tokens=1, progress=False
    )
    expected = [math.log(0.9), -math.inf]
    assert found["anchor_logprobs"].iloc[0] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("family", "seed"), [("llama", 0), ("t5", 1)])
def test_both_readings_agree_where_the_free_text_is_the_anchor(family, seed):
    lm = endless(family, seed=seed)
    text = generate(lm, PROMPTS, max_new_tokens=5, stop=NEVER, progress=False)["text"]
    other = [f"{word} Bern" for word in text]
    probes = pd.DataFrame({"prompt": PROMPTS, "continuation": other, "item": range(5)})
    forced = score(lm, probes.assign(variant="v", option=0), progress=False)
    free = generate(lm, PROMPTS, 20, NEVER, anchors=other, progress=False)
    agree = 0
    for own, anchor, left, right in zip(
        free["tokens"], forced["tokens"], free["anchor_logprobs"], forced["logprobs"]
    ):
        same = 1 + tokens.common_prefix_length(
            own, anchor
        )  # the first token that differs still agrees
        assert left[:same] == pytest.approx(right[:same], abs=1e-5)
        agree += same
    assert agree > 5


def test_anchor_that_merges_with_the_prompt_is_read_where_score_reads_it():
    lm = endless("gpt2", tiny_models.byte_tokenizer())
    prompt, year = "He was born in 19", "45"
    probes = pd.DataFrame([{"item": 0, "variant": "v", "option": 0, "prompt": prompt}])
    forced = score(lm, probes.assign(continuation=year), progress=False)
    found = generate(lm, [prompt], anchors=[year], progress=False)
    assert found["anchor_logprobs"].iloc[0] == pytest.approx(
        forced["logprobs"].iloc[0], abs=1e-5
    )
    plain = generate(lm, [prompt], progress=False)
    assert found["text"].iloc[0] == plain["text"].iloc[0]


BOTH = pd.DataFrame(
    {
        "item": [0, 0, 1, 2, 3, 3],
        "variant": ["a", "b", "a", "a", "a", "a"],
        "option": [0, 0, 0, 0, 0, 1],
        "prompt": [*PROMPTS[:3], "He was born in 19", PROMPTS[3], PROMPTS[3]],
        "continuation": [" France", " Lyon is", " Peru", "45", " France", " Peru"],
    },
    index=[5, 3, 4, 9, 1, 0],
)


@pytest.mark.parametrize("family", ["llama", "gpt2", "bloom", "gpt_neo", "mamba", "t5"])
@pytest.mark.parametrize("spoken", [None, [True, False, True, True, False, True]])
def test_scored_and_continued_at_once_is_scored_and_continued(family, spoken, tmp_path):
    lm = endless(family, tiny_models.byte_tokenizer() if family == "gpt2" else None)
    settings = {"max_new_tokens": 5, "stop": NEVER, "progress": False}
    found = score_and_generate(lm, BOTH, spoken, **settings, cache=tmp_path)
    asked = BOTH if spoken is None else BOTH[spoken]
    right = score(lm, BOTH, progress=False)
    said = generate(lm, asked, anchors=asked["continuation"], **settings)
    columns = [name for name in right if name != "logprobs"]
    pd.testing.assert_frame_equal(found[columns], right[columns])
    for mine, theirs in zip(found["logprobs"], right["logprobs"], strict=True):
        assert mine == pytest.approx(theirs, abs=1e-5)
    assert found["text"].notna().tolist() == (spoken or [True] * len(BOTH))
    assert found.loc[asked.index, "text"].tolist() == said["text"].tolist()
    for mine, theirs in zip(
        found.loc[asked.index, "anchor_logprobs"], said["anchor_logprobs"]
    ):
        assert mine == pytest.approx(theirs, abs=1e-5)


def test_both_at_once_and_each_alone_share_a_cache(tmp_path, monkeypatch):
    lm = endless("llama")
    settings = {"max_new_tokens": 5, "stop": NEVER, "progress": False}
    spoken = BOTH["option"] == 0
    score(lm, BOTH.head(2), tmp_path / "first", progress=False)
    generate(lm, BOTH["prompt"].tail(2), cache=tmp_path / "first", **settings)
    whole = score_and_generate(lm, BOTH, spoken, cache=tmp_path / "first", **settings)
    pd.testing.assert_frame_equal(
        whole, score_and_generate(lm, BOTH, spoken, **settings)
    )

    def refuse(*args, **kwargs):
        raise AssertionError("the model is asked again")

    monkeypatch.setattr(lm.model, "forward", refuse)
    again = score_and_generate(lm, BOTH, spoken, cache=tmp_path / "first", **settings)
    pd.testing.assert_frame_equal(again, whole)
    score(lm, BOTH, tmp_path / "first", progress=False)
    kept = BOTH[spoken]
    generate(
        lm, kept, anchors=kept["continuation"], cache=tmp_path / "first", **settings
    )


def test_what_both_take_counts_a_prompt_once():
    lm = endless("llama")
    probes = BOTH.head(1)
    with work_counter(lm) as once:
        found = score_and_generate(lm, probes, max_new_tokens=2, progress=False)
    with work_counter(lm) as twice:
        score(lm, probes, progress=False)
        generate(lm, probes, max_new_tokens=2, progress=False)
    assert once["probes"] == twice["probes"] == 2
    assert once["tokens"] == twice["tokens"]
    prompt = len(
        lm.tokenizer(found["read"].iloc[0], add_special_tokens=False)["input_ids"]
    )
    assert once["forwarded"] == twice["forwarded"] - prompt


def test_sentencepiece_text_keeps_its_leading_space():
    lm = endless("llama", tiny_models.piece_tokenizer("bos"))
    texts = generate(lm, PROMPTS, stop=NEVER, progress=False)
    for text, pieces in zip(texts["text"], texts["tokens"]):
        said = "".join(p for p in pieces if p not in lm.tokenizer.all_special_tokens)
        assert text == "".join(said.replace("▁", " "))


def test_chat_prompt_is_read_through_the_template():
    lm = tiny_models.tiny_language_model(
        "llama", tiny_models.chat_tokenizer(), chat=True
    )
    found = generate(lm, ["Lyon?"], anchors=[" France"], progress=False).iloc[0]
    assert found["read"] == "<s>[user] Lyon?\n[assistant] "
    probes = pd.DataFrame([{"item": 0, "variant": 0, "option": 0, "prompt": "Lyon?"}])
    forced = score(lm, probes.assign(continuation=" France"), progress=False)
    assert forced["read"].iloc[0] == found["read"]
    first = forced["logprobs"].iloc[0][0]
    assert found["anchor_logprobs"][0] == pytest.approx(first, abs=1e-5)


def test_columns_and_index_of_a_frame_stay():
    frame = pd.DataFrame({"prompt": PROMPTS, "item": list("abcde")}, index=range(5, 10))
    found = generate(tiny_models.tiny_language_model("llama"), frame, progress=False)
    pd.testing.assert_frame_equal(found[["prompt", "item"]], frame)
    assert list(found.columns[2:]) == ["text", "tokens", "logprobs", "read"]
    assert (
        len(generate(tiny_models.tiny_language_model("llama"), [], progress=False)) == 0
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_new_tokens": 0}, "at least 1"),
        ({"stop": "\n"}, "give a list"),
        ({"anchors": [" a", " b"]}, "2 anchors for 1 prompts"),
        ({"max_new_tokens": 200}, "at most 128"),
        ({"prompts": [""], "anchors": None}, "no tokens to start from"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    lm = tiny_models.tiny_language_model(
        "llama", tiny_models.byte_tokenizer()
    )  # which adds no first token
    with pytest.raises(UserError, match=message):
        generate(lm, **{"prompts": ["Lyon?"]} | settings)
