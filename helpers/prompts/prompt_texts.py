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
INSTRUCTION = PROMPT_TEXTS["instruction"]
UNSURE_ANSWER = PROMPT_TEXTS["unsure"]
# Name of a separator: what stands between subject and object, and between two pairs.
SEPARATORS = {name: tuple(parts) for name, parts in PROMPT_TEXTS["separators"].items()}


def shot_text(question: str, answer: str = "") -> str:
    """Return a question as a prompt shows it, with its answer or open for one."""
    answer_line = f" {answer}\n" if answer else ""
    return f"QUESTION: {question}\nANSWER:{answer_line}"


def question_after_options(question: str, options: Sequence[str]) -> str:
    """Return a question after its options: "Peru, France or Chad? Where is ...?"."""
    *others, last = options
    if not others:
        return f"{last}? {question}"
    return f"{', '.join(others)} or {last}? {question}"


def question_above_options(question: str, options: Sequence[str]) -> str:
    """Return a question with its options on a line below it, open for the answer."""
    return f"QUESTION: {question}\nOPTIONS: {'; '.join(options)}\nANSWER:"


@dataclass(frozen=True)
class QuestionStyle:
    """How a question is put, and whether letters or the options' texts are scored.

    `ask` makes a text of a question and its options, `between` stands behind each
    answered question, and `head` before them all.
    """

    ask: Callable[[str, Sequence[str]], str]
    between: str = "\n"
    head: str = ""
    letters: bool = False


def question_alone(question: str, options: Sequence[str]) -> str:
    """Return a question as it is."""
    return question


def question_as_shot(question: str, options: Sequence[str]) -> str:
    """Return a question as shots show it."""
    return shot_text(question)


def question_in_qa_format(question: str, options: Sequence[str]) -> str:
    """Return a question between "Q:" and "A:"."""
    return f"Q: {question}\nA:"


def claim_to_label(question: str, options: Sequence[str]) -> str:
    """Return a claim, open for its label."""
    return f"Claim: {question}\nLabel:"


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
    "line": QuestionStyle(question_alone),
    "shot": QuestionStyle(question_as_shot),
    "options": QuestionStyle(question_above_options),
    "text": QuestionStyle(question_alone, between="\n\n"),
    "question": QuestionStyle(question_in_qa_format, between="\n\n"),
    "claim": QuestionStyle(claim_to_label, between="\n\n"),
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
    """Return a question with its answer, to stand before another question."""
    continuations = option_continuations(style, options)
    return style.ask(question, options) + continuations[answer] + style.between
