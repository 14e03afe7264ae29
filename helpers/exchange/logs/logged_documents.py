"""Who a document is: its question, its options and its correct answer.

A log's own id is a help where texts are the same, or say the same in other words. Two
data sets whose rows are numbered from 1 share ids and nothing else.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from helpers import UserError, printable_line
from helpers.datasets.cells import visible_text
from helpers.datasets.fact_identity import folded_text, identity_text
from helpers.exchange.logs.log import Log, Record

# Fields of a document that number or name its row, and say nothing of it.
ROW_FIELD = re.compile(
    r"(?:.*[_ -])?(?:ids?|idx|ind|index|indices|uid|guid|uuid|row)|__index_level_\d+__"
)
# A word, or one letter in scripts that put no blanks between words.
_WORD = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff]|\w+")
EXAMPLE_LENGTH = 60  # characters


def question_of_document(document: Any) -> str:
    """Return what a document says, as JSON, without the numbers of its row.

    Where nothing else names it, they stay.
    """
    said = _without_row_fields(document)
    if not _holds_text(said):
        said = document
    return json.dumps(said, sort_keys=True, ensure_ascii=False, default=str)


def _holds_text(value: Any) -> bool:
    """Return whether a value of JSON holds a text."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return any(map(_holds_text, value))
    return isinstance(value, str) and bool(value)


def _without_row_fields(value: Any) -> Any:
    """Return a value of JSON without fields that number rows, as a reader sees it."""
    if isinstance(value, str):
        return visible_text(value)
    if isinstance(value, Mapping):
        kept = {}
        for name, field in value.items():
            if not ROW_FIELD.fullmatch(str(name).casefold()):
                kept[str(name)] = _without_row_fields(field)
        return kept
    if isinstance(value, list | tuple):
        return list(map(_without_row_fields, value))
    return value


def document_identity(row: Record) -> str:
    """Return who a document is: its question, options in any order, correct answer."""
    question = row["question"]
    if not row["options"]:
        return identity_text(question, str(row["target"]))
    return identity_text(question, ["", *row["options"]], row["options"][row["answer"]])


def same_text(text: Any, other: Any) -> bool:
    """Return whether two texts differ in case, blanks and kinds of signs at most."""
    return folded_text(str(text)) == folded_text(str(other))


def example_of_question(row: Record) -> str:
    """Return the beginning of a document's question."""
    question = printable_line(row["question"])
    if len(question) > EXAMPLE_LENGTH:
        return question[:EXAMPLE_LENGTH] + "..."
    return question


def best_pairs(
    first: Mapping[str, Sequence[str]], second: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Pair names of documents by their identities, those of one name before others.

    Each has one identity or more, as it is asked in several words.
    """
    names_of_identity = defaultdict(list)
    for name, identities in second.items():
        for identity in identities:
            names_of_identity[identity].append(name)
    pairs = {}
    for name, identities in first.items():
        if not set(identities).isdisjoint(second.get(name, ())):
            pairs[name] = name
    taken = set(pairs)
    in_order = {}
    for name, identities in first.items():
        if name in pairs:
            in_order[name] = name
            continue
        alike = map(names_of_identity.__getitem__, identities)
        for other in chain.from_iterable(alike):
            if other not in taken:
                in_order[name] = other
                taken.add(other)
                break
    return in_order


def with_items_of_first(logs: list[Log]) -> list[Log]:
    """Return logs of one task whose documents go by the names of the first log.

    What has a name of the first log and says something else is left out, with a note.
    """
    first = logs[0]
    named = [first]
    for log in logs[1:]:
        pairs = best_pairs(_identities(log), _identities(first))
        named.append(_with_other_items(log, first, pairs))
    return named


def _identities(log: Log) -> dict[str, list[str]]:
    """Return who each document of a log is."""
    identities = {}
    for item, row in log.rows.items():
        identities[item] = [document_identity(row)]
    return identities


def _with_other_items(log: Log, first: Log, item_of_first: dict[str, str]) -> Log:
    """Return a log by the names of the first, and notes on what only names join."""
    words = _rarest_words(log.rows)
    words_of_first = _rarest_words(first.rows)
    taken = set(item_of_first.values())
    rows = {}
    reworded = []
    others = []
    for item, row in log.rows.items():
        known = first.rows.get(item)
        if item in item_of_first:
            rows[item_of_first[item]] = row
        elif known is None:
            rows[item] = row
        elif item in taken:
            others.append(item)
        elif row.get("is_named") or same_text(row["question"], known["question"]):
            rows[item] = row
        elif _share_words(row, words[item], known, words_of_first[item]):
            rows[item] = row
            reworded.append(item)
        else:
            others.append(item)
    if len(others) == len(log.rows):
        raise UserError(
            f"{log.path} and {first.path} share ids and no question: one asks "
            f"{_both_questions(first, log, others[0])}. Give runs of one task on the "
            "same data."
        )
    notes = list(log.notes)
    if reworded:
        notes.append(
            f"{log.path.name} asks {len(reworded)} of {len(log.rows)} documents in "
            "other words than the first log, such as "
            f"{_both_questions(first, log, reworded[0])}: their ids, options and "
            "correct answers are the same, and they are taken as one."
        )
    if others:
        notes.append(
            f"{log.path.name} has {len(others)} other questions under ids of the first "
            f"log, such as {_both_questions(first, log, others[0])}: they are "
            "left out."
        )
    return replace(log, rows=rows, notes=notes)


def _both_questions(first: Log, second: Log, item: str) -> str:
    """Return the questions that two logs have under one name, for a sentence."""
    question = example_of_question(first.rows[item])
    return f"{question} and {example_of_question(second.rows[item])}"


def _rarest_words(rows: Mapping[str, Record]) -> dict[str, set[str]]:
    """Return the words of each question that fewest others of its log have.

    Where all others have its words, none tells it from them.
    """
    words_of_item = {}
    counts: Counter[str] = Counter()
    for item, row in rows.items():
        words_of_item[item] = _words(row["question"])
        counts.update(words_of_item[item])
    rarest = {}
    for item, words in words_of_item.items():
        least = min(map(counts.__getitem__, words), default=0)
        rarest[item] = {word for word in words if counts[word] == least}
        if least == len(rows) > 1:
            rarest[item] = set()
    return rarest


def _share_words(
    row: Record, rarest: set[str], other: Record, rarest_of_other: set[str]
) -> bool:
    """Return whether the rarest words of one question, if any, stand in the other."""
    if not rarest or not rarest_of_other:
        return True
    in_other = rarest & _words(other["question"])
    return bool(in_other or rarest_of_other & _words(row["question"]))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(folded_text(text)))
