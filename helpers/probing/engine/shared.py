"""Rows in small batches over the kept keys of what they share, for models that take no pack."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from helpers.models import LanguageModel, gpu, plain
from helpers.models.tokens import Row
from helpers.probing.engine import packing, trie
from helpers.probing.engine.packing import Kept
from helpers.probing.engine.trie import Trie, build

# Larger batches only copy the kept keys more often.
ROWS = 16


def run(
    model: LanguageModel, rows: list[Row], batch_size: int | None = None, price: float = trie.PASS
) -> Iterator[dict[Row, tuple[float, ...]]]:
    """Yield the log-probabilities of rows, batch by batch."""
    alone: list[Row] = []
    size = min(batch_size or ROWS, ROWS)
    for beginning, group in beginnings(build(rows), price, size).items():
        if not beginning:
            alone += group
            continue
        keys = _keep(model, beginning)
        ordered = sorted(group, key=lambda row: (len(row.ids), row.ids, row.start), reverse=True)
        for at in range(0, len(ordered), size):
            batch = ordered[at : at + size]
            found = gpu.in_halves(lambda part: _below(model, part, keys), batch)  # noqa: B023
            yield dict(zip(batch, found))
    yield from plain.run(model, alone, batch_size)


def beginnings(tree: Trie, price: float, size: int) -> dict[tuple[int, ...], list[Row]]:
    """Return rows by the beginning that is kept for them; () for rows that share too little.

    A beginning of d tokens that n rows share is kept, the longest way up first, where the n - 1
    repeats of its tokens are more than the price of the passes: one, and one a batch. It ends
    before the token after which the first scored one is read.
    """
    ends = np.array([path[-1] for path in tree.paths])
    starts = np.array([row.start for row in tree.rows])
    inner = tree.inner.tolist()
    found: dict[tuple[int, ...], list[Row]] = {}
    at = 0
    while at < len(ends):
        best, until, gain = 0, at + 1, 0.0
        node = int(tree.parent[tree.paths[at][0]])
        while node >= 0:  # up from the last token before the first scored one
            first, last = np.searchsorted(ends, [node, tree.end[node]])
            rows = last - first
            shared = min(int(tree.depth[node]) + 1, int(starts[first:last].min()) - 1)
            worth = shared * (rows - 1) - price * (1 + -(-rows // size))
            if inner[node] and first == at and worth > gain:
                best, until, gain = shared, int(last), worth
            node = int(tree.parent[node])
        found.setdefault(tree.rows[at].ids[:best], []).extend(tree.rows[at:until])
        at = until
    return found


def _keep(model: LanguageModel, ids: tuple[int, ...]) -> Kept:
    """Return the keys of a beginning, read in shorter parts where the memory is short."""
    length = len(ids)
    while True:
        try:
            return _read(model, ids, length)
        except Exception as error:  # the failed attempt's tensors are let go before the next
            if not gpu.out_of_memory(error):
                raise
        length = gpu.halved(length)


@torch.inference_mode()
def _read(model: LanguageModel, ids: tuple[int, ...], length: int) -> Kept:
    cache = packing.cache([])
    # No logits are read; one is the fewest that every model can give.
    settings = {"logits_to_keep": 1} if plain.takes(model, "logits_to_keep") else {}
    for at in range(0, len(ids), length):
        given = torch.tensor([ids[at : at + length]], device=model.device)
        model.model(input_ids=given, past_key_values=cache, use_cache=True, **settings)
    return packing.kept(cache)


@torch.inference_mode()
def _below(model: LanguageModel, batch: list[Row], kept: Kept) -> list[tuple[float, ...]]:
    """Return the log-probabilities of rows whose beginning's keys are kept."""
    past = kept[0][0].shape[-2]
    ids, mask = plain.pad(model, [row.ids[past:] for row in batch])
    before = torch.ones(len(batch), past, dtype=mask.dtype, device=mask.device)
    inputs = {
        "input_ids": ids,
        "attention_mask": torch.cat([before, mask], dim=1),
        "past_key_values": packing.cache(kept, len(batch)),
        "use_cache": True,
    }
    return plain.read_rows(model, batch, ids, inputs, past)
