"""Trees of rows and the plan of their passes: each distinct token once, never more than plainly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.models.prefix_tokenising import common_prefix_length
from helpers.models.tokens import Row
from helpers.probing.engine import packing, trie
from tests import tiny_models

IDS = st.lists(st.integers(0, 2), min_size=2, max_size=9).map(tuple)
ROWS = st.lists(
    IDS.flatmap(
        lambda ids: st.integers(1, len(ids) - 1).map(
            lambda start: Row.of_ids(ids, start)
        )
    ),
    min_size=1,
    max_size=25,
)
LENGTHS = st.sampled_from([1, 2, 3, 5, 8, 100])
PRICES = st.sampled_from([0, 3, trie.PASS_PRICE, float("inf")])


def texts(tree: trie.Trie) -> list[tuple[int, ...]]:
    """Return the ids from the root to each node, told from tokens and parents alone."""
    found: list[tuple[int, ...]] = []
    for token, parent in zip(tree.token.tolist(), tree.parent.tolist()):
        found.append((found[parent] if parent >= 0 else ()) + (token,))
    return found


@given(ROWS)
def test_a_tree_has_each_distinct_beginning_once(rows):
    tree = trie.build_trie(rows)
    found = texts(tree)
    wanted = {row.ids[:n] for row in rows for n in range(1, len(row.ids) + 1)}
    assert len(found) == len(set(found)) == len(wanted)
    assert set(found) == wanted
    before_an_end = {row.ids[:n] for row in rows for n in range(1, len(row.ids))}
    assert {text for text, inner in zip(found, tree.inner) if inner} == before_an_end
    for node, text in enumerate(found):
        below = [other for other in found if other[: len(text)] == text]
        assert below == found[node : tree.end[node]]
        assert tree.depth[node] == len(text) - 1


@given(ROWS)
def test_the_path_of_a_row_is_its_scored_tokens(rows):
    tree = trie.build_trie(rows)
    assert set(tree.rows) == set(rows)
    found = texts(tree)
    for row, path in zip(tree.rows, tree.paths):
        assert [found[node] for node in path] == [
            row.ids[: n + 1] for n in range(row.start, len(row.ids))
        ]
    scored = {node for path in tree.paths for node in path}
    assert set(np.flatnonzero(tree.scored)) == scored


@given(ROWS, LENGTHS, PRICES)
def test_every_inner_node_is_forwarded_after_all_before_it(rows, length, price):
    tree = trie.build_trie(rows)
    steps = trie.plan_passes(tree, length, price)
    new = [node for step in steps for node in step.new]
    assert sorted(new) == np.flatnonzero(tree.inner).tolist()  # each once
    kept = {-1: set()}
    for step in steps:
        at_hand = kept[step.prefix]
        assert list(step.nodes) == sorted(step.nodes)
        known = set(at_hand)
        for node in step.nodes:
            assert node not in known
            assert tree.parent[node] in known or tree.parent[node] == -1
            known.add(node)
        if step.keeps:
            assert all(tree.parent[b] == a for a, b in zip(step.nodes, step.nodes[1:]))
            kept[step.nodes[-1]] = known


@given(ROWS, LENGTHS, PRICES)
def test_never_more_tokens_than_plainly_and_no_pack_too_long(rows, length, price):
    tree = trie.build_trie(rows)
    steps = trie.plan_passes(tree, length, price)
    distinct = len({row.ids[:n] for row in rows for n in range(1, len(row.ids))})
    repeated = sum(len(step.nodes) - len(step.new) for step in steps)
    assert sum(len(step.nodes) for step in steps) == distinct + repeated
    assert sum(len(step.nodes) for step in steps) <= sum(
        len(row.ids) - 1 for row in set(rows)
    )
    for step in steps:
        # Only a pack that is one way down from its beginning may be longer than asked
        # for.
        assert (
            step.keeps
            or len(step.nodes) <= length
            or np.all(np.diff(tree.depth[list(step.nodes)]) == 1)
        )


@given(ROWS)
def test_a_node_sees_its_own_text_and_nothing_else(rows):
    tree = trie.build_trie(rows)
    found = texts(tree)
    expected = [[key == query[: len(key)] for key in found] for query in found]
    assert np.array_equal(
        trie.visible_keys(tree, range(len(found))), np.array(expected)
    )


def test_a_window_is_told_from_positions_in_the_text():
    tree = trie.build_trie(
        [Row.of_ids((0, 1, 2, 3, 4, 5, 6), 6), Row.of_ids((0, 1, 2, 3, 7, 8), 5)]
    )
    nodes = [4, 5, 7]  # ids 4, 5 at positions 4, 5 and id 7 at position 4
    assert tree.token[nodes].tolist() == [4, 5, 7]
    lm = tiny_models.tiny_language_model("mistral", sliding_window=3)
    allowed, places = trie.visible_keys(tree, nodes, kept=4), tree.depth[nodes]
    with packing.mask_and_positions(
        lm, allowed, places, np.append(np.arange(4), places)
    ) as given:
        mask = given["attention_mask"][0, 0]
    assert mask.exp().int().tolist() == [  # it is added to the scores
        [0, 0, 1, 1, 1, 0, 0],
        [0, 0, 0, 1, 1, 1, 0],
        [0, 0, 1, 1, 0, 0, 1],
    ]


def relation(prefix: int, subjects: int, choices: int, tokens: int) -> list[Row]:
    """Return rows that share `prefix` ids, then ids of the subject, then have their own."""
    return [
        Row.of_ids(
            (*range(prefix), 10_000 + s, 20_000, *(c * 10 + t for t in range(tokens))),
            prefix + 2,
        )
        for s in range(subjects)
        for c in range(choices)
    ]


def test_a_long_shared_beginning_is_forwarded_once():
    rows = relation(600, 8, 100, 4)
    found = trie.count_tokens(rows)
    assert found["plain"] == 8 * 100 * 606
    assert found["distinct"] == found["forwarded"] == 600 + 8 * (2 + 100 * 3)
    assert found["heads"] == 8 * (1 + 100 * 3)
    first = trie.plan_passes(trie.build_trie(rows), 512)[0]
    assert first.keeps
    assert len(first.nodes) == 600


def test_short_shared_beginnings_are_repeated_in_packs():
    rows = [Row.of_ids((1, f, 3, 4, 5, o), 5) for f in range(300) for o in range(6)]
    steps = trie.plan_passes(trie.build_trie(rows), 512)
    assert not any(step.keeps for step in steps)
    counted = trie.count_tokens(rows)
    assert counted["distinct"] == 1 + 300 * 4
    assert counted["forwarded"] == counted["distinct"] + len(steps) - 1


def test_tokens_of_several_sources_are_counted_apart():
    rows = [Row.of_ids((0, 5, n), 1, (s,)) for s in range(3) for n in range(4)]
    counted = trie.count_tokens(rows)
    assert counted == {
        "plain": 36,
        "distinct": 6,
        "forwarded": 6,
        "heads": 6,
        "passes": 3,
    }
    steps = trie.plan_passes(trie.build_trie(rows[:4]), 1, trie.INFINITE_PRICE)
    assert not any(step.keeps for step in steps)


@pytest.mark.parametrize("kind", [tuple, bytes, list])
@given(left=st.lists(st.integers(0, 2)), right=st.lists(st.integers(0, 2)))
def test_common_prefix(kind, left, right):
    expected = 0
    while expected < min(len(left), len(right)) and left[expected] == right[expected]:
        expected += 1
    assert common_prefix_length(kind(left), kind(right)) == expected
