"""What a prompt is, read from its label: for answers of older runs, which have no more.

``variant`` is a label for people, and part of the key of a prompt. Answers saved before
columns told what a prompt is are given these columns here, where they are read. No other
code compares or splits a label.
"""

import re
from typing import Any

import pandas as pd

from helpers.prompts.prompt_texts import SEPARATORS
from helpers.prompts.shots import PROMPT_SETTINGS

CONTEXT_OF_LABEL = {"frame": "none", "pos": "right", "neg": "wrong"}
# What stands in a column that a label says nothing of.
UNTOLD = {"kind": "", "frame": -1, "context": "", "context_index": -1}
UNTOLD |= {"way": "", "template": 0, "examples": -1, "draw": -1, "separator": ""}
UNTOLD |= {"setting": ""}

_MONITOR = re.compile(r"(right|frame|wrong|unrelated)(\d*)")
_QUESTION = re.compile(r"(qa|wp)(\d+)(?:\+(right|wrong|unrelated)(\d*))?")
_STATEMENT = re.compile(r"fc(\d+)\+(pos|neg)(\d*)")
_LIST = re.compile(r"(\d+) (\d+)")
_TEMPLATE = re.compile(r"(HGP|MMP)(\d+)")
_SEPARATOR = re.compile(r"(HGP|MMP) \d+|released|.*\[X\].*", re.DOTALL)


def add_columns(answers: pd.DataFrame) -> pd.DataFrame:
    """Add to answers the columns that their labels tell of and that are not there.

    >>> old = pd.DataFrame({"variant": ["right", "frame1", "wrong2"]})
    >>> add_columns(old)[["frame", "context", "context_index"]].values.tolist()
    [[0, 'right', 0], [1, 'none', -1], [0, 'wrong', 2]]
    """
    if "variant" not in answers:
        return answers
    labels = answers["variant"].astype(str)
    read = {label: columns_of_label(label) for label in labels.unique()}
    names = dict.fromkeys(name for columns in read.values() for name in columns)
    added = {}
    for name in names:
        if name not in answers:
            values = {label: read[label].get(name, UNTOLD[name]) for label in read}
            added[name] = labels.map(values)
    return answers.assign(**added)


def columns_of_label(label: str) -> dict[str, Any]:
    """Return what a label of any study tells, by column; nothing of an unknown one.

    >>> columns_of_label("10 1")
    {'way': 'IC-LKE', 'template': 0, 'examples': 10, 'draw': 1, 'separator': ''}
    >>> columns_of_label("four-shot"), columns_of_label("HGP2")["template"]
    ({'setting': 'four-shot'}, 2)
    """
    if label in PROMPT_SETTINGS:
        return {"setting": label}
    return _columns_of_question(label) or _columns_of_list(label)


def _columns_of_question(label: str) -> dict[str, Any]:
    """Return kind, frame and context of a question or a statement."""
    if match := _MONITOR.fullmatch(label):
        part, number = match.groups()
        if (part == "right") == bool(number):
            return {}
        if part == "frame":
            return _question("qa", int(number), part, "")
        return _question("qa", 0, part, number)
    if match := _QUESTION.fullmatch(label):
        kind, frame, part, number = match.groups()
        return _question(kind, int(frame), part or "frame", number)
    if match := _STATEMENT.fullmatch(label):
        frame, part, number = match.groups()
        return _question("fc", int(frame), part, number)
    return {}


def _question(kind: str, frame: int, part: str, number: str | None) -> dict[str, Any]:
    context = CONTEXT_OF_LABEL.get(part, part)
    index = {"none": -1, "right": 0}.get(context)
    if index is None:
        index = int(number or 0)
    return {"kind": kind, "frame": frame, "context": context, "context_index": index}


def _columns_of_list(label: str) -> dict[str, Any]:
    """Return how a fact was asked behind a list, or in a template."""
    listed = {"way": "IC-LKE", "template": 0, "examples": -1, "draw": -1}
    listed["separator"] = ""
    if match := _LIST.fullmatch(label):
        examples, draw = map(int, match.groups())
        return listed | {"examples": examples, "draw": draw}
    if match := _TEMPLATE.fullmatch(label):
        way, template = match.groups()
        named = {"way": way, "template": int(template), "examples": 0, "draw": 0}
        return listed | named
    if label in SEPARATORS or _SEPARATOR.fullmatch(label):
        return listed | {"separator": label}
    return listed if label in ("ic", "IC-LKE") else {}
