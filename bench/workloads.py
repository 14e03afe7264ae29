"""What the benchmark scores: models, and questions about atlas facts as lists with choices.

A list is the prompt of Wu et al. (2025): known pairs of a relation, one a line, then a
subject whose object is to be found among choices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

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
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE,
        special_tokens=[END_TOKEN],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    made.train_from_iterator([*names, *(f" {name}" for name in names)], trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token=END_TOKEN, pad_token=END_TOKEN
    )


def random_model(seed: int = 0, **changes: int) -> LanguageModel:
    """Return an untrained model of GPT-2's size in float32; `changes` go to its configuration.

    Parameters
    ----------
    seed : int
        Of the weights.
    **changes : int
        For example ``n_layer=2``.

    Returns
    -------
    LanguageModel
    """
    end = atlas_tokenizer().eos_token_id
    config = GPT2Config(bos_token_id=end, eos_token_id=end, **changes)
    torch.manual_seed(seed)
    network = loading.fuse_gelu_activations(GPT2LMHeadModel(config)).float().eval()
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
    """Return the bundled model atlas-s on the CPU, or None where it has not been trained yet."""
    if "atlas-s" not in bundled.bundled_models():
        return None
    model = bundled.load("atlas-s", device="cpu", dtype="float32")
    if (
        model.tokenizer.pad_token is None
    ):  # minicons pads, and would add a token to the model
        model.tokenizer.pad_token = model.tokenizer.eos_token
    return model


def list_probes(model: LanguageModel, shape: ListShape, seed: int = 0) -> pd.DataFrame:
    """Return probes: a list of pairs, a subject, and its object among other objects.

    Parameters
    ----------
    model : LanguageModel
        Its tokenizer tells how many tokens a choice has.
    shape : Shape
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
    counts = [_length(model, name) for name in facts["object"]]
    fitting = facts[[fewest <= count <= most for count in counts]]
    rng = np.random.default_rng(seed)
    asked = fitting.iloc[rng.permutation(len(fitting))[: shape.subjects]]
    rest = facts.drop(asked.index)
    known = rest.iloc[rng.permutation(len(rest))[: shape.examples]]
    head = "".join(f"{s} -> {o}\n" for s, o in zip(known["subject"], known["object"]))
    names = sorted(set(fitting["object"]))
    if (
        len(asked) < shape.subjects
        or len(names) < shape.choices
        or len(known) < shape.examples
    ):
        raise ValueError(
            f"The relation {shape.relation} has too few facts for {shape}."
        )
    rows = []
    for fact in asked.itertuples():
        others = [name for name in names if name != fact.object]
        drawn = [others[i] for i in rng.permutation(len(others))[: shape.choices - 1]]
        for option, name in enumerate([fact.object, *drawn]):
            prompt, said = f"{head}{fact.subject} ->", f" {name}"
            rows.append(
                (fact.fact, shape.relation, "list", option, prompt, said, option == 0)
            )
    columns = [
        "item",
        "relation",
        "variant",
        "option",
        "prompt",
        "continuation",
        "correct",
    ]
    return pd.DataFrame(rows, columns=columns)


def _length(model: LanguageModel, name: str) -> int:
    return len(model.tokenizer(f" {name}", add_special_tokens=False)["input_ids"])


def workload_description(
    model: LanguageModel, probes: pd.DataFrame
) -> dict[str, object]:
    """Return a workload in numbers: subjects, choices, tokens of prefix, subject and choice."""
    count = model.tokenizer
    prompts = list(dict.fromkeys(probes["prompt"]))
    prefix, subject = zip(*(prompt.rpartition("\n")[::2] for prompt in prompts))
    choices = [_length(model, text.strip()) for text in probes["continuation"]]
    return {
        "model": model.name,
        "parameters": model.n_parameters,
        "dtype": str(model.dtype).removeprefix("torch."),
        "requests": len(probes),
        "subjects": len(prompts),
        "choices": len(probes) // len(prompts),
        "examples": prefix[0].count("\n") + 1,
        "prefix_tokens": len(count(f"{prefix[0]}\n")["input_ids"]),
        "subject_tokens": float(np.mean([len(count(s)["input_ids"]) for s in subject])),
        "choice_tokens": float(np.mean(choices)),
    }
