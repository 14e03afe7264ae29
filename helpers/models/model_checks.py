"""Whether a model can be asked, and up to which difference two scores count as one."""

import logging
from collections.abc import Callable, Iterable
from typing import Any

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
        # Its weight may be anything, to judge by the annotation of modules.
        embedding: Any = model.model.get_input_embeddings()
        rows = embedding.weight.shape[0]
    except (AttributeError, NotImplementedError) as error:
        raise _no_text(model, error) from error
    known = model.tokenizer.get_vocab()
    # Texts are padded with any id, so the model need not know the tokenizer's own.
    pad = model.tokenizer.pad_token
    strange = {
        token_id: token
        for token, token_id in known.items()
        if token_id >= rows and token != pad
    }
    if strange:
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
    _refuse_odd_passes(model)
    warn_of_missing_first_token(model)


def warn_of_missing_first_token(model: LanguageModel) -> None:
    """Log that a model gets no first token, where its family reads one."""
    warning = tokens.missing_first_token_warning(model)
    if warning:
        logging.getLogger(__name__).warning(warning)


def _refuse_odd_passes(model: Local) -> None:
    """Refuse what shows in the passes of two texts that differ in their last tokens."""
    random_text = random_text_sampler(model)
    head = random_text(6)
    source: tuple[int, ...] = ()
    if model.kind == "seq2seq":
        head = tokens.decoder_start_ids(model) + head
        source = random_text(6)
    rows = [Row.of_ids(head + random_text(2), 1, source) for _ in range(2)]
    try:
        logits = [network_inputs.logits_of_row(model, row) for row in rows]
        first, second = [values.float().log_softmax(-1) for values in logits]
    # Whatever a model raises that waits for pictures or sound.
    except Exception as error:
        if gpu.is_out_of_memory(error):
            raise
        raise _no_text(model, error) from error
    refuse_invalid_log_probabilities(model, torch.cat([first, second])[:, 0].tolist())
    distance = log_probability_distance(first[: len(head)], second[: len(head)])
    # The distance may be nan, which is refused, too.
    if not distance <= log_probability_tolerance(model):
        raise UserError(
            f"{model.name} reads a text in both directions: a word's probability "
            "depends on the words after it; choose a causal or a sequence-to-sequence "
            "language model."
        )


def _no_text(model: Local, error: Exception) -> UserError:
    """Return the error of a model that does not continue text."""
    return UserError(
        f"{model.name} ({model.config.model_type}) does not continue text alone "
        f"({type(error).__name__}: {first_line_of_error(error)}); choose a causal or a "
        "sequence-to-sequence language model."
    )


def random_text_sampler(model: Local) -> Callable[[int], tuple[int, ...]]:
    """Return a function that draws a text of so many random ids, none special."""
    special = {
        *model.tokenizer.all_special_ids,
        getattr(model.config, "pad_token_id", None),
    }
    ordinary = [i for i in range(len(model.tokenizer)) if i not in special]
    rng = np.random.default_rng(0)

    def random_text(length: int) -> tuple[int, ...]:
        return tuple(rng.choice(ordinary, size=length).tolist())

    return random_text


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
