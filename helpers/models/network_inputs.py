"""Inputs of rows for a network at hand, and its logits for a row read whole."""

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
    _, inputs = inputs_of_rows(model, [row])
    return model.model(**inputs, use_cache=False).logits[0]


def pad_ids(
    model: Local, ids: list[tuple[int, ...]]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids padded on the right to one length, and the mask of the real ones."""
    longest = max(len(row) for row in ids)
    padded = []
    mask = []
    for row in ids:
        pad = (0,) * (longest - len(row))  # any id will do: no real token sees a pad
        padded.append(row + pad)
        mask.append((1,) * len(row) + pad)
    padded_ids = torch.tensor(padded, device=model.device)
    return padded_ids, torch.tensor(mask, device=model.device)


def forward_accepts_argument(network: type[torch.nn.Module], name: str) -> bool:
    """Return whether a network class's forward pass has a parameter of a name."""
    return name in inspect.signature(network.forward).parameters


def cache_argument_name(network: torch.nn.Module) -> str:
    """Return what a network's forward pass calls its cache of keys and values.

    transformers calls it `cache` since 5.24 and drops the older name in 5.40.
    """
    if forward_accepts_argument(type(network), "cache"):
        return "cache"
    return "past_key_values"
