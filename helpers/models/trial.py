"""What a model must pass when it is loaded, in two short passes.

Its tokenizer fits, text alone is enough for it, it reads in order, and its probabilities are
numbers.
"""

from __future__ import annotations

import torch

from helpers import UserError
from helpers.models import check, plain, tokens
from helpers.models.language_model import LanguageModel
from helpers.models.tokens import Row

LENGTH = 6


def refuse_unfit(model: LanguageModel) -> None:
    """Refuse a model that cannot be asked."""
    rows = _embedding(model)
    known = model.tokenizer.get_vocab()
    # Texts are padded with any id, so the tokenizer's own need not be known to the model.
    strange = {i: t for t, i in known.items() if i >= rows and t != model.tokenizer.pad_token}
    if strange:
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


def _embedding(model: LanguageModel) -> int:
    try:
        return model.model.get_input_embeddings().weight.shape[0]
    except (AttributeError, NotImplementedError) as error:
        raise _no_text(model, error) from error


def _passes(model: LanguageModel) -> None:
    """Refuse what shows in the passes of two texts that differ in their last tokens."""
    text = check.texts(model)
    head, source = text(LENGTH), ()
    if model.kind == "seq2seq":
        head, source = tokens.decoder_start(model) + head, text(LENGTH)
    rows = [Row(head + text(2), 1, source) for _ in range(2)]
    try:
        first, other = (plain.logits(model, row) for row in rows)
        first, other = (part.float().log_softmax(-1) for part in (first, other))
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # whatever a model raises that waits for pictures or sound
        raise _no_text(model, error) from error
    check.refuse_nan(model, torch.cat([first, other])[:, 0].tolist())
    # Eight or four bits round by the whole text.
    if check.distance(first[: len(head)], other[: len(head)]) > check.limit(model) * (
        5 if model.quantization else 1
    ):
        raise UserError(
            f"{model.name} reads a text in both directions: a word's probability depends on the "
            "words after it; choose a causal or a sequence-to-sequence language model."
        )


def _no_text(model: LanguageModel, error: Exception) -> UserError:
    said = (str(error).strip().splitlines() or [""])[0][:200].rstrip(".")
    return UserError(
        f"{model.name} ({model.model.config.model_type}) does not continue text alone "
        f"({type(error).__name__}: {said}); choose a causal or a sequence-to-sequence language "
        "model."
    )
