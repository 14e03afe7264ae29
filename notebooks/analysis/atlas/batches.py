"""Rows of tokens as the trainer takes them."""

from dataclasses import dataclass

import numpy as np
import torch
from transformers import LlamaForCausalLM

NO_TARGET = -100


@dataclass(frozen=True)
class Batch:
    """Some rows of equal length, each array of shape (rows, length)."""

    inputs: np.ndarray
    targets: np.ndarray  # the token to predict at each place, or -100 where nothing is asked
    weights: np.ndarray  # what each place counts in the loss
    # The document of each place, which sees no other; without it a row is one document.
    documents: np.ndarray | None = None


def loss_and_accuracy(
    model: LlamaForCausalLM,
    batch: Batch,
    heavy: float = 1.0,
    dtype: torch.dtype = torch.bfloat16,
) -> tuple[torch.Tensor, float]:
    """Return the weighted cross-entropy of a batch and the share predicted rightly."""
    device = model.device
    # Eager attention is the faster on short rows, and keeps all of its table on long ones.
    short = batch.inputs.shape[1] <= 256
    model.set_attn_implementation("eager" if short else "sdpa")
    inputs = torch.from_numpy(batch.inputs).to(device)
    targets = torch.from_numpy(batch.targets).to(device)
    weights = torch.from_numpy(batch.weights).to(device)
    asked = (targets != NO_TARGET) & (weights > 0)
    with torch.autocast(device.type, dtype=dtype, enabled=dtype != torch.float32):
        hidden = model.model(
            input_ids=inputs, attention_mask=_mask(batch, device, short), use_cache=False
        ).last_hidden_state
        logits = model.lm_head(hidden[asked])
    targets, weights = targets[asked], weights[asked]
    each = torch.nn.functional.cross_entropy(logits.float(), targets, reduction="none")
    with torch.no_grad():
        right = (logits.argmax(-1) == targets)[weights >= heavy]
        accuracy = float(right.float().mean()) if len(right) else 0.0
    return (each * weights).sum() / weights.sum(), accuracy


def _mask(batch: Batch, device: torch.device, short: bool) -> torch.Tensor | None:
    if batch.documents is None:
        return None
    documents = torch.from_numpy(batch.documents).to(device)
    seen = (documents[:, :, None] == documents[:, None, :]).tril()
    if not short:
        return seen[:, None]
    # Eager attention adds the mask to its logits, so a mask of booleans would hide nothing.
    return torch.where(seen, 0.0, torch.finfo(torch.float32).min)[:, None]
