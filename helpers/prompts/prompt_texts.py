"""The fixed texts around questions, options and pairs, shared by chapters and training.

The instruction and QUESTION/ANSWER lines are from Zheng, Lapata and Pan 2024, Table 6,
separators from Wu et al. 2025, Figure 4, and some more.
"""

import string
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from helpers import UserError

PROMPT_TEXTS = tomllib.loads(
    Path(__file__).with_name("texts.toml").read_text(encoding="utf-8")
)
INSTRUCTION, UNSURE_ANSWER = PROMPT_TEXTS["instruction"], PROMPT_TEXTS["unsure"]
# Name of a separator: what stands between subject and object, and between two pairs.
SEPARATORS = {name: tuple(parts) for name, parts in PROMPT_TEXTS["separators"].items()}


def shot_text(question: str, answer: str = "") -> str:
    """Return a question as a prompt shows it, with its answer or up to where that would stand."""
    given = f" {answer}\n" if answer else ""
    return f"QUESTION: {question}\nANSWER:{given}"


def question_after_options(question: str, options: Sequence[str]) -> str:
    """Return a question after its options in one sentence: "Peru, France or Chad? ..."."""
    shown = (
        ", ".join(options[:-1]) + f" or {options[-1]}"
        if len(options) > 1
        else options[0]
    )
    return f"{shown}? {question}"


def question_above_options(question: str, options: Sequence[str]) -> str:
    """Return a question with its options on a line below it, up to where the answer would stand."""
    return f"QUESTION: {question}\nOPTIONS: {'; '.join(options)}\nANSWER:"


@dataclass(frozen=True)
class QuestionStyle:
    """How a question is put (`ask`), parts are joined, and a letter or a text is scored."""

    ask: Callable[[str, Sequence[str]], str]
    between: str = "\n"
    head: str = ""
    letters: bool = False


def question_with_lettered_options(question: str, options: Sequence[str]) -> str:
    """Return a question with its options on lines of their own, each after a letter."""
    lines = [f"{option_letter(place)}. {text}" for place, text in enumerate(options)]
    return "\n".join([f"Question: {question}", *lines, "Answer:"])


def option_letter(place: int) -> str:
    """Return the letter of an option, A for 0; there are 26."""
    if place >= 26:
        raise UserError(
            "An item has more than 26 options, and there are no letters for the rest."
        )
    return string.ascii_uppercase[place]


QUESTION_STYLES = {
    "line": QuestionStyle(lambda question, options: question),
    "shot": QuestionStyle(lambda question, options: shot_text(question)),
    "options": QuestionStyle(question_above_options),
    "text": QuestionStyle(lambda question, options: question, between="\n\n"),
    "question": QuestionStyle(
        lambda question, options: f"Q: {question}\nA:", between="\n\n"
    ),
    "claim": QuestionStyle(
        lambda question, options: f"Claim: {question}\nLabel:", between="\n\n"
    ),
    "letters": QuestionStyle(
        question_with_lettered_options, between="\n\n", letters=True
    ),
    "medhalt": QuestionStyle(
        question_with_lettered_options,
        between="\n\n",
        head=PROMPT_TEXTS["medhalt"],
        letters=True,
    ),
}
# Where the order of the options is varied they must be shown.
STYLE_WITH_OPTIONS_SHOWN = {"line": "options", "question": "options"}


def option_continuations(style: QuestionStyle, options: Sequence[str]) -> list[str]:
    """Return what is scored for each option, in their order, with its leading space."""
    if style.letters:
        return [f" {option_letter(place)}" for place in range(len(options))]
    return [f" {text}" for text in options]


def demonstration_text(
    style: QuestionStyle, question: str, options: Sequence[str], answer: int
) -> str:
    """Return a question with its answer, as an example that stands before another question."""
    return (
        style.ask(question, options)
        + option_continuations(style, options)[answer]
        + style.between
    )
