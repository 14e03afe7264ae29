"""Cells of strangers' tables: the one place that says what text a cell is.

What is asked is what a reader sees: blanks at the ends and invisible characters go, a
run of blanks is one, and Unicode is composed (NFC). The zero-width joiner and
non-joiner are spelling in Persian and in scripts of India and stay. A number, a date or
a list is the same whatever type or program wrote it.
"""

import contextlib
import datetime
import decimal
import re
import unicodedata
import uuid
from collections.abc import Iterable, Mapping, Set
from numbers import Rational
from typing import Any

import numpy as np
import pandas as pd

from helpers import UserError, printable_line, without_escape_sequences
from helpers.io import files
from helpers.metrics.answer_text import without_unseen_characters

# Zero-width joiners are spelling in Persian and in scripts of India.
_JOINERS = "\u200c\u200d"
# Thousands that no-break spaces keep together, as French and spreadsheets write them.
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[\u00a0\u2009\u202f]\d{3})+(?!\d)")
_HALF_CHARACTER = re.compile(r"[\ud800-\udfff]")
# A day that a program wrote as a moment.
_MIDNIGHT = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T]00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:?\d\d)?"
)
# What programs write in a list for a value that is not there.
_MISSING_WORDS = frozenset(["None", "nan", "NaN", "NaT", "<NA>", "null"])
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
# A value of a list as Python or numpy write it: 'Lima', np.str_('Lima'), 3, nan.
_VALUE = re.compile(
    rf"(?P<call>[\w.]+\()?(?P<value>{_QUOTED}|[^\s,'\"()\[\]{{}}]+)(?(call)\))"
    r"\s*,?\s*",
    re.DOTALL,
)
# What Python, numpy, pandas and R write around the values of a list.
_CALL = (
    r"(?:\w+\.)?(?:array|list|tuple|set|frozenset|deque|dict_keys|dict_values|Index)\("
)
_CALL_WITH_LIST = re.compile(
    rf"{_CALL}\s*(?P<list>[\[({{].*[\])}}])\s*(?:,\s*\w+=[^\[\](){{}}]*)?\)", re.DOTALL
)
_R_VECTOR = re.compile(r"c\((?P<values>.*)\)", re.DOTALL)
_BEGINS_WITH_QUOTED_TEXT = re.compile(
    rf"(?:c\(|(?:{_CALL})?\s*[\[({{])\s*(?:[\w.]+\()?(?:{_QUOTED})"
)
# An array of PostgreSQL: what holds a blank or a comma is quoted, all else is not.
_POSTGRES_ITEM = r'"(?:[^"\\]|\\.)*"|[^\s,:="{}\\]+'
_POSTGRES_ARRAY = re.compile(
    rf"\{{(?=.*[^\W\d_]{{2}})(?:{_POSTGRES_ITEM})(?:,(?:{_POSTGRES_ITEM}))+\}}"
)
# What is no one text and cannot be read as a list: words in brackets, a list that was
# cut short or lies in another, names with values, a column as pandas prints it.
_NAMES = r"[^\W\d_]{2}[^(){}|,]*,\s*[^\W\d_]{2}[^(){}|]*"
_BROKEN_LIST = re.compile(
    rf"\[[^|]*\]|\({_NAMES}\)|\{{{_NAMES}\}}"
    rf"|[\[({{]\s*(?:{_QUOTED})\s*[,:].*|{_CALL}\s*[\[({{].*|.*\ndtype: \w+",
    re.DOTALL,
)
_LINE_OF_LIST = re.compile(r"\s*[-*\u2022]\s+(?=\S)")
_UNSEEN_AT_ENDS = " \t\r\n\ufeff\u200b\u2060"
# Values that Python writes as a person does.
_WRITTEN_AS_READ: tuple[type, ...] = (Rational, datetime.date, datetime.time)
_WRITTEN_AS_READ += (uuid.UUID, bool, np.bool_, pd.Period, pd.Interval)


def visible_text(text: str) -> str:
    r"""Return a text as a reader sees it, on one line.

    >>> visible_text("\ufeff Guinea-\u200bBissau\u00a0 "), visible_text("8\u202f849 m")
    ('Guinea-Bissau', '8849 m')
    """
    text = without_escape_sequences(text)
    text = without_unseen_characters(text, kept=_JOINERS)
    text = _GROUPED.sub(_joined_digits, text)
    text = unicodedata.normalize("NFC", text)
    text = " ".join(text.split())
    if not text.strip(f"{_JOINERS} "):
        return ""
    return text


def visible_lines(text: str) -> str:
    """Return a text as a reader sees it, its line breaks kept."""
    lines = map(visible_text, text.splitlines())
    return "\n".join(lines).strip("\n")


def is_missing(value: Any) -> bool:  # of any table
    """Tell whether a cell holds nothing: None, NaN, NaT or pandas' NA."""
    return pd.api.types.is_scalar(value) and bool(pd.isna(value))


def cell_text(value: Any, where: str, keep_lines: bool = False) -> str:
    r"""Return the text of a cell, "" for an empty one; refuse what is no one value.

    >>> day = pd.Timestamp("1969-07-20")
    >>> [cell_text(value, "Row 1") for value in (5.0, " Peru\u00a0", day, None)]
    ['5', 'Peru', '1969-07-20', '']
    """
    values = None
    if not isinstance(value, str) or _may_be_list(value.strip(_UNSEEN_AT_ENDS)):
        values = list_in_cell(value)
    if values is not None:
        values = [item for item in values if not is_missing(item)]
        if len(values) > 1:
            shown = _shown(value)
            raise UserError(f"{where}: a cell holds {shown}, and should hold one text.")
        value = values[0] if values else None
        return cell_text(value, where, keep_lines)
    if is_missing(value):
        return ""
    text = _written_text(value, where)
    if _HALF_CHARACTER.search(text):
        shown = _shown(text)
        raise UserError(f"{where}: a cell holds half a character ({shown}): mend it.")
    if keep_lines:
        return visible_lines(text)
    text = visible_text(text)
    midnight = _MIDNIGHT.fullmatch(text)
    if midnight:
        return midnight[1]
    return text


def _may_be_list(text: str) -> bool:
    """Return whether a text begins as no one text does, by the form of a list."""
    begins = _BEGINS_WITH_QUOTED_TEXT.match(text) or _POSTGRES_ARRAY.fullmatch(text)
    return begins is not None


def cell_texts(value: Any, where: str, keep_lines: bool = False) -> list[str]:
    """Return the texts of a cell that holds a list, or texts parted by "|".

    A value that is not there is "".

    >>> cell_texts("['Lima', 'Lima, Peru']", "Row 1"), cell_texts("a | b", "Row 1")
    (['Lima', 'Lima, Peru'], ['a', 'b'])
    """
    values = list_in_cell(value)
    if values is None and isinstance(value, str):
        values = _parts_of_text(value, where)
    if is_missing(value):
        return []
    if values is None:
        values = [value]
    return [cell_text(item, where, keep_lines) for item in values]


def _parts_of_text(text: str, where: str) -> list[str]:
    """Return the texts that "|" parts, but for empty ones at the ends."""
    text = visible_lines(text).strip("| \n")
    refuse_broken_list(text, where)
    if not text:
        return []
    lines = text.splitlines()
    if len(lines) > 1 and all(map(_LINE_OF_LIST.match, lines)):
        return [_LINE_OF_LIST.sub("", line, count=1) for line in lines]
    if "|" in text:
        return text.split("|")
    return text.split("\uff5c")  # as Chinese and Japanese keyboards write it


def refuse_broken_list(text: str, where: str) -> None:
    """Refuse a text that begins as a list does and cannot be read as one."""
    if _BROKEN_LIST.fullmatch(text):
        raise UserError(
            f"{where}: {_shown(text)} begins as a list and cannot be read as one: "
            'write ["...", "..."], or texts parted by "|".'
        )


def list_in_cell(value: Any) -> list[Any] | None:  # of any table
    """Return the values of a list, written as text or not; None for what is no list.

    >>> list_in_cell("['Lima' 'Lima, Peru']"), list_in_cell('["a", null]')
    (['Lima', 'Lima, Peru'], ['a', None])
    """
    if isinstance(value, str):
        return _list_in_text(value.strip(_UNSEEN_AT_ENDS))
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return [value.item()]
    if isinstance(value, Set):
        return sorted(value, key=str)
    if isinstance(value, Mapping | bytes) or not isinstance(value, Iterable):
        return None
    return list(value)


def _list_in_text(text: str) -> list[Any] | None:  # of values of any type
    """Return the list that a text spells as a program does, or None."""
    call = _CALL_WITH_LIST.fullmatch(text)
    if call:
        text = call["list"]
    brackets = text[:1] + text[-1:]
    if brackets == "[]":
        try:
            return list(files.parse_json(text, "the cell"))
        except UserError:
            return _values_in_text(text[1:-1])
    is_tuple = brackets == "()" and "," in text
    vector = _R_VECTOR.fullmatch(text)
    if is_tuple or vector or brackets == "{}":
        values = _values_in_text(vector["values"] if vector else text[1:-1])
        if values and all(isinstance(item, str) for item in values):
            return values
    if _POSTGRES_ARRAY.fullmatch(text):
        return list(map(_postgres_value, re.findall(_POSTGRES_ITEM, text)))
    if text.startswith('"['):  # a list as JSON, as JSON once more
        with contextlib.suppress(UserError):
            return list_in_cell(files.parse_json(text, "the cell"))
    return None


def _postgres_value(item: str) -> str | None:
    """Return a value of an array of PostgreSQL, quoted or not."""
    if item == "NULL":
        return None
    if item.startswith('"'):
        return re.sub(r"\\(.)", r"\1", item[1:-1])
    return item


def _values_in_text(text: str) -> list[Any] | None:  # of any type
    """Return the values that stand one after another in a text, or None."""
    values: list[Any] = []
    text = text.strip()
    place = 0
    while place < len(text):
        match = _VALUE.match(text, place)
        if match is None or match["value"] == "...":  # numpy cuts long lists
            return None
        word = match["value"]
        place = match.end()
        if word in _MISSING_WORDS:
            values.append(None)
            continue
        item = files.parse_python_literal(word)
        if item is None:
            return None
        values.append(item)
    return values


def _written_text(value: Any, where: str) -> str:  # of any table
    """Return one value as a person would write it."""
    if isinstance(value, str):
        return str.__str__(value)  # of an enumeration its text
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise UserError(
                f"{where}: a cell holds bytes that are no UTF-8 text: decode them."
            ) from None
    if isinstance(value, float | np.floating):
        return np.format_float_positional(value + 0.0, trim="-")  # no negative zero
    if isinstance(value, decimal.Decimal):
        whole, point, fraction = format(value, "f").partition(".")
        return f"{whole}{point}{fraction.rstrip('0')}".removesuffix(".")
    if isinstance(value, np.datetime64):
        return str(value).replace("T", " ")
    if isinstance(value, datetime.timedelta | np.timedelta64):
        return _written_duration(value)
    if isinstance(value, _WRITTEN_AS_READ):
        return str(value)
    raise UserError(
        f"{where}: a cell holds {_shown(value)}, and should hold one text or number."
    )


def _written_duration(value: datetime.timedelta | np.timedelta64) -> str:
    """Return a duration without the parts that are nothing."""
    try:
        text = str(pd.Timedelta(value))
    except (ValueError, OverflowError):  # months and years
        return str(value)
    text = text.removesuffix(" 00:00:00")
    if len(text) > len("0 days"):
        text = text.removeprefix("0 days ")
    return re.sub(r"^1 days", "1 day", text)


def _joined_digits(match: re.Match[str]) -> str:
    return re.sub(r"\s", "", match[0])


def _shown(value: object) -> str:
    """Return the beginning of a value, for a sentence."""
    return printable_line(value)[:40]
