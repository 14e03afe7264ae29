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

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from helpers.models.prefix_tokenising import common_prefix_length
from helpers.models.tokens import Row

# Of ids as bytes, the largest digit first, so that they are ordered as the ids are.
ID_TYPE = np.dtype(">u4")
BYTES_PER_ID = ID_TYPE.itemsize
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
    # Whether any row goes on after the node: only these are ever forwarded.
    inner: np.ndarray
    # Whether the probability of its token, given those before, is asked for.
    scored: np.ndarray
    rows: tuple[Row, ...]  # distinct, sorted
    paths: tuple[tuple[int, ...], ...]  # for each row the nodes of its scored tokens


def build_trie(rows: Sequence[Row]) -> Trie:
    """Return the tree of rows.

    >>> texts = ((7, 1, 2), (7, 1, 3), (7, 4))
    >>> tree = build_trie([Row.of_ids(ids, start=1) for ids in texts])
    >>> tree.token.tolist(), tree.parent.tolist(), tree.end.tolist()
    ([7, 1, 2, 3, 4], [-1, 0, 1, 1, 0], [5, 4, 3, 4, 5])
    >>> tree.inner.tolist(), tree.paths
    ([True, True, False, False, False], ((1, 2), (1, 3), (4,)))
    """
    # Of rows with the same ids, the one whose continuation starts first is first.
    keys_and_rows = sorted(_keys_and_distinct_rows(rows))
    new_ids: list[bytes] = []  # of each row, those that no row before shares
    parent: list[int] = []
    depth: list[int] = []
    end: list[int] = []
    paths: list[tuple[int, ...]] = []
    path: list[int] = []  # of the last row, its node at each depth
    last_key = b""
    last_before: tuple[int, ...] = ()
    for key, row in keys_and_rows:
        n_known = BYTES_PER_ID * row.start if row.before is last_before else 0
        shared = common_prefix_length(key, last_key, n_known) // BYTES_PER_ID
        n_nodes = len(parent)
        for node in path[shared:]:
            end[node] = n_nodes
        new_ids.append(key[shared * BYTES_PER_ID :])
        new_depths = range(shared, row.length)
        new_nodes = range(n_nodes, n_nodes + len(new_depths))
        above = path[shared - 1] if shared else -1
        parent += [above, *new_nodes][:-1]
        depth += new_depths
        end += [0] * len(new_nodes)
        path[shared:] = new_nodes
        paths.append(tuple(path[row.start :]))
        last_key = key
        last_before = row.before
    for node in path:
        end[node] = len(parent)
    token = np.frombuffer(b"".join(new_ids), dtype=ID_TYPE)
    ends = np.array(end, dtype=np.int64)
    scored = np.zeros(len(token), dtype=bool)
    scored[list(itertools.chain.from_iterable(paths))] = True
    return Trie(
        token=token.astype(np.int64),
        parent=np.array(parent, dtype=np.int64),
        depth=np.array(depth, dtype=np.int64),
        end=ends,
        inner=ends > np.arange(1, len(token) + 1),
        scored=scored,
        rows=tuple(row for _, row in keys_and_rows),
        paths=tuple(paths),
    )


def _keys_and_distinct_rows(rows: Iterable[Row]) -> list[tuple[bytes, Row]]:
    """Return each distinct row behind its ids as bytes, which compare fast."""
    bytes_of_ids: dict[tuple[int, ...], bytes] = {}
    keys_and_rows = []
    for row in dict.fromkeys(rows):
        for ids in (row.before, row.scored):
            if ids not in bytes_of_ids:
                bytes_of_ids[ids] = np.array(ids, dtype=ID_TYPE).tobytes()
        key = bytes_of_ids[row.before] + bytes_of_ids[row.scored]
        keys_and_rows.append((key, row))
    return keys_and_rows


def children_and_ended_rows(
    tree: Trie,
) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Return each node's children that are asked for, and the rows that end there."""
    parent = tree.parent.tolist()
    children: dict[int, list[int]] = {}
    for node in np.flatnonzero(tree.scored).tolist():
        children.setdefault(parent[node], []).append(node)
    ended_rows: dict[int, list[int]] = {}
    for row, path in enumerate(tree.paths):
        last_head = parent[path[-1]]
        ended_rows.setdefault(last_head, []).append(row)
    return children, ended_rows


def visible_keys(
    tree: Trie, nodes: Sequence[int] | np.ndarray, kept: int = 0
) -> np.ndarray:
    """Return which keys are of a node's own text: those kept before a pack, its own."""
    keys = np.asarray(nodes, dtype=np.int64)
    queries = keys[:, None]
    # A key is of the text of its node and of all nodes below.
    own = (keys <= queries) & (queries < tree.end[keys])
    before = np.ones((len(keys), kept), dtype=bool)
    return np.concatenate([before, own], axis=1)


@dataclass(frozen=True)
class PlannedPass:
    """One forward pass."""

    nodes: tuple[int, ...]  # that are forwarded, in depth-first order
    prefix: int  # the node up to which keys and values are at hand; -1: none are
    keeps: bool  # whether they are one way down whose keys are kept for later steps
    # Nodes that no step before has forwarded; others: repeated ancestors.
    new: tuple[int, ...]


def plan_passes(
    tree: Trie, length: int, price: float = PASS_PRICE
) -> list[PlannedPass]:
    r"""Return the forward passes that compute every inner node of a tree.

    Let d be a node's distance from the last kept node above it and S the inner nodes
    below it. Packs of `length` tokens would repeat its d tokens about
    :math:`\lfloor (d+S-1)/length \rfloor` times; where these repeats cost more tokens
    than `price`, the way to the node is kept. Of what is not kept, branches are packed
    in depth-first order. A pack ends before a branch that fits into a pack of its own
    but not into what is left of this one; a branch larger than a pack is cut, and its
    ancestors repeated. A way without branches is never cut. So never more tokens are
    forwarded than there are in the rows.

    >>> texts = [(7, 8, a, b, 5) for a in (1, 2) for b in (3, 4)]
    >>> rows = [Row.of_ids(ids, start=2) for ids in texts]
    >>> [step.nodes for step in plan_passes(build_trie(rows), length=4)]
    [(0, 1, 2, 3), (0, 1, 2, 5), (0, 1, 7, 8), (0, 1, 7, 10)]
    >>> [step.nodes for step in plan_passes(build_trie(rows), length=4, price=0)]
    [(0, 1), (2, 3, 5), (7, 8, 10)]
    """
    reach = _last_kept_nodes(tree, length, price)
    parent = tree.parent.tolist()
    inner = np.flatnonzero(tree.inner).tolist()
    kept = [node for node in inner if reach[node] == node]
    prefixes: dict[int, int] = {}
    ways: dict[int, list[int]] = {}
    for node in kept:
        above = parent[node]
        prefix = reach[above] if above >= 0 else -1
        prefixes[node] = prefix
        ways[node] = _way(parent, node, prefix)
    on_kept_ways = set(itertools.chain.from_iterable(ways.values()))
    # Nodes that are packed, by the kept node above them.
    branches: dict[int, list[int]] = {-1: []}
    for node in kept:
        branches[node] = []
    for node in inner:
        if node not in on_kept_ways:
            branches[reach[node]].append(node)
    steps: list[PlannedPass] = []
    forwarded: set[int] = set()
    for prefix, nodes in branches.items():
        if prefix >= 0:
            way = ways[prefix]
            new = _nodes_outside(way, forwarded)
            steps.append(PlannedPass(tuple(way), prefixes[prefix], True, new))
            forwarded.update(new)
        for pack in packs_of_nodes(tree, nodes, prefix, length):
            new = _nodes_outside(pack, forwarded)
            steps.append(PlannedPass(tuple(pack), prefix, False, new))
            forwarded.update(new)
    return steps


def _nodes_outside(nodes: Sequence[int], known: set[int]) -> tuple[int, ...]:
    """Return those nodes that are not in a set."""
    return tuple(node for node in nodes if node not in known)


def packs_of_nodes(
    tree: Trie, nodes: Sequence[int], prefix: int, length: int
) -> list[list[int]]:
    """Return nodes in packs, each with the ancestors that its nodes need."""
    parent = tree.parent.tolist()
    listed = np.array(nodes, dtype=np.int64)
    end_places = np.searchsorted(listed, tree.end[listed])
    # How many of the nodes each one's subtree has.
    sizes = (end_places - np.arange(len(listed))).tolist()
    # How many nodes from each one on follow each other without a way back.
    runs = [1] * len(nodes)
    for at in range(len(nodes) - 2, -1, -1):
        if parent[nodes[at + 1]] == nodes[at]:
            runs[at] = runs[at + 1] + 1
    packs: list[list[int]] = []
    pack: list[int] = []
    packed: set[int] = set()
    for at, node in enumerate(nodes):
        # Else the node goes on a way that is never cut.
        is_way_begun = at == 0 or runs[at - 1] == 1
        if is_way_begun:
            missing = _way(parent, parent[node], prefix, packed)
            all_ancestors = _way(parent, parent[node], prefix)
            size = len(pack) + len(missing)
            fits = size + sizes[at] <= length
            is_larger = len(all_ancestors) + sizes[at] > length
            is_cut_here = is_larger and size + runs[at] <= length
            if pack and not fits and not is_cut_here:
                packs.append(pack)
                pack = []
                packed = set()
                missing = all_ancestors
            pack += missing
            packed.update(missing)
        pack.append(node)
        packed.add(node)
    if pack:
        packs.append(pack)
    return [sorted(pack) for pack in packs]


def _last_kept_nodes(tree: Trie, length: int, price: float) -> list[int]:
    """Return the last node at or above each whose keys are kept; -1: none."""
    parent = tree.parent.tolist()
    depth = tree.depth.tolist()
    inner = np.flatnonzero(tree.inner)
    n_inner_before = np.append(0, np.cumsum(tree.inner))
    # Inner nodes of each subtree.
    sizes = (n_inner_before[tree.end] - n_inner_before[:-1]).tolist()
    parents = tree.parent[inner]
    n_branches = np.bincount(parents[parents >= 0], minlength=len(parent)).tolist()
    reach = [-1] * len(parent)
    for node in inner.tolist():
        above = parent[node]
        last = reach[above] if above >= 0 else -1
        reach[node] = last
        if n_branches[node] == 1:
            continue
        depth_of_last = depth[last] if last >= 0 else -1
        distance = depth[node] - depth_of_last
        repeats = (distance + sizes[node] - 2) // length
        if distance * repeats > price:
            reach[node] = node
    return reach


def _way(
    parent: Sequence[int], node: int, prefix: int, known: Iterable[int] = ()
) -> list[int]:
    """Return the nodes from below `prefix`, or below a known one, down to `node`."""
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
    """Return what a decoder's passes would compute for rows, in packs of a length.

    >>> count_tokens([Row.of_ids((7, 8, n), 2) for n in range(5)])
    {'plain': 15, 'distinct': 2, 'forwarded': 2, 'heads': 1, 'passes': 1}
    """
    counts = {"plain": sum(row.length for row in rows)}
    for source, group in rows_by_source(rows).items():
        tree = build_trie(group)
        price = INFINITE_PRICE if source else PASS_PRICE
        steps = plan_passes(tree, length, price)
        counts_of_source = {
            "distinct": int(tree.inner.sum()),
            "forwarded": sum(len(step.nodes) for step in steps),
            "heads": len(np.unique(tree.parent[tree.scored])),
            "passes": len(steps),
        }
        for name, count in counts_of_source.items():
            counts[name] = counts.get(name, 0) + count
    return counts
