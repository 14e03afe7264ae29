"""Greedy text with its log-probabilities, and the probability of anchors along the way."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from helpers import UserError
from helpers.models import LanguageModel, tokens
from helpers.models.tokens import Row
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
    frame = (
        prompts
        if isinstance(prompts, pd.DataFrame)
        else pd.DataFrame({"prompt": [*prompts]})
    )
    scoring.check_text_columns(frame, ["prompt"])
    rules = _rules(model, max_new_tokens, stop)
    texts, reads = _tasks(model, list(frame["prompt"]), anchors, rules)
    shown = "generate" if progress else ""
    answers = CachedAnswers(model, cache, rules)
    found = answers.results((), [*texts, *(reads or [])], shown, batch_size)
    results = [found[task] for task in texts]
    said = [_said(model, task, result, rules) for task, result in zip(texts, results)]
    columns = {
        "text": [text for text, _ in said],
        "tokens": [
            tokens.token_names(model, r.ids[:n]) for r, (_, n) in zip(results, said)
        ],
        "logprobs": [list(r.logprobs[:n]) for r, (_, n) in zip(results, said)],
        "read": tokens.strings_read_by_model(model, list(frame["prompt"])),
    }
    if reads is not None:
        columns["anchor_logprobs"] = [
            list(found[task].anchor_logprobs) for task in reads
        ]
    made = frame.assign(
        **{k: scoring.object_column(v, frame.index) for k, v in columns.items()}
    )
    if model.meters:
        scoring.add_to_work_counters(
            model,
            scoring.scoring_work(model, scoring.probes_of_greedy_answers(model, made)),
        )
    return made


def score_and_generate(
    model: LanguageModel,
    probes: pd.DataFrame,
    spoken: Sequence[bool] | None = None,
    max_new_tokens: int = 15,
    stop: Sequence[str] = ("\n",),
    cache: str | Path | None = None,
    progress: bool = True,
    batch_size: int | None = None,
) -> pd.DataFrame:
    """Score continuations as `score` does, and continue their prompts as `generate` does.

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
    wanted = probes if spoken is None else probes[list(spoken)]
    texts, reads = _tasks(
        model, list(wanted["prompt"]), list(wanted["continuation"]), rules
    )
    shown = "score and generate" if progress else ""
    answers = CachedAnswers(model, cache, rules)
    found = answers.results(rows, [*texts, *reads], shown, batch_size)
    made = scoring.probes_with_results(model, probes, rows, found)
    said = {
        "text": [_said(model, task, found[task], rules)[0] for task in texts],
        "anchor_logprobs": [list(found[task].anchor_logprobs) for task in reads],
    }
    said = {
        name: scoring.object_column(values, wanted.index)
        for name, values in said.items()
    }
    made = made.assign(**pd.DataFrame(said).reindex(made.index))
    if model.meters:
        continued = scoring.probes_of_greedy_answers(model, made.loc[wanted.index])
        scoring.add_to_work_counters(
            model, scoring.scoring_work(model, probes, continued)
        )
    return made


def _rules(
    model: LanguageModel, max_new_tokens: int, stop: Sequence[str]
) -> StoppingRules:
    if max_new_tokens < 1:
        raise UserError(f"max_new_tokens is {max_new_tokens}; give at least 1.")
    if isinstance(stop, str) or "" in stop:
        raise UserError(f"stop is {stop!r}; give a list of strings that are not empty.")
    ends: set[int] = set()
    for settings in (model.generation_config, model.config, model.tokenizer):
        given = getattr(settings, "eos_token_id", None)
        ends |= set(given if isinstance(given, list | tuple) else [given])
    return StoppingRules(int(max_new_tokens), tuple(stop), tuple(sorted(ends - {None})))


def _tasks(
    model: LanguageModel,
    prompts: list[str],
    anchors: Sequence[str] | None,
    rules: StoppingRules,
) -> tuple[list[ContinuationTask], list[ContinuationTask] | None]:
    """Return what gives the texts, and what reads the anchors, where there are any."""
    distinct = list(dict.fromkeys(prompts))
    found = dict(zip(distinct, tokens.prompt_ids(model, distinct)))
    if model.kind == "seq2seq":
        first = tokens.decoder_start_ids(model)
        texts = [ContinuationTask(first, found[prompt]) for prompt in prompts]
    else:
        texts = [ContinuationTask(found[prompt]) for prompt in prompts]
        if empty := [prompt for prompt in distinct if not found[prompt]]:
            raise UserError(
                f"The prompt {empty[0]!r} has no tokens to start from; give some text."
            )
    reads = None
    if anchors is not None:
        if len(anchors) != len(prompts):
            raise UserError(
                f"There are {len(anchors)} anchors for {len(prompts)} prompts; give one each."
            )
        names = [f"prompt {pair!r}" for pair in zip(prompts, anchors)]
        rows = tokens.rows_of_continuations(model, prompts, list(anchors), names)
        reads = [
            ContinuationTask(row.ids[: row.start], row.source, row.scored)
            for row in rows
        ]
        # Where the anchor is read from the prompt's end, one run gives the text and the
        # anchor.
        texts = [r if r.ids == t.ids else t for t, r in zip(texts, reads)]
    for task in dict.fromkeys([*texts, *(reads or [])]):
        row = Row(task.ids, 0, task.source)
        told = f"A prompt of {len(task.ids)} tokens"
        tokens.check_length(model, row, told, rules.max_new_tokens - 1)
    return texts, reads


def _said(
    model: LanguageModel, task: ContinuationTask, result: Result, rules: StoppingRules
) -> tuple[str, int]:
    """Return the text of a result, and how many of its tokens carry it."""
    found = decoding.text_before_stop(model, task, result.ids, rules.stop)
    return found or (
        decoding.decode_new_tokens(model, task, result.ids),
        len(result.ids),
    )
