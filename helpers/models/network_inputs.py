"""Inputs of rows for a network at hand, and its logits for a row read whole."""

import functools
import inspect
from typing import Any

import torch

from helpers.models.language_model import Local
from helpers.models.tokens import Row


def inputs_of_rows(
    model: Local, batch: list[Row]
) -> tuple[torch.Tensor, dict[str, Any]]:
    """Return the ids of rows, padded, and what the model is given of them."""
    ids, mask = pad_ids(model, [row.ids for row in batch])
    if model.kind == "causal":
        return ids, {"input_ids": ids, "attention_mask": mask}
    source, source_mask = pad_ids(model, [row.source for row in batch])
    read = {"input_ids": source, "attention_mask": source_mask}
    return ids, read | {"decoder_input_ids": ids, "decoder_attention_mask": mask}


@torch.inference_mode()
def logits_of_row(model: Local, row: Row) -> torch.Tensor:
    """Return the logits after each token of a row, shape (len(row.ids), vocabulary)."""
    return model.model(**inputs_of_rows(model, [row])[1], use_cache=False).logits[0]


def pad_ids(
    model: Local, ids: list[tuple[int, ...]]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids padded on the right to one length, and the mask of the real ones."""
    longest = max(map(len, ids))
    # Any id will do: no real token sees a pad.
    padded = [row + (0,) * (longest - len(row)) for row in ids]
    mask = [(1,) * len(row) + (0,) * (longest - len(row)) for row in ids]
    return torch.tensor(padded, device=model.device), torch.tensor(
        mask, device=model.device
    )


@functools.cache
def forward_accepts_argument(network: type, name: str) -> bool:
    """Return whether the forward pass of a class of models has a parameter of a name."""
    return name in inspect.signature(network.forward).parameters
