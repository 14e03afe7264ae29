"""Reliability as a knowledge base: factuality and consistency on seen and unseen knowledge.

Zheng et al. 2024, "How Reliable are LLMs as Knowledge Bases?"; arXiv 2407.13578.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from helpers import datasets
from helpers.datasets import unseen
from helpers.datasets.knowledge import Questions
from helpers.metrics import accuracy, canonical, reliability, responses
from helpers.metrics import knowledge_base as kb
from helpers.prompts import consistency, shots
from helpers.studies.measures import FIRM, Measure, check_firm, summarised

if TYPE_CHECKING:
    from helpers.models import LanguageModel

TITLE = "knowledge base"
FIGURES = {"right": ("correct", 1), "agreement": ("consistency", 1)}
BASIC = ("seen", "correct", "wrong", "tested", "consistency")  # as `indicators` lays them out
STOP = ("\n", "QUESTION")
MOST = 20  # wrong answers to draw options from, for one response


def _one(values: np.ndarray, place: int) -> np.ndarray:
    return kb.statistic(values)[..., place]


def _measure(name: str, title: str, table: int, meaning: str) -> Measure:
    statistic = partial(_one, place=kb.MEASURES.index(name))
    about = {"counts": "questions", "source": f"{name}, Table {table}", "meaning": meaning}
    return Measure(name, title, BASIC, statistic, name in kb.HIGHER_IS_BETTER, **about)


MEASURES = (
    _measure("NCR", "NCR", 9, "seen questions answered correctly, minus those answered wrongly"),
    _measure("UR", "UR", 9, "unseen questions that get no informative answer"),
    _measure("Cons_c", "Cons, correct", 10, "how often a correct answer is chosen again"),
    _measure("Cons_w", "Cons, wrong", 10, "how often a wrong answer is chosen again"),
    _measure("NCCR", "NCCR", 11, "NCR, each answer weighted by how often it is chosen again"),
    _measure("IUR", "IUR", 11, "unseen questions without a wrong answer that is chosen again"),
)


def ask(
    model: LanguageModel,
    facts: pd.DataFrame | None = None,
    *,
    dataset: str = "atlas",
    n_seen: int = 4,
    n_unseen: int = 2,
    as_of: str = unseen.AS_OF,
    setting: str = "four-shot",
    retriever: str = "tf-idf",
    max_new_tokens: int = 100,
    match: str = "exact",
    n_choices: int = 10,
    n_options: int = 5,
    choose_by: str = "text",
    seed: int = 0,
    cache: str | Path | None = None,
) -> pd.DataFrame:
    """Let the model respond, then ask each response again by multiple choice.

    Parameters
    ----------
    model : LanguageModel
    facts : DataFrame, optional
        Facts of the data set that are asked alone; by default `n_seen` and `n_unseen` questions
        about seen and unseen knowledge of each relation and template.
    dataset : str
        A name or a path.
    n_seen, n_unseen : int
    as_of : str
        Unseen is what comes after this day.
    setting, retriever : str
        As for `helpers.prompts.shots.ask`.
    max_new_tokens : int
        The longest response.
    match : str
        When a response is right: ``"exact"`` or ``"contains"``.
    n_choices, n_options, choose_by
        As for `helpers.prompts.consistency.choices`.
    seed : int
        Of the draws.
    cache : str or Path, optional
        As in `helpers.probing.score`.

    Returns
    -------
    DataFrame
        One row a response: ``item, group, stratum, question, answers, seen, variant, prompt, text,
        label`` (by the answer key), ``consistency`` in [0, 1].
    """
    only = None if facts is None else set(facts["fact"])
    counts = {} if facts is not None else {"n_seen": n_seen, "n_unseen": n_unseen}
    bank = datasets.knowledge(dataset, model.name, as_of=as_of, seed=seed, only=only, **counts)
    said = respond(
        model,
        bank.asked,
        bank,
        setting,
        retriever=retriever,
        max_new_tokens=max_new_tokens,
        cache=cache,
    )
    said = responses.mark(reliability.with_strata(said), match)
    replies = consistency.replies(said)
    if len(replies):
        again = ask_again(
            model,
            replies,
            bank.pool,
            n_choices=n_choices,
            n_options=n_options,
            choose_by=choose_by,
            seed=seed,
            cache=cache,
        )
        said = kb.add_consistency(said, accuracy.mark_choices(again))
    said.attrs["source"] = bank.source
    return said


def respond(
    model: LanguageModel,
    questions: pd.DataFrame,
    bank: Questions,
    setting: str,
    *,
    retriever: str = "tf-idf",
    max_new_tokens: int = 100,
    cache: str | Path | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Let the model respond to questions in one prompt setting.

    Parameters
    ----------
    model : LanguageModel
    questions : DataFrame
        ``question`` and others, which are kept.
    bank : Questions
        From `helpers.datasets.knowledge`: where the shots come from.
    setting, retriever, max_new_tokens, cache
        As for :func:`ask`.
    progress : bool
        As in `helpers.probing.generate`.

    Returns
    -------
    DataFrame
        The questions with ``variant`` (the setting), ``prompt`` and ``text``.
    """
    from helpers import probing

    asked = shots.ask(questions, setting, bank.seen_shots, bank.unseen_shots, retriever)
    return probing.generate(
        model, asked, max_new_tokens, list(STOP), cache=cache, progress=progress
    )


def ask_again(
    model: LanguageModel,
    replies: pd.DataFrame,
    pool: pd.DataFrame,
    *,
    n_choices: int = 10,
    n_options: int = 5,
    choose_by: str = "text",
    written: Sequence[Sequence[str]] | None = None,
    seed: int = 0,
    cache: str | Path | None = None,
) -> pd.DataFrame:
    """Score the multiple-choice questions that put each response among wrong answers.

    Parameters
    ----------
    model : LanguageModel
    replies : DataFrame
        From `helpers.prompts.consistency.replies`.
    pool : DataFrame
        `Questions.pool`, from which wrong answers are drawn.
    n_choices, n_options, choose_by
        As for :func:`ask`.
    written : sequence, optional
        Wrong answers for each response that come before those drawn, such as another model's.
    seed : int
        Of the draws.
    cache : str or Path, optional
        As in `helpers.probing.score`.

    Returns
    -------
    DataFrame
        One row an option, scored; ``correct`` tells the response given before.
    """
    from helpers import probing

    wrong = consistency.distractors(
        replies, consistency.pools(pool), seed=seed, spelling=canonical.canonical
    )
    if written is not None:
        wrong = [[*own, *drawn][:MOST] for own, drawn in zip(written, wrong)]
    replies = replies.assign(distractors=wrong)
    probes = consistency.choices(replies, n_choices, n_options, choose_by, seed)
    return probing.score(model, probes, cache=cache)


def facts(
    answers: pd.DataFrame, *, setting: str = "four-shot", match: str = "exact"
) -> pd.DataFrame:
    """Lay the responses in one prompt setting out as numbers, one row a question.

    Parameters
    ----------
    answers : DataFrame
        From :func:`ask`.
    setting : str
        The prompt setting.
    match : str
        When a response is right.

    Returns
    -------
    DataFrame
        ``item, relation, stratum``; by the paper's rule, for which no response about unseen
        knowledge is correct: ``seen, correct, wrong, tested`` (0 or 1) and ``consistency``; by the
        answer key alone: ``label``, ``right`` (0 or 1) and ``agreement``, the consistency, 0 where
        the response is uninformative; ``said``.
    """
    said = answers[answers["variant"] == setting].reset_index(drop=True)
    label = responses.mark(said, match)["label"]
    agreement = said["consistency"].fillna(0.0).where(label != "uninformative", 0.0)
    found = pd.DataFrame({"item": said["item"], "relation": said["group"]})
    found["stratum"] = said.get("stratum", said["group"])
    found = found.assign(
        label=label,
        right=(label == "correct").astype(float),
        agreement=agreement,
        said=said["text"],
    )
    if "seen" not in said or "label" not in said:
        return found
    numbers = kb.indicators(responses.as_defined(said))
    return found.join(pd.DataFrame(numbers, found.index, BASIC))


def verdict(facts: pd.DataFrame, firm: float = FIRM) -> pd.DataFrame:
    """Call facts known whose response is correct, and chosen again often enough.

    Parameters
    ----------
    facts : DataFrame
        From :func:`facts`; what was seen is not read.
    firm : float
        Least consistency, in [0, 1]; the paper sets none.

    Returns
    -------
    DataFrame
        ``known`` (0 or 1); ``score`` in [-1, 1], the consistency, negative where wrong and 0 if
        uninformative; ``blind``, the consistency; ``asserted``, the response where it is firm.
    """
    check_firm(firm)
    right, agreement = facts["right"] == 1, facts["agreement"]
    columns = {
        "known": (right & (agreement >= firm)).astype(float),
        "score": agreement.where(right, 0.0 - agreement),
        "blind": agreement,
        "asserted": facts["said"].where(agreement >= firm, ""),
    }
    return pd.DataFrame(columns, index=facts.index)


summary = partial(summarised, MEASURES)
