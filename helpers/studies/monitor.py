"""MONITOR: the stability of known facts under other framings and misleading context.

Wang et al. 2024, "Assessing the Reliability of Large Language Model Knowledge", NAACL.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers import datasets, prompts, schemas, stats
from helpers.datasets import fact_identity
from helpers.metrics import accuracy, anchors, matching, monitor
from helpers.models import LanguageModel
from helpers.prompts import prompt_formats
from helpers.studies.identity_columns import (
    add_identity_columns,
    checksum_of_facts,
    texts_by_item,
)
from helpers.studies.measures import (
    FIRM_THRESHOLD,
    Half,
    Printed,
    Run,
    add_columns,
    check_firm,
    every_other,
    measures_of_study,
    most_distinct_in_group,
    right_texts,
    summary_of_measures,
    texts_without_answer,
)

TITLE = "MONITOR"
WRAPPED = True  # its questions may be put into any prompt format
# A verdict needs words after the answer, and in the base frame what the model writes.
FOR_VERDICT = {"texts": ("right", "none"), "control": False}
ASKS_FORMS = True  # its base frame is the plain question
FIGURES = {
    "anchor": ("anchor", 1),
    "pfd": ("PFD", -1),
    "ird": ("IRD", -1),
    "deviation": ("deviation", -1),
}
AS_PRINTED = {
    "n_frames": 7,
    "match": "exact_match",
    "alphas": list(monitor.EQUAL_WEIGHTS),
}
DEFINITIONS = {"matching": matching.MATCHING_VERSION}
COUNTED_COLUMNS = ("counted_deviation", "counted_anchor")
_RATIO = {"columns": COUNTED_COLUMNS, "statistic": monitor.ratio_of_sums}
MEASURES = tuple(measures_of_study("monitor", MONITOR=_RATIO).values())


def check(settings: Mapping[str, Any]) -> None:
    """Refuse a rule, an anchor mode, weights or a prompt format that there is not."""
    matching.match_rule(settings["match"])
    prompt_formats.check_prompt_format(settings["prompt_format"])
    anchors.anchor_column(settings["anchor_mode"])
    monitor.check_alphas(settings["alphas"])


def ask(
    model: LanguageModel,
    facts: pd.DataFrame | None = None,
    *,
    dataset: str = "atlas",
    relations: Sequence[str] = (),
    n_facts: int = 15,
    n_frames: int = 7,
    texts: Sequence[str] | None = None,
    control: bool = True,
    seed: int = 0,
    cache: str | Path | None = None,
) -> pd.DataFrame:
    """Score each fact's object in every frame, and after right, wrong and other words.

    Parameters
    ----------
    model : LanguageModel
        Asked in its `prompt_format` (see
        `helpers.probing.format_choice.choose_prompt_format`).
    facts : DataFrame, optional
        As from `helpers.datasets.load`; by default `n_facts` of each of `relations` (0
        and none: all of the data set). Lists in a column `unrelated` or `noun` are put
        before the question in place of words that are drawn.
    dataset : str
        Where the frames come from: a name or a path.
    relations : sequence of str
    n_facts, n_frames : int
    texts : sequence of str, optional
        Contexts in which the model also answers the base frame in words; by default it
        does so in every prompt.
    control : bool
        Whether control words are put before the question, too: as many unrelated ones
        as wrong ones, and one noun. No verdict rests on them.
    seed : int
        Of the draws.
    cache : str or Path, optional
        As in `helpers.probing.score`.

    Returns
    -------
    DataFrame
        One row a prompt: ``item, relation, variant, frame, context, context_index,
        prompt, continuation, logprobs, tokens, read`` and, where the model answers,
        ``text`` and ``anchor_logprobs``.
    """
    from helpers import probing
    from helpers.probing import format_choice

    checksum = checksum_of_facts(dataset, facts)
    if facts is None:
        facts = datasets.load(dataset, list(relations) or None, n_facts or None, seed)
    facts = fact_identity.facts_with_other_objects(facts)
    frames = datasets.prompt_frames(dataset, facts["relation"].unique())
    if control and "unrelated" not in facts:
        unrelated = datasets.draw_unrelated_words(dataset, facts, seed)
        facts = facts.assign(unrelated=unrelated)
    if control and "noun" not in facts:
        facts = facts.assign(noun=datasets.draw_control_nouns(dataset, facts, seed))
    wrap = format_choice.probe_wrapper(model, dataset, facts, seed)
    questions = prompts.monitor_probes(facts, frames, n_frames)
    probes = wrap(questions)
    answered_in_words = None
    if texts is not None:
        in_base_frame = (probes["frame"] == 0) | (probes["context"] != "none")
        answered_in_words = in_base_frame & probes["context"].isin(texts)
    answers = probing.score_and_generate(model, probes, answered_in_words, cache=cache)
    by_name = facts.set_index("fact")
    without_context = questions[questions["context"] == "none"]
    answers = add_identity_columns(
        answers,
        checksum,
        identity=fact_identity.fact_identities(by_name),
        wordings=texts_by_item(without_context, "prompt"),
        wrong_words=by_name["distractors"],
    )
    return schemas.table_with_checked_columns(answers, "answers", "monitor")


def items_drawn_by_settings(settings: Mapping[str, Any], model: str) -> pd.Series:
    """Return the facts of the atlas that settings draw."""
    n_facts = settings["n_facts"] or None  # 0 takes all
    facts = datasets.load("atlas", settings["relations"], n_facts, settings["seed"])
    return facts["fact"]


def size_settings_of_answers(answers: pd.DataFrame) -> dict[str, int]:
    """Return the settings of size that answers show."""
    frames = answers.loc[answers["context"] == "none", "frame"]
    return {"n_facts": most_distinct_in_group(answers), "n_frames": frames.nunique()}


def facts(
    answers: pd.DataFrame,
    *,
    match: str = "exact_match",
    alphas: Sequence[float] = monitor.EQUAL_WEIGHTS,
    anchor_mode: str = "teacher_forced",
) -> pd.DataFrame:
    """Reduce the answers about each fact to one row.

    Parameters
    ----------
    answers : DataFrame
        From :func:`ask`.
    match : str
        When an answer is right (`helpers.metrics.matching`).
    alphas : sequence of float
        Weights of PFD, IRD and their product.
    anchor_mode : str
        ``"teacher_forced"`` or ``"free_running"``.

    Returns
    -------
    DataFrame
        The columns of `helpers.metrics.monitor.fact_scores`; ``counted_anchor`` and
        ``counted_deviation``, not numbers where the fact is not known; ``coverage`` (0
        or 1); ``base`` and ``average``, accuracy in the base prompt and over all of the
        paper's prompts that do not say the answer; ``asked_once``, the object's
        probability in the base prompt, and ``asked_frame1`` and so on, in every other
        question frame; ``noun_accuracy``, accuracy after nouns; ``unanswered``, the
        share of its texts in which no answer can be found. All in [0, 1].
        ``written`` is what the model writes in the base prompt.
    """
    known = anchors.known_facts(answers, rule=match)
    column = anchors.anchor_column(anchor_mode)
    scores = monitor.fact_scores(answers, known, column, alphas)
    for name in ("deviation", "anchor"):
        scores[f"counted_{name}"] = scores[name].where(scores["counted"])
    scores["coverage"] = scores["counted_anchor"].notna().astype(float)
    marked = _answers_in_words(answers, match)
    in_base_prompt = (marked["context"] == "none") & (marked["frame"] == 0)
    in_prompts_of_paper = marked["context"].isin(["none", "wrong"])
    scores["base"] = _share_right(marked[in_base_prompt], scores["item"])
    scores["average"] = _share_right(marked[in_prompts_of_paper], scores["item"])
    unanswered = marked.assign(right=texts_without_answer(marked["text"]))
    scores["unanswered"] = _share_right(unanswered, scores["item"])
    after_noun = marked["context"] == "noun"
    scores["noun_accuracy"] = _share_right(marked[after_noun], scores["item"])
    without_context = answers[answers["context"] == "none"]
    for frame, rows in without_context.groupby("frame"):
        name = f"asked_frame{int(frame)}" if frame else "asked_once"
        logprob = rows.set_index("item")["logprobs"].map(np.sum)
        scores[name] = np.exp(scores["item"].map(logprob))
    base_prompts = without_context[without_context["frame"] == 0]
    text = base_prompts.set_index("item")["text"]
    scores["written"] = scores["item"].map(text)
    scores = add_columns(
        scores,
        answers,
        MEASURES,
        match=match,
        alphas=alphas,
        anchor_mode=anchor_mode,
    )
    return schemas.table_with_checked_columns(scores, "facts", "monitor")


def _answers_in_words(answers: pd.DataFrame, match: str) -> pd.DataFrame:
    """Return the prompts that are answered in words, each marked ``right`` or not."""
    return accuracy.mark_texts(answers[answers["text"].notna()], rule=match)


def _share_right(marked: pd.DataFrame, items: pd.Series) -> pd.Series:
    """Return of each item the share of its marked answers that are right."""
    right = marked["right"].astype(float)
    return items.map(right.groupby(marked["item"]).mean())


def right(answers: pd.DataFrame) -> pd.DataFrame:
    """Return ``item, right``: the object that is scored in every prompt."""
    return right_texts(answers, "continuation", answers["item"])


def instances(answers: pd.DataFrame, *, match: str = "exact_match") -> pd.DataFrame:
    """Return the prompts that are answered in words, with ``said, right, target``."""
    marked = _answers_in_words(answers, match)
    target = [[text] for text in marked["object"]]
    return marked.assign(said=marked["text"], target=target)


def halves(answers: pd.DataFrame) -> Half:
    """Return the answers in every other frame, after every other context."""
    return every_other(answers, ["frame", "context_index"])


def printed(run: Run) -> Iterator[Printed]:
    """Yield the paper's score, accuracy over the R and M prompts, and anchor."""
    score = monitor.ratio_of_sums
    table = run.facts
    yield Printed("MONITOR: score", table, list(COUNTED_COLUMNS), score, "mean")
    yield Printed("MONITOR: mean accuracy", table, ["average"], stats.mean, "mean")
    yield Printed("MONITOR: mean anchor", table, ["counted_anchor"], stats.mean, "mean")


def verdict(facts: pd.DataFrame, firm: float = FIRM_THRESHOLD) -> pd.DataFrame:
    """Call facts known that the model answers after the hint, and steadily."""
    check_firm(firm)
    steady = 1 - facts["deviation"] / facts["anchor"]
    known = facts["counted"] & (steady >= firm)
    score = steady.clip(lower=0).where(facts["counted"], 0.0)
    columns = {
        "known": known.astype(float),
        "score": score,
        "blind": np.nan,
        "asserted": None,
    }
    return pd.DataFrame(columns, index=facts.index)


summary = partial(summary_of_measures, MEASURES)
