"""Greedy text with its log-probabilities, and the probability of anchors on the way."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from helpers import UserError
from helpers.models import LanguageModel, tokens
from helpers.models.prefix_tokenising import TokenIds
from helpers.probing import scoring
from helpers.probing.cached_results import CachedAnswers
from helpers.probing.engine import decoding
from helpers.probing.engine.decoding import ContinuationTask, StoppingRules
from helpers.probing.result_cache import Result


def generate(
    model: LanguageModel,
    prompts: Sequence[str] | pd.DataFrame,
    max_new_tokens: int = 15,
    stop: Sequence[str] = ("\n",),
    anchors: Sequence[str] | None = None,
    cache: str | Path | None = None,
    *,
    progress: bool = True,
    batch_size: int | None = None,
) -> pd.DataFrame:
    r"""Return the most probable next tokens after each prompt, one after another.

    A continuation ends at the model's end-of-text token, before the first stop string,
    or after `max_new_tokens`. With anchors, each step also reads

    .. math:: \log P(a_l \mid \text{prompt}, \hat w_1, \dots, \hat w_{l-1})

    for the anchor's l-th token after the model's own tokens (the free-running reading
    of MONITOR's released code). It is minus infinity (probability 0) once the
    continuation has ended; the step that ends it still counts. An anchor's tokens are
    those that `score` would score.

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
        The prompts (columns and index kept) with `text`, `tokens` (list of str),
        `logprobs` (list of float, one a token), `read` and, with anchors,
        `anchor_logprobs` (one a token of it).

    Raises
    ------
    UserError
        Where the column `prompt` is missing, anchors do not match prompts, or prompt
        and new tokens are longer than the model's context.
    """
    if isinstance(prompts, str):
        raise UserError("The prompts are one text: give a list, such as [prompt].")
    if not isinstance(prompts, pd.DataFrame):
        prompts = pd.DataFrame({"prompt": [*prompts]})
    scoring.check_text_columns(prompts, ["prompt"])
    prompt_texts = list(prompts["prompt"])
    rules = _rules(model, max_new_tokens, stop)
    text_tasks, anchor_tasks = _tasks(model, prompt_texts, anchors, rules)
    label = "generate" if progress else ""
    answers = CachedAnswers(model, cache, rules)
    results = answers.results((), [*text_tasks, *anchor_tasks], label, batch_size)
    texts = []
    token_names = []
    logprobs = []
    for task in text_tasks:
        result = results[task]
        text, n_tokens = _text_and_length(model, task, result, rules)
        texts.append(text)
        token_names.append(tokens.token_names(model, result.ids[:n_tokens]))
        logprobs.append(list(result.logprobs[:n_tokens]))
    strings_read = tokens.strings_read_by_model(model, prompt_texts)
    generated = prompts.assign(
        text=scoring.object_column(texts, prompts.index),
        tokens=scoring.object_column(token_names, prompts.index),
        logprobs=scoring.object_column(logprobs, prompts.index),
        read=scoring.object_column(strings_read, prompts.index),
    )
    if anchors is not None:
        anchor_logprobs = [list(results[task].anchor_logprobs) for task in anchor_tasks]
        column = scoring.object_column(anchor_logprobs, prompts.index)
        generated = generated.assign(anchor_logprobs=column)
    if model.meters:
        probes = scoring.probes_of_greedy_answers(model, generated)
        work = scoring.scoring_work(model, probes)
        scoring.add_to_work_counters(model, work)
    return generated


def score_and_generate(
    model: LanguageModel,
    probes: pd.DataFrame,
    spoken: Sequence[bool] | None = None,
    max_new_tokens: int = 15,
    stop: Sequence[str] = ("\n",),
    cache: str | Path | None = None,
    *,
    progress: bool = True,
    batch_size: int | None = None,
) -> pd.DataFrame:
    """Score continuations as `score` does, and continue prompts as `generate` does.

    A model that takes packs reads each prompt once for both (of atlas-s and 200 facts
    of MONITOR, 31,014 tokens go through the model instead of 54,816). The results are
    those of the two functions (float32 to 1e-5, the same texts), and each finds the
    other's in the cache.

    Parameters
    ----------
    model : LanguageModel
    probes : DataFrame
        As for `score`. The continuations are the anchors of `generate`.
    spoken : sequence of bool, optional
        Which of the prompts the model continues; by default all.
    max_new_tokens, stop, cache, progress, batch_size
        As for `generate`.

    Returns
    -------
    DataFrame
        What `score` returns, with `text` (str) and `anchor_logprobs` (list of float);
        these are missing where the prompt is not continued.

    Raises
    ------
    UserError
        As `score` and `generate`.
    """
    probes, rows = scoring.named_probes_and_rows(model, probes)
    scoring.check_lengths(model, probes, rows)
    rules = _rules(model, max_new_tokens, stop)
    continued = probes
    if spoken is not None:
        continued = probes[list(spoken)]
    prompts = list(continued["prompt"])
    anchors = list(continued["continuation"])
    text_tasks, anchor_tasks = _tasks(model, prompts, anchors, rules)
    label = "score and generate" if progress else ""
    answers = CachedAnswers(model, cache, rules)
    results = answers.results(rows, [*text_tasks, *anchor_tasks], label, batch_size)
    texts = []
    for task in text_tasks:
        text, _ = _text_and_length(model, task, results[task], rules)
        texts.append(text)
    anchor_logprobs = [list(results[task].anchor_logprobs) for task in anchor_tasks]
    generated = pd.DataFrame(
        {
            "text": scoring.object_column(texts, continued.index),
            "anchor_logprobs": scoring.object_column(anchor_logprobs, continued.index),
        }
    )
    generated = generated.reindex(probes.index)
    answered = scoring.probes_with_results(model, probes, rows, results)
    answered = answered.assign(
        text=generated["text"], anchor_logprobs=generated["anchor_logprobs"]
    )
    if model.meters:
        answered_texts = answered.loc[continued.index]
        text_probes = scoring.probes_of_greedy_answers(model, answered_texts)
        work = scoring.scoring_work(model, probes, text_probes)
        scoring.add_to_work_counters(model, work)
    return answered


def _rules(
    model: LanguageModel, max_new_tokens: int, stop: Sequence[str]
) -> StoppingRules:
    """Return when continuations end, at any of the model's end-of-text tokens too."""
    if max_new_tokens < 1:
        raise UserError(f"max_new_tokens is {max_new_tokens}; give at least 1.")
    if isinstance(stop, str) or "" in stop:
        raise UserError(f"stop is {stop!r}; give a list of strings that are not empty.")
    ends: set[int] = set()
    for settings in (model.generation_config, model.config, model.tokenizer):
        end_ids = getattr(settings, "eos_token_id", None)
        if not isinstance(end_ids, list | tuple):
            end_ids = [end_ids]
        for token in end_ids:
            if token is None:
                continue
            if not isinstance(token, int):
                raise UserError(
                    f"{model.name} has the eos_token_id {token!r:.60}: give the number "
                    "of a token in its config.json and generation_config.json."
                )
            ends.add(token)
    return StoppingRules(int(max_new_tokens), tuple(stop), tuple(sorted(ends)))


def _tasks(
    model: LanguageModel,
    prompts: list[str],
    anchors: Sequence[str] | None,
    rules: StoppingRules,
) -> tuple[list[ContinuationTask], list[ContinuationTask]]:
    """Return what gives the texts, and what reads the anchors; [] without anchors."""
    text_tasks = _text_tasks(model, prompts)
    anchor_tasks: list[ContinuationTask] = []
    if anchors is not None:
        anchor_tasks = _anchor_tasks(model, prompts, anchors)
        # Where the anchor is read from the prompt's end, one run gives the text and the
        # anchor.
        for at, anchor_task in enumerate(anchor_tasks):
            if anchor_task.ids == text_tasks[at].ids:
                text_tasks[at] = anchor_task
    for task in dict.fromkeys([*text_tasks, *anchor_tasks]):
        n_read = len(task.ids) + rules.max_new_tokens - 1
        name = f"A prompt of {len(task.ids)} tokens"
        tokens.check_length(model, max(n_read, len(task.source)), name)
    return text_tasks, anchor_tasks


def _text_tasks(model: LanguageModel, prompts: list[str]) -> list[ContinuationTask]:
    """Return the task that continues each prompt."""
    distinct = list(dict.fromkeys(prompts))
    ids_of_distinct = map(TokenIds, tokens.prompt_ids(model, distinct))
    ids = dict(zip(distinct, ids_of_distinct, strict=True))
    if model.kind == "seq2seq":
        start = tokens.decoder_start_ids(model)
        return [ContinuationTask(start, ids[prompt]) for prompt in prompts]
    for prompt in distinct:
        if not ids[prompt]:
            raise UserError(
                f"The prompt {prompt!r} has no tokens to start from; give some text."
            )
    return [ContinuationTask(ids[prompt]) for prompt in prompts]


def _anchor_tasks(
    model: LanguageModel, prompts: list[str], anchors: Sequence[str]
) -> list[ContinuationTask]:
    """Return the task that reads each prompt's anchor."""
    if len(anchors) != len(prompts):
        raise UserError(
            f"There are {len(anchors)} anchors for {len(prompts)} prompts; "
            "give one each."
        )
    pairs = zip(prompts, anchors, strict=True)
    names = [(f"prompt {pair!r}",) for pair in pairs]
    rows = tokens.rows_of_continuations(model, prompts, list(anchors), names)
    return [ContinuationTask(row.before, row.source, row.scored) for row in rows]


def _text_and_length(
    model: LanguageModel, task: ContinuationTask, result: Result, rules: StoppingRules
) -> tuple[str, int]:
    """Return the text of a result, and how many of its tokens carry it."""
    before_stop = decoding.text_before_stop(model, task, result.ids, rules.stop)
    if before_stop is not None:
        return before_stop
    return decoding.decode_new_tokens(model, task, result.ids), len(result.ids)
