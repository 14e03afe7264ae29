"""Make the tiny models and the cases of the conformance suite: what a scorer returns.

``python bench/conformance/make_cases.py --models FOLDER --vocabularies FOLDER`` needs
numpy, torch and transformers alone. Every expected value comes from one forward pass of
one text in float64.
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
SAME_VALUE = 1e-3  # conventions whose sums differ by no more give the same
WRONG_CAPITAL_STEPS = (
    7,
    23,
    41,
)  # how far down the list a question's wrong options are
TokenIds = list[int]
# Its name, the ids that are read, the place of the first one scored.
Convention = tuple[str, TokenIds, int]


def word_tokenizer() -> Vocabulary:
    """Return a tokenizer of whole words that also ends texts, and knows few words."""
    special = {"<s>": 0, "</s>": 1, "<unk>": 2}
    ids = dict(special)
    for word in SITUATIONS["words"].split():
        ids[word] = len(ids)
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        "<s> $A </s>", special_tokens=list(special.items())
    )
    return Vocabulary(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
    )


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
    """Return a tiny model with the same weights on every machine and version."""
    description = SITUATIONS["models"][name]
    settings = description["settings"]
    if name != "gpt2":
        settings = SITUATIONS["settings"] | settings
    config_class = getattr(transformers, description["config"])
    config = config_class(
        **settings,
        bos_token_id=vocabulary.bos_token_id,
        eos_token_id=vocabulary.eos_token_id,
        vocab_size=len(vocabulary),
        tie_word_embeddings=False,
    )
    model = AutoModelForCausalLM.from_config(config).float().eval()
    with torch.no_grad():
        for label, weight in model.named_parameters():
            _fill_weight(label, weight)
    return model


def _fill_weight(label: str, weight: torch.Tensor) -> None:
    """Fill a weight with numbers that hang on its label alone."""
    if weight.ndim > 1:
        generator = np.random.RandomState(zlib.crc32(label.encode()))
        values = generator.randn(*weight.shape)
        is_embedding = "emb" in label or "wte" in label
        scale = 1 if is_embedding else 0.5
        weight.copy_(torch.from_numpy(values * scale))
    elif label.endswith("bias"):
        weight.fill_(0.0)
    else:
        weight.fill_(1.0)


class TokenConventions:
    """What a tokenizer makes of a prompt and a continuation, by each convention."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.tokenizer = vocabulary
        bare = self.bare("a")
        whole = self.whole("a")
        self.after = len(whole) - len(bare) - whole.index(bare[0])

    def whole(self, text: str) -> TokenIds:
        """Return ids with what the tokenizer puts before and after a text."""
        return list(self.tokenizer(text)["input_ids"])

    def bare(self, text: str) -> TokenIds:
        """Return ids without what the tokenizer puts before and after a text."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def begun(self, text: str) -> TokenIds:
        """Return ids with what the tokenizer puts before a text, not after it."""
        ids = self.whole(text)
        return ids[: len(ids) - self.after]

    def exact(self, prompt: str, continuation: str) -> tuple[TokenIds, int]:
        """Return the joint text's ids and where they leave the prompt's own."""
        ids = self.begun(prompt + continuation)
        prompt_ids = self.begun(prompt)
        start = 0
        # Either may end before the other.
        for joint_id, prompt_id in zip(ids, prompt_ids, strict=False):
            if joint_id != prompt_id:
                break
            start += 1
        return ids, max(start, 1)

    def others(self, prompt: str, continuation: str) -> Iterator[Convention]:
        """Yield the other conventions."""
        text = prompt + continuation
        head = prompt.rstrip()
        tail = text[len(head) :]
        bos = self.tokenizer.bos_token_id
        ids, start = self.exact(prompt, continuation)
        whole = self.whole(text)
        length = len(self.begun(prompt))
        yield "sliced", ids, length
        yield "sliced, space moved", ids, len(self.begun(head))
        yield from self._separate_texts("", prompt, continuation)
        yield from self._separate_texts(", space moved", head, tail)
        yield "end scored", whole, start
        yield "sliced, end scored", whole, length
        yield "padding not counted", whole, self._length_without_padding(prompt)
        yield "start added", [bos, *ids], start + 1
        yield "start added, sliced", [bos, *ids], length + 1
        yield "start scored", [bos, *ids], 1
        yield "start and end scored", [bos, *whole], 1
        yield "no first token", self.bare(text), len(self.bare(head))
        yield "start given", [bos, *self.bare(continuation)], 1
        first = self._first_character_token(prompt, continuation)
        yield "first character", ids, first
        yield "start added, first character", [bos, *ids], first + 1
        yield "read beyond the limit", ids, start

    def _separate_texts(self, name: str, left: str, right: str) -> Iterator[Convention]:
        """Yield the conventions that tokenise a text in two parts."""
        whole = self.whole(left + right)
        left_ids = self.begun(left)
        yield f"apart{name}", left_ids + self.bare(right), len(left_ids)
        if left_ids[-1:] == [self.tokenizer.eos_token_id]:
            left_ids = left_ids[:-1]
        yield f"apart{name}, end cut", left_ids + self.bare(right), len(left_ids)
        ended = self.whole(left)
        yield f"spliced{name}", ended + whole[len(ended) :], len(ended)

    def _length_without_padding(self, text: str) -> int:
        padding = self.tokenizer.pad_token_id or self.tokenizer.eos_token_id
        return len([token for token in self.whole(text) if token != padding])

    def _first_character_token(self, prompt: str, continuation: str) -> int:
        """Return the place of the token with the continuation's first character."""
        text = prompt + continuation
        encoded = self.tokenizer(text)
        for character in range(len(prompt), len(text)):
            place = encoded.char_to_token(character)
            if place is not None:
                return place
        return 0

    def cut(self, prompt: str, continuation: str) -> Iterator[Convention]:
        """Yield the other conventions, and long texts that are cut on the left."""
        conventions = list(self.others(prompt, continuation))
        yield from conventions
        to_cut: list[Convention] = [("", *self.exact(prompt, continuation))]
        for convention in conventions:
            if convention[0] in ("apart", "spliced"):
                to_cut.append(convention)
        # The last token need not be fed.
        for limit in (CONTEXT_LIMIT, CONTEXT_LIMIT + 1):
            for name, ids, start in to_cut:
                n_cut = len(ids) - limit
                if n_cut > 0:
                    yield f"{name}, cut to {limit}", ids[n_cut:], start - n_cut


def case_texts(reading: TokenConventions) -> Iterator[tuple[str, str, str]]:
    """Yield group, prompt and continuation of each case of a tokenizer."""
    for situation in SITUATIONS["situation"]:
        templates = SITUATIONS["templates"]
        if situation.get("plain"):
            templates = templates[:1]
        for template in templates:
            for continuation in situation["continuations"]:
                texts = _situation_texts(reading, situation, continuation)
                if texts is None:
                    continue
                prompt, filled_continuation = texts
                full_prompt = template.replace("{}", prompt)
                yield situation["group"], full_prompt, filled_continuation


def _situation_texts(
    reading: TokenConventions, situation: dict[str, Any], continuation: str
) -> tuple[str, str] | None:
    """Return prompt and continuation, or None where a special token is lacking."""
    prompt = situation.get("prompt", "")
    special = {
        "{bos}": reading.tokenizer.bos_token,
        "{eos}": reading.tokenizer.eos_token,
        "{unk}": reading.tokenizer.unk_token,
    }
    for name, token in special.items():
        if token is None and name in prompt + continuation:
            return None
    for name, token in special.items():
        prompt = prompt.replace(name, token or "")
        continuation = continuation.replace(name, token or "")
    if "pad" in situation:
        length = CONTEXT_LIMIT + situation["pad"]
        while len(reading.begun(prompt + continuation)) < length:
            prompt += " a"
    return prompt, continuation


class LogprobSums:
    """Sums of log-probabilities by a model, from one forward pass of each text."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model
        self.read = cache(self._read)

    @torch.no_grad()
    def _read(self, ids: tuple[int, ...]) -> list[float]:
        """Return the log-probabilities of all tokens but the first."""
        logits = self.model(torch.tensor([ids[:-1]]), use_cache=False).logits[0]
        logprobs = logits.log_softmax(-1)
        return logprobs[range(len(ids) - 1), ids[1:]].tolist()

    def __call__(self, ids: TokenIds, start: int) -> float | None:
        """Return the sum over ids from a place on; none if nothing stands before it."""
        if start < 1 or len(ids) < 2:
            return None
        try:
            logprobs = self.read(tuple(ids))
        except IndexError:  # positions that the model lacks
            return None
        return round(sum(logprobs[start - 1 :]), 8)


def conformance_cases(name: str, vocabulary: Vocabulary) -> Iterator[dict[str, Any]]:
    """Yield a model's cases: expected values, and what other conventions give."""
    total = LogprobSums(tiny_random_model(name, vocabulary).double())
    reading = TokenConventions(vocabulary)
    texts = dict.fromkeys(case_texts(reading))
    for number, (group, prompt, continuation) in enumerate(texts):
        ids, start = reading.exact(prompt, continuation)
        value = None
        if start < len(ids) <= CONTEXT_LIMIT + 1:
            value = total(ids, start)
        conventions = reading.cut(prompt, continuation)
        yield {
            "case": f"{name}-{number:03}",
            "model": name,
            "group": group,
            "prompt": prompt,
            "continuation": continuation,
            "ids": ids,
            "start": start,
            "expected": value,
            "also": _other_values(total, conventions, value),
        }


def _other_values(
    total: LogprobSums, conventions: Iterable[Convention], expected: float | None
) -> dict[str, float]:
    """Return conventions' values that are not expected; equal ones share a key."""
    names_of_values: dict[float, list[str]] = {}
    if expected is not None:
        names_of_values[expected] = []
    for name, ids, start in conventions:
        value = total(ids, start)
        if value is None:
            continue
        for known, names in names_of_values.items():
            if abs(known - value) <= SAME_VALUE:
                names.append(name)
                break
        else:
            names_of_values[value] = [name]
    also = {}
    for value, names in names_of_values.items():
        if value != expected:
            also["|".join(names)] = value
    return also


def question_options(
    vocabulary: Vocabulary, model: PreTrainedModel
) -> Iterator[dict[str, Any]]:
    """Yield the questions' options with expected values, in alphabetical order."""
    total = LogprobSums(model)
    reading = TokenConventions(vocabulary)
    countries = list(SITUATIONS["capitals"])
    capitals = list(SITUATIONS["capitals"].values())
    for way, (prompt_form, continuation_form) in SITUATIONS["ways"].items():
        for place, country in enumerate(countries):
            right = capitals[place]
            options = [right]
            for step in WRONG_CAPITAL_STEPS:
                options.append(capitals[(place + step) % len(capitals)])
            for option in sorted(options):
                prompt = prompt_form.format(country=country, capital=option)
                continuation = continuation_form.format(country=country, capital=option)
                yield {
                    "case": f"{way}-{country}-{option}",
                    "model": "real",
                    "group": way,
                    "prompt": prompt,
                    "continuation": continuation,
                    "expected": total(*reading.exact(prompt, continuation)),
                    "right": option == right,
                }


def write_json_lines(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write records, one a line."""
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{path.name}: {len(lines)}")


def save_model(folder: Path, model: PreTrainedModel, vocabulary: Vocabulary) -> None:
    """Write a model and its tokenizer."""
    model.save_pretrained(folder)
    vocabulary.save_pretrained(folder)


def write_questions(trained: Path, models_folder: Path) -> None:
    """Write a trained model beside the tiny ones, and the questions."""
    vocabulary = AutoTokenizer.from_pretrained(trained)
    model = AutoModelForCausalLM.from_pretrained(trained, dtype=torch.float32)
    save_model(models_folder / "real", model, vocabulary)
    options = question_options(vocabulary, model.double())
    write_json_lines(HERE / "questions.jsonl", options)


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
        write_questions(settings.real, settings.models)
        return
    cases: list[dict[str, Any]] = []
    for name, description in SITUATIONS["models"].items():
        source = description["tokenizer"]
        vocabulary = model_tokenizer(source, settings.vocabularies)
        if vocabulary is None:
            raise SystemExit(
                f"There is no {source}; give its folder as --vocabularies."
            )
        model = tiny_random_model(name, vocabulary)
        save_model(settings.models / name, model, vocabulary)
        cases += conformance_cases(name, vocabulary)
    write_json_lines(settings.cases, cases)


if __name__ == "__main__":
    main()
