"""Questions to a judge, and how its answers are read: what changes with time, what means the same.

`changing` is the instruction of Zheng, Lapata and Pan 2024, Table 5. The two others, `matches` and
`make_distractors`, ask what their Tables 7 and 8 ask in words of our own.
"""

import re
from collections.abc import Sequence

VERDICTS = (" yes", " no")
_CHANGING = """INSTRUCTION: Please provide the index of questions whose answers change yearly. \
Just return the index without explanations.
Here is the list of questions:
1. Who is the most paid player in EPL?
2. What is the capital of Louisiana?
3. Who won the Nobel Peace Prize in 2009?
4. What is the latest model of the iPhone currently available?
Index:
1, 4
Here is the list of questions:
"""
_MATCHES = """Two answers to one question mean the same if nobody who knows the subject would mark \
one as right and the other as wrong. Say yes if the reply means the same as one of the accepted \
answers, and no if it does not.

QUESTION: In which country is the Matterhorn's southern face?
ACCEPTED: Italy | Italian Republic
REPLY: it is in Italy
SAME: yes

QUESTION: Who painted The Night Watch?
ACCEPTED: Rembrandt | Rembrandt van Rijn
REPLY: Johannes Vermeer
SAME: no

"""
_DISTRACTORS = """Write {n} wrong answers that could be mistaken for the given one: of the same \
kind, as long, none of them right. Part them by semicolons.

QUESTION: What is the capital of Norway?
ANSWER: Oslo
WRONG: Bergen; Stockholm; Copenhagen; Trondheim; Helsinki; Reykjavik

"""


def changing(questions: Sequence[str]) -> str:
    """Return the prompt that asks which questions' answers change every year."""
    lines = "".join(f"{number}. {text}\n" for number, text in enumerate(questions, 1))
    return f"{_CHANGING}{lines}Index:\n"


def read_changing(text: str, n: int) -> list[bool]:
    """Read the indices that a judge returned for `n` questions.

    >>> read_changing("1, 3 and 12", 3)
    [True, False, True]
    """
    named = {int(number) for number in re.findall(r"\d+", text.partition("\n")[0])}
    return [number in named for number in range(1, n + 1)]


def matches(question: str, answers: Sequence[str], reply: str) -> str:
    """Return the prompt that asks whether a reply means the same as an accepted answer."""
    accepted = " | ".join(answers)
    return f"{_MATCHES}QUESTION: {question}\nACCEPTED: {accepted}\nREPLY: {reply.strip()}\nSAME:"


def make_distractors(question: str, answer: str, n: int = 20) -> str:
    """Return the prompt that asks for wrong answers like the given one."""
    head = _DISTRACTORS.format(n=n)
    return f"{head}QUESTION: {question}\nANSWER: {answer.strip()}\nWRONG:"


def read_distractors(text: str) -> list[str]:
    """Read a list parted by semicolons; empty parts and repetitions left out.

    >>> read_distractors(" Bergen; Oslo;; Bergen ")
    ['Bergen', 'Oslo']
    """
    parts = (part.strip(" .\n") for part in text.split(";"))
    return list(dict.fromkeys(part for part in parts if part))
