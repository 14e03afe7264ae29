"""What a model is given for a pack: ids, positions, and a mask that holds branches apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from helpers.models import LanguageModel, families
from helpers.probing.engine.trie import Trie, attends

# Keys and values of each layer, of the tokens from the first one on.
Kept = list[tuple[torch.Tensor, torch.Tensor]]


def cache(kept: Kept, rows: int = 1) -> DynamicCache:
    """Return a cache that refers to kept keys, which grow in the cache alone and are not copied.

    It is not made from the model's configuration, for it would cut keys outside a sliding window.
    """
    made = DynamicCache()
    for keys, values in kept:
        layer = DynamicLayer()
        layer.lazy_initialization(keys, values)
        layer.keys, layer.values = (part.expand(rows, -1, -1, -1) for part in (keys, values))
        made.layers.append(layer)
    return made


def kept(cache: DynamicCache) -> Kept:
    """Return the keys and values that a cache holds."""
    return [(layer.keys, layer.values) for layer in cache.layers]


def sees(tree: Trie, nodes: Sequence[int], kept: int = 0, window: int | None = None) -> np.ndarray:
    """Return which keys each node of a pack attends to: those kept before it, then the pack's own.

    >>> from helpers.models.tokens import Row
    >>> from helpers.probing.engine.trie import build
    >>> tree = build([Row((7, 1, 2), 1), Row((7, 3, 2), 1)])
    >>> sees(tree, [1, 3], kept=1).astype(int)
    array([[1, 1, 0],
           [1, 0, 1]])
    >>> sees(tree, [0, 1, 3], window=1).astype(int)
    array([[1, 0, 0],
           [0, 1, 0],
           [0, 0, 1]])
    """
    at = np.asarray(nodes, dtype=np.int64)
    mask = np.concatenate([np.ones((len(at), kept), dtype=bool), attends(tree, at)], axis=1)
    if window is not None:
        keys = np.concatenate([np.arange(kept), tree.depth[at]])
        mask &= tree.depth[at][:, None] - keys < window
    return mask


def masks(
    model: LanguageModel, tree: Trie, nodes: Sequence[int], kept: int
) -> torch.Tensor | dict[str, torch.Tensor]:
    """Return the mask of a pack as the model's attention takes it, one a kind of layer."""
    found = families.windows(model.model.config)
    if isinstance(found, dict):
        return {
            kind: as_mask(model, sees(tree, nodes, kept, window)[None])
            for kind, window in found.items()
        }
    return as_mask(model, sees(tree, nodes, kept, found)[None])


def as_mask(model: LanguageModel, allowed: np.ndarray) -> torch.Tensor:
    """Return a mask of shape (batch, queries, keys) as the model's attention takes it."""
    mask = torch.from_numpy(allowed).to(model.device)[:, None]
    if model.model.config._attn_implementation == "sdpa":
        return mask
    lowest = torch.finfo(model.dtype).min
    return torch.zeros(mask.shape, dtype=model.dtype, device=model.device).masked_fill(
        ~mask, lowest
    )


@contextmanager
def positions(
    model: LanguageModel, queries: torch.Tensor, keys: torch.Tensor
) -> Iterator[dict[str, Any]]:
    """Yield what tells a model the positions of a pack, hooking families without such an input."""
    name = model.model.config.model_type
    if name not in families.HOOKED:
        yield {"position_ids": queries}
        return
    place, method, made = {"bloom": _bloom, "mpt": _mpt, "t5": _t5, "mt5": _t5}[name](
        model.model, queries, keys
    )
    # An attribute of the instance hides the method of its class, and only until it is deleted.
    setattr(place, method, made)
    try:
        yield {}
    finally:
        delattr(place, method)


def _bloom(network: Any, queries: torch.Tensor, keys: torch.Tensor) -> tuple[Any, str, Any]:
    original = network.transformer.build_alibi_tensor

    def alibi(attention_mask: torch.Tensor, num_heads: int, dtype: torch.dtype) -> torch.Tensor:
        whole = torch.ones(1, int(keys.max()) + 1, dtype=torch.long, device=keys.device)
        return original(whole, num_heads, dtype)[..., keys[0]]

    return network.transformer, "build_alibi_tensor", alibi


def _mpt(network: Any, queries: torch.Tensor, keys: torch.Tensor) -> tuple[Any, str, Any]:
    original = network.transformer.build_mpt_alibi_tensor

    def alibi(num_heads: int, sequence_length: int, *args: Any, **settings: Any) -> torch.Tensor:
        return original(num_heads, int(keys.max()) + 1, *args, **settings)[..., keys[0]]

    return network.transformer, "build_mpt_alibi_tensor", alibi


def _t5(network: Any, queries: torch.Tensor, keys: torch.Tensor) -> tuple[Any, str, Any]:
    attention = network.decoder.block[0].layer[0].SelfAttention

    def bias(*args: Any, **settings: Any) -> torch.Tensor:
        buckets = attention._relative_position_bucket(
            keys[:, None, :] - queries[:, :, None],
            bidirectional=False,
            num_buckets=attention.relative_attention_num_buckets,
            max_distance=attention.relative_attention_max_distance,
        )
        return attention.relative_attention_bias(buckets).permute(0, 3, 1, 2)

    return attention, "compute_bias", bias
