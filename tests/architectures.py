"""Every class of the installed transformers that continues text, built small and tried.

Each class is built with random weights, saved, and loaded as a user's model is. What it
scores is compared with a plain loop, one text at a time, and what it writes with the
library's own greedy generation. `python -m tests.architectures` writes the outcome to
`book/architectures.csv`.
"""

from __future__ import annotations

import dataclasses
import logging
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
import transformers
import yaml
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, PretrainedConfig
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from helpers import UserError, models
from helpers.models import LanguageModel, tokens
from helpers.models.tokens import Row
from helpers.probing import engine, generate
from helpers.probing.engine import decoding
from tests import tiny_models

TABLE_FILE = Path(__file__).resolve().parent.parent / "book" / "architectures.csv"
CAUSAL = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
SEQ2SEQ = modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES
AUTO_CLASSES = {
    "causal": (CAUSAL, AutoModelForCausalLM),
    "seq2seq": (SEQ2SEQ, AutoModelForSeq2SeqLM),
}
EXACT_TOLERANCE = 1e-5
PROMPTS = ["Which country is Lyon in?", "Lyon is located in", "The"]
_READ = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
SIZES, FILLED, SPECIAL, UNTRIED = (
    _READ[n] for n in ("sizes", "filled", "special", "untried")
)


def small_configuration(model_type: str, vocabulary: int) -> PretrainedConfig:
    """Return a small configuration of a type of model, with each of its kinds of layers."""
    return _small(CONFIG_MAPPING[model_type], vocabulary, SPECIAL.get(model_type, {}))


def _small(
    kind: type[PretrainedConfig], vocabulary: int, special: dict[str, Any]
) -> Any:
    default = kind()
    given = vars(default)
    layers = given.get("num_hidden_layers")
    chosen = _layers(given, layers)
    found: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        name, value = field.name, given.get(field.name)
        if isinstance(value, PretrainedConfig):
            found[name] = _small(type(value), vocabulary, special.get(name, {}))
        elif "vocab_size" in name and "hash" not in name:
            found[name] = vocabulary
        elif name == "is_decoder":
            found[name] = True
        elif name == "num_hidden_layers" and layers:
            found[name] = len(chosen)
        elif name.endswith("num_key_value_heads") and value:
            found[name] = 2 if value < (given.get("num_attention_heads") or 0) else 4
        elif isinstance(value, list | tuple) and layers and len(value) == layers:
            found[name] = [value[at] for at in chosen]
        elif name.startswith("forced_"):
            found[name] = None
        elif type(value) is int or (value is None and re.fullmatch(FILLED, name)):
            sizes = (size for pattern, size in SIZES if re.fullmatch(pattern, name))
            if (size := next(sizes, None)) is not None:
                found[name] = size if value is None else min(size, value)
    own = {
        k: v
        for k, v in special.items()
        if not isinstance(found.get(k), PretrainedConfig)
    }
    return kind(**found | own)


def _layers(given: dict[str, Any], layers: int | None) -> list[int]:
    """Return the first layer of each kind that lists of a layer each tell apart; at least two."""
    lists = [
        v for v in given.values() if isinstance(v, list | tuple) and len(v) == layers
    ]
    first: dict[tuple, int] = {}
    for at in range(layers or 0):
        first.setdefault(tuple(v[at] for v in lists if isinstance(v[at], str)), at)
    more = [at for at in range(layers or 0) if at not in first.values()]
    return sorted([*first.values(), *more[: max(0, 2 - len(first))]])


def small_random_model(
    model_type: str, kind: str, vocabulary: int
) -> transformers.PreTrainedModel:
    """Return a small random model whose logits differ from token to token."""
    config, auto = small_configuration(model_type, vocabulary), AUTO_CLASSES[kind][1]
    if config.is_encoder_decoder:
        config.decoder_start_token_id = 0
    torch.manual_seed(0)
    model = auto.from_config(config).float().eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1 and weight.std() < 0.05:
                weight.mul_(4)
    return model


def architecture_outcome(model_type: str, kind: str) -> dict[str, Any]:
    """Return what became of a class: a row of the table."""
    tokenizer = (
        tiny_models.byte_tokenizer("bos")
        if kind == "causal"
        else tiny_models.piece_tokenizer()
    )
    found = {
        "model_type": model_type,
        "class": AUTO_CLASSES[kind][0][model_type],
        "kind": kind,
    }
    if model_type in UNTRIED:
        return found | {"outcome": "not tried", "why": UNTRIED[model_type]}
    built = small_random_model(model_type, kind, len(tokenizer))
    with tempfile.TemporaryDirectory() as folder:
        built.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        try:
            lm = models.load(folder, device="cpu")
        except UserError as error:
            return found | {
                "outcome": "refused",
                "why": str(error).replace(folder, "The model"),
            }
    difference, greedy = _difference(lm), _greedy(lm)
    way, kept = engine.scorer_of_model(lm).method, decoding.keeps_state(lm)
    told = {
        "outcome": way.method,
        "batches": way.batches or "",
        "state": "kept" if kept else "none",
        "difference": f"{difference:.0e}",
        "text_as": greedy,
    }
    return (
        found
        | told
        | ({"outcome": "wrong"} if difference > EXACT_TOLERANCE or not greedy else {})
    )


def _difference(lm: LanguageModel) -> float:
    """Return the largest difference of a log-probability from one text at a time."""
    draw = np.random.default_rng(0)

    def text(length: int) -> tuple[int, ...]:
        return tuple(draw.integers(3, len(lm.tokenizer), size=length).tolist())

    rows = []
    for head in (text(20), text(3)):
        for number in (1, 2):
            before, source = (
                head + text(number),
                text(6 + number) if lm.kind == "seq2seq" else (),
            )
            rows += [
                Row.of_ids(before + text(n), len(before), source) for n in (1, 2, 3)
            ]
    scored = {
        row: values
        for part in engine.scorer_of_model(lm).score(rows)
        for row, values in part.items()
    }
    alone = {
        row: tiny_models.naive_logprobs(lm, row.ids, row.start, row.source)
        for row in rows
    }
    return max(
        abs(a - b) for row in rows for a, b in zip(scored[row], alone[row], strict=True)
    )


def _greedy(lm: LanguageModel) -> str:
    """Return which of the library's ways to write greedily gives the same texts; "" if none."""
    said = generate(
        lm, PROMPTS, max_new_tokens=7, stop=("never such a string",), progress=False
    )
    read = tokens.prompt_ids(lm, PROMPTS)
    for name, write in GREEDY_WRITERS.items():
        found = []
        for ids in read:
            try:
                written = write(lm, torch.tensor([ids]))
            except Exception:  # generate() does not know the class
                break
            ends = [
                at
                for at, token in enumerate(written)
                if token == lm.tokenizer.eos_token_id
            ]
            found.append(tokens.token_names(lm, written[: min(ends, default=7)]))
        if found == list(said["tokens"]):
            return name
    return ""


def _generate(lm: LanguageModel, ids: torch.Tensor, **settings: Any) -> list[int]:
    """Return what the library's greedy generation adds to a text."""
    settings |= {
        "do_sample": False,
        "num_beams": 1,
        "max_new_tokens": 7,
        "pad_token_id": 2,
    }
    whole = lm.model.generate(ids, attention_mask=torch.ones_like(ids), **settings)
    return whole[0, 1 if lm.kind == "seq2seq" else ids.shape[1] :].tolist()


@torch.no_grad()
def _loop(lm: LanguageModel, ids: torch.Tensor) -> list[int]:
    """Return the most probable next tokens of whole texts, one after another."""
    before, text = {}, ids
    if lm.kind == "seq2seq":
        before, text = {"input_ids": ids}, torch.tensor([tokens.decoder_start_ids(lm)])
    name = "decoder_input_ids" if before else "input_ids"
    for _ in range(7):
        chosen = (
            lm.model(**before, **{name: text}, use_cache=False).logits[0, -1].argmax()
        )
        text = torch.cat([text, chosen[None, None]], dim=1)
    return text[0, -7:].tolist()


GREEDY_WRITERS = {
    "generate": _generate,
    "generate without cache": lambda lm, ids: _generate(lm, ids, use_cache=False),
    "loop": _loop,  # where generate() itself departs from the forward pass
}


def architecture_outcomes(names: Iterable[str] = ()) -> pd.DataFrame:
    """Return a row for each class, or for those of some types of model."""
    wanted = set(names)
    rows = []
    for kind, (mapping, _) in AUTO_CLASSES.items():
        for name in sorted(mapping):
            if not wanted or name in wanted:
                print(f"{kind} {name}", file=sys.stderr)
                rows.append(architecture_outcome(name, kind))
    columns = [
        "model_type",
        "class",
        "kind",
        "outcome",
        "batches",
        "state",
        "difference",
    ]
    columns += ["text_as", "why"]
    found = pd.DataFrame(
        [{name: row.get(name, "") for name in columns} for row in rows], dtype=str
    )
    return found.assign(transformers=transformers.__version__)


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    done = architecture_outcomes(sys.argv[1:])
    print(done.to_string() if sys.argv[1:] else done["outcome"].value_counts())
    if not sys.argv[1:]:
        done.to_csv(TABLE_FILE, index=False)
