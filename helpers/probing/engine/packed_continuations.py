"""Greedy continuations, packed: each distinct token of many prompts and of what follows them once.

The next tokens of all texts of a pack lie side by side below their prompts, and a mask
lets each see its own text only. Anchors that are scored are branches; a text that
begins so goes on there.
"""

import logging
from collections.abc import Iterator, Set
from functools import partial

import numpy as np
import torch

from helpers.models import Local, model_checks
from helpers.models.tokens import Row
from helpers.probing.engine import decoding, packing, plain, trial, trie
from helpers.probing.engine.decoding import (
    ContinuationTask,
    ContinuedText,
    StoppingRules,
)
from helpers.probing.engine.packing import ForwardPass
from helpers.probing.engine.trie import Trie, build_trie

LOG = logging.getLogger(__name__)
# No further prompts are read while more texts go on than this part of a pack's length,
# or while their keys are more than so many packs: many texts make large products, many
# keys long attention.
PACK_SHARE_OF_TEXTS = 8
MOST_PACKS_OF_KEYS = 2


def passes_continuation_trial(model: Local, length: int) -> bool:
    """Tell whether texts that grow token by token score as whole ones do, and warn if not."""

    def found() -> tuple[bool, bool]:
        alone = partial(plain.score_in_batches, model, batches=plain.BATCH_KINDS[-1])
        why = trial.trial_difference_and_failure(
            model, length, partial(_scored, model), alone, scored=3
        )[1]
        if why:
            LOG.warning(
                "%s is continued in batches of equal length, which is slower: packs fail their "
                "check (%s).",
                model.name,
                why,
            )
        return not why, not why

    return trial.trial_outcome(model, "continued", length, found)


def _scored(model: Local, rows: list[Row], length: int) -> trial.Scores:
    """Yield the log-probabilities of rows whose scored tokens follow one after another."""
    tasks = {
        ContinuationTask(row.ids[: row.start], anchor=row.scored): row for row in rows
    }
    rules = StoppingRules(max(len(row.scored) for row in rows), (), (), forced=True)
    for texts in continue_in_packs(model, list(tasks), length, rules, price=0):
        yield {tasks[task]: tuple(text.anchor_logprobs) for task, text in texts.items()}


def continue_in_packs(
    model: Local,
    tasks: list[ContinuationTask],
    length: int,
    rules: StoppingRules,
    price: float = trie.PASS_PRICE,
    scored: Set[ContinuationTask] = frozenset(),
) -> Iterator[dict[ContinuationTask, ContinuedText]]:
    """Yield texts as they end; further prompts are read while there is room for their texts."""
    # Below a prompt are the nodes of its anchor where it is scored, else one for the
    # next token.
    rows = {
        task: Row(
            (*task.ids, *(task.anchor if task in scored else (0,))), len(task.ids)
        )
        for task in tasks
    }
    tree = build_trie(list(rows.values()))
    below = dict(zip(tree.rows, tree.paths))
    paths = {task: below[row] for task, row in rows.items()}
    values = np.full(len(tree.token), np.nan)
    late: list[ContinuedText] = []  # whose anchors are not read to their ends
    for ended in _ended(
        model, tree, paths, length, rules, price, values if scored else None
    ):
        late += ended
        for text in late:
            if text.task in scored:
                text.scored = tuple(values[list(paths[text.task])].tolist())
        whole = {text.task: text for text in late if not np.isnan(text.scored).any()}
        late = [text for text in late if text.task not in whole]
        if whole:
            yield whole


def _ended(
    model: Local,
    tree: Trie,
    paths: dict[ContinuationTask, tuple[int, ...]],
    length: int,
    rules: StoppingRules,
    price: float,
    values: np.ndarray | None,
) -> Iterator[list[ContinuedText]]:
    """Yield texts as they end; on the way the nodes' log-probabilities are read, if asked for."""
    asked: dict[int, list[ContinuationTask]] = {}
    for task, path in paths.items():
        asked.setdefault(int(tree.parent[path[0]]), []).append(task)
    children = {} if values is None else trie.children_and_ended_rows(tree)[0]
    texts = None
    steps, heads = trie.plan_passes(tree, length, price), asked.keys() | children
    for done in packing.forward_passes(model, tree, steps, length, heads, keys=True):
        prefix = int(tree.parent[done.nodes[0]])
        if texts is None or texts.prefix != prefix:
            if texts is not None:
                yield from texts.grow()
            texts = _Growing(model, rules, prefix, done)
        begun = texts.add(tree, done, asked)
        if values is not None:  # last, since reading overwrites the logits
            scores = packing.child_log_probabilities(
                tree, done.logits, done.heads, children
            )
            model_checks.refuse_invalid_log_probabilities(model, scores.values())
            values[list(scores)] = list(scores.values())
        yield begun
        del done  # its logits and keys are let go before the texts grow
        yield from texts.grow(
            length // PACK_SHARE_OF_TEXTS, MOST_PACKS_OF_KEYS * length
        )
    if texts is not None:
        yield from texts.grow()


class _Growing:
    """Texts below one kept beginning that go on side by side, each by a token a pass."""

    def __init__(
        self, model: Local, rules: StoppingRules, prefix: int, first: ForwardPass
    ) -> None:
        self.model, self.rules, self.prefix, self.past = (
            model,
            rules,
            prefix,
            first.past,
        )
        self.keys = [
            tuple(part[..., : first.past, :] for part in kept) for kept in first.keys
        ]
        self.places = np.arange(first.past)  # of the keys, in their texts
        self.texts: list[ContinuedText] = []
        self.sees = np.ones((0, first.past), dtype=bool)  # which keys are of each text
        self.depth = np.zeros(0, dtype=np.int64)  # the place of each text's next token
        self.next: torch.Tensor = torch.zeros(0, dtype=torch.long, device=model.device)

    @torch.inference_mode()
    def add(
        self, tree: Trie, done: ForwardPass, asked: dict[int, list[ContinuationTask]]
    ) -> list[ContinuedText]:
        """Begin the texts of a pass's prompts, and return those that end at once."""
        tasks = [
            (at, task)
            for at, node in enumerate(done.heads)
            for task in asked.get(node, ())
        ]
        if not tasks:
            return []
        self._let_go()
        begun = [ContinuedText(task) for _, task in tasks]
        chosen, rows = self._begin(tree, done, begun, [at for at, _ in tasks])
        nodes, heads = np.array(done.nodes), np.array(done.heads)[rows]
        sees = trie.visible_keys(tree, nodes, self.past)[np.searchsorted(nodes, heads)]
        other, gap = len(self.places) - self.past, ((0, 0), (0, len(nodes)))
        beside = np.zeros((len(heads), other), dtype=bool)
        new = np.concatenate(
            [sees[:, : self.past], beside, sees[:, self.past :]], axis=1
        )
        self.sees = np.concatenate([np.pad(self.sees, gap), new])
        self.keys = [
            tuple(
                torch.cat([old, part[..., self.past :, :]], dim=-2)
                for old, part in zip(*pair)
            )
            for pair in zip(self.keys, done.keys)
        ]
        self.places = np.append(self.places, tree.depth[nodes])
        self.depth = np.append(self.depth, tree.depth[heads] + 1)
        self.next = torch.cat([self.next, chosen])
        self.texts += begun
        return self._ended()

    def _begin(
        self, tree: Trie, done: ForwardPass, begun: list[ContinuedText], rows: list[int]
    ) -> tuple[torch.Tensor, list[int]]:
        """Add to texts what a pass's own logits give, and return the last tokens."""
        places = {node: at for at, node in enumerate(done.heads)}
        below = {
            (int(tree.parent[n]), int(tree.token[n])): at for n, at in places.items()
        }
        chosen = torch.zeros(len(begun), dtype=torch.long, device=self.model.device)
        going = list(range(len(begun)))
        while going:
            logits = done.logits[[rows[text] for text in going]]
            texts = [begun[text] for text in going]
            chosen[going] = said = decoding.append_next_tokens(
                self.model, texts, logits, self.rules
            )
            onward = {
                text: below[done.heads[rows[text]], token]
                for text, token in zip(going, said.tolist())
                if begun[text].kept is None and (done.heads[rows[text]], token) in below
            }
            rows = [onward.get(text, row) for text, row in enumerate(rows)]
            going = list(onward)
        return chosen, rows

    def grow(self, most: int = 0, keys: int = 0) -> Iterator[list[ContinuedText]]:
        """Yield texts that have ended until only so many are going on, with so many keys."""
        while self.texts and (
            len(self.texts) > most or len(self.places) - self.past > keys
        ):
            yield self._step()

    @torch.inference_mode()
    def _step(self) -> list[ContinuedText]:
        self._let_go()
        own = np.eye(len(self.texts), dtype=bool)
        self.sees = np.concatenate([self.sees, own], axis=1)
        self.places = np.append(self.places, self.depth)
        grown = packing.dynamic_cache(self.keys)
        inputs = {"past_key_values": grown, "use_cache": True}
        with packing.mask_and_positions(
            self.model, self.sees, self.depth, self.places
        ) as places:
            output = self.model.model(input_ids=self.next[None], **inputs, **places)
        logits = output.logits[0]
        self.keys = packing.keys_and_values(grown)
        self.depth = self.depth + 1
        self.next = decoding.append_next_tokens(
            self.model, self.texts, logits, self.rules
        )
        return self._ended()

    def _ended(self) -> list[ContinuedText]:
        """Take out the texts that have ended and return them."""
        ended = [text for text in self.texts if text.kept is not None]
        if ended:
            going = [at for at, text in enumerate(self.texts) if text.kept is None]
            self.texts = [self.texts[at] for at in going]
            self.sees, self.depth, self.next = (
                self.sees[going],
                self.depth[going],
                self.next[going],
            )
        return ended

    def _let_go(self) -> None:
        """Let go of keys that no text sees any more, once they are half of them."""
        seen = self.sees.any(0)
        seen[: self.past] = True
        if 2 * (seen.sum() - self.past) <= len(seen) - self.past:
            at = torch.from_numpy(np.flatnonzero(seen))
            self.keys = [
                tuple(part.index_select(-2, at.to(part.device)) for part in kept)
                for kept in self.keys
            ]
            self.sees, self.places = self.sees[:, seen], self.places[seen]
