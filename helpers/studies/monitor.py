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
from helpers.metrics import accuracy, anchors, matching, monitor
from helpers.models import LanguageModel
from helpers.prompts import prompt_formats
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
)

TITLE = "MONITOR"
WRAPPED = True  # its questions may be put into any prompt format
# A verdict needs words after the answer, and in the base frame what the model writes.
FOR_VERDICT = {"texts": ("right", "none"), "control": False}
FIGURES = {"anchor": ("anchor", 1), "pfd": ("PFD", -1)}
FIGURES |= {"ird": ("IRD", -1), "deviation": ("deviation", -1)}
AS_PRINTED = {
    "n_frames": 7,
    "match": "exact_match",
    "alphas": list(monitor.EQUAL_WEIGHTS),
}
_COUNTED = ("counted_deviation", "counted_anchor")
_RATIO = {"columns": _COUNTED, "statistic": monitor.ratio_of_sums}
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
    """Score each fact's object in every frame, after the answer, wrong words and unrelated ones.

    Parameters
    ----------
    model : LanguageModel
        Asked in its `prompt_format` (see `helpers.probing.format_choice.choose_prompt_format`).
    facts : DataFrame, optional
        As from `helpers.datasets.load`; by default `n_facts` of each of `relations` (0
        and none: all of the data set). Lists in a column `unrelated` are said in place
        of words that are drawn.
    dataset : str
        Where the frames come from: a name or a path.
    relations : sequence of str
    n_facts, n_frames : int
    texts : sequence of str, optional
        Contexts in which the model also answers the base frame in words; by default it
        does so in every prompt.
    control : bool
        Whether unrelated words are said first, too: no verdict rests on them.
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

    if facts is None:
        facts = datasets.load(dataset, list(relations) or None, n_facts or None, seed)
    frames = datasets.prompt_frames(dataset, facts["relation"].unique())
    if control and "unrelated" not in facts:
        facts = facts.assign(
            unrelated=datasets.draw_unrelated_words(dataset, facts, seed)
        )
    wrap = format_choice.probe_wrapper(model, dataset, facts, seed)
    probes = wrap(prompts.monitor_probes(facts, frames, n_frames))
    spoken = None
    if texts is not None:
        base = (probes["frame"] == 0) | (probes["context"] != "none")
        spoken = base & probes["context"].isin(texts)
    answers = probing.score_and_generate(model, probes, spoken, cache=cache)
    return schemas.checked(answers, "answers", "monitor")


def items_drawn_by_settings(given: Mapping[str, Any], model: str) -> pd.Series:
    """Return the facts of the atlas that settings draw."""
    chosen = datasets.load(
        "atlas", given["relations"], given["n_facts"] or None, given["seed"]
    )
    return chosen["fact"]


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
        question frame. All in [0, 1]. ``written`` is what the model writes in the base
        prompt.
    """
    known = anchors.known_facts(answers, rule=match)
    found = monitor.fact_scores(
        answers, known, anchors.anchor_column(anchor_mode), alphas
    )
    for name in ("deviation", "anchor"):
        found[f"counted_{name}"] = found[name].where(found["counted"])
    found["coverage"] = found["counted_anchor"].notna().astype(float)
    marked = accuracy.mark_texts(answers[answers["text"].notna()], rule=match)
    marked["right"] = marked["right"].astype(float)
    of_paper = marked[marked["context"].isin(["none", "wrong"])]
    of_base = of_paper[(of_paper["context"] == "none") & (of_paper["frame"] == 0)]
    for name, marks in (("base", of_base), ("average", of_paper)):
        found[name] = found["item"].map(marks.groupby("item")["right"].mean())
    alone = answers[answers["context"] == "none"]
    for frame, rows in alone.groupby("frame"):
        column = f"asked_frame{int(frame)}" if frame else "asked_once"
        once = rows.set_index("item")["logprobs"].map(np.sum)
        found[column] = np.exp(found["item"].map(once))
    written = alone[alone["frame"] == 0].set_index("item")["text"]
    found["written"] = found["item"].map(written)
    settings = {"match": match, "alphas": alphas, "anchor_mode": anchor_mode}
    found = add_columns(found, answers, MEASURES, **settings)
    return schemas.checked(found, "facts", "monitor")


def right(answers: pd.DataFrame) -> pd.DataFrame:
    """Return ``item, right``: the object that is scored in every prompt."""
    return right_texts(answers, "continuation", answers["item"])


def instances(answers: pd.DataFrame, *, match: str = "exact_match") -> pd.DataFrame:
    """Return the prompts that the model answers in words, with ``said, right, target``."""
    marked = accuracy.mark_texts(answers[answers["text"].notna()], rule=match)
    target = [[text] for text in marked["object"]]
    return marked.assign(said=marked["text"], target=target)


def halves(answers: pd.DataFrame) -> Half:
    """Return the answers in every other frame, after every other context."""
    return every_other(answers, ["frame", "context_index"])


def printed(run: Run) -> Iterator[Printed]:
    """Yield the paper's score, accuracy over the R and M prompts, and primary anchor."""
    facts = run.facts
    score = monitor.ratio_of_sums
    yield Printed("MONITOR: score", facts, list(_COUNTED), score, "mean")
    accuracies = ["average"]
    yield Printed("MONITOR: mean accuracy", facts, accuracies, stats.mean, "mean")
    counted = ["counted_anchor"]
    yield Printed("MONITOR: mean anchor", facts, counted, stats.mean, "mean")


def verdict(facts: pd.DataFrame, firm: float = FIRM_THRESHOLD) -> pd.DataFrame:
    r"""Call facts known that the model answers after the hint, and steadily."""
    check_firm(firm)
    steady = 1 - facts["deviation"] / facts["anchor"]
    known = facts["counted"] & (steady >= firm)
    score = steady.clip(lower=0).where(facts["counted"], 0.0)
    found = {
        "known": known.astype(float),
        "score": score,
        "blind": np.nan,
        "asserted": None,
    }
    return pd.DataFrame(found, index=facts.index)


summary = partial(summary_of_measures, MEASURES)
