"""Reliability as a knowledge base: factuality and consistency on seen and unseen knowledge.

Zheng et al. 2024, "How Reliable are LLMs as Knowledge Bases?"; arXiv 2407.13578.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers import datasets, schemas
from helpers.datasets import unseen_questions
from helpers.datasets.knowledge_questions import KnowledgeQuestions
from helpers.metrics import (
    accuracy,
    canonical,
    knowledge_base_strata,
    responses,
)
from helpers.metrics import knowledge_base as kb
from helpers.models import LanguageModel
from helpers.prompts import consistency_questions, shots
from helpers.studies.measures import (
    FIRM_THRESHOLD,
    Half,
    Printed,
    Run,
    add_columns,
    check_firm,
    measures_of_study,
    most_distinct_in_group,
    settings_for_function,
    summary_of_measures,
)

TITLE = "knowledge base"
FIGURES = {"right": ("correct", 1), "agreement": ("consistency", 1)}
INDICATOR_COLUMNS = (
    "seen",
    "correct",
    "wrong",
    "tested",
    "consistency",
)  # as `indicators` lays them out
AS_PRINTED = {"n_options": 5}
STOP_STRINGS = ("\n", "QUESTION")
MOST_DISTRACTORS = 20  # wrong answers to draw options from, for one response
_NAMES = ("NCR", "UR", "Cons_c", "Cons_w", "NCCR", "IUR", "CR", "WR")
_OWN = {
    name: {"columns": INDICATOR_COLUMNS, "statistic": kb.measure_statistic(name)}
    for name in _NAMES
}
LISTED = measures_of_study("knowledge_base", **_OWN)
MEASURES = tuple(LISTED[name] for name in _NAMES[:6])
UNSEEN = tuple(each.name for each in MEASURES if each.seen is False)
PRINTED = ("CR", "NCR", "UR", "NCCR", "IUR")  # in the paper's Tables 9 and 11


def check(settings: Mapping[str, Any]) -> None:
    """Refuse a prompt setting that there is not, of the close-ups or of the others."""
    others = settings.get("prompt_settings", ())
    shots.check_prompt_settings([*others, settings["setting"]])


def ask(
    model: LanguageModel,
    facts: pd.DataFrame | None = None,
    *,
    dataset: str = "atlas",
    n_seen: int = 4,
    n_unseen: int = 2,
    as_of: str = unseen_questions.DEFAULT_AS_OF,
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
    """Let the model respond, then ask each response again by multiple choice."""
    only = None if facts is None else set(facts["fact"])
    counts = {} if facts is not None else {"n_seen": n_seen, "n_unseen": n_unseen}
    bank = datasets.knowledge_base_questions(
        dataset, model.name, as_of=as_of, seed=seed, only=only, **counts
    )
    how = {"retriever": retriever, "max_new_tokens": max_new_tokens, "cache": cache}
    said = ask_for_responses(model, bank.asked, bank, setting, **how)
    said = responses.mark_responses(knowledge_base_strata.add_strata(said), match)
    how = {"n_choices": n_choices, "n_options": n_options, "choose_by": choose_by}
    again = consistency_questions.responses_to_ask_again(said)
    again = ask_responses_again(model, again, bank.pool, **how, seed=seed, cache=cache)
    said = kb.add_consistency(said, accuracy.mark_choices(again))
    return schemas.checked(said, "answers", "knowledge_base")


def source(given: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Return what a manifest says of the questions that settings ask a model."""
    names = ("n_seen", "n_unseen", "as_of", "seed")
    settings = {name: given[name] for name in names}
    return datasets.knowledge_base_questions(given["dataset"], model, **settings).source


def ask_for_responses(
    model: LanguageModel,
    questions: pd.DataFrame,
    bank: KnowledgeQuestions,
    setting: str,
    *,
    retriever: str = "tf-idf",
    max_new_tokens: int = 100,
    cache: str | Path | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Let the model respond to questions in one prompt setting, with the shots of a bank."""
    from helpers import probing

    asked = shots.shot_prompts(
        questions, setting, bank.seen_shots, bank.unseen_shots, retriever
    )
    return probing.generate(
        model, asked, max_new_tokens, STOP_STRINGS, cache=cache, progress=progress
    )


def ask_responses_again(
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
    """Score the questions that put each response among wrong answers, written ones first."""
    from helpers import probing

    pools = pool.groupby("pool", sort=False)["answer"].agg(list).to_dict()
    wrong = consistency_questions.draw_response_distractors(
        replies, pools, seed=seed, spelling=canonical.canonical_answer
    )
    if written is not None:
        wrong = [
            [*own, *drawn][:MOST_DISTRACTORS] for own, drawn in zip(written, wrong)
        ]
    replies = replies.assign(distractors=wrong)
    probes = consistency_questions.consistency_probes(
        replies, n_choices, n_options, choose_by, seed
    )
    return probing.score(model, probes, cache=cache)


def items_drawn_by_settings(given: Mapping[str, Any], model: str) -> pd.Series:
    """Return the questions of the atlas that settings draw."""
    numbers = {key: given[key] for key in ("n_seen", "n_unseen", "as_of", "seed")}
    return datasets.knowledge_base_questions("atlas", model, **numbers).asked["item"]


def size_settings_of_answers(answers: pd.DataFrame) -> dict[str, int]:
    """Return the settings of size that answers show."""
    seen = answers["seen"].astype(bool)
    kinds = {"n_seen": answers[seen], "n_unseen": answers[~seen]}
    found = {
        setting: most_distinct_in_group(part, by="group")
        for setting, part in kinds.items()
    }
    if "n_choices" in answers and answers["n_choices"].notna().any():
        found["n_choices"] = int(answers["n_choices"].max())
    return found


def facts(
    answers: pd.DataFrame, *, setting: str = "four-shot", match: str = "exact"
) -> pd.DataFrame:
    """Lay the responses in one prompt setting out as numbers, one row a question."""
    said = answers[answers["setting"] == setting].reset_index(drop=True)
    label = responses.mark_responses(said, match)["label"]
    agreement = said["consistency"].fillna(0.0).where(label != "uninformative", 0.0)
    found = pd.DataFrame({"item": said["item"], "relation": said["group"]})
    found["stratum"] = said.get("stratum", said["group"])
    found["label"], found["right"] = label, (label == "correct").astype(float)
    found["agreement"], found["said"] = agreement, said["text"]
    if "seen" in said and "label" in said:
        numbers = kb.response_indicators(responses.unseen_guesses_as_wrong(said))
        found = found.join(pd.DataFrame(numbers, found.index, INDICATOR_COLUMNS))
    found = add_columns(found, said, MEASURES, setting=setting, match=match)
    return schemas.checked(found, "facts", "knowledge_base")


def right(answers: pd.DataFrame) -> pd.DataFrame:
    """Return ``item, right``: every accepted answer, "" of unseen knowledge."""
    every = answers.explode("answers")
    found = pd.DataFrame({"item": every["item"], "right": every["answers"].fillna("")})
    return found.drop_duplicates(ignore_index=True)


def instances(
    answers: pd.DataFrame, *, setting: str = "four-shot", match: str = "exact"
) -> pd.DataFrame:
    """Return the questions in one prompt setting, with ``said, right, target``."""
    marks = facts(answers, setting=setting, match=match).set_index("item")
    asked = answers[answers["setting"] == setting]
    asked = asked.join(marks[["right", "said"]], on="item")
    return asked.rename(columns={"answers": "target", "group": "relation"})


def halves(answers: pd.DataFrame) -> Half:
    """Draw half of the multiple-choice questions about each response."""
    if "n_choices" not in answers:
        return Half(None, 1, 1)
    n = int(answers["n_choices"].max())
    n_half = n // 2
    asked = answers["consistency"].notna()
    share = answers["consistency"].fillna(0)
    # A response that is not asked again has no number of choices
    again = (share * answers["n_choices"]).fillna(0).round().astype(int)
    random = np.random.default_rng(0)
    again_in_half = random.hypergeometric(again, n - again, n_half)
    halved = pd.Series(again_in_half / n_half, answers.index).where(asked)
    return Half(answers.assign(consistency=halved), n, n_half)


def printed(run: Run) -> Iterator[Printed]:
    """Yield the paper's measures in every prompt setting that the run has."""
    answers = run.answers
    there = set(answers["setting"])
    for setting in shots.PROMPT_SETTINGS:
        if setting not in there:
            continue
        taken = settings_for_function(facts, {**run.settings, "setting": setting})
        table = facts(answers, **taken)
        table["relation"] = table["stratum"]
        for name in PRINTED:
            part = table[table["seen"] == (name not in UNSEEN)]
            title = f"knowledge bases: {name}, {setting}"
            yield Printed(
                title, part, list(INDICATOR_COLUMNS), kb.measure_statistic(name), "all"
            )


def verdict(facts: pd.DataFrame, firm: float = FIRM_THRESHOLD) -> pd.DataFrame:
    """Call facts known whose response is correct, and chosen again often enough."""
    check_firm(firm)
    right, agreement = facts["right"] == 1, facts["agreement"]
    columns = {
        "known": (right & (agreement >= firm)).astype(float),
        "score": agreement.where(right, 0.0 - agreement),
        "blind": agreement,
        "asserted": facts["said"].where(agreement >= firm, ""),
    }
    return pd.DataFrame(columns, index=facts.index)


summary = partial(summary_of_measures, MEASURES)
