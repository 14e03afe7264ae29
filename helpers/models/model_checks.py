"""Whether a model can be asked, and up to which difference two scores count as one."""

import logging
from collections.abc import Callable, Iterable

import numpy as np
import torch

from helpers import UserError, first_line
from helpers.models import gpu, network_inputs, tokens
from helpers.models.language_model import LanguageModel, Local
from helpers.models.tokens import Row

# A log-probability may be rounded to this much above 0.
ROUNDED = 1e-4
# Largest difference of a log-probability from the plain way at which a method counts as
# exact. Wrong positions or a wrong mask move them by 0.05 to 1.7.
TOLERANCE = {"float32": 1e-3, "float16": 3e-2, "bfloat16": 2e-1}


def refuse_unfit(model: Local) -> None:
    """Refuse a model whose tokenizer, way of reading or probabilities do not fit, in two passes."""
    try:
        rows = model.model.get_input_embeddings().weight.shape[0]
    except (AttributeError, NotImplementedError) as error:
        raise _no_text(model, error) from error
    known = model.tokenizer.get_vocab()
    # Texts are padded with any id, so the tokenizer's own need not be known to the
    # model.
    if strange := {
        i: t for t, i in known.items() if i >= rows and t != model.tokenizer.pad_token
    }:
        first = min(strange)
        raise UserError(
            f"The tokenizer of {model.name} has {len(strange)} ids, from {first} "
            f"({strange[first]!r}) on, that its embedding of {rows} rows lacks; put the model's "
            "own tokenizer beside its weights, or call resize_token_embeddings and train it."
        )
    if 2 * len(known) < rows:
        raise UserError(
            f"The tokenizer of {model.name} has {len(known)} tokens and its embedding {rows} rows, "
            "so it must be another model's; put the model's own tokenizer beside its weights."
        )
    _passes(model)
    tell_unbegun(model)


def tell_unbegun(model: LanguageModel) -> None:
    """Log that a model gets no first token, where its family reads one."""
    if said := tokens.unbegun(model):
        logging.getLogger(__name__).warning(said)


def _passes(model: Local) -> None:
    """Refuse what shows in the passes of two texts that differ in their last tokens."""
    text = texts(model)
    head, source = text(6), ()
    if model.kind == "seq2seq":
        head, source = tokens.decoder_start(model) + head, text(6)
    rows = [Row(head + text(2), 1, source) for _ in range(2)]
    try:
        first, other = (network_inputs.logits_of_row(model, row) for row in rows)
        first, other = (part.float().log_softmax(-1) for part in (first, other))
    except (
        Exception
    ) as error:  # whatever a model raises that waits for pictures or sound
        if gpu.out_of_memory(error):
            raise
        raise _no_text(model, error) from error
    refuse_nan(model, torch.cat([first, other])[:, 0].tolist())
    if not distance(first[: len(head)], other[: len(head)]) <= limit(model):
        raise UserError(
            f"{model.name} reads a text in both directions: a word's probability depends on the "
            "words after it; choose a causal or a sequence-to-sequence language model."
        )


def _no_text(model: Local, error: Exception) -> UserError:
    return UserError(
        f"{model.name} ({model.config.model_type}) does not continue text alone "
        f"({type(error).__name__}: {first_line(error)}); choose a causal or a "
        "sequence-to-sequence language model."
    )


def texts(model: Local) -> Callable[[int], tuple[int, ...]]:
    """Return what draws random texts of so many ids, none of which means anything special."""
    special = {
        *model.tokenizer.all_special_ids,
        getattr(model.config, "pad_token_id", None),
    }
    known = [i for i in range(len(model.tokenizer)) if i not in special]
    draw = np.random.default_rng(0)
    return lambda length: tuple(draw.choice(known, size=length).tolist())


def refuse_nan(model: LanguageModel, values: Iterable[float]) -> None:
    """Refuse log-probabilities of which one is above 0 or, as damaged weights give, no number."""
    if not all(value <= ROUNDED for value in values):
        raise UserError(
            f"{model.name} gives probabilities that are not numbers (nan) in "
            f"{model.number_format}, or above 1; fetch or save its weights "
            "anew, or choose another dtype (bfloat16, float32)."
        )


def distance(first: torch.Tensor, other: torch.Tensor) -> float:
    """Return the largest mean difference of log-probabilities over the vocabulary.

    >>> certain = torch.tensor([[0.0, -float("inf")]])
    >>> distance(certain, certain), distance(torch.zeros(2, 2), torch.eye(2))
    (0.0, 0.5)
    """
    apart = torch.where(first == other, 0.0, (first - other).abs())
    return float(apart.mean(-1).max())


def limit(model: LanguageModel) -> float:
    """Return up to which difference of a log-probability two ways count as one, by the format."""
    return TOLERANCE[model.number_format]
