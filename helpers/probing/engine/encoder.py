"""Encoder-decoder models, packed: each source is encoded once, its continuations are one tree."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from helpers.models import LanguageModel, gpu, plain
from helpers.models.tokens import Row
from helpers.probing.engine import packing, trie
from helpers.probing.engine.packing import read
from helpers.probing.engine.trie import Step, Trie, build, by_source, readings, sees


@dataclass(frozen=True)
class Pack:
    """Some branches of one source's tree, with the encoder's states of that source."""

    tree: Trie
    step: Step
    children: dict[int, list[int]]
    states: torch.Tensor


def run(
    model: LanguageModel, rows: list[Row], length: int
) -> Iterator[dict[Row, tuple[float, ...]]]:
    """Yield the log-probabilities of rows, source by source."""
    groups = by_source(rows)
    ordered = sorted(groups, key=lambda source: (len(source), source), reverse=True)
    for sources in _together([(len(s), s) for s in ordered], gpu.tokens_per_batch(model.device)):
        states = gpu.in_halves(lambda part: _encode(model, part), sources)
        trees = [build(groups[source]) for source in sources]
        values = [np.zeros(len(tree.token)) for tree in trees]
        for scores in _decode_all(model, trees, states, length):
            for at, found in scores:
                values[at][list(found)] = list(found.values())
        yield {
            row: tuple(value[list(path)].tolist())
            for tree, value in zip(trees, values)
            for row, path in zip(tree.rows, tree.paths)
        }


def _decode_all(
    model: LanguageModel, trees: list[Trie], states: list[torch.Tensor], length: int
) -> Iterator[list[tuple[int, dict[int, float]]]]:
    """Yield what the packs of some sources read, each with the index of its source."""
    sized = []
    for at, (tree, state) in enumerate(zip(trees, states)):
        children = readings(tree)[0]
        for step in trie.plan(tree, length, trie.NEVER):
            sized.append((len(step.nodes), (at, Pack(tree, step, children, state))))
    sized.sort(key=lambda pair: -pair[0])
    for batch in _together(sized, length):
        yield list(zip([at for at, _ in batch], _decode(model, [pack for _, pack in batch])))


def _together(sized: list[tuple[int, Any]], budget: int) -> Iterator[list[Any]]:
    """Yield things together while their number times the size of the first is within a budget."""
    batch: list[Any] = []
    longest = 0
    for size, thing in sized:
        if batch and longest * (len(batch) + 1) > budget:
            yield batch
            batch = []
        longest = longest if batch else size
        batch.append(thing)
    if batch:
        yield batch


@torch.inference_mode()
def _encode(model: LanguageModel, sources: list[tuple[int, ...]]) -> list[torch.Tensor]:
    """Return the encoder's states of sources, each of shape (its length, width)."""
    ids, mask = plain.pad(model, sources)
    states = model.model.get_encoder()(input_ids=ids, attention_mask=mask)[0]
    return [state[: len(source)] for state, source in zip(states, sources)]


@torch.inference_mode()
def _decode(model: LanguageModel, packs: list[Pack]) -> list[dict[int, float]]:
    """Return what packs of several sources read, in one pass of the decoder."""
    sizes = [len(pack.step.nodes) for pack in packs]
    ids = np.zeros((len(packs), max(sizes)), dtype=np.int64)
    depth = np.zeros_like(ids)
    allowed = np.tile(np.eye(max(sizes), dtype=bool), (len(packs), 1, 1))  # a pad sees itself
    heads: list[list[int]] = []
    places: list[tuple[int, int]] = []
    for at, (pack, size) in enumerate(zip(packs, sizes)):
        nodes, new = np.array(pack.step.nodes), set(pack.step.new)
        ids[at, :size] = pack.tree.token[nodes]
        depth[at, :size] = pack.tree.depth[nodes]
        allowed[at, :size, :size] = sees(pack.tree, nodes)
        wanted = [(i, n) for i, n in enumerate(pack.step.nodes) if n in new and n in pack.children]
        heads.append([node for _, node in wanted])
        places += [(at, i) for i, _ in wanted]
    states = torch.nn.utils.rnn.pad_sequence([pack.states for pack in packs], batch_first=True)
    mask = plain.pad(model, [(0,) * len(pack.states) for pack in packs])[1]
    queries = torch.from_numpy(depth).to(model.device)
    with packing.positions(model, queries, queries) as given, _only(model, places):
        logits = model.model(
            encoder_outputs=(states,),
            attention_mask=mask,
            decoder_input_ids=torch.from_numpy(ids).to(model.device),
            decoder_attention_mask=packing.as_mask(model, allowed),
            use_cache=False,
            **given,
        ).logits
    parts = logits.split([len(part) for part in heads])
    return [read(p.tree, part, h, p.children) for p, part, h in zip(packs, parts, heads)]


@contextmanager
def _only(model: LanguageModel, places: list[tuple[int, int]]) -> Iterator[None]:
    """Let the model's head compute some (row, position) only; its logits have one row for each."""
    at = torch.tensor(places).T
    head = model.model.get_output_embeddings()
    hook = head.register_forward_pre_hook(lambda _, inputs: (inputs[0][at[0], at[1]],))
    try:
        yield
    finally:
        hook.remove()
