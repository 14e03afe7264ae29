"""What the benchmark scores: models, and lists with choices about atlas facts.

A list is the prompt of Wu et al. (2025): known pairs of a relation, one a line, then a
subject whose object is to be found among choices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from helpers import datasets
from helpers import models as bundled
from helpers.models import LanguageModel, Local, loading

VOCABULARY_SIZE = 1500
END_TOKEN = "<|endoftext|>"


@dataclass(frozen=True)
class ListShape:
    """How large a list workload is.

    Attributes
    ----------
    subjects, choices, examples : int
        Subjects asked about, choices of each, and pairs in the shared prefix.
    tokens : tuple of int
        The least and the most tokens of a choice.
    relation : str
        The atlas relation that the pairs are taken from; P36 is that of countries and
        capitals.
    """

    subjects: int = 8
    choices: int = 100
    examples: int = 50
    tokens: tuple[int, int] = (3, 4)
    relation: str = "P36"


@cache
def atlas_tokenizer() -> PreTrainedTokenizerFast:
    """Return a byte-level BPE like GPT-2's, trained on the names of the atlas.

    It is small, so that a capital has three or four tokens, as a person's name has in
    GPT-2's.
    """
    facts = datasets.load("atlas")
    names = sorted({*facts["subject"], *facts["object"]})
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE,
        special_tokens=[END_TOKEN],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    names_after_space = [f" {name}" for name in names]
    tokenizer.train_from_iterator(names + names_after_space, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END_TOKEN, pad_token=END_TOKEN
    )


def random_model(seed: int = 0, **changes: int) -> LanguageModel:
    """Return an untrained model of GPT-2's size in float32.

    Parameters
    ----------
    seed : int
        Of the weights.
    **changes : int
        Of its configuration, for example ``n_layer=2``.

    Returns
    -------
    LanguageModel
    """
    end = atlas_tokenizer().eos_token_id
    config = GPT2Config(bos_token_id=end, eos_token_id=end, **changes)
    torch.manual_seed(seed)
    network = loading.fuse_gelu_activations(GPT2LMHeadModel(config))
    network = network.float().eval()
    return Local(
        name="randomly initialised GPT-2",
        slug="random-gpt-2",
        model=network,
        tokenizer=atlas_tokenizer(),
        kind="causal",
        device=torch.device("cpu"),
        dtype=torch.float32,
        max_length=config.n_positions,
        weights_sha=f"random-{seed}",
        revision=None,
        n_parameters=sum(weight.numel() for weight in network.parameters()),
    )


def trained_model() -> LanguageModel | None:
    """Return the bundled model atlas-s on the CPU, or None if it is not trained yet."""
    if "atlas-s" not in bundled.bundled_models():
        return None
    model = bundled.load("atlas-s", device="cpu", dtype="float32")
    if model.tokenizer.pad_token is None:
        # minicons pads, and would add a token to the model.
        model.tokenizer.pad_token = model.tokenizer.eos_token
    return model


def list_probes(model: LanguageModel, shape: ListShape, seed: int = 0) -> pd.DataFrame:
    """Return probes: a list of pairs, a subject, and its object among other objects.

    Parameters
    ----------
    model : LanguageModel
        Its tokenizer tells how many tokens a choice has.
    shape : ListShape
    seed : int
        Of the pairs, the subjects and the choices.

    Returns
    -------
    DataFrame
        ``item, relation, variant, option, prompt, continuation, correct``; option 0 is
        correct.
    """
    facts = datasets.load("atlas", relations=[shape.relation])
    fewest, most = shape.tokens
    lengths = facts["object"].map(partial(_token_count, model))
    fitting = facts[lengths.between(fewest, most)]
    rng = np.random.default_rng(seed)
    asked = _sample(fitting, shape.subjects, rng)
    examples = _sample(facts.drop(asked.index), shape.examples, rng)
    names = sorted(set(fitting["object"]))
    enough_rows = len(asked) >= shape.subjects and len(examples) >= shape.examples
    if not enough_rows or len(names) < shape.choices:
        raise ValueError(
            f"The relation {shape.relation} has too few facts for {shape}."
        )
    lines = []
    for subject, answer in zip(examples["subject"], examples["object"], strict=True):
        lines.append(f"{subject} -> {answer}\n")
    prefix = "".join(lines)
    rows = []
    for fact in asked.itertuples():
        others = [name for name in names if name != fact.object]
        order = rng.permutation(len(others))[: shape.choices - 1]
        choices = [fact.object] + [others[place] for place in order]
        for option, choice in enumerate(choices):
            row = {
                "item": fact.fact,
                "relation": shape.relation,
                "variant": "list",
                "option": option,
                "prompt": f"{prefix}{fact.subject} ->",
                "continuation": f" {choice}",
                "correct": option == 0,
            }
            rows.append(row)
    return pd.DataFrame(rows)


def _sample(facts: pd.DataFrame, size: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return facts drawn without replacement, all where there are too few."""
    return facts.iloc[rng.permutation(len(facts))[:size]]


def _token_count(model: LanguageModel, name: str) -> int:
    """Return how many tokens a name has after a space."""
    return len(model.tokenizer(f" {name}", add_special_tokens=False)["input_ids"])


def workload_description(model: LanguageModel, probes: pd.DataFrame) -> dict[str, Any]:
    """Return a workload in numbers: its subjects, its choices, and their tokens."""
    tokenizer = model.tokenizer
    prompts = list(dict.fromkeys(probes["prompt"]))
    prefix = prompts[0].rpartition("\n")[0]
    questions = [prompt.rpartition("\n")[2] for prompt in prompts]
    question_tokens = [len(tokenizer(text)["input_ids"]) for text in questions]
    names = probes["continuation"].str.strip()
    choice_tokens = [_token_count(model, name) for name in names]
    return {
        "model": model.name,
        "parameters": model.n_parameters,
        "dtype": str(model.dtype).removeprefix("torch."),
        "requests": len(probes),
        "subjects": len(prompts),
        "choices": len(probes) // len(prompts),
        "examples": prefix.count("\n") + 1,
        "prefix_tokens": len(tokenizer(f"{prefix}\n")["input_ids"]),
        "subject_tokens": float(np.mean(question_tokens)),
        "choice_tokens": float(np.mean(choice_tokens)),
    }
