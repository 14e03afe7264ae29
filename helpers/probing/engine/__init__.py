"""Exact scores of rows of token ids, each distinct token computed once where a model allows it.

The way of a probe: `probing.score` has `models.tokens.rows` write it as a row of ids and looks the
row up in the cache; `run` scores the rest by the model's `method`, tried against plain batches on
first use. Each method is a module whose `run` yields log-probabilities by row. ``packed``: `trie`
merges the beginnings of all rows, `plan` cuts the tree into forward passes, and `packing` (or
`encoder`, with an encoder's states) gives each pass its mask and positions, calls the model and
reads the log-softmax at each token's parent. ``rows``: `shared` keeps the keys of long beginnings.
``plain``: `models.plain` forwards whole rows. ``server``: `server_scoring` asks for them.
Greedy texts grow in packs (`branching`) or in batches of equal length (`decoding`).
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from helpers import UserError
from helpers.models import LanguageModel, check, families, gpu, plain
from helpers.models.address import Server
from helpers.models.tokens import Row
from helpers.probing import server_scoring
from helpers.probing.engine import encoder, outcomes, packing, plan, shared, trie

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Method:
    """How a model is scored."""

    method: str  # "packed", "rows" or "plain" (see `families`), or "server"
    reason: str
    checked_max_abs_diff: float | None = None  # of a log-probability from plain batches
    batches: str | None = None  # the rows that plain batches put together (`plain.TOGETHER`)


_known: weakref.WeakKeyDictionary[Any, Method] = weakref.WeakKeyDictionary()


def run(
    model: LanguageModel, rows: list[Row], batch_size: int | None = None
) -> Iterator[dict[Row, tuple[float, ...]]]:
    """Yield the log-probabilities of distinct rows, some at a time, by the model's method."""
    if isinstance(model.model, Server):
        yield from server_scoring.run(model, rows, batch_size)
    elif rows:
        yield from _run(model, rows, batch_size, method_of(model).method, pack_length(model))


def method(model: LanguageModel) -> dict[str, Any]:
    """Return how a model is scored, as plain values for a run's manifest.

    On first use two random trees are scored both by the method and in plain batches: a small one,
    with a sliding window shorter than its texts, and one that fills a pack. Where they differ,
    plain batches are used, and a warning is logged. That they agree is kept in the user's cache,
    for this model, device, number format, length of packs and version of the libraries.

    Parameters
    ----------
    model : LanguageModel

    Returns
    -------
    dict
        `method` ("packed", "rows", "plain", "server"), `reason`, `checked_max_abs_diff` (float or
        None) and `batches` (of the plain method; see `plain.TOGETHER`).
    """
    return asdict(method_of(model))


def method_of(model: LanguageModel) -> Method:
    """Return how a model is scored; the check is made once a model."""
    if isinstance(model.model, Server):
        return Method("server", " or ".join(model.model.ways), model.model.difference)
    if model.model not in _known:
        length = pack_length(model)
        kept = outcomes.read(model, "scored", length)
        found = Method(**kept) if kept else _checked(model, length)
        if found.method == "plain":
            LOG.warning(
                "%s is scored in plain batches, which is slow: %s.", model.name, found.reason
            )
        if not kept and found.method == _family(model)[0]:  # what fails is tried again
            outcomes.keep(model, "scored", length, asdict(found))
        _known[model.model] = found
    return _known[model.model]


def pack_length(model: LanguageModel) -> int:
    """Return how many tokens a pack of a model holds, with the logits of all within memory."""
    if isinstance(model.model, Server):
        return 512
    vocabulary, width = model.model.get_input_embeddings().weight.shape
    length = gpu.pack_length(model.device, width, vocabulary)
    return max(1, min(length, 4 * plain.LOGITS // vocabulary))


def count_tokens(rows: list[Row], length: int = 512) -> dict[str, int]:
    """Return what the forward passes of a decoder would compute for rows, in packs of a length.

    `plain`: tokens of all rows, one by one; `distinct`: after distinct beginnings, without those
    that end a row; `forwarded`: these and the repeated ancestors of packs; `heads`: next-token
    distributions that are read.

    >>> count_tokens([Row((7, 8, n), 2) for n in range(5)])
    {'plain': 15, 'distinct': 2, 'forwarded': 2, 'heads': 1, 'passes': 1}
    """
    counts = {"plain": sum(len(row.ids) for row in rows)}
    for source, group in encoder.by_source(rows).items():
        tree = trie.build(group)
        steps = plan.plan(tree, length, encoder.NEVER if source else plan.PASS)
        found = {
            "distinct": int(tree.inner.sum()),
            "forwarded": plan.count(steps),
            "heads": len(np.unique(tree.parent[tree.scored])),
            "passes": len(steps),
        }
        counts = {name: counts.get(name, 0) + found.get(name, 0) for name in {**counts, **found}}
    return counts


def _run(
    model: LanguageModel,
    rows: list[Row],
    batch_size: int | None,
    name: str,
    length: int,
    price: float = plan.PASS,
) -> Iterator[dict[Row, tuple[float, ...]]]:
    """Yield what a method scores; packs that the memory does not hold go on at half the size."""
    if name == "plain":
        yield from plain.run(model, rows, batch_size, method_of(model).batches or plain.TOGETHER[0])
    elif name == "rows":
        yield from shared.run(model, rows, batch_size, price)
    else:
        pack_run = encoder.run if model.kind == "seq2seq" else partial(packing.run, price=price)
        yield from packing.halving(model, pack_run, rows, length)


def _family(model: LanguageModel) -> tuple[str, str]:
    config = model.model.config
    return families.method_and_reason(config, str(config._attn_implementation))


def _checked(model: LanguageModel, length: int) -> Method:
    name, reason = _family(model)
    if name == "plain":
        return Method(name, reason, batches=_batches(model))

    def differs(length: int, filling: list[Row] | None = None) -> float:
        return check.difference(
            model,
            # Passes are free, so that beginnings are kept.
            lambda rows: _run(model, rows, None, name, length, price=0),
            lambda rows: plain.run(model, rows),
            filling,
        )

    try:
        difference = differs(8)  # packs so short that they are cut
        if difference <= check.limit(model):
            difference = max(difference, differs(length, check.fill(model, length)))
    except UserError:
        raise
    except Exception as error:  # whatever a model raises, the plain way remains
        difference, why = None, f"{type(error).__name__}: {error}"
    else:
        if difference <= check.limit(model):
            return Method(name, reason, difference)
        why = f"log-probabilities differ by {difference:.2g} from plain batches"
    return Method("plain", f"{name} fails its check: {why}", difference, _batches(model))


def _batches(model: LanguageModel) -> str:
    """Return which rows plain batches may put together without changing what one alone scores."""
    for together in plain.TOGETHER:
        try:
            difference = check.difference(
                model,
                lambda rows: plain.run(model, rows, batches=together),  # noqa: B023
                lambda rows: plain.run(model, rows, batches=plain.TOGETHER[-1]),
            )
        except (UserError, torch.OutOfMemoryError):
            raise
        except Exception as error:  # whatever a model raises, smaller batches remain
            LOG.info("%s: batches %s fail (%s).", model.name, together, error)
            continue
        if difference <= check.limit(model):
            return together
    raise UserError(
        f"{model.name} does not give the same log-probabilities twice for the same text; choose "
        "another model."
    )
