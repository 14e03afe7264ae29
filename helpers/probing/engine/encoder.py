"""Encoder-decoder models, packed: each source is encoded once, its continuations are one tree."""

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
    ordered = sorted(groups, key=lambda source: (len(source), source), reverse=True)
    for sources in _together(ordered, len, gpu.tokens_per_batch(model.device)):
        states = gpu.run_in_halves(lambda part: _encode(model, part), sources)
        packs: list[SourcePack] = []
        for source, state in zip(sources, states):
            tree = build_trie(groups[source])
            told = children_and_ended_rows(tree)[0], state, np.zeros(len(tree.token))
            packs += [
                SourcePack(tree, step, *told)
                for step in trie.plan_passes(tree, length, trie.INFINITE_PRICE)
            ]
        packs.sort(key=_size, reverse=True)
        for batch in _together(packs, _size, length):
            _decode(model, batch)
        trees = {id(pack.tree): pack for pack in packs}.values()
        yield {
            row: tuple(pack.values[list(path)].tolist())
            for pack in trees
            for row, path in zip(pack.tree.rows, pack.tree.paths)
        }


def _size(pack: SourcePack) -> int:
    return len(pack.step.nodes)


def _together(
    things: list[T], size: Callable[[T], int], budget: int
) -> Iterator[list[T]]:
    """Yield things, the largest first, while their number times its size is within a budget."""
    while things:
        most = max(1, budget // max(1, size(things[0])))
        yield things[:most]
        things = things[most:]


@torch.inference_mode()
def _encode(model: Local, sources: list[tuple[int, ...]]) -> list[torch.Tensor]:
    """Return the encoder's states of sources, each of shape (its length, width)."""
    ids, mask = network_inputs.pad_ids(model, sources)
    states = model.model.get_encoder()(input_ids=ids, attention_mask=mask)[0]
    return [state[: len(source)] for state, source in zip(states, sources)]


@torch.inference_mode()
def _decode(model: Local, packs: list[SourcePack]) -> None:
    """Fill in what packs of several sources read, in one pass of the decoder."""
    sizes = list(map(_size, packs))
    ids = np.zeros((len(packs), max(sizes)), dtype=np.int64)
    depth = np.zeros_like(ids)
    allowed = np.tile(
        np.eye(max(sizes), dtype=bool), (len(packs), 1, 1)
    )  # a pad sees itself
    heads: list[list[int]] = []
    places: list[tuple[int, int]] = []
    for at, (pack, size) in enumerate(zip(packs, sizes)):
        nodes, new = np.array(pack.step.nodes), set(pack.step.new)
        ids[at, :size] = pack.tree.token[nodes]
        depth[at, :size] = pack.tree.depth[nodes]
        allowed[at, :size, :size] = visible_keys(pack.tree, nodes)
        wanted = [
            (i, n)
            for i, n in enumerate(pack.step.nodes)
            if n in new and n in pack.children
        ]
        heads.append([node for _, node in wanted])
        places += [(at, i) for i, _ in wanted]
    states = torch.nn.utils.rnn.pad_sequence(
        [pack.states for pack in packs], batch_first=True
    )
    mask = network_inputs.pad_ids(model, [(0,) * len(pack.states) for pack in packs])[1]
    queries = torch.from_numpy(depth).to(model.device)
    head, at = model.model.get_output_embeddings(), torch.tensor(places).T
    # The head computes these places only; the logits have one row for each.
    hook = head.register_forward_pre_hook(lambda _, inputs: (inputs[0][at[0], at[1]],))
    with packing.position_arguments(model, queries, queries) as given, hook:
        logits = model.model(
            encoder_outputs=(states,),
            attention_mask=mask,
            decoder_input_ids=torch.from_numpy(ids).to(model.device),
            decoder_attention_mask=packing.attention_mask_tensor(model, allowed),
            use_cache=False,
            **given,
        ).logits
    for pack, part, nodes in zip(
        packs, logits.split([len(part) for part in heads]), heads
    ):
        found = child_log_probabilities(pack.tree, part, nodes, pack.children)
        pack.values[list(found)] = list(found.values())
