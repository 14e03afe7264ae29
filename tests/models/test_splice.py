"""Ids put together from the last example on are those of the whole text, or are not used."""

import functools

import pandas as pd
import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, trainers
from transformers import PreTrainedTokenizerFast

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
    tokenizer.train_from_iterator(
        [*tiny_models.TOKENIZER_TEXTS, *CITIES, *COUNTRIES, "\n"], trainer
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>"
    )


TOKENIZERS = {
    "bytes": lambda: tiny_models.byte_tokenizer("bos"),
    "bytes with an end": lambda: tiny_models.byte_tokenizer("bos+eos"),
    "unigram": lambda: tiny_models.piece_tokenizer("bos"),
    "llama": llama_like,
}


def rows(lm, asked: list[str]) -> list[tokens.Row]:
    table = pd.DataFrame(
        [(p, e) for p in asked for e in ENDS], columns=["prompt", "end"]
    )
    groups = [(prompt,) for prompt in table["prompt"]]
    return tokens.rows_of_continuations(
        lm, list(table["prompt"]), list(table["end"]), groups
    )


def spliced_and_whole(lm, asked, monkeypatch):
    """Return rows as they are made, rows tokenised whole, and how many texts were read whole."""
    read = []
    causal = tokens._causal
    monkeypatch.setattr(
        tokens, "_causal", lambda m, texts: read.extend(texts) or causal(m, texts)
    )
    found = rows(lm, asked)
    count = len(read)
    monkeypatch.setattr(prefix_tokenising, "FEWEST_CONTINUATIONS", 10_000)
    return found, rows(lm, asked), count


@pytest.mark.parametrize("make", [prompts, spaced, in_one_line, of_names_alone])
@pytest.mark.parametrize("separator", [" is in ", " : ", ": "])
@pytest.mark.parametrize("name", TOKENIZERS)
def test_spliced_ids_are_those_of_the_whole_text(name, separator, make, monkeypatch):
    lm = tiny_models.tiny_language_model("llama", TOKENIZERS[name]())
    asked = make(separator)
    found, whole, count = spliced_and_whole(lm, asked, monkeypatch)
    assert found == whole
    # Each prompt alone, its first and last text, and the sample: far from all texts.
    assert count <= 3 * len(asked) + prefix_tokenising.N_SAMPLED_TEXTS < len(found)


def letters(texts):
    return [tuple(map(ord, text)) for text in texts]


PAIRS = [(prompt, end) for prompt in prompts(" is in ") for end in ENDS]
WHOLE = letters(["".join(pair) for pair in PAIRS])


PARTS = {  # ways to cut a text that does not begin where the whole one does
    "far beginning": lambda t: t.removesuffix("and") + "ern" * t.endswith("and"),
    "last text": lambda t: t[:-1] + "?" if t.endswith(")") else t,
    "example's beginning": lambda t: "\0" * 9 + t[9:],
}


@pytest.mark.parametrize("name", PARTS)
def test_tokens_that_a_part_has_otherwise_are_seen_and_read_whole(name, caplog):
    with caplog.at_level("INFO"):
        found = prefix_tokenising.joint_token_ids(
            PAIRS, letters, lambda texts: letters(map(PARTS[name], texts))
        )
    assert found == WHOLE
    assert ("all texts are tokenised whole" in caplog.text) == (name == "far beginning")


@pytest.mark.parametrize(
    "pairs",
    [
        *([(prompt, end) for end in ENDS] for prompt in ("Lyon is in", "x" * 500)),
        *(
            [(prompt, end) for end in ENDS]
            for prompt in ("Lyon is in\n" * 2, "x\n\n" + "x" * 500)
        ),
        PAIRS[: prefix_tokenising.FEWEST_CONTINUATIONS - 1],
    ],
)
def test_few_and_prompts_without_a_short_last_example_are_read_whole(pairs):
    read = []
    found = prefix_tokenising.joint_token_ids(
        pairs, letters, lambda texts: read.extend(texts) or letters(texts)
    )
    assert found == letters(["".join(pair) for pair in pairs])
    assert read == []


@pytest.mark.parametrize("make", [prompts, in_one_line])
@pytest.mark.parametrize("separator", [" is in ", " : "])
@pytest.mark.parametrize("vocabulary", ["gpt-2", "phi-3", "falcon"])
def test_real_vocabularies(shared, vocabulary, separator, make, monkeypatch):
    real = tiny_models.published_tokenizer(shared / "data" / "tokenizers", vocabulary)
    lm = tiny_models.tiny_language_model("gpt2", real)
    found, whole, count = spliced_and_whole(lm, make(separator, 50), monkeypatch)
    assert found == whole
    assert count < len(found)
