"""Greedy text with its log-probabilities, and the probability of anchors along the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd

from helpers import UserError
from helpers.models import LanguageModel, gpu, tokens
from helpers.models import progress as lines
from helpers.models.address import Server
from helpers.models.tokens import Row
from helpers.probing import cache as caches
from helpers.probing import metering, server_generation
from helpers.probing.engine import branching, decoding
from helpers.probing.engine.decoding import Rules, Task, Text
from helpers.probing.scoring import check_texts, spoken


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
    check_texts(frame, ["prompt"], texts=["prompt"])
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
    made = frame.assign(**series)
    metering.add(lambda: spoken(model, made))
    return made


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

    def run(missing: list[Task]) -> Iterator[dict[Task, caches.Result]]:
        for done in _continued(model, missing, rules, batch_size):
            yield {text.task: _result(text) for text in done}

    return caches.completed(cache, keys, run, lines.line("generate", len(keys), progress))


def _continued(
    model: LanguageModel, tasks: list[Task], rules: Rules, batch_size: int | None
) -> Iterator[list[Text]]:
    """Yield the continuations of tasks, some at a time."""
    if isinstance(model.model, Server):
        yield from server_generation.continuations(model, tasks, rules, batch_size)
        return
    if tasks and branching.suits(model):
        yield from branching.run(model, tasks, rules)
        return
    for batch in decoding.batches(model, tasks, rules, batch_size):
        yield gpu.in_halves(lambda part: decoding.continue_batch(model, part, rules), batch)


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
    said = decoding.decode(model, task, list(result.ids))
    return said[: decoding.stop_at(said, rules.stop)]
