"""One log, whichever tool wrote it."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from helpers import UserError
from helpers.metrics.choices import NO_OPTION

NOTE_TEXTS = {  # on how many answers of a log
    "later": "answers of later epochs: the first epoch counts",
    "failed": "samples without a score",
    "twice": "documents once more: the first counts",
    "tied": "documents with equal scores at the top: this is no answer, which counts "
    "as wrong and agrees with no other",
    "unconfirmed": "documents without an acc that confirms their target",
    "ambiguous": "documents whose target is the number of one option and the text of "
    "another: the number counts",
    "none": "answers that name no option: they count as wrong and agree with no other",
}
MARK_VALUES = {
    "C": True,
    "I": False,
    "N": False,
    "1": True,
    "0": False,
    "TRUE": True,
    "FALSE": False,
}

Record = dict[str, Any]  # what JSON calls an object


class LogOrigin(NamedTuple):
    """Where a log is from; the model is "" where it does not say."""

    path: Path
    tool: str
    task: str
    model: str


class LoggedAnswer(NamedTuple):
    """An answer to a document; ``row`` is None where it has no mark."""

    document: str
    epoch: int
    row: Record | None


@dataclass(frozen=True)
class Log:
    """One log: `rows` are its answers by document, `kind` is "choices" or "texts"."""

    path: Path
    tool: str
    kind: str
    task: str
    model: str
    rows: dict[str, Record]
    notes: list[str]


class Joined(NamedTuple):
    """Several logs as one table, and what is said of them.

    Attributes
    ----------
    table : DataFrame
        Answers; from a study's ``from_logs``, one row a document.
    notes : list of str
        What is left out, or to be known.
    model, kind : str
        The model's name; "choices" or "texts".
    asked : str
        What each document was asked, in words, from ``from_logs``.
    n_prompts : int
        Different prompts a document, where these are compared.
    """

    table: pd.DataFrame
    notes: list[str]
    model: str
    kind: str
    asked: str = ""
    n_prompts: int = 0


def log_of_answers(
    origin: LogOrigin, answers: Iterable[LoggedAnswer], repeats: bool
) -> Log:
    """Return answers as a log: the first to a document counts."""
    rows: dict[str, Record] = {}
    counts: Counter[str] = Counter()
    for document, epoch, row in sorted(answers, key=attrgetter("epoch")):
        if row is None:
            counts["failed"] += epoch == 1
        elif epoch > 1:
            counts["later"] += not repeats
            if repeats and document in rows:
                rows[document]["repeats"].append((row["text"], row["right"]))
        elif document in rows:
            counts["twice"] += 1
        else:
            rows[document] = {"repeats": []} | row
            tied = row.get("tied", False)
            counts["tied"] += tied
            for key in ("unconfirmed", "ambiguous"):
                counts[key] += row.get(key, False)
            counts["none"] += row["text"] == NO_OPTION and not tied
    notes = _notes_on_metrics(origin.path.name, rows)
    for key, text in NOTE_TEXTS.items():
        if counts[key]:
            notes.append(f"{origin.path.name} has {counts[key]} {text}.")
    kind = _kind_of_answers(origin.path, rows)
    return Log(
        path=origin.path,
        tool=origin.tool,
        kind=kind,
        task=origin.task,
        model=origin.model,
        rows=rows,
        notes=notes,
    )


def _kind_of_answers(path: Path, rows: Mapping[str, Record]) -> str:
    """Return "choices" or "texts"; refuse a log of neither or of both."""
    with_options = {bool(row["options"]) for row in rows.values()}
    if len(with_options) != 1:
        raise UserError(
            f"{path} holds no answers of one kind: give the finished log of one task."
        )
    return "choices" if with_options.pop() else "texts"


def _notes_on_metrics(name: str, rows: Mapping[str, Record]) -> list[str]:
    """Return notes on which of several metrics counts, unless one was named."""
    notes = []
    for row in rows.values():
        others = row.get("unnamed_metrics", [])
        if len(others) > 1:
            listed = ", ".join(others)
            notes.append(
                f"{name} is marked by {listed}: {row['metric']} counts; --metric names "
                "another."
            )
    return list(dict.fromkeys(notes))


def marked_row(values: Mapping[str, Any], named: str, where: str) -> Record:
    """Return whether a metric, by default the first, marks an answer as right.

    Refused is a metric that is not there, or neither says right nor wrong; the sentence
    lists those that do.
    """
    usable = [
        name for name, value in values.items() if mark_of_value(value) is not None
    ]
    remedy = "use a metric such as exact_match"
    if usable:
        remedy = f"name one of its metrics with --metric: {', '.join(usable)}"
    metric = named or next(iter(values), "")
    if metric not in values:
        lacking = f"no metric {named!r}" if named else "no metric"
        raise UserError(f"{where} has {lacking}: {remedy}.")
    right = mark_of_value(values[metric])
    if right is None:
        raise UserError(
            f"{where} has {str(values[metric])[:40]} for {metric}, neither right nor "
            f"wrong: {remedy}."
        )
    unnamed = [] if named else usable
    return {"right": right, "metric": metric, "unnamed_metrics": unnamed}


def mark_of_value(value: Any) -> bool | None:
    """Return a mark as right or wrong, also from its text; None if it is neither."""
    number = number_or_none(value)
    if number is not None and number.is_integer():
        value = int(number)
    return MARK_VALUES.get(str(value).strip().upper())


def number_or_none(value: Any) -> float | None:
    """Return a value as a number, also from its text; None if it is none."""
    if isinstance(value, bool | int | float | str):
        with contextlib.suppress(ValueError):
            return float(value)
    return None


def as_list(value: Any) -> list[Any]:
    """Return a list, of the one value where there is no list; empty for None.

    >>> as_list("France"), as_list(["France"]), as_list(None)
    (['France'], ['France'], [])
    """
    if value is None:
        return []
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [value]
    return list(value)
