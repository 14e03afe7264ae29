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
    'nobel holds facts without questions, and the chapter monitor takes facts with \
questions: run latent_knowledge on it, or name another data set.'
    """
    if chapter == EXPOSURE_CHAPTER and not _has_exposure(dataset):
        return (
            f"{dataset} has no counts of exposure, with which the chapter "
            f"{EXPOSURE_CHAPTER} compares verdicts: add `exposure` to your facts."
        )
    if chapter not in CHAPTER_INPUTS:
        return ""
    kind = SEEN_QA if dataset == SEEN_QA else dataset_kind(dataset)
    if kind not in CHAPTER_INPUTS[chapter]:
        return _wrong_kind(chapter, dataset, kind)
    if dataset == "atlas":
        catalogue.keep_relations(atlas_facts.read_atlas_facts(), relations)
    elif dataset == "fktc":
        catalogue.keep_relations(fktc.cloze_templates(), relations)
    elif kind != SEEN_QA and Path(dataset).expanduser().exists():
        return _what_a_local_dataset_lacks(chapter, str(dataset), kind, relations)
    return ""


def _has_exposure(dataset: str | Path) -> bool:
    return dataset == "atlas" or fact_exposure(str(dataset)) is not None


def _wrong_kind(chapter: str, dataset: str | Path, kind: str) -> str:
    """Say that a chapter takes no data of a kind, and which chapters do."""
    contents = [DATASET_CONTENTS[name] for name in CHAPTER_INPUTS[chapter]]
    takers = [name for name, kinds in CHAPTER_INPUTS.items() if kind in kinds]
    return (
        f"{dataset} holds {DATASET_CONTENTS[kind]}, and the chapter {chapter} takes "
        f"{' or '.join(contents)}: run {' or '.join(takers)} on it, "
        "or name another data set."
    )


def _what_a_local_dataset_lacks(
    chapter: str, dataset: str, kind: str, relations: Sequence[str]
) -> str:
    """Read a local data set, and say what a chapter lacks in it; "" if nothing."""
    if kind == "options":
        multiple_choice.load_benchmark(dataset)
        return ""
    facts = catalogue.load(dataset, relations)
    for check in CHECKS_BY_CHAPTER.get(chapter, ()):
        reason = check(chapter, dataset, facts)
        if reason:
            return reason
    return ""


def _no_wrong_objects(chapter: str, dataset: str, facts: pd.DataFrame) -> str:
    alone = facts.loc[facts["distractors"].str.len() == 0, "fact"]
    if alone.empty:
        return ""
    return (
        f"The chapter {chapter} needs wrong objects beside each fact, and "
        f"{alone.iloc[0]} of {dataset} has none: list some under `taxonomy`."
    )


def _too_few_questions(chapter: str, dataset: str, facts: pd.DataFrame) -> str:
    if has_enough_questions(dataset):
        return ""
    return (
        f"The chapter {chapter} needs some questions to ask and {FEWEST_ANSWERS} "
        f"others for its shots, and {dataset} holds {len(facts)} facts: add some."
    )


def _indivisible(chapter: str, dataset: str, facts: pd.DataFrame) -> str:
    try:
        lists.divisible_facts_and_notes(facts)
    except UserError as error:
        return str(error)
    return ""


CHECKS_BY_CHAPTER = {
    "monitor": (_no_wrong_objects,),
    "knowledge_base": (_too_few_questions,),
    "latent_knowledge": (_indivisible,),
    "multiplicity": (_no_wrong_objects,),
}
