"""Greedy continuations, packed: each distinct token of many texts goes in once.

The next tokens of all texts of a pack lie side by side below their prompts, and a mask
lets each see its own text only. Anchors that are scored are branches; a text that
begins so goes on there.
"""

import logging
from collections.abc import Iterator, Set
from functools import partial

import numpy as np
import torch

from helpers.models import Local, model_checks, network_inputs
from helpers.models.tokens import Row
from helpers.probing.engine import decoding, packing, plain, trial, trie
from helpers.probing.engine.decoding import (
    ContinuationTask,
    ContinuedText,
    StoppingRules,
)
from helpers.probing.engine.packing import ForwardPass, KeysAndValues
from helpers.probing.engine.trie import Trie, build_trie

LOG = logging.getLogger(__name__)
# No further prompts are read while more texts go on than this part of a pack's length,
# or while their keys are more than so many packs: many texts make large products, many
# keys long attention.
PACK_SHARE_OF_TEXTS = 8
MOST_PACKS_OF_KEYS = 2


def passes_continuation_trial(model: Local, length: int) -> bool:
    """Tell whether texts that grow token by token score as whole ones; warn if not."""

    def outcome_and_passed() -> tuple[bool, bool]:
        reference = partial(
            plain.score_in_batches, model, batches=plain.BATCH_KINDS[-1]
        )
        way = partial(_forced_scores, model)
        _, failure = trial.trial_difference_and_failure(
            model, length, way, reference, scored=3
        )
        if failure:
            LOG.warning(
                "%s is continued in batches of equal length, which is slower: packs "
                "fail their check (%s).",
                model.name,
                failure,
            )
        passed = not failure
        return passed, passed

    return trial.trial_outcome(model, "continued", length, outcome_and_passed)


def _forced_scores(model: Local, rows: list[Row], length: int) -> trial.Scores:
    """Yield the log-probabilities of rows, of which one token is scored a step."""
    row_of_task = {}
    for row in rows:
        task = ContinuationTask(row.before, anchor=row.scored)
        row_of_task[task] = row
    longest = max(len(row.scored) for row in rows)
    rules = StoppingRules(longest, stop=(), ends=(), forced=True)
    tasks = list(row_of_task)
    for texts in continue_in_packs(model, tasks, length, rules, price=0):
        yield {
            row_of_task[task]: tuple(text.anchor_logprobs)
            for task, text in texts.items()
        }


def continue_in_packs(
    model: Local,
    tasks: list[ContinuationTask],
    length: int,
    rules: StoppingRules,
    price: float = trie.PASS_PRICE,
    scored: Set[ContinuationTask] = frozenset(),
) -> Iterator[dict[ContinuationTask, ContinuedText]]:
    """Yield texts as they end; prompts are read while there is room for their texts."""
    rows: dict[ContinuationTask, Row] = {}
    for task in tasks:
        # Below a prompt are the nodes of its anchor where it is scored, else one for
        # the next token.
        below = task.anchor if task in scored else (0,)
        rows[task] = Row(task.ids, below)
    tree = build_trie(list(rows.values()))
    path_of_row = dict(zip(tree.rows, tree.paths, strict=True))
    paths = {task: path_of_row[row] for task, row in rows.items()}
    values = np.full(len(tree.token), np.nan)
    values_to_fill = values if scored else None
    unread: list[ContinuedText] = []  # whose anchors are not read to their ends
    for ended in _ended_texts(
        model, tree, paths, length, rules, price=price, values=values_to_fill
    ):
        read: dict[ContinuationTask, ContinuedText] = {}
        waiting = []
        for text in [*unread, *ended]:
            if text.task in scored:
                path = list(paths[text.task])
                text.scored = tuple(values[path].tolist())
            if np.isnan(text.scored).any():
                waiting.append(text)
            else:
                read[text.task] = text
        unread = waiting
        if read:
            yield read


def _ended_texts(
    model: Local,
    tree: Trie,
    paths: dict[ContinuationTask, tuple[int, ...]],
    length: int,
    rules: StoppingRules,
    *,
    price: float,
    values: np.ndarray | None,
) -> Iterator[list[ContinuedText]]:
    """Yield texts as they end; `values`, if any, are the nodes' to be filled in."""
    tasks_of_heads: dict[int, list[ContinuationTask]] = {}
    for task, path in paths.items():
        head = int(tree.parent[path[0]])
        tasks_of_heads.setdefault(head, []).append(task)
    children: dict[int, list[int]] = {}
    if values is not None:
        children, _ = trie.children_and_ended_rows(tree)
    heads = tasks_of_heads.keys() | children.keys()
    steps = trie.plan_passes(tree, length, price)
    most_texts = length // PACK_SHARE_OF_TEXTS
    most_keys = MOST_PACKS_OF_KEYS * length
    texts: _GrowingTexts | None = None
    for done in packing.forward_passes(model, tree, steps, length, heads, keys=True):
        prefix = int(tree.parent[done.nodes[0]])
        if texts is None or texts.prefix != prefix:
            if texts is not None:
                yield from texts.grow()
            texts = _GrowingTexts(model, rules, prefix, done)
        ended_at_once = texts.add(tree, done, tasks_of_heads)
        if values is not None:  # last, since reading overwrites the logits
            scores = packing.child_log_probabilities(
                tree, done.logits, done.heads, children
            )
            model_checks.refuse_invalid_log_probabilities(model, scores.values())
            values[list(scores)] = list(scores.values())
        yield ended_at_once
        del done  # its logits and keys are let go before the texts grow
        yield from texts.grow(most_texts, most_keys)
    if texts is not None:
        yield from texts.grow()


class _GrowingTexts:
    """Texts below one kept beginning that go on side by side, each by a token a pass.

    Attributes
    ----------
    prefix, past : int
        The beginning's last node, and its number of tokens.
    keys : list of pairs of Tensor
        Of each layer: first of the beginning, then of all that the texts have read.
    places : array of int
        Of the keys, in their texts.
    texts : list of ContinuedText
    sees : array of bool, of shape (texts, keys)
        Which keys are of each text.
    depth : array of int
        The place of each text's next token.
    next : Tensor of int
        Each text's next token.
    """

    def __init__(
        self, model: Local, rules: StoppingRules, prefix: int, first: ForwardPass
    ) -> None:
        past = first.past
        self.model = model
        self.rules = rules
        self.prefix = prefix
        self.past = past
        self.keys = [
            (keys[..., :past, :], values[..., :past, :]) for keys, values in first.keys
        ]
        self.places = np.arange(past)
        self.texts: list[ContinuedText] = []
        self.sees = np.ones((0, past), dtype=bool)
        self.depth = np.zeros(0, dtype=np.int64)
        self.next = torch.zeros(0, dtype=torch.long, device=model.device)

    @torch.inference_mode()
    def add(
        self,
        tree: Trie,
        done: ForwardPass,
        tasks_of_heads: dict[int, list[ContinuationTask]],
    ) -> list[ContinuedText]:
        """Begin the texts of a pass's prompts, and return those that end at once."""
        begun: list[ContinuedText] = []
        rows: list[int] = []
        for row, node in enumerate(done.heads):
            for task in tasks_of_heads.get(node, ()):
                begun.append(ContinuedText(task))
                rows.append(row)
        if not begun:
            return []
        self._let_go()
        next_tokens, rows = self._begin(tree, done, begun, rows)
        nodes = np.array(done.nodes)
        heads = np.array(done.heads)[rows]
        self._add_keys(tree, nodes, heads, done.keys)
        self.depth = np.append(self.depth, tree.depth[heads] + 1)
        self.next = torch.cat([self.next, next_tokens])
        self.texts += begun
        return self._ended()

    def _add_keys(
        self,
        tree: Trie,
        nodes: np.ndarray,
        heads: np.ndarray,
        keys_of_pass: KeysAndValues,
    ) -> None:
        """Put a pass's keys behind those at hand, and let the new texts see theirs."""
        past = self.past
        visible = trie.visible_keys(tree, nodes, past)[np.searchsorted(nodes, heads)]
        of_others = np.zeros((len(heads), len(self.places) - past), dtype=bool)
        sees = np.concatenate([visible[:, :past], of_others, visible[:, past:]], axis=1)
        others_see = np.pad(self.sees, ((0, 0), (0, len(nodes))))
        self.sees = np.concatenate([others_see, sees])
        longer = []
        for layer, new_layer in zip(self.keys, keys_of_pass, strict=True):
            keys = torch.cat([layer[0], new_layer[0][..., past:, :]], dim=-2)
            values = torch.cat([layer[1], new_layer[1][..., past:, :]], dim=-2)
            longer.append((keys, values))
        self.keys = longer
        self.places = np.append(self.places, tree.depth[nodes])

    def _begin(
        self, tree: Trie, done: ForwardPass, begun: list[ContinuedText], rows: list[int]
    ) -> tuple[torch.Tensor, list[int]]:
        """Add to texts what a pass's own logits give.

        Returns each one's last token, and the row of the logits that gave it.
        """
        rows = list(rows)
        row_below = {}
        for row, node in enumerate(done.heads):
            row_below[int(tree.parent[node]), int(tree.token[node])] = row
        last_tokens = torch.zeros(
            len(begun), dtype=torch.long, device=self.model.device
        )
        going = list(range(len(begun)))
        while going:
            logits = done.logits[[rows[at] for at in going]]
            texts = [begun[at] for at in going]
            chosen = decoding.append_next_tokens(self.model, texts, logits, self.rules)
            last_tokens[going] = chosen
            onward = []
            for at, token in zip(going, chosen.tolist(), strict=True):
                branch = (done.heads[rows[at]], token)
                if begun[at].kept is None and branch in row_below:
                    rows[at] = row_below[branch]
                    onward.append(at)
            going = onward
        return last_tokens, rows

    def grow(
        self, most_texts: int = 0, most_keys: int = 0
    ) -> Iterator[list[ContinuedText]]:
        """Yield texts that have ended until only so many go on, with so many keys."""
        while self.texts:
            n_own_keys = len(self.places) - self.past
            if len(self.texts) <= most_texts and n_own_keys <= most_keys:
                break
            yield self._step()

    @torch.inference_mode()
    def _step(self) -> list[ContinuedText]:
        """Add a token to each text, and return those that have ended."""
        self._let_go()
        own = np.eye(len(self.texts), dtype=bool)
        self.sees = np.concatenate([self.sees, own], axis=1)
        self.places = np.append(self.places, self.depth)
        cache = packing.dynamic_cache(self.keys)
        cache_argument = {network_inputs.cache_argument_name(self.model.model): cache}
        with packing.mask_and_positions(
            self.model, self.sees, self.depth, self.places
        ) as mask_and_positions:
            output = self.model.model(
                input_ids=self.next[None],
                use_cache=True,
                **cache_argument,
                **mask_and_positions,
            )
        logits = output.logits[0]
        self.keys = packing.keys_and_values(cache)
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
            self.sees = self.sees[going]
            self.depth = self.depth[going]
            self.next = self.next[going]
        return ended

    def _let_go(self) -> None:
        """Let go of keys that no text sees any more, once they are half of them."""
        is_seen = np.asarray(self.sees.any(axis=0))
        is_seen[: self.past] = True
        n_own = len(is_seen) - self.past
        n_own_seen = is_seen.sum() - self.past
        if 2 * n_own_seen > n_own:
            return
        seen = torch.from_numpy(np.flatnonzero(is_seen))
        remaining = []
        for keys, values in self.keys:
            index = seen.to(keys.device)
            keys_seen = keys.index_select(-2, index)
            values_seen = values.index_select(-2, index)
            remaining.append((keys_seen, values_seen))
        self.keys = remaining
        self.sees = self.sees[:, is_seen]
        self.places = self.places[is_seen]
