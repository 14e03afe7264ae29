"""Ask a bundled model what the pages of the book show, and write the answers.

The bars of one answer and their words, one fact in several states for the front page,
and one fact put through the four studies for the page that compares them.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from book.tools.live_model import LIVE_MODEL, STORED_ANSWERS_FILE, percent_text
from helpers import datasets, models
from helpers.studies import STUDIES
from tests.live_page import cases
from tests.live_page.page_questions import (
    Question,
    facts_about_subject,
    object_probabilities,
    prompt_and_choices,
)

ONE_FACT_ID = "P17-0243"  # that the page of four ways shows
SHOWN_OBJECTS = 8


def still_figure_data(
    asked: Question, before: Question | None = None
) -> dict[str, Any]:
    """Ask the model what it expects; with it stands what it expected of another question."""
    table, behind = object_probabilities(asked), ""
    shown = table[(table.index < SHOWN_OBJECTS) | (table["told"] != "")]
    if before is not None:
        earlier = object_probabilities(before).set_index("object")["probability"]
        shown = table[
            table.index.isin(shown.index) | (table["object"] == earlier.idxmax())
        ]
        shown = shown.assign(before=shown["object"].map(earlier))
        behind = f" Dashed outline: after “{_in_line(before)}”."
    number = (
        f"the {SHOWN_OBJECTS} likeliest of {len(table)} objects"
        if len(table) > SHOWN_OBJECTS
        else "all options"
    )
    if more := list(shown["object"][shown.index >= SHOWN_OBJECTS]):
        number += f", and {' and '.join(more)}"
    caption = f"What {LIVE_MODEL} expects after “{_in_line(asked)}”: {number}.{behind} {training_text_sentence(asked)}"
    values = ", ".join(
        f"{row.object} {100 * row.probability:.1f} %" for row in shown.itertuples()
    )
    alt = f"Bars of {number}: {values}."
    return {"caption": caption, "alt": alt, "bars": shown.to_dict("records")}


def training_text_sentence(asked: Question) -> str:
    """Return what the training text told of the subject, as a sentence.

    >>> training_text_sentence(Question("P17", "Gotham"))
    'The training text states no such fact of Gotham.'
    """
    found = facts_about_subject(asked.relation, asked.subject)
    if found.empty:
        return f"The training text states no such fact of {asked.subject}."
    fact = found.iloc[0]
    count = fact["exposures"]
    stated = {0: "never stated", 1: "stated once"}.get(count, f"stated {count} times")
    return f"The truth, {fact['object']}, was {stated} in the model's training text."


def _in_line(asked: Question) -> str:
    """Return a prompt in one line: of a list of examples, its last two."""
    lines = prompt_and_choices(asked)[0].split("\n")
    return " / ".join(
        ["…", *lines[-3:]] if asked.way == "list" and len(lines) > 3 else lines
    )


FRONT_FACT_STATES = [
    ("Ask", Question("P17", "Lyon", "sentence")),
    ("Ask in a wording it never read", Question("P17", "Lyon", "question", frame=6)),
    (
        "Say an unrelated word first",
        Question("P17", "Lyon", "sentence", context="Helium"),
    ),
    ("Say a wrong country first", Question("P17", "Lyon", "sentence", context="Italy")),
]


def front_fact_form_data(
    states: Sequence[tuple[str, Question]] = FRONT_FACT_STATES,
) -> dict[str, Any]:
    """Return what `book.tools.live_model.fact_form_html` shows of several states."""
    tables = [object_probabilities(asked).set_index("object") for _, asked in states]
    told = tables[0]["told"]
    listed = [*told.index[told == "true"], *(asked.context for _, asked in states)]
    listed += [name for table in tables for name in table.index[:2]]
    objects = [name for name in dict.fromkeys(listed) if name in told.index]
    said = {asked.context for _, asked in states}
    kinds = {
        name: "true" if told[name] == "true" else "said" * (name in said)
        for name in objects
    }
    likeliest = [
        (table.index[0], float(table["probability"].iloc[0])) for table in tables
    ]
    return {
        "states": [
            {"label": label, "prompt": prompt_and_choices(asked)[0], "best": best}
            for (label, asked), best in zip(states, likeliest)
        ],
        "objects": {
            name: {
                "kind": kinds[name],
                "probabilities": [
                    float(table["probability"][name]) for table in tables
                ],
            }
            for name in objects
        },
        "truth": training_text_sentence(states[0][1]),
    }


class StudyReading(NamedTuple):
    """What one study shows the model about a fact, what came of it, and whether it is known."""

    study: str
    prompts: list[str]
    result: str
    known: bool | None


def study_readings(fact: str) -> list[StudyReading]:
    """Ask a model one fact of the atlas in the way of each study."""
    one = datasets.load("atlas").query("fact == @fact")
    lm = models.load(LIVE_MODEL, device="cpu")
    readings = []
    for name, study in STUDIES.items():
        answers = study.ask(lm, one)
        facts = study.facts(answers)
        known = study.verdict(facts)["known"].iloc[0]
        prompts, result = READING_BY_STUDY[name](
            answers, facts.iloc[0], one["object"].iloc[0]
        )
        readings.append(
            StudyReading(name, prompts, result, None if pd.isna(known) else bool(known))
        )
    return readings


def _monitor(
    answers: pd.DataFrame, fact: pd.Series, truth: str
) -> tuple[list[str], str]:
    alone = answers[answers["context"] == "none"].sort_values("frame")["prompt"]
    wrong = answers[answers["context"] == "wrong"].sort_values("context_index")[
        "prompt"
    ]
    prompts = [alone.iloc[0], alone.iloc[-1], wrong.iloc[0]]
    return prompts, (
        f"Over {fact['n_frames']} wordings and {fact['n_interferences']} wrong words the "
        f"probability of {truth} is on average {fact['deviation']:.2f} away from the "
        f"{fact['anchor']:.2f} that it has once {truth} has been said; "
        f"{percent_text(fact['average'])} of the answers are right."
    )


def _knowledge_base(
    answers: pd.DataFrame, fact: pd.Series, truth: str
) -> tuple[list[str], str]:
    lines = answers["prompt"].iloc[0].strip().splitlines()
    again = int(answers["n_choices"].iloc[0])
    result = (
        f"The model answers “{fact['said'].strip()}”, which counts as {fact['label']}."
    )
    if fact["tested"]:
        result += f" Asked {again} times with options, it picks it again in "
        result += f"{percent_text(fact['consistency'])} of the cases."
    return ["… " + " ".join(lines[-2:])], result


def _latent_knowledge(
    answers: pd.DataFrame, fact: pd.Series, truth: str
) -> tuple[list[str], str]:
    words = answers["prompt"].iloc[0]
    totals = np.array([sum(values) for values in answers["logprobs"]])
    rank = int((totals > totals[answers["correct"].to_numpy()].max()).sum()) + 1
    result = f"Of {len(answers)} objects the likeliest is {fact['said']} ({percent_text(fact['top'])})"
    result += (
        "."
        if rank == 1
        else f"; {truth} is number {rank} ({percent_text(fact['mass'])})."
    )
    return ["… " + words[-60:].partition(" ")[2].replace("\n", " ⏎ ")], result


def _multiplicity(
    answers: pd.DataFrame, fact: pd.Series, truth: str
) -> tuple[list[str], str]:
    asked = answers.drop_duplicates("variation")["prompt"]
    options = ", ".join(sorted(answers["text"].unique()))
    return [f"{asked.iloc[0]} ({options})", f"{asked.iloc[-1]} ({options})"], (
        f"Over {len(asked)} prompts {percent_text(fact['accuracy'])} of the choices are right; two "
        "randomly drawn prompts agree with probability "
        f"{fact['self_consistency']:.2f}, most often on {fact['said']}."
    )


READING_BY_STUDY: dict[
    str, Callable[[pd.DataFrame, pd.Series, str], tuple[list[str], str]]
] = {
    "monitor": _monitor,
    "knowledge_base": _knowledge_base,
    "latent_knowledge": _latent_knowledge,
    "multiplicity": _multiplicity,
}


def page_answers() -> dict[str, Any]:
    """Return the cases, the fact of the front page and that of four ways, as pages show them."""
    made = {name: cases.clearest_case(name) for name in cases.CASE_KINDS}
    stills = {
        name: still_figure_data(case.asked, case.before) for name, case in made.items()
    }
    return {
        "case": {name: asdict(case) | stills[name] for name, case in made.items()},
        "front": {"Lyon": front_fact_form_data()},
        "fact": {
            ONE_FACT_ID: [reading._asdict() for reading in study_readings(ONE_FACT_ID)]
        },
    }


if __name__ == "__main__":
    text = json.dumps(page_answers(), indent=1, ensure_ascii=False) + "\n"
    STORED_ANSWERS_FILE.write_text(text, encoding="utf-8")
