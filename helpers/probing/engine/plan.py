"""Which nodes of a tree of rows go through the model together, and which keys are kept.

A long beginning that many rows share is forwarded once, and its keys and values are kept. What
hangs below is packed: many branches lie side by side in one sequence, and a mask lets each node
see only the way from the root to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from helpers.probing.engine.trie import Trie, sizes

# What a forward pass costs besides its tokens, in tokens: below this, keeping keys does not pay.
PASS = 32


@dataclass(frozen=True)
class Step:
    """One forward pass."""

    nodes: tuple[int, ...]  # that are forwarded, in depth-first order
    prefix: int  # the node up to which keys and values are at hand; -1: none are
    keeps: bool  # whether they are one way down whose keys are kept for later steps
    new: tuple[int, ...]  # nodes that no step before has forwarded; others: repeated ancestors


def plan(tree: Trie, length: int, price: float = PASS) -> list[Step]:
    r"""Return the forward passes that compute every inner node of a tree.

    Let d be a node's distance from the last kept node above it and S the inner nodes below it.
    Packs of `length` tokens would repeat its d tokens about :math:`\lfloor (d+S-1)/length \rfloor`
    times; where these repeats cost more tokens than `price`, the way to the node is kept. Of what
    is not kept, branches are packed in depth-first order. A pack ends before a branch that fits
    into a pack of its own but not into what is left of this one; a branch larger than a pack is
    cut, and its ancestors repeated. A way without branches is never cut. So never more tokens are
    forwarded than there are in the rows.

    >>> from helpers.models.tokens import Row
    >>> from helpers.probing.engine.trie import build
    >>> rows = [Row((7, 8, a, b, 5), 2) for a in (1, 2) for b in (3, 4)]
    >>> [step.nodes for step in plan(build(rows), length=4)]
    [(0, 1, 2, 3), (0, 1, 2, 5), (0, 1, 7, 8), (0, 1, 7, 10)]
    >>> [step.nodes for step in plan(build(rows), length=4, price=0)]
    [(0, 1), (2, 3, 5), (7, 8, 10)]
    """
    reach = _kept(tree, length, price)
    parent, inner = tree.parent.tolist(), np.flatnonzero(tree.inner)
    kept = [n for n in inner.tolist() if reach[n] == n]
    ways = {n: _way(parent, n, reach[parent[n]] if parent[n] >= 0 else -1) for n in kept}
    taken = {node for way in ways.values() for node in way}
    own: dict[int, list[int]] = {-1: [], **{n: [] for n in kept}}
    for node in inner.tolist():
        if node not in taken:
            own[reach[node]].append(node)
    steps: list[Step] = []
    seen: set[int] = set()
    for prefix, nodes in own.items():
        if prefix >= 0:
            before = reach[parent[prefix]] if parent[prefix] >= 0 else -1
            steps.append(_step(ways[prefix], before, True, seen))
        steps += [_step(pack, prefix, False, seen) for pack in packs(tree, nodes, prefix, length)]
    return steps


def packs(tree: Trie, nodes: Sequence[int], prefix: int, length: int) -> list[list[int]]:
    """Return nodes in packs, each with the ancestors that its nodes need."""
    listed = np.array(nodes, dtype=np.int64)
    below = (np.searchsorted(listed, tree.end[listed]) - np.arange(len(listed))).tolist()
    parent = tree.parent.tolist()
    runs = _runs(parent, nodes)
    found: list[list[int]] = []
    current: list[int] = []
    inside: set[int] = set()
    for at, node in enumerate(nodes):
        if at == 0 or runs[at - 1] == 1:  # else the node goes on a way that is never cut
            missing = _way(parent, parent[node], prefix, inside)
            size = len(current) + len(missing)
            alone = len(_way(parent, parent[node], prefix))
            fits = size + below[at] <= length
            larger = alone + below[at] > length and size + runs[at] <= length
            if current and not fits and not larger:
                found.append(current)
                current, inside = [], set()
                missing = _way(parent, parent[node], prefix)
            current += missing
            inside.update(missing)
        current.append(node)
        inside.add(node)
    return [sorted(pack) for pack in [*found, current] if pack]


def count(steps: Iterable[Step]) -> int:
    """Return how many tokens are forwarded in steps, repeated ancestors included."""
    return sum(len(step.nodes) for step in steps)


def _kept(tree: Trie, length: int, price: float) -> list[int]:
    """Return for each node the last node at or above it whose keys are kept; -1: none."""
    parent, depth = tree.parent.tolist(), tree.depth.tolist()
    below = sizes(tree).tolist()
    inner = np.flatnonzero(tree.inner)
    up = tree.parent[inner]
    branches = np.bincount(up[up >= 0], minlength=len(parent)).tolist()
    reach = [-1] * len(parent)
    for node in inner.tolist():
        reach[node] = last = reach[parent[node]] if parent[node] >= 0 else -1
        if branches[node] == 1:
            continue
        distance = depth[node] - (depth[last] if last >= 0 else -1)
        repeats = (distance + below[node] - 2) // length
        if distance * repeats > price:
            reach[node] = node
    return reach


def _way(
    parent: Sequence[int], node: int, prefix: int, known: Iterable[int] = frozenset()
) -> list[int]:
    """Return the nodes from below `prefix`, or below one that is known, down to `node`."""
    way = []
    while node != prefix and node >= 0 and node not in known:
        way.append(node)
        node = parent[node]
    return way[::-1]


def _runs(parent: Sequence[int], nodes: Sequence[int]) -> list[int]:
    """Return for each node how many from it on follow each other without a way back."""
    runs = [1] * len(nodes)
    for at in range(len(nodes) - 2, -1, -1):
        if parent[nodes[at + 1]] == nodes[at]:
            runs[at] = runs[at + 1] + 1
    return runs


def _step(nodes: Sequence[int], prefix: int, keeps: bool, seen: set[int]) -> Step:
    new = tuple(node for node in nodes if node not in seen)
    seen.update(new)
    return Step(tuple(nodes), prefix, keeps, new)
