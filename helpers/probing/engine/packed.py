"""Causal models, packed: each distinct token of many rows is forwarded once.

What many rows share is forwarded once into keys and values of batch 1, to which later passes
refer and which none of them copies or changes. Below, the branches of many rows lie in one
sequence. The model's head runs on distinct parents only, and its log-softmax is read at their
children.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from helpers.models import LanguageModel, plain
from helpers.models.tokens import Row
from helpers.probing.engine import packing, plan
from helpers.probing.engine.packing import Kept
from helpers.probing.engine.plan import Step
from helpers.probing.engine.trie import Trie, build


def run(
    model: LanguageModel, rows: list[Row], length: int, price: float = plan.PASS
) -> Iterator[dict[Row, tuple[float, ...]]]:
    """Yield the log-probabilities of rows, pass by pass, each row once it is read whole."""
    tree = build(rows)
    children, waiting = readings(tree)
    values = np.zeros(len(tree.token))
    kept: dict[int, Kept] = {-1: []}
    for step in plan.plan(tree, length, price):
        if step.keeps:
            # Keys that no later step is below are let go first.
            kept = {node: keys for node, keys in kept.items() if _above(tree, node, step)}
            scores, keys = _keep(model, tree, step, children, kept[step.prefix], length)
            kept[step.nodes[-1]] = keys
        else:
            scores = _pack(model, tree, step, children, kept[step.prefix])
        values[list(scores)] = list(scores.values())
        done = [row for node in step.new for row in waiting.get(node, ())]
        if done:
            yield {tree.rows[row]: tuple(values[list(tree.paths[row])].tolist()) for row in done}


def _above(tree: Trie, node: int, step: Step) -> bool:
    return node == -1 or node <= step.nodes[0] < tree.end[node]


def readings(tree: Trie) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Return for each node its children whose probability is asked for, and rows that end there.

    >>> readings(build([Row((7, 1, 2), 2), Row((7, 1, 3), 2)]))
    ({1: [2, 3]}, {1: [0, 1]})
    """
    children: dict[int, list[int]] = {}
    for node in np.flatnonzero(tree.scored).tolist():
        children.setdefault(int(tree.parent[node]), []).append(node)
    waiting: dict[int, list[int]] = {}
    for row, nodes in enumerate(tree.paths):
        waiting.setdefault(int(tree.parent[nodes[-1]]), []).append(row)
    return children, waiting


def read(
    tree: Trie, logits: torch.Tensor, heads: Sequence[int], children: dict[int, list[int]]
) -> dict[int, float]:
    """Return the log-probability of each child of nodes."""
    pairs = [(at, child) for at, node in enumerate(heads) for child in children[node]]
    if not pairs:
        return {}
    found = [child for _, child in pairs]
    rows = torch.tensor([at for at, _ in pairs], device=logits.device)
    targets = torch.from_numpy(tree.token[found]).to(logits.device)
    return dict(zip(found, plain.gather(logits, rows, targets)))


@torch.inference_mode()
def _keep(
    model: LanguageModel,
    tree: Trie,
    step: Step,
    children: dict[int, list[int]],
    before: Kept,
    length: int,
) -> tuple[dict[int, float], Kept]:
    """Forward one way down as the model itself does, and return what it reads and its keys."""
    cache = packing.cache(before)
    scores: dict[int, float] = {}
    new = set(step.new)
    for at in range(0, len(step.nodes), length):
        part = step.nodes[at : at + length]
        heads = [node for node in part if node in new and node in children]
        logits = _logits(model, tree, part, heads, past_key_values=cache, use_cache=True)
        scores |= read(tree, logits, heads, children)
    return scores, packing.kept(cache)


@torch.inference_mode()
def _pack(
    model: LanguageModel, tree: Trie, step: Step, children: dict[int, list[int]], before: Kept
) -> dict[int, float]:
    """Forward branches side by side below a kept beginning, and return what they read."""
    nodes, past = step.nodes, before[0][0].shape[-2] if before else 0
    queries = torch.from_numpy(tree.depth[list(nodes)]).to(model.device)[None]
    keys = torch.cat([torch.arange(past, device=model.device)[None], queries], dim=1)
    new = set(step.new)
    heads = [node for node in nodes if node in new and node in children]
    settings: dict[str, Any] = {"use_cache": False}
    if before:
        settings = {"past_key_values": packing.cache(before), "use_cache": True}
    settings["attention_mask"] = packing.masks(model, tree, nodes, past)
    with packing.positions(model, queries, keys) as given:
        logits = _logits(model, tree, nodes, heads, **settings, **given)
    return read(tree, logits, heads, children)


def _logits(
    model: LanguageModel, tree: Trie, nodes: Sequence[int], heads: Sequence[int], **inputs: Any
) -> torch.Tensor:
    """Return the logits of some of the nodes that are forwarded, shape (heads, vocabulary)."""
    ids = torch.from_numpy(tree.token[list(nodes)]).to(model.device)[None]
    places = {node: at for at, node in enumerate(nodes)}
    wanted = torch.tensor([places[node] for node in heads], dtype=torch.long, device=model.device)
    if plain.takes(model, "logits_to_keep"):
        return model.model(input_ids=ids, logits_to_keep=wanted, **inputs).logits[0]
    return model.model(input_ids=ids, **inputs).logits[0][wanted]
