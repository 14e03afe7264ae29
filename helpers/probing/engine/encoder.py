"""Encoder-decoder models, packed: each source once, its continuations as one tree."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch

from helpers.models import Local, gpu, network_inputs
from helpers.models.tokens import Row
from helpers.probing.engine import packing, trie
from helpers.probing.engine.packing import Scores, child_log_probabilities
from helpers.probing.engine.trie import (
    PlannedPass,
    Trie,
    build_trie,
    children_and_ended_rows,
    rows_by_source,
    visible_keys,
)

Ids = tuple[int, ...]
T = TypeVar("T")


@dataclass(frozen=True)
class SourcePack:
    """Some branches of one source's tree, with the encoder's states of that source."""

    tree: Trie
    step: PlannedPass
    children: dict[int, list[int]]
    states: torch.Tensor
    values: np.ndarray  # log-probabilities of the tree's nodes, which are filled in


def score_by_source(model: Local, rows: list[Row], length: int) -> Scores:
    """Yield the log-probabilities of rows, source by source."""
    groups = rows_by_source(rows)
    ordered = sorted(groups, key=_length_and_ids, reverse=True)
    encode = functools.partial(_encode, model)
    for sources in _together(ordered, len, gpu.tokens_per_batch(model.device)):
        states = gpu.run_in_halves(encode, sources)
        packs: list[SourcePack] = []
        for source, source_states in zip(sources, states, strict=True):
            packs += _packs_of_source(groups[source], source_states, length)
        packs.sort(key=_size, reverse=True)
        for batch in _together(packs, _size, length):
            _decode(model, batch)
        # One pack of each tree, whose values all of its packs share.
        pack_of_tree = {id(pack.tree): pack for pack in packs}
        scores = {}
        for pack in pack_of_tree.values():
            for row, path in zip(pack.tree.rows, pack.tree.paths, strict=True):
                scores[row] = tuple(pack.values[list(path)].tolist())
        yield scores


def _length_and_ids(source: Ids) -> tuple[int, Ids]:
    """Return what sources are ordered by."""
    return len(source), source


def _packs_of_source(
    rows: list[Row], states: torch.Tensor, length: int
) -> list[SourcePack]:
    """Return the tree of a source's rows in packs."""
    tree = build_trie(rows)
    children, _ = children_and_ended_rows(tree)
    values = np.zeros(len(tree.token))
    steps = trie.plan_passes(tree, length, trie.INFINITE_PRICE)
    return [SourcePack(tree, step, children, states, values) for step in steps]


def _size(pack: SourcePack) -> int:
    """Return how many tokens of the decoder a pack has."""
    return len(pack.step.nodes)


def _together(
    items: list[T], size: Callable[[T], int], budget: int
) -> Iterator[list[T]]:
    """Yield items together, the largest first, as many of its size as fit a budget."""
    while items:
        n_items = max(1, budget // max(1, size(items[0])))
        yield items[:n_items]
        items = items[n_items:]


@torch.inference_mode()
def _encode(model: Local, sources: list[Ids]) -> list[torch.Tensor]:
    """Return the encoder's states of sources, each of shape (its length, width)."""
    ids, mask = network_inputs.pad_ids(model, sources)
    states = model.model.get_encoder()(input_ids=ids, attention_mask=mask)[0]
    return [
        source_states[: len(source)]
        for source_states, source in zip(states, sources, strict=True)
    ]


@torch.inference_mode()
def _decode(model: Local, packs: list[SourcePack]) -> None:
    """Fill in what packs of several sources read, in one pass of the decoder."""
    n_packs = len(packs)
    longest = max(map(_size, packs))
    ids = np.zeros((n_packs, longest), dtype=np.int64)
    depth = np.zeros_like(ids)
    # A pad sees itself.
    itself = np.eye(longest, dtype=bool)
    allowed = np.tile(itself, (n_packs, 1, 1))
    heads: list[list[int]] = []
    head_packs: list[int] = []
    head_places: list[int] = []
    for at, pack in enumerate(packs):
        size = _size(pack)
        nodes = np.array(pack.step.nodes)
        ids[at, :size] = pack.tree.token[nodes]
        depth[at, :size] = pack.tree.depth[nodes]
        allowed[at, :size, :size] = visible_keys(pack.tree, nodes)
        new_heads = pack.children.keys() & set(pack.step.new)
        places = np.flatnonzero(np.isin(nodes, list(new_heads)))
        heads.append(nodes[places].tolist())
        head_packs += [at] * len(places)
        head_places += places.tolist()
    states = torch.nn.utils.rnn.pad_sequence(
        [pack.states for pack in packs], batch_first=True
    )
    source_pads = [(0,) * len(pack.states) for pack in packs]
    _, source_mask = network_inputs.pad_ids(model, source_pads)
    positions = torch.from_numpy(depth).to(model.device)

    def keep_heads(_: torch.nn.Module, inputs: tuple[torch.Tensor]) -> torch.Tensor:
        return inputs[0][head_packs, head_places]

    # The head computes these places only; the logits have one row for each.
    head_module: torch.nn.Module = model.model.get_output_embeddings()
    hook = head_module.register_forward_pre_hook(keep_heads)
    with packing.position_arguments(model, positions, positions) as arguments, hook:
        logits = model.model(
            encoder_outputs=(states,),
            attention_mask=source_mask,
            decoder_input_ids=torch.from_numpy(ids).to(model.device),
            decoder_attention_mask=packing.attention_mask_tensor(model, allowed),
            use_cache=False,
            **arguments,
        ).logits
    logits_of_packs = logits.split([len(nodes) for nodes in heads])
    for pack, part, nodes_of_part in zip(packs, logits_of_packs, heads, strict=True):
        scores = child_log_probabilities(pack.tree, part, nodes_of_part, pack.children)
        pack.values[list(scores)] = list(scores.values())
