"""The tree of token sequences, and which of its nodes go through the model together.

Rows that begin alike share nodes, and a model computes each node once. A token's
probability is read at the node before it, so a node after which no row goes on is never
forwarded::

    rows      France Rome Italy     tree    0 France        forwarded
              France Rome Spain             +- 1 Rome       forwarded
              France Bern Chur              |  +- 2 Italy   read at 1
                                            |  +- 3 Spain   read at 1
                                            +- 4 Bern       forwarded
                                               +- 5 Chur    read at 4

Nodes lie side by side in one sequence, a pack. Each has the position that it has in its
own text, and a row of the mask lets it see the way from the root to itself and nothing
else: Bern sees France and Bern. A long beginning that many rows share is forwarded
alone, and its keys and values are kept; packs below it see all of them. A tree that is
larger than a pack is cut, and what the rest needs of the way to it is forwarded again.
"""

import sys
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from helpers.models.prefix_tokenising import common_prefix_length
from helpers.models.tokens import Row

# Bytes of an id in the strings that rows are sorted by.
BYTES_PER_ID = array("I").itemsize
# What a forward pass costs besides its tokens, in tokens: below this, keeping keys does
# not pay.
PASS_PRICE = 32
INFINITE_PRICE = float("inf")


@dataclass(frozen=True)
class Trie:
    """Rows as one tree, its nodes in depth-first order (rows sorted by their ids)."""

    token: np.ndarray  # id of each node's token
    parent: np.ndarray  # index of the node before it; -1: none
    depth: np.ndarray  # its position in the text
    end: np.ndarray  # the subtree of node i is the nodes i to end[i] - 1
    inner: (
        np.ndarray
    )  # whether any row goes on after the node: only these are ever forwarded
    scored: (
        np.ndarray
    )  # whether the probability of its token, given those before, is asked for
    rows: tuple[Row, ...]  # distinct, sorted
    paths: tuple[tuple[int, ...], ...]  # for each row the nodes of its scored tokens


def build_trie(rows: Sequence[Row]) -> Trie:
    """Return the tree of rows.

    >>> tree = build_trie([Row((7, 1, 2), 1), Row((7, 1, 3), 1), Row((7, 4), 1)])
    >>> tree.token.tolist(), tree.parent.tolist(), tree.end.tolist()
    ([7, 1, 2, 3, 4], [-1, 0, 1, 1, 0], [5, 4, 3, 4, 5])
    >>> tree.inner.tolist(), tree.paths
    ([True, True, False, False, False], ((1, 2), (1, 3), (4,)))
    """
    keys = {row: _bytes(row.ids) for row in rows}
    ordered = sorted(keys, key=lambda row: (keys[row], row.start))
    token: list[int] = []
    parent: list[int] = []
    depth: list[int] = []
    end: list[int] = []
    paths: list[tuple[int, ...]] = []
    path: list[int] = []
    before = b""
    for row in ordered:
        shared = common_prefix_length(keys[row], before) // BYTES_PER_ID
        for node in path[shared:]:
            end[node] = len(token)
        del path[shared:]
        for at in range(shared, len(row.ids)):
            parent.append(path[-1] if path else -1)
            path.append(len(token))
            token.append(row.ids[at])
            depth.append(at)
            end.append(0)
        paths.append(tuple(path[row.start :]))
        before = keys[row]
    for node in path:
        end[node] = len(token)
    ends = np.array(end, dtype=np.int64)
    scored = np.zeros(len(token), dtype=bool)
    scored[[node for nodes in paths for node in nodes]] = True
    return Trie(
        token=np.array(token, dtype=np.int64),
        parent=np.array(parent, dtype=np.int64),
        depth=np.array(depth, dtype=np.int64),
        end=ends,
        inner=ends > np.arange(1, len(token) + 1),
        scored=scored,
        rows=tuple(ordered),
        paths=tuple(paths),
    )


def _bytes(ids: Sequence[int]) -> bytes:
    """Return ids as bytes in the same order, which compare a hundred times faster."""
    numbers = array("I", ids)
    if sys.byteorder == "little":
        numbers.byteswap()
    return numbers.tobytes()


def children_and_ended_rows(
    tree: Trie,
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Return for each node its children whose probability is asked for, and rows that end there."""
    children: dict[int, list[int]] = {}
    for node in np.flatnonzero(tree.scored).tolist():
        children.setdefault(int(tree.parent[node]), []).append(node)
    waiting: dict[int, list[int]] = {}
    for row, nodes in enumerate(tree.paths):
        waiting.setdefault(int(tree.parent[nodes[-1]]), []).append(row)
    return children, waiting


def visible_keys(tree: Trie, nodes: Sequence[int], kept: int = 0) -> np.ndarray:
    """Return which keys are of a node's own text: those kept before a pack, then the pack's own."""
    at = np.asarray(nodes, dtype=np.int64)
    query = at[:, None]
    inside = (at <= query) & (query < tree.end[at])
    return np.concatenate([np.ones((len(at), kept), dtype=bool), inside], axis=1)


@dataclass(frozen=True)
class PlannedPass:
    """One forward pass."""

    nodes: tuple[int, ...]  # that are forwarded, in depth-first order
    prefix: int  # the node up to which keys and values are at hand; -1: none are
    keeps: bool  # whether they are one way down whose keys are kept for later steps
    new: tuple[
        int, ...
    ]  # nodes that no step before has forwarded; others: repeated ancestors


def plan_passes(
    tree: Trie, length: int, price: float = PASS_PRICE
) -> list[PlannedPass]:
    r"""Return the forward passes that compute every inner node of a tree.

    Let d be a node's distance from the last kept node above it and S the inner nodes
    below it.
    Packs of `length` tokens would repeat its d tokens about :math:`\lfloor (d+S-1)/length \rfloor`
    times; where these repeats cost more tokens than `price`, the way to the node is
    kept. Of what is not kept, branches are packed in depth-first order. A pack ends
    before a branch that fits into a pack of its own but not into what is left of this
    one; a branch larger than a pack is cut, and its ancestors repeated. A way without
    branches is never cut. So never more tokens are forwarded than there are in the
    rows.

    >>> rows = [Row((7, 8, a, b, 5), 2) for a in (1, 2) for b in (3, 4)]
    >>> [step.nodes for step in plan_passes(build_trie(rows), length=4)]
    [(0, 1, 2, 3), (0, 1, 2, 5), (0, 1, 7, 8), (0, 1, 7, 10)]
    >>> [step.nodes for step in plan_passes(build_trie(rows), length=4, price=0)]
    [(0, 1), (2, 3, 5), (7, 8, 10)]
    """
    reach = _kept(tree, length, price)
    parent, inner = tree.parent.tolist(), np.flatnonzero(tree.inner)
    kept = [n for n in inner.tolist() if reach[n] == n]
    ways = {
        n: _way(parent, n, reach[parent[n]] if parent[n] >= 0 else -1) for n in kept
    }
    taken = {node for way in ways.values() for node in way}
    own: dict[int, list[int]] = {-1: [], **{n: [] for n in kept}}
    for node in inner.tolist():
        if node not in taken:
            own[reach[node]].append(node)
    found: list[tuple[list[int], int, bool]] = []
    for prefix, nodes in own.items():
        if prefix >= 0:
            before = reach[parent[prefix]] if parent[prefix] >= 0 else -1
            found.append((ways[prefix], before, True))
        found += [
            (pack, prefix, False)
            for pack in packs_of_nodes(tree, nodes, prefix, length)
        ]
    steps: list[PlannedPass] = []
    seen: set[int] = set()
    for nodes, prefix, keeps in found:
        new = tuple(node for node in nodes if node not in seen)
        seen.update(new)
        steps.append(PlannedPass(tuple(nodes), prefix, keeps, new))
    return steps


def packs_of_nodes(
    tree: Trie, nodes: Sequence[int], prefix: int, length: int
) -> list[list[int]]:
    """Return nodes in packs, each with the ancestors that its nodes need."""
    listed = np.array(nodes, dtype=np.int64)
    below = (
        np.searchsorted(listed, tree.end[listed]) - np.arange(len(listed))
    ).tolist()
    parent = tree.parent.tolist()
    runs = [1] * len(
        nodes
    )  # how many from a node on follow each other without a way back
    for at in range(len(nodes) - 2, -1, -1):
        if parent[nodes[at + 1]] == nodes[at]:
            runs[at] = runs[at + 1] + 1
    found: list[list[int]] = []
    current: list[int] = []
    inside: set[int] = set()
    for at, node in enumerate(nodes):
        if (
            at == 0 or runs[at - 1] == 1
        ):  # else the node goes on a way that is never cut
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


def _kept(tree: Trie, length: int, price: float) -> list[int]:
    """Return for each node the last node at or above it whose keys are kept; -1: none."""
    parent, depth = tree.parent.tolist(), tree.depth.tolist()
    inner = np.flatnonzero(tree.inner)
    counted = np.append(0, np.cumsum(tree.inner))
    below = (counted[tree.end] - counted[:-1]).tolist()  # inner nodes of each subtree
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
    parent: Sequence[int], node: int, prefix: int, known: Iterable[int] = ()
) -> list[int]:
    """Return the nodes from below `prefix`, or below one that is known, down to `node`."""
    way = []
    while node != prefix and node >= 0 and node not in known:
        way.append(node)
        node = parent[node]
    return way[::-1]


def rows_by_source(rows: Iterable[Row]) -> dict[tuple[int, ...], list[Row]]:
    """Return rows by what their encoder reads; () for all of a causal model."""
    groups: dict[tuple[int, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(row.source, []).append(row)
    return groups


def count_tokens(rows: Iterable[Row], length: int = 512) -> dict[str, int]:
    """Return what the forward passes of a decoder would compute for rows, in packs of a length.

    >>> count_tokens([Row((7, 8, n), 2) for n in range(5)])
    {'plain': 15, 'distinct': 2, 'forwarded': 2, 'heads': 1, 'passes': 1}
    """
    counts = {"plain": sum(len(row.ids) for row in rows)}
    for source, group in rows_by_source(rows).items():
        tree = build_trie(group)
        steps = plan_passes(tree, length, INFINITE_PRICE if source else PASS_PRICE)
        found = {
            "distinct": int(tree.inner.sum()),
            "forwarded": sum(len(step.nodes) for step in steps),
            "heads": len(np.unique(tree.parent[tree.scored])),
            "passes": len(steps),
        }
        counts = {
            name: counts.get(name, 0) + found.get(name, 0)
            for name in {**counts, **found}
        }
    return counts
