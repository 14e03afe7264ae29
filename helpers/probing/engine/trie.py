"""The tree of token sequences: each distinct token after a distinct beginning is one node of it.

A node stands for the text from the first token to its own. Rows that begin alike share nodes, so
what a model must compute for all of them is computed for each node once.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from helpers.models.splice import common_prefix
from helpers.models.tokens import Row

# Bytes of an id in the strings that rows are sorted by.
WIDTH = array("I").itemsize


@dataclass(frozen=True)
class Trie:
    """Rows as one tree, its nodes in depth-first order (rows sorted by their ids)."""

    token: np.ndarray  # id of each node's token
    parent: np.ndarray  # index of the node before it; -1: none
    depth: np.ndarray  # its position in the text
    end: np.ndarray  # the subtree of node i is the nodes i to end[i] - 1
    inner: np.ndarray  # whether any row goes on after the node: only these are ever forwarded
    scored: np.ndarray  # whether the probability of its token, given those before, is asked for
    rows: tuple[Row, ...]  # distinct, sorted
    paths: tuple[tuple[int, ...], ...]  # for each row the nodes of its scored tokens


def build(rows: Sequence[Row]) -> Trie:
    """Return the tree of rows.

    >>> tree = build([Row((7, 1, 2), 1), Row((7, 1, 3), 1), Row((7, 4), 1)])
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
        shared = common_prefix(keys[row], before) // WIDTH
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


def sizes(tree: Trie) -> np.ndarray:
    """Return for each node how many of its subtree, itself included, are forwarded.

    >>> sizes(build([Row((7, 1, 2), 1), Row((7, 1, 3), 1), Row((7, 4), 1)])).tolist()
    [2, 1, 0, 0, 0]
    """
    counted = np.concatenate([[0], np.cumsum(tree.inner)])
    return counted[tree.end] - counted[: len(tree.end)]


def attends(tree: Trie, nodes: np.ndarray) -> np.ndarray:
    """Return which nodes each node has on the way from the root to it, itself included.

    >>> tree = build([Row((7, 1, 2), 1), Row((7, 1, 3), 1), Row((7, 4), 1)])
    >>> attends(tree, np.arange(5)).astype(int)
    array([[1, 0, 0, 0, 0],
           [1, 1, 0, 0, 0],
           [1, 1, 1, 0, 0],
           [1, 1, 0, 1, 0],
           [1, 0, 0, 0, 1]])
    """
    query = nodes[:, None]
    return (nodes <= query) & (query < tree.end[nodes])
