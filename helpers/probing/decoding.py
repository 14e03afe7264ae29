"""Greedy continuation of batches: the forward passes, and when a text has ended.

Prompts of equal length go through the model together, so no padding is needed and every position
is what it would be alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from helpers import gpu
from helpers.models import LanguageModel


@dataclass(frozen=True)
class Task:
    """A text to be continued, and the ids whose probability is read at each step.

    Attributes
    ----------
    ids : tuple of int
        What the model (or its decoder) reads first.
    source : tuple of int
        What the encoder reads; empty for a causal model.
    anchor : tuple of int
    """

    ids: tuple[int, ...]
    source: tuple[int, ...] = ()
    anchor: tuple[int, ...] = ()


@dataclass(frozen=True)
class Rules:
    """When to end a continuation: after so many tokens, at these strings, at these tokens."""

    max_new_tokens: int
    stop: tuple[str, ...]
    ends: tuple[int, ...]


@dataclass
class Text:
    """A continuation in the making."""

    task: Task
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    anchor_logprobs: list[float] = field(default_factory=list)
    kept: int | None = None  # how many of the tokens stand before the end; None: not ended


def batches(
    model: LanguageModel, tasks: list[Task], rules: Rules, batch_size: int | None
) -> Iterator[list[Task]]:
    """Yield tasks of one length together, the longest first.

    Parameters
    ----------
    model : LanguageModel
    tasks : list of Task
    rules : Rules
    batch_size : int or None
        The most tasks of a batch; None leaves it to `helpers.gpu.tokens_per_batch`.

    Yields
    ------
    list of Task
    """
    groups: dict[tuple[int, int], list[Task]] = {}
    for task in tasks:
        groups.setdefault((len(task.source), len(task.ids)), []).append(task)
    for (source, length), group in sorted(groups.items(), reverse=True):
        budget = gpu.tokens_per_batch(model.device) // (source + length + rules.max_new_tokens)
        step = batch_size or max(1, budget)
        for at in range(0, len(group), step):
            yield group[at : at + step]


@torch.inference_mode()
def continue_batch(model: LanguageModel, batch: list[Task], rules: Rules) -> list[Text]:
    """Return the continuations of tasks of equal length, in their order.

    Rows that have ended leave the batch once they are half of it.

    Parameters
    ----------
    model : LanguageModel
    batch : list of Task
    rules : Rules

    Returns
    -------
    list of Text
    """
    texts = live = [Text(task) for task in batch]
    inputs = _first_inputs(model, batch)
    new = torch.tensor([task.ids for task in batch], device=model.device)
    past = None
    for step in range(rules.max_new_tokens):
        output = model.model(**_inputs(model, inputs, new, past), past_key_values=past)
        past = output.past_key_values
        chosen = _advance(model, live, output.logits[:, -1], step, rules)
        going = [i for i, text in enumerate(live) if text.kept is None]
        if not going:
            break
        if 2 * len(going) <= len(live) and hasattr(past, "batch_select_indices"):
            kept = torch.tensor(going, device=model.device)
            past.batch_select_indices(kept)
            live = [live[i] for i in going]
            chosen = chosen[kept]
            inputs = {name: _selected(value, kept) for name, value in inputs.items()}
        new = chosen[:, None]
        inputs = _grown(inputs)
    return texts


def _first_inputs(model: LanguageModel, batch: list[Task]) -> dict[str, Any]:
    if model.kind == "seq2seq":
        source = torch.tensor([task.source for task in batch], device=model.device)
        mask = torch.ones_like(source)
        encoded = model.model.get_encoder()(input_ids=source, attention_mask=mask)
        return {"encoder_outputs": (encoded[0],), "attention_mask": mask}
    shape = (len(batch), len(batch[0].ids))
    return {"attention_mask": torch.ones(shape, dtype=torch.long, device=model.device)}


def _inputs(
    model: LanguageModel, inputs: dict[str, Any], new: torch.Tensor, past: Any
) -> dict[str, Any]:
    given = {**inputs, "use_cache": True}
    given["decoder_input_ids" if model.kind == "seq2seq" else "input_ids"] = new
    if past is None and "logits_to_keep" in inspect.signature(model.model.forward).parameters:
        given["logits_to_keep"] = 1
    return given


def _selected(value: Any, rows: torch.Tensor) -> Any:
    return tuple(part[rows] for part in value) if isinstance(value, tuple) else value[rows]


def _grown(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs with one more column in the mask of a causal model."""
    if "encoder_outputs" in inputs:
        return inputs
    mask = inputs["attention_mask"]
    return {"attention_mask": torch.cat([mask, mask.new_ones(len(mask), 1)], dim=1)}


def _advance(
    model: LanguageModel, texts: list[Text], logits: torch.Tensor, step: int, rules: Rules
) -> torch.Tensor:
    """Add a token to each text that goes on, read the anchors, and return the tokens."""
    chances = logits.float().log_softmax(-1)
    chosen = chances.argmax(-1)
    anchors = [(*text.task.anchor, *[0] * (step + 1))[step] for text in texts]
    asked = torch.stack([chosen, torch.tensor(anchors, device=chosen.device)], dim=1)
    values = chances.gather(1, asked).tolist()
    for text, token, (own, anchor) in zip(texts, chosen.tolist(), values):
        if text.kept is None:
            if step < len(text.task.anchor):
                text.anchor_logprobs.append(anchor)
            add(model, text, token, own, rules)
    return chosen


def add(model: LanguageModel, text: Text, token: int, logprob: float, rules: Rules) -> None:
    """Add a token to a text and note whether the text has ended.

    Parameters
    ----------
    model : LanguageModel
    text : Text
        Not ended yet.
    token : int
    logprob : float
    rules : Rules
    """
    if token in rules.ends:
        text.kept = len(text.ids)
        return
    text.ids.append(token)
    text.logprobs.append(logprob)
    at = stop_at(decode(model, text.task, text.ids), rules.stop)
    if at is not None:
        # The tokens that carry some of the text before the stop are kept.
        counts = range(len(text.ids) + 1)
        text.kept = next(n for n in counts if len(decode(model, text.task, text.ids[:n])) >= at)
    elif len(text.ids) == rules.max_new_tokens:
        text.kept = len(text.ids)


def stop_at(text: str, stop: Sequence[str]) -> int | None:
    """Return where the first of the stop strings begins in a text; None where there is none.

    Examples
    --------
    >>> stop_at(" France and Italy", [" or", " and"])
    7
    """
    return min((text.index(word) for word in stop if word in text), default=None)


def decode(model: LanguageModel, task: Task, ids: list[int]) -> str:
    """Return the text of new tokens, its leading space included.

    SentencePiece tokenizers drop the space before the first token that they decode, so the last
    token of the prompt is decoded along and cut off.
    """
    settings = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
    before = [] if task.source else list(task.ids[-1:])
    head = model.tokenizer.decode(before, **settings)
    whole = model.tokenizer.decode(before + ids, **settings)
    return whole[len(head) :] if whole.startswith(head) else model.tokenizer.decode(ids, **settings)
