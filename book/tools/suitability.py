"""Which chapter can be run on which data set, and why not."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from helpers import UserError
from helpers.datasets import atlas_facts, catalogue, fktc, multiple_choice
from helpers.datasets.knowledge_questions import FEWEST_ANSWERS, has_enough_questions
from helpers.datasets.multiple_choice import dataset_kind
from helpers.datasets.panel import fact_exposure
from helpers.prompts import lists

SEEN_QA = "seen_qa"
EXPOSURE_CHAPTER = "calibration"  # compares verdicts with counts of exposure
DATASET_CONTENTS = {
    "facts": "facts with questions",
    "pairs": "facts without questions",
    "options": "questions with options",
    SEEN_QA: "published questions",
}
CHAPTER_INPUTS = {
    "monitor": ("facts",),
    "knowledge_base": ("facts", SEEN_QA),
    "latent_knowledge": ("facts", "pairs"),
    "multiplicity": ("facts", "options"),
}


def unsuitability_reason(
    chapter: str, dataset: str | Path, relations: Sequence[str] = ()
) -> str:
    """Say why a chapter cannot be run on a data set; "" if it can.

    >>> unsuitability_reason("latent_knowledge", "nobel")
    ''
    >>> unsuitability_reason("monitor", "nobel")
    'nobel holds facts without questions, and the chapter monitor takes facts with questions: run \
latent_knowledge on it, or name another data set.'
    """
    if (
        chapter == EXPOSURE_CHAPTER
        and dataset != "atlas"
        and fact_exposure(str(dataset)) is None
    ):
        return (
            f"{dataset} has no counts of exposure, with which the chapter {EXPOSURE_CHAPTER} compares "
            "verdicts: add `exposure` to your facts."
        )
    if chapter not in CHAPTER_INPUTS:
        return ""
    held = SEEN_QA if dataset == SEEN_QA else dataset_kind(dataset)
    if held not in CHAPTER_INPUTS[chapter]:
        wanted = " or ".join(DATASET_CONTENTS[kind] for kind in CHAPTER_INPUTS[chapter])
        takers = " or ".join(
            name for name, kinds in CHAPTER_INPUTS.items() if held in kinds
        )
        return (
            f"{dataset} holds {DATASET_CONTENTS[held]}, and the chapter {chapter} takes {wanted}: "
            f"run {takers} on it, or name another data set."
        )
    if dataset in ("atlas", "fktc"):
        every = (
            atlas_facts.read_atlas_facts()
            if dataset == "atlas"
            else fktc.cloze_templates()
        )
        catalogue.keep_relations(every, relations)
    elif held != SEEN_QA and Path(dataset).expanduser().exists():
        return _lacking(chapter, str(dataset), held, relations)
    return ""


def _lacking(chapter: str, dataset: str, held: str, relations: Sequence[str]) -> str:
    """Read a local data set, and say what a chapter lacks in it; "" if nothing."""
    if held == "options":
        multiple_choice.load_benchmark(dataset)
        return ""
    facts = catalogue.load(dataset, relations)
    checks = LACKING.get(chapter, ())
    reasons = (check(chapter, dataset, facts) for check in checks)
    return next(filter(None, reasons), "")


def _no_wrong_objects(chapter: str, dataset: str, facts: pd.DataFrame) -> str:
    alone = facts.loc[facts["distractors"].str.len() == 0, "fact"]
    if alone.empty:
        return ""
    return (
        f"The chapter {chapter} needs wrong objects beside each fact, and {alone.iloc[0]} of "
        f"{dataset} has none: list some under `taxonomy`."
    )


def _too_few_questions(chapter: str, dataset: str, facts: pd.DataFrame) -> str:
    if has_enough_questions(dataset):
        return ""
    return (
        f"The chapter {chapter} needs some questions to ask and {FEWEST_ANSWERS} others for "
        f"its shots, and {dataset} holds {len(facts)} facts: add some."
    )


def _indivisible(chapter: str, dataset: str, facts: pd.DataFrame) -> str:
    try:
        lists.divisible_facts_and_notes(facts)
    except UserError as error:
        return str(error)
    return ""


LACKING = {
    "monitor": (_no_wrong_objects,),
    "knowledge_base": (_too_few_questions,),
    "latent_knowledge": (_indivisible,),
    "multiplicity": (_no_wrong_objects,),
}
