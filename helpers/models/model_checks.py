"""Whether a model can be asked, and up to which difference two scores count as one."""

import logging
from collections.abc import Callable, Iterable

import numpy as np
import torch

from helpers import UserError, first_line_of_error
from helpers.models import gpu, network_inputs, tokens
from helpers.models.language_model import LanguageModel, Local
from helpers.models.tokens import Row

# A log-probability may be rounded to this much above 0.
LARGEST_ROUNDING = 1e-4
# Largest difference of a log-probability from the plain way at which a method counts as
# exact. Wrong positions or a wrong mask move them by 0.05 to 1.7.
TOLERANCE_OF_FORMAT = {"float32": 1e-3, "float16": 3e-2, "bfloat16": 2e-1}


def refuse_unfit_model(model: Local) -> None:
    """Refuse a model whose tokenizer, reading direction or probabilities do not fit."""
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
            f"({strange[first]!r}) on, that its embedding of {rows} rows lacks; put "
            "the model's own tokenizer beside its weights, or call "
            "resize_token_embeddings and train it."
        )
    if 2 * len(known) < rows:
        raise UserError(
            f"The tokenizer of {model.name} has {len(known)} tokens and its embedding "
            f"{rows} rows, so it must be another model's; put the model's own "
            "tokenizer beside its weights."
        )
    _passes(model)
    warn_of_missing_first_token(model)


def warn_of_missing_first_token(model: LanguageModel) -> None:
    """Log that a model gets no first token, where its family reads one."""
    if said := tokens.missing_first_token_warning(model):
        logging.getLogger(__name__).warning(said)


def _passes(model: Local) -> None:
    """Refuse what shows in the passes of two texts that differ in their last tokens."""
    text = random_text_sampler(model)
    head, source = text(6), ()
    if model.kind == "seq2seq":
        head, source = tokens.decoder_start_ids(model) + head, text(6)
    rows = [Row(head + text(2), 1, source) for _ in range(2)]
    try:
        first, other = (network_inputs.logits_of_row(model, row) for row in rows)
        first, other = (part.float().log_softmax(-1) for part in (first, other))
    except (
        Exception
    ) as error:  # whatever a model raises that waits for pictures or sound
        if gpu.is_out_of_memory(error):
            raise
        raise _no_text(model, error) from error
    refuse_invalid_log_probabilities(model, torch.cat([first, other])[:, 0].tolist())
    if not log_probability_distance(
        first[: len(head)], other[: len(head)]
    ) <= log_probability_tolerance(model):
        raise UserError(
            f"{model.name} reads a text in both directions: a word's probability "
            "depends on the words after it; choose a causal or a sequence-to-sequence "
            "language model."
        )


def _no_text(model: Local, error: Exception) -> UserError:
    return UserError(
        f"{model.name} ({model.config.model_type}) does not continue text alone "
        f"({type(error).__name__}: {first_line_of_error(error)}); choose a causal or a "
        "sequence-to-sequence language model."
    )


def random_text_sampler(model: Local) -> Callable[[int], tuple[int, ...]]:
    """Return a function that draws a random text of so many ids, none of them special."""
    special = {
        *model.tokenizer.all_special_ids,
        getattr(model.config, "pad_token_id", None),
    }
    known = [i for i in range(len(model.tokenizer)) if i not in special]
    draw = np.random.default_rng(0)
    return lambda length: tuple(draw.choice(known, size=length).tolist())


def refuse_invalid_log_probabilities(
    model: LanguageModel, values: Iterable[float]
) -> None:
    """Refuse log-probabilities above 0 or, as damaged weights give, not numbers."""
    if not all(value <= LARGEST_ROUNDING for value in values):
        raise UserError(
            f"{model.name} gives probabilities that are not numbers (nan) in "
            f"{model.number_format}, or above 1; fetch or save its weights "
            "anew, or choose another dtype (bfloat16, float32)."
        )


def log_probability_distance(first: torch.Tensor, other: torch.Tensor) -> float:
    """Return the largest mean difference of log-probabilities over the vocabulary.

    >>> certain = torch.tensor([[0.0, -float("inf")]])
    >>> log_probability_distance(certain, certain)
    0.0
    >>> log_probability_distance(torch.zeros(2, 2), torch.eye(2))
    0.5
    """
    apart = torch.where(first == other, 0.0, (first - other).abs())
    return float(apart.mean(-1).max())


def log_probability_tolerance(model: LanguageModel) -> float:
    """Return up to which difference two log-probabilities agree in a model's format."""
    return TOLERANCE_OF_FORMAT[model.number_format]
