"""What a prompt is, read from its label: for answers of older runs, which have no more.

``variant`` is a label for people, and part of the key of a prompt. Answers saved before
columns told what a prompt is are given these columns here, where they are read. No
other code compares or splits a label.
"""

import re
from typing import Any

import pandas as pd

from helpers.prompts.prompt_texts import SEPARATORS
from helpers.prompts.shots import PROMPT_SETTINGS

CONTEXT_OF_LABEL = {"frame": "none", "pos": "right", "neg": "wrong"}
# What stands in a column that a label says nothing of.
UNTOLD = {
    "kind": "",
    "frame": -1,
    "context": "",
    "context_index": -1,
    "way": "",
    "template": 0,
    "examples": -1,
    "draw": -1,
    "separator": "",
    "setting": "",
}
# A fact behind a list, of which no more is known.
LIST_WITHOUT_DETAILS = {
    "way": "IC-LKE",
    "template": 0,
    "examples": -1,
    "draw": -1,
    "separator": "",
}

_MONITOR = re.compile(r"(right|frame|wrong|unrelated|noun)(\d*)")
_QUESTION = re.compile(r"(qa|wp)(\d+)(?:\+(right|wrong|unrelated|noun)(\d*))?")
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
    columns_of_labels = {label: columns_of_label(label) for label in labels.unique()}
    added: dict[str, pd.Series] = {}
    for columns in columns_of_labels.values():
        for name in columns:
            if name not in answers and name not in added:
                values = {
                    label: known.get(name, UNTOLD[name])
                    for label, known in columns_of_labels.items()
                }
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
    match = _MONITOR.fullmatch(label)
    if match:
        part, number = match.groups()
        return _columns_of_monitor_prompt(part, number)
    match = _QUESTION.fullmatch(label)
    if match:
        kind, frame, part, number = match.groups()
        return _question_columns(kind, int(frame), part or "frame", number)
    match = _STATEMENT.fullmatch(label)
    if match:
        frame, part, number = match.groups()
        return _question_columns("fc", int(frame), part, number)
    return {}


def _columns_of_monitor_prompt(part: str, number: str) -> dict[str, Any]:
    """Return the columns of a prompt of MONITOR; nothing if its number is amiss."""
    has_number = number != ""
    needs_number = part != "right"
    if has_number != needs_number:
        return {}
    if part == "frame":
        return _question_columns("qa", int(number), part, "")
    return _question_columns("qa", 0, part, number)


def _question_columns(
    kind: str, frame: int, part: str, number: str | None
) -> dict[str, Any]:
    """Return the columns of a question, its context and the context's number."""
    context = CONTEXT_OF_LABEL.get(part, part)
    index = int(number or 0)
    if context == "none":
        index = -1
    elif context == "right":
        index = 0
    return {"kind": kind, "frame": frame, "context": context, "context_index": index}


def _columns_of_list(label: str) -> dict[str, Any]:
    """Return how a fact was asked behind a list, or in a template."""
    columns = dict(LIST_WITHOUT_DETAILS)
    match = _LIST.fullmatch(label)
    if match:
        examples, draw = match.groups()
        columns["examples"] = int(examples)
        columns["draw"] = int(draw)
        return columns
    match = _TEMPLATE.fullmatch(label)
    if match:
        way, template = match.groups()
        columns["way"] = way
        columns["template"] = int(template)
        columns["examples"] = 0
        columns["draw"] = 0
        return columns
    if label in SEPARATORS or _SEPARATOR.fullmatch(label):
        columns["separator"] = label
        return columns
    if label in ("ic", "IC-LKE"):
        return columns
    return {}
