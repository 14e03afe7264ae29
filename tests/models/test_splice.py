"""Ids put together from the last example on are those of the whole text, or are not used."""

import functools

import pandas as pd
import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, trainers
from transformers import PreTrainedTokenizerFast

from helpers.models import splice, tokens
from tests import tiny

CITIES = ["Lyon", "Turin", "Bern", "Ada Lovelace", "Alan Kay", "café", "1945", "São Paulo"]
COUNTRIES = ["France", "Italy", "Switzerland", "1940", "deux cafés", "True", ":)", "é", "Côte"]
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


@functools.cache
def llama_like() -> PreTrainedTokenizerFast:
    """Return a BPE over whole texts, spaces written as a sign of their own, as Llama 2's."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=False, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<unk>", "<s>"], show_progress=False
    )
    tokenizer.train_from_iterator([*tiny.TEXTS, *CITIES, *COUNTRIES, "\n"], trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>")


TOKENIZERS = {
    "bytes": lambda: tiny.byte_tokenizer("bos"),
    "bytes with an end": lambda: tiny.byte_tokenizer("bos+eos"),
    "unigram": lambda: tiny.piece_tokenizer("bos"),
    "llama": llama_like,
}


def rows(lm, asked: list[str]) -> list[tokens.Row]:
    table = pd.DataFrame([(p, e) for p in asked for e in ENDS], columns=["prompt", "end"])
    groups = [(prompt,) for prompt in table["prompt"]]
    return tokens.rows(lm, list(table["prompt"]), list(table["end"]), groups)


def spliced_and_whole(lm, asked, monkeypatch):
    """Return rows as they are made, rows tokenised whole, and how many texts were read whole."""
    read = []
    causal = tokens._causal
    monkeypatch.setattr(tokens, "_causal", lambda m, texts: read.extend(texts) or causal(m, texts))
    found = rows(lm, asked)
    count = len(read)
    monkeypatch.setattr(splice, "FEW", 10_000)
    return found, rows(lm, asked), count


@pytest.mark.parametrize("make", [prompts, spaced, in_one_line, of_names_alone])
@pytest.mark.parametrize("separator", [" is in ", " : ", ": "])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_spliced_ids_are_those_of_the_whole_text(name, separator, make, monkeypatch):
    lm = tiny.language_model("llama", TOKENIZERS[name]())
    asked = make(separator)
    found, whole, count = spliced_and_whole(lm, asked, monkeypatch)
    assert found == whole
    # Each prompt alone, its first and last text, and the sample: far from all texts.
    assert count <= 3 * len(asked) + splice.SAMPLE < len(found)


def letters(texts):
    return [tuple(map(ord, text)) for text in texts]


PAIRS = [(prompt, end) for prompt in prompts(" is in ") for end in ENDS]
WHOLE = letters(["".join(pair) for pair in PAIRS])


def test_tokens_that_depend_on_the_far_beginning_are_seen_and_read_whole(caplog):
    # This tokenizer ends one word in another way where it does not see the text from its start on.
    def part(texts):
        return letters([text.removesuffix("and") + "ern" * text.endswith("and") for text in texts])

    with caplog.at_level("INFO"):
        assert splice.joint(PAIRS, letters, part) == WHOLE
    assert "all texts are tokenised whole" in caplog.text


def test_a_prompt_whose_last_text_differs_is_read_whole(caplog):
    def part(texts):
        return letters([text[:-1] + "?" if text.endswith(")") else text for text in texts])

    with caplog.at_level("INFO"):
        assert splice.joint(PAIRS, letters, part) == WHOLE
    assert caplog.text == ""


def test_an_example_that_begins_too_differently_is_read_whole():
    def part(texts):
        return [(0,) * 9 + ids[9:] for ids in letters(texts)]

    assert splice.joint(PAIRS, letters, part) == WHOLE


@pytest.mark.parametrize(
    "prompt", ["Lyon is in", "x" * 500, "Lyon is in\n" * 2, "x\n\n" + "x" * 500]
)
def test_prompts_without_a_short_last_example_are_read_whole(prompt):
    read = []
    pairs = [(prompt, end) for end in ENDS]
    found = splice.joint(pairs, letters, lambda texts: read.extend(texts) or letters(texts))
    assert found == letters(["".join(pair) for pair in pairs])
    assert read == []


def test_few_continuations_are_read_whole():
    read = []
    few = PAIRS[: splice.FEW - 1]
    found = splice.joint(few, letters, lambda texts: read.extend(texts) or letters(texts))
    assert found == WHOLE[: splice.FEW - 1]
    assert read == []


@pytest.mark.parametrize("make", [prompts, in_one_line])
@pytest.mark.parametrize("separator", [" is in ", " : "])
@pytest.mark.parametrize("vocabulary", ["gpt-2", "phi-3", "falcon"])
def test_real_vocabularies(shared, vocabulary, separator, make, monkeypatch):
    real = tiny.real_tokenizer(shared / "data" / "tokenizers", vocabulary)
    lm = tiny.language_model("gpt2", real)
    found, whole, count = spliced_and_whole(lm, make(separator, 50), monkeypatch)
    assert found == whole
    assert count < len(found)
