"""Questions to a judge, and how its answers are read: what changes with time, what means the same.

`changing` is the instruction of Zheng, Lapata and Pan 2024, Table 5. The two others, `matches` and
`make_distractors`, ask what their Tables 7 and 8 ask in words of our own.
"""

import re
from collections.abc import Sequence

from helpers.prompts.formats import TEXTS

VERDICTS = (" yes", " no")


def changing(questions: Sequence[str]) -> str:
    """Return the prompt that asks which questions' answers change every year."""
    lines = "".join(f"{number}. {text}\n" for number, text in enumerate(questions, 1))
    return f"{TEXTS['changing']}{lines}Index:\n"


def read_changing(text: str, n: int) -> list[bool]:
    """Read the indices that a judge returned for `n` questions.

    >>> read_changing("1, 3 and 12", 3)
    [True, False, True]
    """
    named = {int(number) for number in re.findall(r"\d+", text.partition("\n")[0])}
    return [number in named for number in range(1, n + 1)]


def matches(question: str, answers: Sequence[str], reply: str) -> str:
    """Return the prompt that asks whether a reply means the same as an accepted answer."""
    asked = f"QUESTION: {question}\nACCEPTED: {' | '.join(answers)}\nREPLY: {reply.strip()}\nSAME:"
    return TEXTS["matches"] + asked


def make_distractors(question: str, answer: str, n: int = 20) -> str:
    """Return the prompt that asks for wrong answers like the given one."""
    head = TEXTS["distractors"].format(n=n)
    return f"{head}QUESTION: {question}\nANSWER: {answer.strip()}\nWRONG:"


def read_distractors(text: str) -> list[str]:
    """Read a list parted by semicolons; empty parts and repetitions left out.

    >>> read_distractors(" Bergen; Oslo;; Bergen ")
    ['Bergen', 'Oslo']
    """
    parts = (part.strip(" .\n") for part in text.split(";"))
    return list(dict.fromkeys(part for part in parts if part))
