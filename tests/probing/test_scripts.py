"""A text is cut at a stop string, never inside a character, whatever its script."""

import dataclasses

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import models, probing
from helpers.probing import cached_results, engine, generation, result_cache
from tests import tiny_models
from tests.probing.test_generation import ScriptedModel
from tests.stub_server import StubServer

NEW = 48
PROMPTS = ["Lyon is located in", "法国的首都是哪里？", "Mba'épa avañe'ẽ", "🗼"]
ANSWERS = [" 中国", " ประเทศไทย", " avañe'ẽ", " 👩‍🚀🇵🇾", " España", " France"]
STOPS = ["\n", "。", " and", "🛑", "ẽ "]
PAIRS = [
    (p, f"{answer}{stop}中国") for p in PROMPTS for answer in ANSWERS for stop in STOPS
]
TOKENIZERS = {
    "byte": tiny_models.byte_tokenizer,
    "byte fallback": tiny_models.fallback_tokenizer,
    "piece": lambda: tiny_models.piece_tokenizer("bos"),
}
# Packed; in batches from a state; sequence-to-sequence.
FAMILIES = ["llama", "mamba", "t5"]


def says(monkeypatch) -> None:
    """Have models say their anchors instead of what is most probable."""
    rules = generation._rules
    monkeypatch.setattr(
        generation,
        "_rules",
        lambda *asked: dataclasses.replace(rules(*asked), forced=True),
    )


def language_model(family: str, tokenizer):
    long = {} if family in ("mamba", "t5") else {"max_position_embeddings": 512}
    lm = tiny_models.tiny_language_model(
        family, tokenizer, eos_token_id=None, pad_token_id=0, **long
    )
    lm = dataclasses.replace(lm, max_length=512)
    lm.tokenizer.eos_token = None  # a text ends at its stop string
    return lm


def expected(lm, prompt: str, answer: str, stop: list[str]) -> tuple[str, list[int]]:
    """Return the whole answer's text, decoded at once after its prompt, up to the first stop."""
    say = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
    row = models.tokens.rows_of_continuations(lm, [prompt], [answer], [("",)])[0]
    said = [*row.scored, *[0] * NEW][
        :NEW
    ]  # after its anchor, a forced text goes on with token 0
    before = [] if row.source else list(row.ids[: row.start])
    head = lm.tokenizer.decode(before, **say)
    whole = lm.tokenizer.decode([*before, *said], **say)[len(head) :]
    return whole[
        : min([whole.index(word) for word in stop if word in whole], default=None)
    ], said


def check(
    lm, pairs: list[tuple[str, str]], stop: list[str], cache=None, **asked
) -> None:
    prompts, answers = map(list, zip(*pairs))
    settings = {
        "max_new_tokens": NEW,
        "stop": stop,
        "progress": False,
        "cache": cache,
        **asked,
    }
    found = probing.generate(lm, prompts, anchors=answers, **settings)
    for (prompt, answer), text, pieces in zip(pairs, found["text"], found["tokens"]):
        wanted, said = expected(lm, prompt, answer, stop)
        assert text == wanted, (prompt, answer, stop)
        assert pieces == models.tokens.token_names(lm, said[: len(pieces)])
    probes = pd.DataFrame({"prompt": prompts, "continuation": answers})
    writable = [is_writable(lm, answer) for answer in answers]
    both = probing.score_and_generate(lm, probes[writable], **settings)
    assert list(both["text"]) == list(found["text"][writable])


def is_writable(lm, text):
    """Say whether a tokenizer knows all of a text."""
    ids = lm.tokenizer(text, add_special_tokens=False)["input_ids"]
    return lm.tokenizer.unk_token_id not in ids


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("size", [3, None])
def test_a_text_is_the_whole_one_up_to_its_stop(
    name, family, size, monkeypatch, tmp_path
):
    says(monkeypatch)
    lm = language_model(family, TOKENIZERS[name]())
    assert engine.scorer_of_model(lm).joins == (family == "llama")
    known = [pair for pair in PAIRS if name != "piece" or pair[0].isascii()]
    for _ in range(2):  # from the model, then from what is kept
        check(lm, known, STOPS, tmp_path, batch_size=size)


@pytest.mark.parametrize("vocabulary", ["gpt-2", "falcon", "phi-3"])
def test_published_tokenizers_are_cut_at_whole_characters(
    vocabulary, shared, monkeypatch
):
    says(monkeypatch)
    lm = language_model(
        "llama",
        tiny_models.published_tokenizer(shared / "data" / "tokenizers", vocabulary),
    )
    check(lm, PAIRS, STOPS)


LETTERS = st.text("中国ไทẽé👩‍🚀ñ aF.\n", min_size=1, max_size=8)
LOADED = {}


@settings(max_examples=25)
@given(
    answers=st.lists(LETTERS, min_size=1, max_size=5),
    stop=st.text("国ทẽ👩a\n", min_size=1, max_size=3),
    name=st.sampled_from(["byte", "byte fallback"]),
    family=st.sampled_from(["llama", "t5"]),
)
def test_any_text_is_cut_where_it_would_be_as_a_whole(answers, stop, name, family):
    key = name, family
    if key not in LOADED:
        LOADED[key] = language_model(family, TOKENIZERS[name]())
    with pytest.MonkeyPatch.context() as patch:
        says(patch)
        pairs = [
            (PROMPTS[n % len(PROMPTS)], f"{answer}x")
            for n, answer in enumerate(answers)
        ]
        check(LOADED[key], pairs, [stop])


def test_a_stop_string_of_two_tokens_that_begins_inside_one_is_cut(monkeypatch):
    says(monkeypatch)
    lm = language_model("llama", tiny_models.byte_tokenizer())
    pieces = lm.tokenizer.tokenize(" Francezz")
    assert pieces[:2] == ["ĠFrance", "z"]
    found = probing.generate(
        lm, ["Lyon?"], NEW, ["cezz"], [" Francezz"], progress=False
    )
    assert found["text"].tolist() == [" Fran"]
    assert found["tokens"].tolist() == [["ĠFrance"]]


@pytest.mark.parametrize("answer", [" 中国", " ñẽ", " 👩"])
def test_a_server_is_cut_at_whole_characters(answer, tmp_path):
    lm = tiny_models.tiny_language_model("gpt2", tiny_models.byte_tokenizer())
    ids = lm.tokenizer(f"?{answer}\n")["input_ids"]
    assert len(set(ids)) == len(ids), "a script says each token once"
    script = ScriptedModel(dict(zip(ids, [*ids[1:], ids[0]])), len(lm.tokenizer))
    script.config = lm.model.config
    lm.tokenizer.save_pretrained(tmp_path)
    lm.model.config.save_pretrained(tmp_path)
    with StubServer(dataclasses.replace(lm, model=script), tmp_path) as stub:
        found = probing.generate(
            models.load(stub.address), ["Lyon?"], NEW, progress=False
        )
    assert found["text"].tolist() == [answer]


def test_a_text_kept_by_another_version_is_not_read_back(monkeypatch, tmp_path):
    lm = language_model("llama", tiny_models.byte_tokenizer())
    asked = {"stop": ["never"], "cache": tmp_path, "progress": False}
    with monkeypatch.context() as before:
        before.setattr(
            cached_results,
            "TEXT_RESULTS_VERSION",
            cached_results.TEXT_RESULTS_VERSION - 1,
        )
        before.setattr(
            cached_results, "_result", lambda text: result_cache.Result((), ())
        )
        assert probing.generate(lm, ["Lyon?"], **asked)["tokens"].tolist() == [[]]
    assert len(probing.generate(lm, ["Lyon?"], **asked)["tokens"].iloc[0]) > 0
