"""Greedy continuation of batches: the forward passes, and when a text has ended.

This is for models that take no packs (`branching`), and encoder-decoder models.
Prompts of equal length go through the model together, so no padding is needed and every position
is what it would be alone. What a model returns to go on from (keys and values, a state) is given
back to it. Whether that works is tried on first use; where it does not, the whole text is read
again at each step, which is slow and right.
"""

from __future__ import annotations

import itertools
import logging
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from helpers.models import LanguageModel, check, gpu, plain

LOG = logging.getLogger(__name__)
# What models return to go on from, and take back under the same name.
STATES = ("past_key_values", "cache_params", "state")
MOST_TEXTS = 100_000
# What bytes that are no character decode as, and the most bytes (and so tokens) of a character.
BROKEN = "\N{REPLACEMENT CHARACTER}"
LONGEST = 4
_texts: weakref.WeakKeyDictionary[Any, dict[tuple, str]] = weakref.WeakKeyDictionary()


@dataclass(frozen=True)
class Task:
    """A text to be continued, and the ids whose probability is read at each step."""

    ids: tuple[int, ...]  # what the model (or its decoder) reads first
    source: tuple[int, ...] = ()  # what the encoder reads; empty for a causal model
    anchor: tuple[int, ...] = ()


@dataclass(frozen=True)
class Rules:
    """When to end a continuation: after so many tokens, at these strings, at these tokens."""

    max_new_tokens: int
    stop: tuple[str, ...]
    ends: tuple[int, ...]
    forced: bool = False  # whether the anchor's tokens are taken, not the most probable ones


@dataclass
class Text:
    """A continuation in the making."""

    task: Task
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    anchor_logprobs: list[float] = field(default_factory=list)
    kept: int | None = None  # how many of the tokens stand before the end; None: not ended
    scored: tuple[float, ...] = ()  # log-probabilities of the anchor after the prompt, if asked for


def batches(
    model: LanguageModel, tasks: list[Task], rules: Rules, batch_size: int | None
) -> Iterator[list[Task]]:
    """Yield tasks of one length together, the longest first."""
    groups: dict[tuple[int, int], list[Task]] = {}
    for task in tasks:
        groups.setdefault((len(task.source), len(task.ids)), []).append(task)
    for (source, length), group in sorted(groups.items(), reverse=True):
        budget = gpu.tokens_per_batch(model.device) // (source + length + rules.max_new_tokens)
        step = batch_size or max(1, budget)
        for at in range(0, len(group), step):
            yield group[at : at + step]


@dataclass(frozen=True)
class Way:
    """How a model is continued."""

    # "kept": from its state, with a mask of all tokens; "bare": from its state, without a mask;
    # "none": the whole text is read at each step.
    state: str
    together: bool  # whether texts of equal length are continued together


WAYS = [Way(*way) for way in itertools.product(("kept", "bare", "none"), (True, False))]
_known: weakref.WeakKeyDictionary[Any, Way] = weakref.WeakKeyDictionary()


@torch.inference_mode()
def continue_batch(model: LanguageModel, rules: Rules, batch: list[Task]) -> list[Text]:
    """Return the continuations of tasks of equal length, in their order.

    Rows that have ended leave the batch once they are half of it.
    """
    way = way_of(model)
    if len(batch) > 1 and not way.together:
        return [text for task in batch for text in continue_batch(model, rules, [task])]
    texts = live = [Text(task) for task in batch]
    reading = _Reading(model, batch, way)
    for _ in range(rules.max_new_tokens):
        chosen = advance(model, live, reading.logits(), rules)
        going = [i for i, text in enumerate(live) if text.kept is None]
        if not going:
            break
        reading.append(chosen)
        if 2 * len(going) <= len(live) and reading.keep(going):
            live = [live[i] for i in going]
    return texts


class _Reading:
    """Texts of equal length in the reading: what the model has read, and its state after that."""

    def __init__(self, model: LanguageModel, batch: list[Task], way: Way) -> None:
        self.model, self.way = model, way
        self.ids = torch.tensor([task.ids for task in batch], device=model.device)
        self.encoded: dict[str, Any] = {}
        self.state: dict[str, Any] = {}
        if model.kind == "seq2seq":
            source = torch.tensor([task.source for task in batch], device=model.device)
            mask = torch.ones_like(source)
            states = model.model.get_encoder()(input_ids=source, attention_mask=mask)
            self.encoded = {"encoder_outputs": states, "attention_mask": mask}

    def logits(self) -> torch.Tensor:
        """Return the logits of the next token of each text."""
        new = self.ids[:, -1:] if self.state else self.ids
        given = {**self.state, "use_cache": self.way.state != "none"}
        if self.encoded:
            given |= {**self.encoded, "decoder_input_ids": new}
        else:
            given["input_ids"] = new
            if self.way.state != "bare" or not self.state:
                given["attention_mask"] = torch.ones_like(self.ids)
        if plain.takes(self.model, "logits_to_keep"):
            given["logits_to_keep"] = 1
        output = self.model.model(**given)
        if self.way.state != "none":
            offered = {name: getattr(output, name, None) for name in STATES}
            taken = (n for n, s in offered.items() if s is not None and plain.takes(self.model, n))
            self.state = {name: offered[name] for name in itertools.islice(taken, 1)}
        return output.logits[:, -1]

    def append(self, tokens: torch.Tensor) -> None:
        """Add a token to each text."""
        self.ids = torch.cat([self.ids, tokens[:, None]], dim=1)

    def keep(self, rows: list[int]) -> bool:
        """Let go of all texts but some; return False where the state does not allow it."""
        if not all(hasattr(state, "reorder_cache") for state in self.state.values()):
            return False
        kept = torch.tensor(rows, device=self.ids.device)
        for state in self.state.values():
            state.reorder_cache(kept)
        self.ids = self.ids[kept]
        if self.encoded:
            states = self.encoded["encoder_outputs"]
            states.last_hidden_state = states.last_hidden_state[kept]
            self.encoded["attention_mask"] = self.encoded["attention_mask"][kept]
        return True


@torch.inference_mode()
def way_of(model: LanguageModel) -> Way:
    """Return how a model is continued: the first way that gives what single whole texts give."""
    if model.model in _known:
        return _known[model.model]
    text = check.texts(model)
    tasks = [Task(text(12), text(9) if model.kind == "seq2seq" else ()) for _ in range(2)]
    more = [text(3) for _ in tasks]
    wanted = [_chances(model, [t], [m], WAYS[-1])[0] for t, m in zip(tasks, more)]

    def exact(way: Way) -> bool:
        parts = [(tasks, more)] if way.together else [([t], [m]) for t, m in zip(tasks, more)]
        try:
            found = [steps for part in parts for steps in _chances(model, *part, way)]
        except Exception as error:  # whatever a model raises, another way remains
            if gpu.out_of_memory(error):
                raise
            return False
        pairs = [(a, b) for x, y in zip(found, wanted) for a, b in zip(x, y)]
        return all(check.distance(a, b) <= check.limit(model) for a, b in pairs)

    _known[model.model] = next(filter(exact, WAYS[:-1]), WAYS[-1])
    if _known[model.model].state == "none":
        LOG.warning(
            "%s is continued by reading the whole text at each step, which is slow: it keeps no "
            "state that leads to the same text.",
            model.name,
        )
    return _known[model.model]


def _chances(
    model: LanguageModel, tasks: list[Task], more: list[tuple[int, ...]], way: Way
) -> list[list[torch.Tensor]]:
    """Return for each text the next tokens' log-probabilities along it; all but the last leave."""
    found: list[list[torch.Tensor]] = [[] for _ in tasks]
    reading = _Reading(model, tasks, way)
    for column in zip(*more):
        for steps, logits in zip(found, reading.logits()):
            steps.append(logits.float().log_softmax(-1))
        reading.append(torch.tensor(column, device=model.device))
    reading.keep([len(tasks) - 1])
    found[-1].append(reading.logits()[-1].float().log_softmax(-1))
    return found


def advance(
    model: LanguageModel, texts: list[Text], logits: torch.Tensor, rules: Rules
) -> torch.Tensor:
    """Add a token to each text that goes on, read the anchors, and return the tokens."""
    chances = logits.float().log_softmax(-1)
    read = [text.task.anchor[len(text.ids) :][:1] for text in texts]
    anchors = torch.tensor([token for (token,) in (r or (0,) for r in read)], device=chances.device)
    chosen = anchors if rules.forced else chances.argmax(-1)
    asked = torch.stack([chosen, anchors], dim=1)
    values = chances.gather(1, asked).tolist()
    check.refuse_nan(model, [own for own, _ in values])
    for text, token, wanted, (own, anchor) in zip(texts, chosen.tolist(), read, values):
        if text.kept is None:
            if wanted:
                text.anchor_logprobs.append(anchor)
            add(model, text, token, own, rules)
    return chosen


def add(model: LanguageModel, text: Text, token: int, logprob: float, rules: Rules) -> None:
    """Add a token to a text and note whether the text has ended."""
    if token in rules.ends:
        text.kept = len(text.ids)
        return
    text.ids.append(token)
    text.logprobs.append(logprob)
    found = cut(model, text.task, text.ids, rules.stop)
    if found is not None:
        text.kept = found[1]
    elif len(text.ids) == rules.max_new_tokens:
        text.kept = len(text.ids)


def cut(
    model: LanguageModel, task: Task, ids: Sequence[int], stop: Sequence[str]
) -> tuple[str, int] | None:
    """Return the text before the first stop string, and how many tokens carry some of it.

    None where there is no stop string. All ids are decoded before the text is cut: fewer may end
    inside a character, which decodes as another one, or hold a part of the stop string.
    """
    whole = decode(model, task, ids)
    at = min((whole.index(word) for word in stop if word in whole), default=None)
    if at is None:
        return None
    counts = range(len(ids) + 1)
    kept = next(n for n in counts if decode(model, task, ids[:n]).startswith(whole[:at]))
    return whole[:at], kept


def decode(model: LanguageModel, task: Task, ids: Sequence[int]) -> str:
    """Return the text of new tokens, its leading space included.

    SentencePiece tokenizers drop the space before the first token that they decode, so the last
    character of the prompt is decoded along and cut off. Texts are kept: many answers are alike.
    """
    ending = () if task.source else task.ids[-LONGEST:]
    known = _texts.setdefault(model.tokenizer, {})
    new = (ending, tuple(ids))
    if new not in known:
        if len(known) > MOST_TEXTS:
            known.clear()
        tails = [ending[-n:] for n in range(1, len(ending) + 1)]
        # A part of a character would spoil the bytes that follow it.
        before = next((t for t in tails if BROKEN not in _text(model, t)), ending[-1:])
        head, whole = _text(model, before), _text(model, (*before, *ids))
        known[new] = whole[len(head) :] if whole.startswith(head) else _text(model, ids)
    return known[new]


def _text(model: LanguageModel, ids: Sequence[int]) -> str:
    return model.tokenizer.decode(
        list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
    )
