"""Greedy continuation of batches, for models that take no packs, and when a text has ended.

Prompts of equal length go through the model together, and what it returns to go on from
is given back to it; where that fails its trial, each text is read whole again at each
step.
"""

import itertools
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from helpers.models import LanguageModel, Local, gpu, model_checks, network_inputs
from helpers.models.tokens import Row

LOG = logging.getLogger(__name__)
# What models return to go on from, and take back under the same name.
STATE_NAMES = ("past_key_values", "cache_params", "state")
MOST_KEPT_TEXTS = 100_000
# What bytes that are no character decode as, and the most bytes (and so tokens) of a
# character.
BROKEN_CHARACTER = "\N{REPLACEMENT CHARACTER}"
MOST_TOKENS_OF_CHARACTER = 4


@dataclass(frozen=True)
class ContinuationTask:
    """A text to be continued, and the ids whose probability is read at each step."""

    ids: tuple[int, ...]  # what the model (or its decoder) reads first
    source: tuple[int, ...] = ()  # what the encoder reads; empty for a causal model
    anchor: tuple[int, ...] = ()

    def cache_parts(self) -> tuple[object, ...]:
        """Return what besides its ids tells its result from others in a cache."""
        return ("generate", len(self.source), self.anchor)


@dataclass(frozen=True)
class StoppingRules:
    """When to end a continuation: after so many tokens, at these strings, at these tokens."""

    max_new_tokens: int
    stop: tuple[str, ...]
    ends: tuple[int, ...]
    # Whether the anchor's tokens are taken, not the most probable ones.
    forced: bool = False

    def cache_parts(self) -> tuple[object, ...]:
        """Return what of them decides a result that a cache keeps."""
        return (self.max_new_tokens, self.stop, self.ends)


@dataclass
class ContinuedText:
    """A continuation in the making."""

    task: ContinuationTask
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    anchor_logprobs: list[float] = field(default_factory=list)
    kept: int | None = (
        None  # how many of the tokens stand before the end; None: not ended
    )
    scored: tuple[
        float, ...
    ] = ()  # log-probabilities of the anchor after the prompt, if asked for


def batches_of_equal_length(
    model: Local,
    tasks: list[ContinuationTask],
    rules: StoppingRules,
    batch_size: int | None,
) -> Iterator[list[ContinuationTask]]:
    """Yield tasks of one length together, the longest first."""
    groups: dict[tuple[int, int], list[ContinuationTask]] = {}
    for task in tasks:
        groups.setdefault((len(task.source), len(task.ids)), []).append(task)
    for (source, length), group in sorted(groups.items(), reverse=True):
        budget = gpu.tokens_per_batch(model.device) // (
            source + length + rules.max_new_tokens
        )
        step = batch_size or max(1, budget)
        for at in range(0, len(group), step):
            yield group[at : at + step]


@torch.inference_mode()
def continue_batch(
    model: Local, rules: StoppingRules, batch: list[ContinuationTask]
) -> list[ContinuedText]:
    """Return the continuations of tasks of equal length, in their order."""
    texts = live = [ContinuedText(task) for task in batch]
    if not keeps_state(model):
        for text in texts:
            while text.kept is None:
                row = Row((*text.task.ids, *text.ids), 1, text.task.source)
                append_next_tokens(
                    model, [text], network_inputs.logits_of_row(model, row)[-1:], rules
                )
        return texts
    reading = _Reading(model, batch)
    for _ in range(rules.max_new_tokens):
        chosen = append_next_tokens(model, live, reading.logits(), rules)
        going = [i for i, text in enumerate(live) if text.kept is None]
        if not going:
            break
        reading.append(chosen)
        if 2 * len(going) <= len(live) and reading.keep(going):
            live = [live[i] for i in going]
    return texts


class _Reading:
    """Texts of equal length in the reading: what the model has read, and its state after that."""

    def __init__(self, model: Local, batch: list[ContinuationTask]) -> None:
        self.model = model
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
        given = {**self.state, **self.encoded, "use_cache": True}
        given["decoder_input_ids" if self.encoded else "input_ids"] = (
            self.ids[:, -1:] if self.state else self.ids
        )
        if (
            not self.encoded and not self.state
        ):  # later none is needed, and Mamba takes none
            given["attention_mask"] = torch.ones_like(self.ids)
        network = self.model.model
        if network_inputs.forward_accepts_argument(type(network), "logits_to_keep"):
            given["logits_to_keep"] = 1
        output = network(**given)
        offered = {name: getattr(output, name, None) for name in STATE_NAMES}
        taken = (
            n
            for n, s in offered.items()
            if s is not None
            and network_inputs.forward_accepts_argument(type(network), n)
        )
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
def keeps_state(model: Local) -> bool:
    """Tell whether texts continued from the model's state are what whole texts give."""
    if model.trials.keeps_state is None:
        model.trials.keeps_state = _try_state(model)
    return model.trials.keeps_state


def _try_state(model: Local) -> bool:
    text = model_checks.random_text_sampler(model)
    tasks = [
        ContinuationTask(text(12), text(9) if model.kind == "seq2seq" else ())
        for _ in range(2)
    ]
    more = [text(3) for _ in tasks]
    try:
        pairs = list(_chances(model, tasks, more))
        exact = all(
            model_checks.log_probability_distance(a, b)
            <= model_checks.log_probability_tolerance(model)
            for a, b in pairs
        )
    except Exception as error:  # whatever a model raises, whole texts remain
        if gpu.is_out_of_memory(error):
            raise
        exact = False
    if not exact:
        LOG.warning(
            "%s is continued by reading the whole text at each step, which is slow: it keeps no "
            "state that leads to the same text.",
            model.name,
        )
    return exact


def _chances(
    model: Local, tasks: list[ContinuationTask], more: list[tuple[int, ...]]
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yield next log-probabilities along texts, from the state and from whole texts."""
    rows = [Row((*task.ids, *ids), 1, task.source) for task, ids in zip(tasks, more)]
    whole = [
        network_inputs.logits_of_row(model, row)[-1 - len(more[0]) :] for row in rows
    ]
    reading = _Reading(model, tasks)
    for step, column in enumerate(zip(*more)):
        yield (
            _chance(reading.logits()),
            _chance(torch.stack([part[step] for part in whole])),
        )
        reading.append(torch.tensor(column, device=model.device))
    reading.keep([len(tasks) - 1])
    yield _chance(reading.logits()[-1:]), _chance(whole[-1][-1:])


def _chance(logits: torch.Tensor) -> torch.Tensor:
    return logits.float().log_softmax(-1)


def append_next_tokens(
    model: LanguageModel,
    texts: list[ContinuedText],
    logits: torch.Tensor,
    rules: StoppingRules,
) -> torch.Tensor:
    """Add a token to each text that goes on, read the anchors, and return the tokens."""
    chances = logits.float().log_softmax(-1)
    read = [text.task.anchor[len(text.ids) :][:1] for text in texts]
    anchors = torch.tensor(
        [token for (token,) in (r or (0,) for r in read)], device=chances.device
    )
    chosen = anchors if rules.forced else chances.argmax(-1)
    asked = torch.stack([chosen, anchors], dim=1)
    values = chances.gather(1, asked).tolist()
    model_checks.refuse_invalid_log_probabilities(model, [own for own, _ in values])
    for text, token, wanted, (own, anchor) in zip(texts, chosen.tolist(), read, values):
        if text.kept is None:
            if wanted:
                text.anchor_logprobs.append(anchor)
            append_token(model, text, token, own, rules)
    return chosen


def append_token(
    model: LanguageModel,
    text: ContinuedText,
    token: int,
    logprob: float,
    rules: StoppingRules,
) -> None:
    """Add a token to a text and note whether the text has ended."""
    if token in rules.ends:
        text.kept = len(text.ids)
        return
    text.ids.append(token)
    text.logprobs.append(logprob)
    found = text_before_stop(model, text.task, text.ids, rules.stop)
    if found is not None:
        text.kept = found[1]
    elif len(text.ids) == rules.max_new_tokens:
        text.kept = len(text.ids)


def text_before_stop(
    model: LanguageModel,
    task: ContinuationTask,
    ids: Sequence[int],
    stop: Sequence[str],
) -> tuple[str, int] | None:
    """Return the text before the first stop string, and how many tokens carry it; None without."""
    whole = decode_new_tokens(model, task, ids)
    at = min((whole.index(word) for word in stop if word in whole), default=None)
    if at is None:
        return None
    counts = range(len(ids) + 1)
    kept = next(
        n
        for n in counts
        if decode_new_tokens(model, task, ids[:n]).startswith(whole[:at])
    )
    return whole[:at], kept


def decode_new_tokens(
    model: LanguageModel, task: ContinuationTask, ids: Sequence[int]
) -> str:
    """Return the text of new tokens, its leading space included; it is kept."""
    ending = () if task.source else task.ids[-MOST_TOKENS_OF_CHARACTER:]
    known = model.known.texts
    new = (ending, tuple(ids))
    if new not in known:
        if len(known) > MOST_KEPT_TEXTS:
            known.clear()
        tails = [ending[-n:] for n in range(1, len(ending) + 1)]
        # A part of a character would spoil the bytes that follow it.
        before = next(
            (t for t in tails if BROKEN_CHARACTER not in _text(model, t)), ending[-1:]
        )
        head, whole = _text(model, before), _text(model, (*before, *ids))
        known[new] = whole[len(head) :] if whole.startswith(head) else _text(model, ids)
    return known[new]


def _text(model: LanguageModel, ids: Sequence[int]) -> str:
    return model.tokenizer.decode(
        list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
    )
