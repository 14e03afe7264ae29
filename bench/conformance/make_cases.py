"""Make the tiny models and the cases of the conformance suite: what a scorer must return.

``python bench/conformance/make_cases.py --models FOLDER --vocabularies FOLDER`` needs numpy,
torch and transformers alone. Every expected value comes from one forward pass of one
text in float64.
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
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel
from transformers import PreTrainedTokenizerFast as Vocabulary

HERE = Path(__file__).parent
ATLAS_WEIGHTS = HERE.parents[1] / "helpers" / "models" / "weights" / "atlas-xs"
SITUATIONS = tomllib.loads((HERE / "situations.toml").read_text(encoding="utf-8"))
CONTEXT_LIMIT = SITUATIONS["limit"]
TokenIds = list[int]


def word_tokenizer() -> Vocabulary:
    """Return a tokenizer of whole words, which ends texts, too, and knows few of them."""
    special = {"<s>": 0, "</s>": 1, "<unk>": 2}
    table = special | {
        word: at for at, word in enumerate(SITUATIONS["words"].split(), len(special))
    }
    made = Tokenizer(models.WordLevel(table, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = list(special.items())
    made.post_processor = processors.TemplateProcessing(
        "<s> $A </s>", special_tokens=ends
    )
    names = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    return Vocabulary(tokenizer_object=made, **names)


def model_tokenizer(source: str, vocabularies: Path | None) -> Vocabulary | None:
    """Return a model's tokenizer, or None where its file is not here."""
    if source == "words":
        return word_tokenizer()
    if source == "atlas-xs":
        return AutoTokenizer.from_pretrained(ATLAS_WEIGHTS)
    if vocabularies is None or not (vocabularies / source).is_file():
        return None
    return AutoTokenizer.from_pretrained(vocabularies, gguf_file=source)


def tiny_random_model(name: str, vocabulary: Vocabulary) -> PreTrainedModel:
    """Return a tiny model whose weights are the same on every machine and in every version."""
    told = SITUATIONS["models"][name]
    settings = (
        told["settings"]
        if name == "gpt2"
        else SITUATIONS["settings"] | told["settings"]
    )
    ends = {
        "bos_token_id": vocabulary.bos_token_id,
        "eos_token_id": vocabulary.eos_token_id,
    }
    kind = getattr(transformers, told["config"])
    config = kind(
        **settings, **ends, vocab_size=len(vocabulary), tie_word_embeddings=False
    )
    made = AutoModelForCausalLM.from_config(config).float().eval()
    with torch.no_grad():
        for label, weight in made.named_parameters():
            if weight.ndim > 1:
                drawn = np.random.RandomState(zlib.crc32(label.encode())).randn(
                    *weight.shape
                )
                size = 1 if "emb" in label or "wte" in label else 0.5
                weight.copy_(torch.from_numpy(drawn * size))
            else:
                weight.fill_(0.0 if label.endswith("bias") else 1.0)
    return made


class TokenConventions:
    """What a tokenizer makes of a prompt and a continuation, by each convention that is in use."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.tokenizer = vocabulary
        bare, whole = self.bare("a"), self.whole("a")
        self.after = len(whole) - len(bare) - whole.index(bare[0])

    def whole(self, text: str) -> TokenIds:
        """Return ids with what the tokenizer puts before and after a text."""
        return list(self.tokenizer(text)["input_ids"])

    def bare(self, text: str) -> TokenIds:
        """Return ids without what the tokenizer puts before and after a text."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def begun(self, text: str) -> TokenIds:
        """Return ids with what the tokenizer puts before a text, not what it puts after."""
        ids = self.whole(text)
        return ids[: len(ids) - self.after]

    def exact(self, prompt: str, said: str) -> tuple[TokenIds, int]:
        """Return the ids of the joint text and where they leave those of the prompt alone."""
        ids, alone = self.begun(prompt + said), self.begun(prompt)
        ends = min(len(ids), len(alone))
        return ids, max(next((i for i in range(ends) if ids[i] != alone[i]), ends), 1)

    def others(self, prompt: str, said: str) -> Iterator[tuple[str, TokenIds, int]]:
        """Yield the other conventions: a name, the ids that are read, the first one scored."""
        head = prompt.rstrip()
        tail = prompt[len(head) :] + said
        first, last = self.tokenizer.bos_token_id, self.tokenizer.eos_token_id
        padding = self.tokenizer.pad_token_id or last
        (ids, start), whole = self.exact(prompt, said), self.whole(prompt + said)
        length = len(self.begun(prompt))
        yield "sliced", ids, length
        yield "sliced, space moved", ids, len(self.begun(head))
        for name, left, right in (("", prompt, said), (", space moved", head, tail)):
            alone, ended = self.begun(left), self.whole(left)
            kept = alone[:-1] if alone[-1:] == [last] else alone
            yield f"apart{name}", alone + self.bare(right), len(alone)
            yield f"apart{name}, end cut", kept + self.bare(right), len(kept)
            yield f"spliced{name}", ended + whole[len(ended) :], len(ended)
        yield "end scored", whole, start
        yield "sliced, end scored", whole, length
        yield (
            "padding not counted",
            whole,
            len([i for i in self.whole(prompt) if i != padding]),
        )
        yield "start added", [first, *ids], start + 1
        yield "start added, sliced", [first, *ids], length + 1
        yield "start scored", [first, *ids], 1
        yield "start and end scored", [first, *whole], 1
        yield "no first token", self.bare(prompt + said), len(self.bare(head))
        yield "start given", [first, *self.bare(said)], 1
        encoded, places = (
            self.tokenizer(prompt + said),
            range(len(prompt), len(prompt + said)),
        )
        held = next(
            (t for i in places if (t := encoded.char_to_token(i)) is not None), 0
        )
        yield "first character", ids, held
        yield "start added, first character", [first, *ids], held + 1
        yield "read beyond the limit", ids, start

    def cut(self, prompt: str, said: str) -> Iterator[tuple[str, TokenIds, int]]:
        """Yield the other conventions, and what is left of long texts that are cut on the left."""
        read = list(self.others(prompt, said))
        yield from read
        long = [
            ("", *self.exact(prompt, said)),
            *(r for r in read if r[0] in ("apart", "spliced")),
        ]
        for keep in (
            CONTEXT_LIMIT,
            CONTEXT_LIMIT + 1,
        ):  # the last token need not be fed
            for name, ids, start in long:
                if len(ids) > keep:
                    yield f"{name}, cut to {keep}", ids[-keep:], start - len(ids) + keep


def case_texts(reading: TokenConventions) -> Iterator[tuple[str, str, str]]:
    """Yield group, prompt and continuation of each case of a tokenizer."""
    table = reading.tokenizer
    names = {
        "{bos}": table.bos_token,
        "{eos}": table.eos_token,
        "{unk}": table.unk_token,
    }
    for told in SITUATIONS["situation"]:
        for template in SITUATIONS["templates"][: 1 if told.get("plain") else None]:
            for texts in (
                (told.get("prompt", ""), said) for said in told["continuations"]
            ):
                if any(
                    token is None and name in "".join(texts)
                    for name, token in names.items()
                ):
                    continue
                for name, token in names.items():
                    texts = tuple(text.replace(name, token or "") for text in texts)
                prompt, said = texts
                if "pad" in told:
                    while (
                        len(reading.begun(prompt + said)) < CONTEXT_LIMIT + told["pad"]
                    ):
                        prompt += " a"
                yield told["group"], template.replace("{}", prompt), said


class LogprobSums:
    """Sums of log-probabilities by a model, from one forward pass of each text."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.model, self.read = model, cache(self._read)

    @torch.no_grad()
    def _read(self, ids: tuple[int, ...]) -> list[float]:
        logits = (
            self.model(torch.tensor([ids[:-1]]), use_cache=False)
            .logits[0]
            .log_softmax(-1)
        )
        return logits[range(len(ids) - 1), ids[1:]].tolist()

    def __call__(self, ids: TokenIds, start: int) -> float | None:
        """Return the sum over ids from a place on; none where nothing stands before it."""
        if start < 1 or len(ids) < 2:
            return None
        try:
            return round(sum(self.read(tuple(ids))[start - 1 :]), 8)
        except IndexError:  # positions that the model lacks
            return None


def conformance_cases(name: str, vocabulary: Vocabulary) -> Iterator[dict[str, Any]]:
    """Yield each case of a model with its expected value, and what other conventions give."""
    total, reading = (
        LogprobSums(tiny_random_model(name, vocabulary).double()),
        TokenConventions(vocabulary),
    )
    for number, (group, prompt, said) in enumerate(dict.fromkeys(case_texts(reading))):
        ids, start = reading.exact(prompt, said)
        value = total(ids, start) if start < len(ids) <= CONTEXT_LIMIT + 1 else None
        values = (
            [] if value is None else [(value, [])]
        )  # each with the conventions that give it
        for convention, other, first in reading.cut(prompt, said):
            if (found := total(other, first)) is not None:
                names = next(
                    (names for v, names in values if abs(v - found) <= 1e-3), None
                )
                if names is None:
                    values.append((found, names := []))
                names.append(convention)
        also = {"|".join(names): v for v, names in values if v != value}
        texts = {
            "group": group,
            "prompt": prompt,
            "continuation": said,
            "ids": ids,
            "start": start,
        }
        case = {"case": f"{name}-{number:03}", "model": name, **texts}
        yield {**case, "expected": value, "also": also}


def question_options(
    vocabulary: Vocabulary, model: PreTrainedModel
) -> Iterator[dict[str, Any]]:
    """Yield each option of the questions with its expected value, in alphabetical order."""
    total, reading = LogprobSums(model), TokenConventions(vocabulary)
    capitals = list(SITUATIONS["capitals"].items())
    for way, parts in SITUATIONS["ways"].items():
        for place, (country, right) in enumerate(capitals):
            wrong = [
                capitals[(place + step) % len(capitals)][1] for step in (7, 23, 41)
            ]
            for option in sorted([right, *wrong]):
                prompt, said = (
                    part.format(country=country, capital=option) for part in parts
                )
                value = total(*reading.exact(prompt, said))
                case = {
                    "case": f"{way}-{country}-{option}",
                    "model": "real",
                    "group": way,
                }
                texts = {"prompt": prompt, "continuation": said}
                yield {**case, **texts, "expected": value, "right": option == right}


def write_json_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write records, one a line."""
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{path.name}: {len(lines)}")


def save_model(folder: Path, model: PreTrainedModel, vocabulary: Vocabulary) -> None:
    """Write a model and its tokenizer."""
    model.save_pretrained(folder)
    vocabulary.save_pretrained(folder)


def main(arguments: list[str] | None = None) -> None:
    """Write the models, with their tokenizers, and the cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--models", type=Path, required=True, help="folder for the tiny models"
    )
    parser.add_argument(
        "--vocabularies", type=Path, help="folder of ggml-vocab-*.gguf files"
    )
    parser.add_argument("--cases", type=Path, default=HERE / "cases.jsonl")
    parser.add_argument(
        "--real", type=Path, help="folder of a trained model: make the questions"
    )
    settings = parser.parse_args(arguments)
    if settings.real:
        vocabulary = AutoTokenizer.from_pretrained(settings.real)
        model = AutoModelForCausalLM.from_pretrained(settings.real, dtype=torch.float32)
        save_model(settings.models / "real", model, vocabulary)
        write_json_lines(
            HERE / "questions.jsonl", question_options(vocabulary, model.double())
        )
        return
    made: list[dict[str, Any]] = []
    for name, told in SITUATIONS["models"].items():
        if (
            vocabulary := model_tokenizer(told["tokenizer"], settings.vocabularies)
        ) is None:
            raise SystemExit(
                f"There is no {told['tokenizer']}; give its folder as --vocabularies."
            )
        save_model(
            settings.models / name, tiny_random_model(name, vocabulary), vocabulary
        )
        made += conformance_cases(name, vocabulary)
    write_json_lines(settings.cases, made)


if __name__ == "__main__":
    main()
