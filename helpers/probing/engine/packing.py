"""Causal models, packed: each distinct token of many rows is forwarded once.

What many rows share is forwarded into keys of batch 1, to which later passes refer.
Below, branches of many rows lie in one sequence, held apart by a mask and positions of
their own. The model's head runs on distinct parents only, and its log-softmax is read
at their children.
"""

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from helpers.models import Local, families, gpu, network_inputs
from helpers.models.patching import patched
from helpers.models.tokens import Row
from helpers.probing.engine import plain
from helpers.probing.engine.trie import (
    PASS_PRICE,
    PlannedPass,
    Trie,
    build_trie,
    children_and_ended_rows,
    plan_passes,
    visible_keys,
)

LOG = logging.getLogger(__name__)
# Keys and values of each layer, of the tokens from the first one on.
KeysAndValues = list[tuple[torch.Tensor, torch.Tensor]]
Scores = Iterator[dict[Row, tuple[float, ...]]]


@dataclass(frozen=True)
class ForwardPass:
    """What a forward pass of some nodes of a tree gave."""

    nodes: Sequence[int]
    heads: list[int]  # the nodes of which `logits` has a row
    logits: torch.Tensor
    keys: KeysAndValues  # of `past` tokens before the nodes, then of the nodes
    past: int


def score_in_packs(
    model: Local, rows: list[Row], length: int, price: float = PASS_PRICE
) -> Scores:
    """Yield the log-probabilities of rows, each as soon as it is read whole."""
    tree = build_trie(rows)
    children, ended_rows = children_and_ended_rows(tree)
    steps = plan_passes(tree, length, price)
    values: dict[int, float] = {}  # of the nodes read so far
    for done in forward_passes(model, tree, steps, length, children.keys()):
        values |= child_log_probabilities(tree, done.logits, done.heads, children)
        results = {}
        for node in done.heads:
            for row in ended_rows.get(node, ()):
                logprobs = [values[node] for node in tree.paths[row]]
                results[tree.rows[row]] = tuple(logprobs)
        if results:
            yield results
        del done  # its logits are let go before the next pass


def run_with_shrinking_packs(
    run: Callable[[list, int], Iterator[dict]], requests: list, length: int
) -> Iterator[dict]:
    """Yield the results of requests; packs that are too large for memory are halved.

    `run` takes requests and the length of a pack, as `score_in_packs` does.
    """
    left = dict.fromkeys(requests)
    while left:
        try:
            for results in run(list(left), length):
                for request in results:
                    del left[request]
                yield results
        except Exception as error:
            if not gpu.is_out_of_memory(error):
                raise
            LOG.info("%d at once do not fit; half goes on.", length)
        else:
            return
        # Outside the clause, where the failed pass is let go.
        length = gpu.half_pack_length(length)


def forward_passes(
    model: Local,
    tree: Trie,
    steps: Iterable[PlannedPass],
    length: int,
    heads: Set[int],
    keys: bool = False,
) -> Iterator[ForwardPass]:
    """Yield the passes that forward a tree, each of `heads` with its logits once."""
    held: dict[int, KeysAndValues] = {-1: []}
    for step in steps:
        new_heads = heads & set(step.new)
        before = held[step.prefix]
        if not step.keeps:
            yield _forward(
                model, tree, step.nodes, new_heads, before, keys=keys, packed=True
            )
            continue
        _let_go_of_keys_above(held, tree, step.nodes[0])
        for at in range(0, len(step.nodes), length):
            nodes = step.nodes[at : at + length]
            done = _forward(model, tree, nodes, new_heads, before)
            before = done.keys
            yield done
            del done  # its logits are let go before the next pass
        held[step.nodes[-1]] = before


def _let_go_of_keys_above(
    held: dict[int, KeysAndValues], tree: Trie, first: int
) -> None:
    """Let go of keys that no step from a node on is below."""
    for node in list(held):
        is_above = node == -1 or node <= first < tree.end[node]
        if not is_above:
            del held[node]


@torch.inference_mode()
def child_log_probabilities(
    tree: Trie,
    logits: torch.Tensor,
    heads: Sequence[int],
    children: dict[int, list[int]],
) -> dict[int, float]:
    """Return the log-probability of each child of nodes."""
    places: list[int] = []
    nodes: list[int] = []
    for place, head in enumerate(heads):
        for child in children[head]:
            places.append(place)
            nodes.append(child)
    if not nodes:
        return {}
    rows = torch.tensor(places, device=logits.device)
    targets = torch.from_numpy(tree.token[nodes]).to(logits.device)
    values = plain.gather_log_probabilities(logits, rows, targets)
    return dict(zip(nodes, values, strict=True))


@torch.inference_mode()
def _forward(
    model: Local,
    tree: Trie,
    nodes: Sequence[int],
    wanted: Set[int],
    before: KeysAndValues,
    *,
    keys: bool = True,
    packed: bool = False,
) -> ForwardPass:
    """Forward one way down, as the model itself does, or branches side by side."""
    listed = list(nodes)
    depth = tree.depth[listed]
    past = before[0][0].shape[-2] if before else 0
    places = [place for place, node in enumerate(nodes) if node in wanted]
    heads = [nodes[place] for place in places]
    rows = torch.tensor(places, dtype=torch.long)
    ids = torch.from_numpy(tree.token[listed]).to(model.device)
    inputs: dict[str, Any] = {"input_ids": ids[None], "use_cache": False}
    cache_name = network_inputs.cache_argument_name(model.model)
    if before or keys:
        inputs[cache_name] = dynamic_cache(before)
        inputs["use_cache"] = True
    pack: AbstractContextManager[dict[str, Any]] = nullcontext({})
    if packed:
        visible = visible_keys(tree, nodes, past)
        depth_of_keys = np.append(np.arange(past), depth)
        pack = mask_and_positions(model, visible, depth, depth_of_keys)
    with pack as mask_and_places:
        inputs |= mask_and_places
        if network_inputs.forward_accepts_argument(type(model.model), "logits_to_keep"):
            logits = model.model(**inputs, logits_to_keep=rows).logits[0]
        else:
            logits = model.model(**inputs).logits[0][rows]
    new_keys = keys_and_values(inputs[cache_name]) if keys else []
    return ForwardPass(nodes, heads, logits, new_keys, past)


def dynamic_cache(kept: KeysAndValues) -> DynamicCache:
    """Return a cache that refers to kept keys, copies none and cuts off none."""
    cache = DynamicCache()
    for keys, values in kept:
        layer = DynamicLayer()
        layer.lazy_initialization(keys, values)
        layer.keys = keys
        layer.values = values
        cache.layers.append(layer)
    return cache


def keys_and_values(cache: DynamicCache) -> KeysAndValues:
    """Return the keys and values that a cache of `dynamic_cache` holds."""
    # All its layers have keys, which they have been given.
    layers: list[Any] = cache.layers
    return [(layer.keys, layer.values) for layer in layers]


@contextmanager
def mask_and_positions(
    model: Local, allowed: np.ndarray, queries: np.ndarray, keys: np.ndarray
) -> Iterator[dict[str, Any]]:
    """Yield mask and positions of tokens side by side; `allowed`: their texts' keys."""
    distance = queries[:, None] - keys
    windows = families.attention_windows(model.config)
    mask: torch.Tensor | dict[str, torch.Tensor]
    if isinstance(windows, dict):
        mask = {
            kind: _mask_within_window(model, allowed, distance, window)
            for kind, window in windows.items()
        }
    else:
        mask = _mask_within_window(model, allowed, distance, windows)
    query_positions = torch.from_numpy(queries).to(model.device)[None]
    key_positions = torch.from_numpy(keys).to(model.device)[None]
    with position_arguments(model, query_positions, key_positions) as positions:
        yield {"attention_mask": mask, **positions}


def _mask_within_window(
    model: Local, allowed: np.ndarray, distance: np.ndarray, window: int | None
) -> torch.Tensor:
    """Return the mask of a pack whose tokens see so many before them; None: all."""
    if window is not None:
        allowed = allowed & (distance < window)
    return attention_mask_tensor(model, allowed[None])


def attention_mask_tensor(model: Local, allowed: np.ndarray) -> torch.Tensor:
    """Return a mask as the model's attention takes it.

    `allowed` has the shape (batch, queries, keys).
    """
    mask = torch.from_numpy(allowed).to(model.device)[:, None]
    # Of the network: quantised, it may not be the one asked for.
    dtype = model.model.dtype
    is_sdpa = model.config._attn_implementation == "sdpa"
    lowest = -torch.inf if is_sdpa else torch.finfo(dtype).min
    # Added to the scores: of a mask of booleans, sdpa makes this again in every layer.
    added = torch.zeros(mask.shape, dtype=dtype, device=model.device)
    return added.masked_fill_(~mask, lowest)


@contextmanager
def position_arguments(
    model: Local, queries: torch.Tensor, keys: torch.Tensor
) -> Iterator[dict[str, Any]]:
    """Yield the positions of a pack; in models that count them, patch what does."""
    family = model.config.model_type
    with ExitStack() as patches:
        if family in POSITION_PATCHES:
            for patch in POSITION_PATCHES[family](model.model, queries, keys):
                patches.enter_context(patch)
        if family in families.HOOKED_FAMILIES:
            yield {}
        else:
            yield {"position_ids": queries}


# Below, networks and arguments are `Any`: each is of a family's own class.
Patches = Iterator[AbstractContextManager]


def _alibi_patches(
    path: str, method: str, network: Any, queries: torch.Tensor, keys: torch.Tensor
) -> Patches:
    """Have the biases of a whole text built, and those of the keys taken."""
    place = sys.modules[type(network).__module__]
    if path:
        place = network.get_submodule(path)
    original = getattr(place, method)
    length = int(keys.max()) + 1

    def biases_of_keys(first: Any, *others: Any, **settings: Any) -> torch.Tensor:
        if isinstance(first, torch.Tensor):  # a mask, then the number of heads
            first = torch.ones(1, length, dtype=torch.long, device=keys.device)
        else:  # the number of heads, then a length
            others = (length, *others[1:])
        biases = original(first, *others, **settings)
        return biases[..., keys[0]]

    yield patched(place, method, biases_of_keys)


def _relative_position_patches(
    network: Any, queries: torch.Tensor, keys: torch.Tensor
) -> Patches:
    """Have T5's relative positions told from those of the pack."""
    attention = network.decoder.block[0].layer[0].SelfAttention

    def bias(*args: Any, **settings: Any) -> torch.Tensor:
        distance = keys[:, None, :] - queries[:, :, None]
        buckets = attention._relative_position_bucket(
            distance,
            bidirectional=False,
            num_buckets=attention.relative_attention_num_buckets,
            max_distance=attention.relative_attention_max_distance,
        )
        return attention.relative_attention_bias(buckets).permute(0, 3, 1, 2)

    yield patched(attention, "compute_bias", bias)


def _gpt_neo_mask_patches(
    network: Any, queries: torch.Tensor, keys: torch.Tensor
) -> Patches:
    """Have masks replaced that count places of the sequence; the pack has its own."""
    distance = queries[0][:, None] - keys[0]
    is_near = (distance < network.config.window_size)[None, None]
    n_past = keys.shape[1] - queries.shape[1]
    for block in network.transformer.h:
        attention = block.attn.attention
        is_local = attention.attention_type == "local"
        visible = is_near if is_local else torch.ones_like(is_near)
        # It takes the last rows of a square.
        square = torch.nn.functional.pad(visible, (0, 0, n_past, 0))
        yield patched(attention, "bias", square.to(attention.bias.device))


POSITION_PATCHES: dict[str, Callable[..., Patches]] = {
    "bloom": partial(_alibi_patches, "transformer", "build_alibi_tensor"),
    "falcon": partial(_alibi_patches, "", "build_alibi_tensor"),
    "gpt_neo": _gpt_neo_mask_patches,
    "mpt": partial(_alibi_patches, "transformer", "build_mpt_alibi_tensor"),
    "mt5": _relative_position_patches,
    "t5": _relative_position_patches,
}
