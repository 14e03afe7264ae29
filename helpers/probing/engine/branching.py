"""Greedy continuations, packed: each distinct token of many prompts and of what follows them once.

The tree of prompts goes through the model as it does for scores (`packing`). What the model says is
one more branch below each prompt: the next tokens of all texts of a pack lie side by side, and a
mask lets each see its own text only.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from helpers import UserError
from helpers.models import LanguageModel, check, gpu, plain
from helpers.models.tokens import Row
from helpers.probing import engine
from helpers.probing.engine import decoding, packing, plan
from helpers.probing.engine.decoding import Rules, Task, Text
from helpers.probing.engine.packing import Kept, Pass
from helpers.probing.engine.trie import Trie, build

LOG = logging.getLogger(__name__)
_known: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()


def suits(model: LanguageModel) -> bool:
    """Return whether a model's texts can be continued in packs; it is tried once a model."""
    if model.model not in _known:
        packed = model.kind == "causal" and engine.method_of(model).method == "packed"
        _known[model.model] = packed and _exact(model)
    return _known[model.model]


def _exact(model: LanguageModel) -> bool:
    """Tell whether texts that grow token by token score as whole ones do."""
    try:
        found = check.difference(
            model, lambda rows: _scored(model, rows), lambda rows: plain.run(model, rows)
        )
    except (UserError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # whatever a model raises, batches of equal length remain
        LOG.info("%s is not continued in packs (%s).", model.name, error)
        return False
    return found <= check.limit(model)


def _scored(model: LanguageModel, rows: list[Row]) -> Iterator[dict[Row, tuple[float, ...]]]:
    """Yield the log-probabilities of rows whose scored tokens follow one after another."""
    tasks = {Task(row.ids[: row.start], anchor=row.scored): row for row in rows}
    rules = Rules(max(len(row.scored) for row in rows), (), (), forced=True)
    for texts in _run(model, list(tasks), rules, length=8, price=0):
        yield {tasks[text.task]: tuple(text.anchor_logprobs) for text in texts}


def run(model: LanguageModel, tasks: list[Task], rules: Rules) -> Iterator[list[Text]]:
    """Yield the continuations of distinct tasks, those of a pack together."""
    left, length = dict.fromkeys(tasks), engine.pack_length(model)
    while left:
        try:
            for done in _run(model, list(left), rules, length):
                for text in done:
                    del left[text.task]
                yield done
        except torch.OutOfMemoryError:
            LOG.info("%s: packs of %d tokens do not fit; half goes on.", model.name, length)
        else:
            return
        length = gpu.halved(length)


def _run(
    model: LanguageModel,
    tasks: list[Task],
    rules: Rules,
    length: int,
    price: float = plan.PASS,
) -> Iterator[list[Text]]:
    tree, asked = _tree(tasks)
    for done in packing.passes(model, tree, asked.keys(), length, price, keys=True):
        if done.heads:
            yield _continued(model, tree, done, asked, rules)


def _tree(tasks: list[Task]) -> tuple[Trie, dict[int, list[Task]]]:
    """Return the tree of prompts, and the tasks of those that end at a node.

    A node more below each stands for the token that is to be chosen, so that the last one of the
    prompt is forwarded.
    """
    groups: dict[tuple[int, ...], list[Task]] = {}
    for task in tasks:
        groups.setdefault(task.ids, []).append(task)
    tree = build([Row((*ids, 0), len(ids)) for ids in groups])
    ends = (int(tree.parent[path[0]]) for path in tree.paths)
    return tree, {end: groups[row.ids[:-1]] for end, row in zip(ends, tree.rows)}


@torch.inference_mode()
def _continued(
    model: LanguageModel, tree: Trie, done: Pass, asked: dict[int, list[Task]], rules: Rules
) -> list[Text]:
    """Return the texts that a pass of prompts begins."""
    tasks = [(at, task) for at, node in enumerate(done.heads) for task in asked[node]]
    texts = live = [Text(task) for _, task in tasks]
    rows = [at for at, _ in tasks]
    logits, keys = done.logits[rows], done.keys
    nodes, heads = np.array(done.nodes), np.array(done.heads)[rows]
    sees = packing.sees(tree, nodes, done.past)[np.searchsorted(nodes, heads)]
    places = np.append(np.arange(done.past), tree.depth[nodes])
    depth = tree.depth[heads]
    for step in range(rules.max_new_tokens):
        chosen = decoding.advance(model, live, logits, step, rules)
        going = [at for at, text in enumerate(live) if text.kept is None]
        if not going:
            break
        live = [live[at] for at in going]
        depth, sees = depth[going] + 1, sees[going]
        seen = sees.any(0)
        if 2 * seen.sum() <= len(seen):  # keys of texts that have ended are let go
            keys, sees, places = _only(keys, seen), sees[:, seen], places[seen]
        sees = np.concatenate([sees, np.eye(len(live), dtype=bool)], axis=1)
        places = np.append(places, depth)
        grown = packing.cache(keys)
        with packing.placed(model, sees, depth, places) as given:
            given |= {"past_key_values": grown, "use_cache": True}
            logits = model.model(input_ids=chosen[going][None], **given).logits[0]
        keys = packing.kept(grown)
    return texts


def _only(keys: Kept, seen: np.ndarray) -> Kept:
    at = torch.from_numpy(np.flatnonzero(seen)).to(keys[0][0].device)
    return [(k.index_select(-2, at), v.index_select(-2, at)) for k, v in keys]
