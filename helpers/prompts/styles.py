"""How a question with options is put: one style a published format, and those of training.

In a style with letters the options stand in the prompt, each after a letter, and the letter is
what is scored; in the others it is the text of the option.
"""

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from helpers import UserError
from helpers.prompts import formats

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

    Parameters
    ----------
    ask : callable
        Question and options to the text up to where the answer would stand.
    between : str
        What follows an answered demonstration.
    head : str
        What stands before all.
    letters : bool
        Whether the letter of an option is scored, and not its text.
    """

    ask: Callable[[str, Sequence[str]], str]
    between: str = "\n"
    head: str = ""
    letters: bool = False


def lettered(question: str, options: Sequence[str]) -> str:
    r"""Return a question with its options on lines of their own, each after a letter.

    >>> lettered("Up?", ["yes", "no"])
    'Question: Up?\nA. yes\nB. no\nAnswer:'
    """
    lines = [f"{letter(place)}. {text}" for place, text in enumerate(options)]
    return "\n".join([f"Question: {question}", *lines, "Answer:"])


def letter(place: int) -> str:
    """Return the letter of an option, A for 0; there are 26.

    >>> letter(2)
    'C'
    """
    if place >= 26:
        raise UserError("An item has more than 26 options, and there are no letters for the rest.")
    return string.ascii_uppercase[place]


STYLES = {
    "line": Style(lambda question, options: question),
    "shot": Style(lambda question, options: formats.shot(question)),
    "options": Style(formats.choose_below),
    "text": Style(lambda question, options: question, between="\n\n"),
    "question": Style(lambda question, options: f"Q: {question}\nA:", between="\n\n"),
    "claim": Style(lambda question, options: f"Claim: {question}\nLabel:", between="\n\n"),
    "letters": Style(lettered, between="\n\n", letters=True),
    "medhalt": Style(lettered, between="\n\n", head=MEDHALT, letters=True),
}
# Where the order of the options is varied they must be shown.
SHOWN = {"line": "options", "question": "options"}


def continuations(style: Style, options: Sequence[str]) -> list[str]:
    """Return what is scored for each option, in their order, with its leading space.

    >>> continuations(STYLES["letters"], ["yes", "no"])
    [' A', ' B']
    """
    if style.letters:
        return [f" {letter(place)}" for place in range(len(options))]
    return [f" {text}" for text in options]


def demonstrate(style: Style, question: str, options: Sequence[str], answer: int) -> str:
    r"""Return a question with its answer, as an example that stands before another question.

    >>> demonstrate(STYLES["line"], "Up?", ["yes", "no"], 1)
    'Up? no\n'
    """
    return style.ask(question, options) + continuations(style, options)[answer] + style.between
