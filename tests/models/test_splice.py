"""Ids put together from the last word on are those of the whole text, or are not used."""

import functools
import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)
from transformers import PreTrainedTokenizerFast

from helpers import UserError
from helpers.models import prefix_tokenising, tokens
from tests import tiny_models

CITIES = [
    "Lyon",
    "Turin",
    "Bern",
    "Ada Lovelace",
    "Alan Kay",
    "café",
    "1945",
    "São Paulo",
]
COUNTRIES = [
    "France",
    "Italy",
    "Switzerland",
    "1940",
    "deux cafés",
    "True",
    ":)",
    "é",
    "Côte",
]
ENDS = [f" {country}" for country in COUNTRIES] + COUNTRIES + ["45", "é", "s", ")"]


def prompts(separator: str, shots: int = 30) -> list[str]:
    lines = [f"{CITIES[n % 8]}{separator}{COUNTRIES[n % 9]}\n" for n in range(shots)]
    return ["".join(lines) + city + separator.rstrip(" ") for city in CITIES]


def spaced(separator: str, shots: int = 30) -> list[str]:
    return [prompt + " " for prompt in prompts(separator, shots)]


def in_one_line(separator: str, shots: int = 30) -> list[str]:
    return [prompt.replace("\n", ", ") for prompt in prompts(separator, shots)]


def of_names_alone(_: str, shots: int = 30) -> list[str]:
    return [prompt.replace("\n", " ") for prompt in prompts(" ", shots)]


def tokenizer_of_pieces(split_words: bool) -> PreTrainedTokenizerFast:
    """Return a BPE over whole texts, spaces written as a sign of their own, as Llama 2's."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=False, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<unk>", "<s>"], show_progress=False
    )
    if split_words:  # in training alone
        tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    tokenizer.train_from_iterator(
        [*tiny_models.TOKENIZER_TEXTS, *CITIES, *COUNTRIES, "\n"], trainer
    )
    state = json.loads(tokenizer.to_str())
    state["pre_tokenizer"] = None
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(state)),
        unk_token="<unk>",
        bos_token="<s>",
    )


TOKENIZERS = {
    "bytes": functools.cache(lambda: tiny_models.byte_tokenizer("bos")),
    "bytes with an end": functools.cache(lambda: tiny_models.byte_tokenizer("bos+eos")),
    "unigram": functools.cache(lambda: tiny_models.piece_tokenizer("bos")),
    "llama": functools.cache(lambda: tokenizer_of_pieces(split_words=True)),
    "several words": functools.cache(lambda: tokenizer_of_pieces(split_words=False)),
}


def rows(lm, asked: list[str], ends: list[str]) -> list[tokens.Row]:
    table = pd.DataFrame(
        [(p, e) for p in asked for e in ends], columns=["prompt", "end"]
    )
    groups = [(prompt,) for prompt in table["prompt"]]
    return tokens.rows_of_continuations(
        lm, list(table["prompt"]), list(table["end"]), groups
    )


def spliced_and_whole(lm, asked, ends=ENDS):
    """Return rows as they are made, rows tokenised whole, and how many texts were read whole."""
    read = []
    causal = tokens._causal
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            tokens, "_causal", lambda m, texts: read.extend(texts) or causal(m, texts)
        )
        found = rows(lm, asked, ends)
        patch.setattr(tokens, "_has_words_apart", lambda _: False)
        count = len(read)
        whole = rows(lm, asked, ends)
    return found, whole, count


@pytest.mark.parametrize("make", [prompts, spaced, in_one_line, of_names_alone])
@pytest.mark.parametrize("separator", [" is in ", " : ", ": "])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_spliced_ids_are_those_of_the_whole_text(name, separator, make):
    lm = tiny_models.tiny_language_model("llama", TOKENIZERS[name]())
    asked = make(separator)
    found, whole, count = spliced_and_whole(lm, asked)
    assert found == whole
    # Each prompt alone and the sample, but where a token may hold two words.
    few = len(asked) + prefix_tokenising.N_SAMPLED_TEXTS
    assert count == (few if name != "several words" else len(asked) + len(found))


PIECES = st.sampled_from([*CITIES, *COUNTRIES, " ", "  ", "\n", "19", "->", ". ", "ﬁ"])
TEXTS = st.lists(PIECES, min_size=1, max_size=6).map("".join)


@pytest.mark.parametrize("name", TOKENIZERS)
@settings(deadline=None, max_examples=60)
@given(prompt=TEXTS, end=TEXTS)
def test_any_two_texts_are_joined_as_they_are_read_in_one(name, prompt, end):
    lm = tiny_models.tiny_language_model("llama", TOKENIZERS[name]())
    with pytest.MonkeyPatch.context() as patch:  # else a sample mends what is wrong
        patch.setattr(prefix_tokenising, "N_SAMPLED_TEXTS", 0)
        try:
            found, whole, _ = spliced_and_whole(lm, [prompt], [end])
        except UserError:  # a text that adds no token
            return
    assert found == whole


def letters(texts):
    return [tuple(map(ord, text)) for text in texts]


PAIRS = [(prompt, end) for prompt in prompts(" is in ") for end in ENDS]
PROMPT_IDS = dict(zip(prompts(" is in "), letters(prompts(" is in "))))


PARTS = {  # ways to cut a text that does not begin where the whole one does
    "last text": lambda t: t[:-1] + "?" if t.endswith(")") else t,
    "prompt's end": lambda t: "?" * len(t),
}


@pytest.mark.parametrize("name", PARTS)
def test_tokens_that_a_part_has_otherwise_are_seen_and_read_whole(name, caplog):
    with caplog.at_level("INFO"):
        splits, tails = prefix_tokenising.split_prompts_and_tails(
            PROMPT_IDS,
            PAIRS,
            letters,
            lambda texts: letters(map(PARTS[name], texts)),
            may_split=True,
        )
    assert tails == letters(map("".join, PAIRS))
    assert {split.kept_ids for split in splits.values()} == {()}
    assert ("all texts are tokenised whole" in caplog.text) == (name == "last text")


@pytest.mark.parametrize(
    ("prompt", "end"),
    [
        ("Lyon is in", " in"),
        ("Lyon is in ", " in "),
        ("Lyon is  in", " is  in"),
        ("Lyon ->\nBern", " ->\nBern"),
        ("Lyon\nBern", None),
        ("Lyon", None),
        ("", None),
        (" Lyon", None),
    ],
)
def test_a_prompt_is_split_before_its_last_word(prompt, end):
    ids = dict(zip([prompt], letters([prompt])))
    splits, _ = prefix_tokenising.split_prompts_and_tails(
        ids, [], letters, letters, may_split=True
    )
    expected = (prompt, ids[prompt])
    if end:
        expected = (end, ids[prompt][-len(end) :])
    assert (splits[prompt].end, splits[prompt].end_ids) == expected
    assert splits[prompt].kept_ids + splits[prompt].end_ids == ids[prompt]


@pytest.mark.parametrize("token", ["of▁the", "of the", "ofĠ", "▁of▁", "ÃłĠ"])
def test_tokens_that_go_across_the_space_before_a_word(token):
    # The last but two is the bytes of a space that is not broken, and a space.
    apart = ["▁the", "Ġthe", "ĠĠĠ", "▁▁the", ".Ċ", "Ċthe", "ĠÂłĠ", "##the", "<s>"]
    assert not prefix_tokenising.words_are_apart([b"is", b" in"])
    assert prefix_tokenising.words_are_apart(apart)
    assert not prefix_tokenising.words_are_apart([*apart, token])


@pytest.mark.parametrize("make", [prompts, in_one_line])
@pytest.mark.parametrize("separator", [" is in ", " : "])
@pytest.mark.parametrize("vocabulary", ["gpt-2", "phi-3", "falcon"])
def test_real_vocabularies(shared, vocabulary, separator, make):
    real = tiny_models.published_tokenizer(shared / "data" / "tokenizers", vocabulary)
    lm = tiny_models.tiny_language_model("gpt2", real)
    found, whole, count = spliced_and_whole(lm, make(separator, 50))
    assert found == whole
    assert count < len(found)
