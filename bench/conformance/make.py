"""Make the tiny models and the cases of the conformance suite: what a scorer must return.

``python bench/conformance/make.py --models FOLDER --vocabularies FOLDER`` needs numpy, torch and
transformers alone. Every expected value comes from one forward pass of one text in float64.
"""

from __future__ import annotations

import argparse
import json
import tomllib
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerFast

HERE = Path(__file__).parent
ATLAS = HERE.parents[1] / "helpers" / "models" / "weights" / "atlas-xs"
LIMIT = 128  # tokens that each model reads
WIDE = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": LIMIT,
    "tie_word_embeddings": False,
}
GROUPED = {**WIDE, "num_key_value_heads": 2}
GPT2 = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": LIMIT, "tie_word_embeddings": False}
# name: (where the tokenizer comes from, class of the configuration, its settings)
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "gpt2": ("ggml-vocab-gpt-2.gguf", "GPT2Config", GPT2),
    "llama": ("ggml-vocab-phi-3.gguf", "LlamaConfig", GROUPED),
    "neox": ("ggml-vocab-falcon.gguf", "GPTNeoXConfig", WIDE),
    "mistral": ("atlas-xs", "MistralConfig", {**GROUPED, "sliding_window": 5}),
    "words": ("words", "LlamaConfig", GROUPED),
}
Ids = list[int]


def words() -> PreTrainedTokenizerFast:
    """Return a tokenizer of whole words, which ends texts, too, and knows few of them."""
    known = "The capital of France is Paris in a was born so on the list ends here . : Rome Italy"
    table = {word: at for at, word in enumerate(["<s>", "</s>", "<unk>", *known.split()])}
    made = Tokenizer(models.WordLevel(table, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    special = [("<s>", 0), ("</s>", 1)]
    made.post_processor = processors.TemplateProcessing("<s> $A </s>", special_tokens=special)
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=made, **names)


def tokenizer(source: str, vocabularies: Path | None) -> PreTrainedTokenizerFast | None:
    """Return a model's tokenizer, or None where its file is not here."""
    if source == "words":
        return words()
    if source == "atlas-xs":
        return AutoTokenizer.from_pretrained(ATLAS)
    if vocabularies is None or not (vocabularies / source).is_file():
        return None
    return AutoTokenizer.from_pretrained(vocabularies, gguf_file=source)


def network(name: str, vocabulary: PreTrainedTokenizerFast) -> PreTrainedModel:
    """Return a tiny model whose weights are the same on every machine and in every version."""
    _, kind, settings = MODELS[name]
    ends = {"bos_token_id": vocabulary.bos_token_id, "eos_token_id": vocabulary.eos_token_id}
    config = getattr(transformers, kind)(**settings, **ends, vocab_size=len(vocabulary))
    made = transformers.AutoModelForCausalLM.from_config(config).float().eval()
    with torch.no_grad():
        for label, weight in made.named_parameters():
            if weight.ndim > 1:
                drawn = np.random.RandomState(zlib.crc32(label.encode())).randn(*weight.shape)  # noqa: NPY002
                weight.copy_(torch.from_numpy(drawn * (1 if "emb" in label or "wte" in label else 0.5)))
            else:
                weight.fill_(0.0 if label.endswith("bias") else 1.0)
    return made


class Reading:
    """What a tokenizer makes of a prompt and a continuation, by each convention that is in use."""

    def __init__(self, vocabulary: PreTrainedTokenizerFast) -> None:
        self.tokenizer = vocabulary
        whole, bare = self.whole("a"), self.bare("a")
        at = next(i for i in range(len(whole)) if whole[i : i + len(bare)] == bare)
        self.before, self.after = whole[:at], whole[at + len(bare) :]

    def whole(self, text: str) -> Ids:
        """Return ids with what the tokenizer puts before and after a text."""
        return list(self.tokenizer(text)["input_ids"])

    def bare(self, text: str) -> Ids:
        """Return ids without what the tokenizer puts before and after a text."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def begun(self, text: str) -> Ids:
        """Return ids with what the tokenizer puts before a text, not what it puts after."""
        ids = self.whole(text)
        return ids[: len(ids) - len(self.after)]

    def exact(self, prompt: str, said: str) -> tuple[Ids, int]:
        """Return the ids of the joint text and where they leave those of the prompt alone."""
        ids, alone = self.begun(prompt + said), self.begun(prompt)
        pairs = zip(ids, alone)
        same = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(ids), len(alone)))
        return ids, max(same, 1)

    def others(self, prompt: str, said: str) -> Iterator[tuple[str, Ids, int]]:
        """Yield the other conventions: a name, the ids that are read, the first one scored."""
        spaces = len(prompt) - len(prompt.rstrip())
        end = len(prompt) - spaces
        head, tail = prompt[:end], prompt[end:] + said
        first = self.tokenizer.bos_token_id
        ids, start = self.exact(prompt, said)
        yield "sliced", ids, len(self.begun(prompt))
        yield "sliced, space moved", ids, len(self.begun(head))
        for name, left, right in (("", prompt, said), (", space moved", head, tail)):
            alone, ended, whole = self.begun(left), self.whole(left), self.whole(prompt + said)
            kept = alone[:-1] if alone[-1:] == [self.tokenizer.eos_token_id] else alone
            yield f"apart{name}", alone + self.bare(right), len(alone)
            yield f"apart{name}, end cut", kept + self.bare(right), len(kept)
            yield f"spliced{name}", ended + whole[len(ended) :], len(ended)
        padding = self.tokenizer.pad_token_id or self.tokenizer.eos_token_id
        yield "end scored", whole, start
        yield "sliced, end scored", whole, len(self.begun(prompt))
        yield "padding not counted", whole, len([i for i in self.whole(prompt) if i != padding])
        yield "start added", [first, *ids], start + 1
        yield "start added, sliced", [first, *ids], len(self.begun(prompt)) + 1
        yield "start scored", [first, *ids], 1
        yield "start and end scored", [first, *whole], 1
        yield "no first token", self.bare(prompt + said), len(self.bare(head))
        yield "start given", [first, *self.bare(said)], 1
        yield "from the first character's token", ids, self.at(prompt, said)
        yield "start added, from the first character's token", [first, *ids], 1 + self.at(prompt, said)
        yield "read beyond the limit", ids, start

    def at(self, prompt: str, said: str) -> int:
        """Return the place of the token that holds the first character of a continuation."""
        encoded = self.tokenizer(prompt + said)
        places = (encoded.char_to_token(i) for i in range(len(prompt), len(prompt + said)))
        return next((place for place in places if place is not None), 0)


def situations(reading: Reading) -> Iterator[tuple[str, str, str]]:
    """Yield group, prompt and continuation of each case of a tokenizer."""
    made = tomllib.loads((HERE / "situations.toml").read_text(encoding="utf-8"))
    table = reading.tokenizer
    names = {"bos": table.bos_token, "eos": table.eos_token, "unk": table.unk_token}

    def filled(text: str) -> str | None:
        for name, token in names.items():
            if f"{{{name}}}" in text:
                if token is None:
                    return None
                text = text.replace(f"{{{name}}}", token)
        return text

    for situation in made["situation"]:
        for template in ["{}"] if situation.get("plain") else made["templates"]:
            for said in situation["continuations"]:
                prompt, said = filled(situation.get("prompt", "")), filled(said)
                if prompt is None or said is None:
                    continue
                if "pad" in situation:
                    prompt = padded(reading, prompt, said, LIMIT + situation["pad"])
                yield situation["group"], template.replace("{}", prompt), said


def padded(reading: Reading, prompt: str, said: str, length: int) -> str:
    """Return a prompt of as many equal words as make prompt and continuation of a length."""
    found = prompt
    while len(reading.begun(found + said)) < length:
        found += " a"
    assert len(reading.begun(found + said)) == length
    return found


class Chances:
    """Sums of log-probabilities by a model, from one forward pass of each text."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.read = cache(self._read)
        self.model = model.double()

    def _read(self, ids: tuple[int, ...]) -> list[float]:
        with torch.no_grad():
            logits = self.model(torch.tensor([ids[:-1]]), use_cache=False).logits[0].log_softmax(-1)
        return logits[range(len(ids) - 1), ids[1:]].tolist()

    def total(self, ids: Ids, start: int) -> float | None:
        """Return the sum over ids from a place on; none where nothing stands before it."""
        try:
            return round(sum(self.read(tuple(ids))[start - 1 :]), 8) if 1 <= start and ids[1:] else None
        except IndexError:  # positions that the model lacks
            return None


def cases(name: str, vocabulary: PreTrainedTokenizerFast) -> Iterator[dict[str, Any]]:
    """Yield each case of a model with its expected value, and what other conventions give."""
    chances, reading = Chances(network(name, vocabulary)), Reading(vocabulary)
    for number, (group, prompt, said) in enumerate(dict.fromkeys(situations(reading))):
        ids, start = reading.exact(prompt, said)
        fits = start < len(ids) <= LIMIT + 1
        value, also = chances.total(ids, start) if fits else None, {}
        read = list(reading.others(prompt, said))
        for keep in (LIMIT, LIMIT + 1):
            cut = [(f"{n}, cut", i[-keep:], at - len(i) + keep) for n, i, at in read if len(i) > keep]
            read += [("cut", ids[-keep:], start - len(ids) + keep), *cut] if len(ids) > LIMIT else cut
        for convention, other, first in read:
            found = chances.total(other, first)
            known = [v for v in (value, *also.values()) if v is not None]
            if found is not None and all(abs(found - v) > 1e-3 for v in known):
                also.setdefault(convention, found)
        yield {
            "case": f"{name}-{number:03}",
            "model": name,
            "group": group,
            "prompt": prompt,
            "continuation": said,
            "ids": ids,
            "start": start,
            "expected": value,
            "also": also,
        }


def questions(vocabulary: PreTrainedTokenizerFast, model: PreTrainedModel) -> Iterator[dict]:
    """Yield each option of the questions with its expected value, in alphabetical order."""
    made = tomllib.loads((HERE / "situations.toml").read_text(encoding="utf-8"))
    chances, reading = Chances(model), Reading(vocabulary)
    capitals = list(made["capitals"].items())
    for way, parts in made["ways"].items():
        for place, (country, right) in enumerate(capitals):
            wrong = [capitals[(place + step) % len(capitals)][1] for step in (7, 23, 41)]
            for option in sorted([right, *wrong]):
                prompt, said = (part.format(country=country, capital=option) for part in parts)
                yield {
                    "case": f"{way}-{country}-{option}",
                    "model": "real",
                    "group": way,
                    "prompt": prompt,
                    "continuation": said,
                    "expected": chances.total(*reading.exact(prompt, said)),
                    "right": option == right,
                }


def main(arguments: list[str] | None = None) -> None:
    """Write the models, with their tokenizers, and the cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, required=True, help="folder for the tiny models")
    parser.add_argument("--vocabularies", type=Path, help="folder of ggml-vocab-*.gguf files")
    parser.add_argument("--real", type=Path, help="folder of a trained model, for the questions")
    settings = parser.parse_args(arguments)
    if settings.real:
        loaded = AutoTokenizer, transformers.AutoModelForCausalLM
        write(HERE / "questions.jsonl", questions(*(k.from_pretrained(settings.real) for k in loaded)))
        return
    made = []
    for name, (source, _, _) in MODELS.items():
        vocabulary = tokenizer(source, settings.vocabularies)
        if vocabulary is None:
            print(f"{name}: no {source}; give --vocabularies")
            continue
        network(name, vocabulary).save_pretrained(settings.models / name)
        vocabulary.save_pretrained(settings.models / name)
        made += cases(name, vocabulary)
    write(HERE / "cases.jsonl", made)


def write(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write records, one a line."""
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{path.name}: {len(lines)}")


if __name__ == "__main__":
    main()
