"""Greedy text with its log-probabilities, and the probability of anchors along the way.

Prompts of equal length go through the model together, so no padding is needed and every position
is what it would be alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from helpers import gpu
from helpers.errors import UserError
from helpers.models import LanguageModel
from helpers.probing import cache as caches
from helpers.probing import progress as lines
from helpers.probing import tokens
from helpers.probing.scoring import check_columns
from helpers.probing.tokens import Row


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


def generate(
    model: LanguageModel,
    prompts: Sequence[str] | pd.DataFrame,
    max_new_tokens: int = 15,
    stop: Sequence[str] = ("\n",),
    anchors: Sequence[str] | None = None,
    cache: str | Path | None = None,
    progress: bool = True,
    batch_size: int | None = None,
) -> pd.DataFrame:
    r"""Return the most probable next tokens after each prompt, one after another.

    A continuation ends at the model's end-of-text token, before the first stop string, or after
    `max_new_tokens`. With anchors, each step also reads

    .. math:: \log P(a_l \mid \text{prompt}, \hat w_1, \dots, \hat w_{l-1})

    for the anchor's l-th token after the model's own tokens (the free-running reading of MONITOR's
    released code). It is minus infinity (probability 0) once the continuation has ended; the step
    that ends it still counts. An anchor's tokens are those that `score` would score: where they
    merge with the prompt's last ones, the anchor is read in a run of its own from there.

    Parameters
    ----------
    model : LanguageModel
    prompts : sequence of str, or DataFrame with a column `prompt`
    max_new_tokens : int
        At least 1.
    stop : sequence of str
        Strings that end a continuation; they are cut from it.
    anchors : sequence of str, optional
        One continuation a prompt, for example ``" France"``.
    cache, progress, batch_size
        As in `score`.

    Returns
    -------
    DataFrame
        The prompts (all columns and the index kept) with `text`, `tokens` (list of str), `logprobs`
        (list of float, one a token), `read` and, with anchors, `anchor_logprobs` (list of float,
        one a token of the anchor).

    Raises
    ------
    UserError
        Where the column `prompt` is missing, anchors do not match prompts, or prompt and new
        tokens are longer than the model's context.
    """
    frame = prompts if isinstance(prompts, pd.DataFrame) else pd.DataFrame({"prompt": [*prompts]})
    check_columns(frame, ["prompt"])
    rules = _rules(model, max_new_tokens, stop)
    asked = list(frame["prompt"])
    texts = _text_tasks(model, asked)
    reads = None if anchors is None else _anchor_tasks(model, asked, list(anchors), texts)
    if reads is not None:
        # Where the anchor is read from the prompt's end, one run gives the text and the anchor.
        texts = [r if r.ids == t.ids else t for t, r in zip(texts, reads)]
    tasks = list(dict.fromkeys([*texts, *(reads or [])]))
    for task in tasks:
        row = Row(task.ids, 0, task.source)
        tokens.check_length(model, row, f"A prompt of {len(task.ids)} tokens", max_new_tokens - 1)
    found = _run(model, tasks, rules, cache, progress, batch_size)
    results = [found[task] for task in texts]
    columns = {
        "text": [_text(model, t, r, rules) for t, r in zip(texts, results)],
        "tokens": [tokens.pieces(model, r.ids) for r in results],
        "logprobs": [list(r.logprobs) for r in results],
        "read": tokens.read(model, asked),
    }
    if reads is not None:
        columns["anchor_logprobs"] = [list(found[task].anchor_logprobs) for task in reads]
    series = {k: pd.Series(v, index=frame.index, dtype=object) for k, v in columns.items()}
    return frame.assign(**series)


def _rules(model: LanguageModel, max_new_tokens: int, stop: Sequence[str]) -> Rules:
    if max_new_tokens < 1:
        raise UserError(f"max_new_tokens is {max_new_tokens}; give at least 1.")
    if isinstance(stop, str) or "" in stop:
        raise UserError(f"stop is {stop!r}; give a list of strings that are not empty.")
    ends: set[int] = set()
    generation = getattr(model.model, "generation_config", None)
    for settings in (generation, model.model.config, model.tokenizer):
        given = getattr(settings, "eos_token_id", None)
        ends |= set(given if isinstance(given, list | tuple) else [given])
    return Rules(max_new_tokens, tuple(stop), tuple(sorted(ends - {None})))


def _text_tasks(model: LanguageModel, prompts: list[str]) -> list[Task]:
    distinct = list(dict.fromkeys(prompts))
    found = dict(zip(distinct, tokens.prompt_ids(model, distinct)))
    if model.kind == "seq2seq":
        first = tokens.decoder_start(model)
        return [Task(first, found[prompt]) for prompt in prompts]
    empty = [prompt for prompt in distinct if not found[prompt]]
    if empty:
        raise UserError(f"The prompt {empty[0]!r} has no tokens to start from; give some text.")
    return [Task(found[prompt]) for prompt in prompts]


def _anchor_tasks(
    model: LanguageModel, prompts: list[str], anchors: list[str], texts: list[Task]
) -> list[Task]:
    if len(anchors) != len(prompts):
        raise UserError(
            f"There are {len(anchors)} anchors for {len(prompts)} prompts; give one each."
        )
    rows = tokens.rows(model, prompts, anchors, [f"prompt {p!r}" for p in zip(prompts, anchors)])
    return [Task(row.ids[: row.start], row.source, row.scored) for row in rows]


def _run(
    model: LanguageModel,
    tasks: list[Task],
    rules: Rules,
    cache: str | Path | None,
    progress: bool,
    batch_size: int | None,
) -> dict[Task, caches.Result]:
    """Return the result of each task, from the cache or from the model."""
    identity = caches.identity(model)
    said = (rules.max_new_tokens, rules.stop, rules.ends)
    keys = {t: caches.key(identity, "generate", t.ids, t.source, t.anchor, *said) for t in tasks}
    store = caches.open_store(cache, keys.values())
    missing = [task for task, key in keys.items() if key not in store.known]
    show = lines.line("generate", len(keys), progress)
    try:
        for batch in _batches(model, missing, rules, batch_size):
            done = _continue(model, batch, rules)
            caches.add(store, {keys[text.task]: _result(text) for text in done})
            show(len(store.known))
    finally:
        caches.flush(store)
    return {task: store.known[key] for task, key in keys.items()}


def _batches(
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


@torch.inference_mode()
def _continue(model: LanguageModel, batch: list[Task], rules: Rules) -> list[Text]:
    """Continue tasks of equal length until each has ended."""
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
            _add(model, text, token, own, rules)
    return chosen


def _add(model: LanguageModel, text: Text, token: int, logprob: float, rules: Rules) -> None:
    """Add a token to a text and note whether the text has ended."""
    if token in rules.ends:
        text.kept = len(text.ids)
        return
    text.ids.append(token)
    text.logprobs.append(logprob)
    at = _stop_at(_decode(model, text.task, text.ids), rules.stop)
    if at is not None:
        # The tokens that carry some of the text before the stop are kept.
        counts = range(len(text.ids) + 1)
        text.kept = next(n for n in counts if len(_decode(model, text.task, text.ids[:n])) >= at)
    elif len(text.ids) == rules.max_new_tokens:
        text.kept = len(text.ids)


def _stop_at(text: str, stop: Sequence[str]) -> int | None:
    return min((text.index(word) for word in stop if word in text), default=None)


def _result(text: Text) -> caches.Result:
    # A step after the last kept token would continue a text that has ended.
    anchors = text.anchor_logprobs[: text.kept + 1]
    past_end = [float("-inf")] * (len(text.task.anchor) - len(anchors))
    return caches.Result(
        logprobs=tuple(text.logprobs[: text.kept]),
        ids=tuple(text.ids[: text.kept]),
        anchor_logprobs=(*anchors, *past_end),
    )


def _text(model: LanguageModel, task: Task, result: caches.Result, rules: Rules) -> str:
    said = _decode(model, task, list(result.ids))
    return said[: _stop_at(said, rules.stop)]


def _decode(model: LanguageModel, task: Task, ids: list[int]) -> str:
    """Return the text of new tokens, its leading space included.

    SentencePiece tokenizers drop the space before the first token that they decode, so the last
    token of the prompt is decoded along and cut off.
    """
    settings = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
    before = [] if task.source else list(task.ids[-1:])
    head = model.tokenizer.decode(before, **settings)
    whole = model.tokenizer.decode(before + ids, **settings)
    return whole[len(head) :] if whole.startswith(head) else model.tokenizer.decode(ids, **settings)
