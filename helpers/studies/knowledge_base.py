"""Reliability as a knowledge base: factuality and consistency, seen and unseen.

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
    knowledge_base_strata,
    responses,
)
from helpers.metrics import knowledge_base as kb
from helpers.models import LanguageModel
from helpers.prompts import consistency_questions, shots
from helpers.studies.identity_columns import (
    add_identity_columns,
    check_names_of_facts,
    texts_by_item,
)
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
    texts_without_answer,
)

TITLE = "knowledge base"
FIGURES = {"right": ("correct", 1), "agreement": ("consistency", 1)}
# As `response_indicators` lays them out.
INDICATOR_COLUMNS = ("seen", "correct", "wrong", "tested", "consistency")
DEFINITIONS = {"responses": responses.RESPONSES_VERSION}
AS_PRINTED = {"n_options": 5}
STOP_STRINGS = ("\n", "QUESTION")
MOST_DISTRACTORS = 20  # wrong answers to draw options from, for one response
_NAMES = ("NCR", "UR", "Cons_c", "Cons_w", "NCCR", "IUR")
_OWN_FIELDS = {
    name: {"columns": INDICATOR_COLUMNS, "statistic": kb.measure_statistic(name)}
    for name in (*_NAMES, "CR", "WR")
}
LISTED = measures_of_study("knowledge_base", **_OWN_FIELDS)
MEASURES = tuple(LISTED[name] for name in _NAMES)
UNSEEN = tuple(measure.name for measure in MEASURES if measure.seen is False)
PRINTED = ("CR", "NCR", "UR", "NCCR", "IUR")  # in the paper's Tables 9 and 11


def check(settings: Mapping[str, Any]) -> None:
    """Refuse a prompt setting that there is not, of the close-ups or of the others."""
    in_close_ups = settings.get("prompt_settings", ())
    shots.check_prompt_settings([*in_close_ups, settings["setting"]])


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
    questions_of_dataset = partial(
        datasets.knowledge_base_questions,
        dataset,
        model.name,
        as_of=as_of,
        seed=seed,
    )
    if facts is None:
        bank = questions_of_dataset(n_seen=n_seen, n_unseen=n_unseen)
    else:
        check_names_of_facts(dataset, facts)
        bank = questions_of_dataset(only=set(facts["fact"]))
    replies = ask_for_responses(
        model,
        bank.asked,
        bank,
        setting,
        retriever=retriever,
        max_new_tokens=max_new_tokens,
        cache=cache,
    )
    replies = knowledge_base_strata.add_strata(replies)
    replies = responses.mark_responses(replies, match)
    choices = ask_responses_again(
        model,
        consistency_questions.responses_to_ask_again(replies),
        bank.pool,
        n_choices=n_choices,
        n_options=n_options,
        choose_by=choose_by,
        seed=seed,
        cache=cache,
    )
    answers = kb.add_consistency(replies, accuracy.mark_choices(choices))
    asked = bank.asked.set_index("item")
    answers = add_identity_columns(
        answers,
        bank.source["checksum"],
        identity=asked["identity"],
        wordings=texts_by_item(bank.asked, "question"),
        wrong_words=asked["answers"].map(_no_texts),
    )
    return schemas.table_with_checked_columns(answers, "answers", "knowledge_base")


def _no_texts(answers: Sequence[str]) -> list[str]:
    """Return the wrong words of a question: it is asked without any."""
    return []


def source(settings: Mapping[str, Any], model: str) -> dict[str, str]:
    """Return what a manifest says of the questions that settings ask a model."""
    return _questions_of_settings(settings["dataset"], settings, model).source


def _questions_of_settings(
    dataset: str, settings: Mapping[str, Any], model: str
) -> KnowledgeQuestions:
    """Return the questions of a data set that settings ask a model."""
    return datasets.knowledge_base_questions(
        dataset,
        model,
        n_seen=settings["n_seen"],
        n_unseen=settings["n_unseen"],
        as_of=settings["as_of"],
        seed=settings["seed"],
    )


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
    """Let the model respond to questions in one prompt setting, with a bank's shots."""
    from helpers import probing

    prompts = shots.shot_prompts(
        questions, setting, bank.seen_shots, bank.unseen_shots, retriever
    )
    return probing.generate(
        model, prompts, max_new_tokens, STOP_STRINGS, cache=cache, progress=progress
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
    """Score questions that put each response among wrong answers.

    These are the `written` ones, if there are any, and others drawn from the `pool`.
    """
    from helpers import probing

    pools = pool.groupby("pool", sort=False)["answer"].agg(list).to_dict()
    distractors = consistency_questions.draw_response_distractors(
        replies, pools, seed=seed
    )
    if written is not None:
        pairs = zip(written, distractors, strict=True)
        distractors = [[*own, *others][:MOST_DISTRACTORS] for own, others in pairs]
    replies = replies.assign(distractors=distractors)
    probes = consistency_questions.consistency_probes(
        replies, n_choices, n_options, choose_by, seed
    )
    return probing.score(model, probes, cache=cache)


def items_drawn_by_settings(settings: Mapping[str, Any], model: str) -> pd.Series:
    """Return the questions of the atlas that settings draw."""
    return _questions_of_settings("atlas", settings, model).asked["item"]


def size_settings_of_answers(answers: pd.DataFrame) -> dict[str, int]:
    """Return the settings of size that answers show."""
    seen = answers["seen"].astype(bool)
    sizes = {
        "n_seen": most_distinct_in_group(answers[seen], by="group"),
        "n_unseen": most_distinct_in_group(answers[~seen], by="group"),
    }
    if "n_choices" in answers and answers["n_choices"].notna().any():
        sizes["n_choices"] = int(answers["n_choices"].max())
    return sizes


def facts(
    answers: pd.DataFrame, *, setting: str = "four-shot", match: str = "exact"
) -> pd.DataFrame:
    """Lay the responses in one prompt setting out as numbers, one row a question.

    Kinds are those of today's rules; "correct" stays what a judge has accepted.
    """
    replies = answers[answers["setting"] == setting].reset_index(drop=True)
    marked = responses.mark_responses(replies, match)
    label = marked["label"]
    informative = label != "uninformative"
    table = pd.DataFrame({"item": replies["item"], "relation": replies["group"]})
    table["stratum"] = replies.get("stratum", replies["group"])
    table["label"] = label
    table["right"] = (label == "correct").astype(float)
    table["agreement"] = replies["consistency"].fillna(0.0).where(informative, 0.0)
    table["said"] = replies["text"]
    table["unanswered"] = texts_without_answer(replies["text"])
    if "seen" in replies and "kind" in replies:
        judged = responses.apply_judge_verdicts(marked, replies["kind"] == "correct")
        numbers = kb.response_indicators(responses.unseen_guesses_as_wrong(judged))
        table = table.join(pd.DataFrame(numbers, table.index, INDICATOR_COLUMNS))
    table = add_columns(table, replies, MEASURES, setting=setting, match=match)
    return schemas.table_with_checked_columns(table, "facts", "knowledge_base")


def right(answers: pd.DataFrame) -> pd.DataFrame:
    """Return ``item, right``: every accepted answer, "" of unseen knowledge."""
    accepted = answers.explode("answers")
    text = accepted["answers"].fillna("")
    table = pd.DataFrame({"item": accepted["item"], "right": text})
    return table.drop_duplicates(ignore_index=True)


def instances(
    answers: pd.DataFrame, *, setting: str = "four-shot", match: str = "exact"
) -> pd.DataFrame:
    """Return the questions in one prompt setting, with ``said, right, target``."""
    marks = facts(answers, setting=setting, match=match).set_index("item")
    replies = answers[answers["setting"] == setting]
    replies = replies.join(marks[["right", "said"]], on="item")
    return replies.rename(columns={"answers": "target", "group": "relation"})


def halves(answers: pd.DataFrame) -> Half:
    """Draw half of the multiple-choice questions about each response."""
    if "n_choices" not in answers:
        return Half(None, 1, 1)
    n = int(answers["n_choices"].max())
    n_half = n // 2
    asked_again = answers["consistency"].notna()
    share = answers["consistency"].fillna(0)
    # A response that is not asked again has no number of choices.
    chosen = (share * answers["n_choices"]).fillna(0).round().astype(int)
    random = np.random.default_rng(0)
    chosen_in_half = random.hypergeometric(chosen, n - chosen, n_half)
    consistency = pd.Series(chosen_in_half / n_half, answers.index)
    half = answers.assign(consistency=consistency.where(asked_again))
    return Half(half, n, n_half)


def printed(run: Run) -> Iterator[Printed]:
    """Yield the paper's measures in every prompt setting that the run has."""
    answers = run.answers
    settings_in_run = set(answers["setting"])
    for setting in shots.PROMPT_SETTINGS:
        if setting not in settings_in_run:
            continue
        settings = {**run.settings, "setting": setting}
        table = facts(answers, **settings_for_function(facts, settings))
        table["relation"] = table["stratum"]
        for name in PRINTED:
            of_seen = name not in UNSEEN
            questions = table[table["seen"] == of_seen]
            title = f"knowledge bases: {name}, {setting}"
            statistic = kb.measure_statistic(name)
            columns = list(INDICATOR_COLUMNS)
            yield Printed(title, questions, columns, statistic, "all")


def verdict(facts: pd.DataFrame, firm: float = FIRM_THRESHOLD) -> pd.DataFrame:
    """Call facts known whose response is correct, and chosen again often enough."""
    check_firm(firm)
    right = facts["right"] == 1
    agreement = facts["agreement"]
    firmly = agreement >= firm
    known = right & firmly
    columns = {
        "known": known.astype(float),
        "score": agreement.where(right, 0.0 - agreement),
        "blind": agreement,
        "asserted": facts["said"].where(firmly, ""),
    }
    return pd.DataFrame(columns, index=facts.index)


summary = partial(summary_of_measures, MEASURES)
