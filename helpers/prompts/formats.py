"""The fixed texts around questions, options and pairs, shared by chapters and training.

The instruction and the QUESTION/ANSWER lines are those that Zheng, Lapata and Pan (2024, Table 6)
give their models; the separators are those of Wu et al. (2025, Figure 4) and some more. A style
says how a published format puts a question with options: with letters the options stand in the
prompt and the letter is scored, else the text of the option.
"""

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from helpers import UserError

INSTRUCTION = (
    "INSTRUCTION: Please answer knowledge-related questions directly. Note: Please do not give "
    'anything other than the answer; Say "unsure" if you do not know.\n'
)
UNSURE = "unsure"

# Name of a separator: what stands between subject and object, and between two pairs.
SEPARATORS = {
    "space": (" ", " "),
    "colon and comma": (" : ", ", "),
    "colon and line": (": ", "\n"),
    "comma and line": (", ", "\n"),
    "space and line": (" ", "\n"),
    "arrow and line": (" -> ", "\n"),
    "dash and line": (" - ", "\n"),
    "equals and semicolon": (" = ", "; "),
    "space and comma": (" ", ", "),
    "bar and line": (" | ", "\n"),
}


def shot(question: str, answer: str = "") -> str:
    """Return a question as a prompt shows it, with its answer or up to where that would stand."""
    given = f" {answer}\n" if answer else ""
    return f"QUESTION: {question}\nANSWER:{given}"


def choose_before(question: str, options: Sequence[str]) -> str:
    """Return a question after its options in one sentence: "Peru, France or Chad? ..."."""
    shown = ", ".join(options[:-1]) + f" or {options[-1]}" if len(options) > 1 else options[0]
    return f"{shown}? {question}"


def choose_below(question: str, options: Sequence[str]) -> str:
    """Return a question with its options on a line below it, up to where the answer would stand."""
    return f"QUESTION: {question}\nOPTIONS: {'; '.join(options)}\nANSWER:"


# Med-HALT's own instruction (its prompts.json, v0, without the lines on the output's format).
MEDHALT = (
    "You are a highly intelligent and accurate medical domain expert. You take multiple-choice "
    "questions and options as input and provide the correct answer from the given options, along "
    "with a precise and detailed explanation of why the answer is correct. Additionally, you also "
    "provide why the other options are not correct. Ensure that the explanation is detailed and "
    "accurate. Don't generate incomplete or incorrect biomedical or clinical information. If you "
    "don't know the answer, just say \"I do not know\", don't try to make up an answer.\n\n"
)


@dataclass(frozen=True)
class Style:
    """How a question is put and demonstrations are joined.

    `ask` makes of question and options the text up to where the answer would stand, `between`
    follows an answered demonstration, `head` stands before all, and `letters` says whether the
    letter of an option is scored, and not its text.
    """

    ask: Callable[[str, Sequence[str]], str]
    between: str = "\n"
    head: str = ""
    letters: bool = False


def lettered(question: str, options: Sequence[str]) -> str:
    """Return a question with its options on lines of their own, each after a letter."""
    lines = [f"{letter(place)}. {text}" for place, text in enumerate(options)]
    return "\n".join([f"Question: {question}", *lines, "Answer:"])


def letter(place: int) -> str:
    """Return the letter of an option, A for 0; there are 26."""
    if place >= 26:
        raise UserError("An item has more than 26 options, and there are no letters for the rest.")
    return string.ascii_uppercase[place]


STYLES = {
    "line": Style(lambda question, options: question),
    "shot": Style(lambda question, options: shot(question)),
    "options": Style(choose_below),
    "text": Style(lambda question, options: question, between="\n\n"),
    "question": Style(lambda question, options: f"Q: {question}\nA:", between="\n\n"),
    "claim": Style(lambda question, options: f"Claim: {question}\nLabel:", between="\n\n"),
    "letters": Style(lettered, between="\n\n", letters=True),
    "medhalt": Style(lettered, between="\n\n", head=MEDHALT, letters=True),
}
# Where the order of the options is varied they must be shown.
SHOWN = {"line": "options", "question": "options"}


def continuations(style: Style, options: Sequence[str]) -> list[str]:
    """Return what is scored for each option, in their order, with its leading space."""
    if style.letters:
        return [f" {letter(place)}" for place in range(len(options))]
    return [f" {text}" for text in options]


def demonstrate(style: Style, question: str, options: Sequence[str], answer: int) -> str:
    """Return a question with its answer, as an example that stands before another question."""
    return style.ask(question, options) + continuations(style, options)[answer] + style.between
