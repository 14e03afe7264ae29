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
    """Yield the log-probabilities of rows, pass by pass, each row once it is read whole."""
    tree = build_trie(rows)
    children, waiting = children_and_ended_rows(tree)
    steps, values = plan_passes(tree, length, price), np.zeros(len(tree.token))
    for done in forward_passes(model, tree, steps, length, children.keys()):
        scores = child_log_probabilities(tree, done.logits, done.heads, children)
        values[list(scores)] = list(scores.values())
        ended = [row for node in done.heads for row in waiting.get(node, ())]
        if ended:
            yield {
                tree.rows[row]: tuple(values[list(tree.paths[row])].tolist())
                for row in ended
            }
        del done  # its logits are let go before the next pass


def run_with_shrinking_packs(
    run: Callable[[list, int], Iterator[dict]], asked: list, length: int
) -> Iterator[dict]:
    """Yield what `score_in_packs` gives, some at a time; packs that the memory does not hold are halved."""
    left = dict.fromkeys(asked)
    while left:
        try:
            for done in run(list(left), length):
                for one in done:
                    del left[one]
                yield done
        except Exception as error:
            if not gpu.is_out_of_memory(error):
                raise
            LOG.info("%d at once do not fit; half goes on.", length)
        else:
            return
        length = gpu.half_pack_length(
            length
        )  # outside the clause, where the failed pass is let go


def forward_passes(
    model: Local,
    tree: Trie,
    steps: Iterable[PlannedPass],
    length: int,
    heads: Set[int],
    keys: bool = False,
) -> Iterator[ForwardPass]:
    """Yield the passes that forward a tree, with the logits of some nodes, each read once."""
    held: dict[int, KeysAndValues] = {-1: []}
    for step in steps:
        new = heads & set(step.new)
        if step.keeps:
            # Keys that no later step is below are let go first.
            first = step.nodes[0]
            held = {
                n: kept
                for n, kept in held.items()
                if n == -1 or n <= first < tree.end[n]
            }
            before = held[step.prefix]
            for at in range(0, len(step.nodes), length):
                done = _forward(model, tree, step.nodes[at : at + length], new, before)
                before = done.keys
                yield done
                del done  # its logits are let go before the next pass
            held[step.nodes[-1]] = before
        else:
            yield _forward(
                model, tree, step.nodes, new, held[step.prefix], keys, packed=True
            )


@torch.inference_mode()
def child_log_probabilities(
    tree: Trie,
    logits: torch.Tensor,
    heads: Sequence[int],
    children: dict[int, list[int]],
) -> dict[int, float]:
    """Return the log-probability of each child of nodes."""
    pairs = [(at, child) for at, node in enumerate(heads) for child in children[node]]
    if not pairs:
        return {}
    found = [child for _, child in pairs]
    rows = torch.tensor([at for at, _ in pairs], device=logits.device)
    targets = torch.from_numpy(tree.token[found]).to(logits.device)
    return dict(zip(found, plain.gather_log_probabilities(logits, rows, targets)))


@torch.inference_mode()
def _forward(
    model: Local,
    tree: Trie,
    nodes: Sequence[int],
    wanted: set[int],
    before: KeysAndValues,
    keys: bool = True,
    packed: bool = False,
) -> ForwardPass:
    """Forward a part of one way down, as the model itself does, or branches side by side."""
    past, depth = before[0][0].shape[-2] if before else 0, tree.depth[list(nodes)]
    places = {node: at for at, node in enumerate(nodes)}
    heads = [node for node in nodes if node in wanted]
    rows = torch.tensor([places[n] for n in heads], dtype=torch.long)
    inputs: dict[str, Any] = {"use_cache": False}
    if before or keys:
        inputs = {"past_key_values": dynamic_cache(before), "use_cache": True}
    inputs["input_ids"] = torch.from_numpy(tree.token[list(nodes)]).to(model.device)[
        None
    ]
    above = np.append(np.arange(past), depth)
    beside = (
        mask_and_positions(model, visible_keys(tree, nodes, past), depth, above)
        if packed
        else nullcontext({})
    )
    with beside as given:
        if network_inputs.forward_accepts_argument(type(model.model), "logits_to_keep"):
            logits = model.model(**inputs, **given, logits_to_keep=rows).logits[0]
        else:
            logits = model.model(**inputs, **given).logits[0][rows]
    return ForwardPass(
        nodes,
        heads,
        logits,
        keys_and_values(inputs["past_key_values"]) if keys else [],
        past,
    )


def dynamic_cache(kept: KeysAndValues) -> DynamicCache:
    """Return a cache that refers to kept keys, uncut by a sliding window, and copies none."""
    made = DynamicCache()
    for keys, values in kept:
        layer = DynamicLayer()
        layer.lazy_initialization(keys, values)
        layer.keys, layer.values = keys, values
        made.layers.append(layer)
    return made


def keys_and_values(cache: DynamicCache) -> KeysAndValues:
    """Return the keys and values that a cache holds."""
    return [(layer.keys, layer.values) for layer in cache.layers]


@contextmanager
def mask_and_positions(
    model: Local, allowed: np.ndarray, queries: np.ndarray, keys: np.ndarray
) -> Iterator[dict[str, Any]]:
    """Yield mask and positions of tokens that lie side by side; `allowed`: keys of their texts."""
    distance, windows = (
        queries[:, None] - keys,
        families.attention_windows(model.config),
    )
    masks = {
        kind: attention_mask_tensor(
            model, (allowed if window is None else allowed & (distance < window))[None]
        )
        for kind, window in (
            windows if isinstance(windows, dict) else {"": windows}
        ).items()
    }
    at, to = (torch.from_numpy(part).to(model.device)[None] for part in (queries, keys))
    with position_arguments(model, at, to) as given:
        yield {
            "attention_mask": masks if isinstance(windows, dict) else masks[""],
            **given,
        }


def attention_mask_tensor(model: Local, allowed: np.ndarray) -> torch.Tensor:
    """Return a mask of shape (batch, queries, keys) as the model's attention takes it."""
    mask = torch.from_numpy(allowed).to(model.device)[:, None]
    dtype = (
        model.model.dtype
    )  # of the network: quantised, it may not be the one asked for
    # Added to the scores: of a mask of booleans, sdpa makes this again in every layer.
    sdpa = model.config._attn_implementation == "sdpa"
    lowest = -torch.inf if sdpa else torch.finfo(dtype).min
    return torch.zeros(mask.shape, dtype=dtype, device=model.device).masked_fill_(
        ~mask, lowest
    )


@contextmanager
def position_arguments(
    model: Local, queries: torch.Tensor, keys: torch.Tensor
) -> Iterator[dict[str, Any]]:
    """Yield what tells a model the positions of a pack; what counts them itself is patched."""
    name = model.config.model_type
    with ExitStack() as patches:
        if name in POSITION_PATCHES:
            for patch in POSITION_PATCHES[name](model.model, queries, keys):
                patches.enter_context(patch)
        yield {} if name in families.HOOKED_FAMILIES else {"position_ids": queries}


Patches = Iterator[AbstractContextManager]


def _alibi(
    path: str, method: str, network: Any, queries: torch.Tensor, keys: torch.Tensor
) -> Patches:
    """Have the biases of a whole text built, and those of the keys taken."""
    place = (
        network.get_submodule(path) if path else sys.modules[type(network).__module__]
    )
    original, length = getattr(place, method), int(keys.max()) + 1

    def built(first: Any, *others: Any, **settings: Any) -> torch.Tensor:
        if isinstance(first, torch.Tensor):  # a mask, then the number of heads
            first = torch.ones(1, length, dtype=torch.long, device=keys.device)
        else:  # the number of heads, then a length
            others = (length, *others[1:])
        return original(first, *others, **settings)[..., keys[0]]

    yield patched(place, method, built)


def _relative(network: Any, queries: torch.Tensor, keys: torch.Tensor) -> Patches:
    """Have T5's relative positions told from those of the pack."""
    attention = network.decoder.block[0].layer[0].SelfAttention

    def bias(*args: Any, **settings: Any) -> torch.Tensor:
        buckets = attention._relative_position_bucket(
            keys[:, None, :] - queries[:, :, None],
            bidirectional=False,
            num_buckets=attention.relative_attention_num_buckets,
            max_distance=attention.relative_attention_max_distance,
        )
        return attention.relative_attention_bias(buckets).permute(0, 3, 1, 2)

    yield patched(attention, "compute_bias", bias)


def _places(network: Any, queries: torch.Tensor, keys: torch.Tensor) -> Patches:
    """Have GPT-Neo's masks, which count places of the sequence, replaced; the pack has its own."""
    near = (queries[0][:, None] - keys[0] < network.config.window_size)[None, None]
    for block in network.transformer.h:
        own = block.attn.attention
        seen = near if own.attention_type == "local" else torch.ones_like(near)
        # It takes the last rows of a square.
        square = torch.nn.functional.pad(
            seen, (0, 0, keys.shape[1] - queries.shape[1], 0)
        )
        yield patched(own, "bias", square.to(own.bias.device))


POSITION_PATCHES: dict[str, Callable[..., Patches]] = {
    "bloom": partial(_alibi, "transformer", "build_alibi_tensor"),
    "falcon": partial(_alibi, "", "build_alibi_tensor"),
    "gpt_neo": _places,
    "mpt": partial(_alibi, "transformer", "build_mpt_alibi_tensor"),
    "mt5": _relative,
    "t5": _relative,
}
