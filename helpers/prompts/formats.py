"""The fixed texts around questions, options and pairs, shared by chapters and training.

The instruction and the QUESTION/ANSWER lines are those that Zheng, Lapata and Pan (2024, Table 6)
give their models; the separators are those of Wu et al. (2025, Figure 4) and some more.
"""

from collections.abc import Sequence

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
    r"""Return a question as a prompt shows it, with its answer or up to where that would stand.

    >>> shot("Where is Lyon?", "France")
    'QUESTION: Where is Lyon?\nANSWER: France\n'
    >>> shot("Where is Lyon?")
    'QUESTION: Where is Lyon?\nANSWER:'
    """
    given = f" {answer}\n" if answer else ""
    return f"QUESTION: {question}\nANSWER:{given}"


def choose_before(question: str, options: Sequence[str]) -> str:
    """Return a question after its options in one sentence.

    >>> choose_before("Where is Lyon?", ["Peru", "France", "Chad"])
    'Peru, France or Chad? Where is Lyon?'
    """
    shown = ", ".join(options[:-1]) + f" or {options[-1]}" if len(options) > 1 else options[0]
    return f"{shown}? {question}"


def choose_below(question: str, options: Sequence[str]) -> str:
    r"""Return a question with its options on a line below it, up to where the answer would stand.

    >>> choose_below("Where is Lyon?", ["Peru", "France"])
    'QUESTION: Where is Lyon?\nOPTIONS: Peru; France\nANSWER:'
    """
    return f"QUESTION: {question}\nOPTIONS: {'; '.join(options)}\nANSWER:"
