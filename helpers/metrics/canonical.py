"""One spelling for answers that mean the same: numbers in words, dates, accents, articles.

Stricter matching stands in :mod:`helpers.metrics.matching`, whose normalisation is the
first step here. Then: accents dropped ("São Tomé" is "sao tome"); thousands joined and
decimals kept apart ("1,000" is "1000", "3.5" is not "35"); numbers in words become
figures ("twenty-one" is "21", "5 million" is "5000000", "third" is "3rd"); dates become
ISO ("Dec. 14th, 1972" is "1972-12-14"); an article at the beginning is dropped.
"""

import re
import unicodedata
from collections.abc import Iterable

from helpers.metrics.matching import normalise_text

_UNITS = (
    *(
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
    ),
    *(
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
    ),
    "nineteen",
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_VALUES = {word: value for value, word in enumerate(_UNITS)}
_VALUES |= {word: 10 * value for value, word in enumerate(_TENS, 2)}
_IRREGULAR = {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9}
_IRREGULAR |= {"twelfth": 12} | {f"{word[:-1]}ieth": _VALUES[word] for word in _TENS}
_ORDINALS = {f"{word}th": value for word, value in _VALUES.items()} | _IRREGULAR
_MONTHS = (
    *(
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
    ),
    *("october", "november", "december"),
)
_MONTH = {name: number for number, name in enumerate(_MONTHS, 1)}
_MONTH |= {name[:3]: number for name, number in _MONTH.items()} | {"sept": 9}
_NAMES = "|".join(sorted(_MONTH, key=len, reverse=True))
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATES = (
    re.compile(rf"\b{_DAY} (?:of )?(?P<month>{_NAMES}) (?P<year>\d{{4}})\b"),
    re.compile(rf"\b(?P<month>{_NAMES}) {_DAY} (?P<year>\d{{4}})\b"),
    re.compile(rf"\b(?P<month>{_NAMES}) (?:of )?(?P<year>\d{{4}})\b"),
    re.compile(rf"\b{_DAY} (?:of )?(?P<month>{_NAMES})\b"),
    re.compile(rf"\b(?P<month>{_NAMES}) {_DAY}\b"),
)


def canonical_answer(text: str) -> str:
    """Return the one spelling of an answer; empty if only punctuation is left.

    >>> canonical_answer("The  twenty-one!"), canonical_answer("On December 14, 1972"), canonical_answer("1,250.5 km")
    ('21', 'on 1972-12-14', '1250 point 5 km')
    >>> canonical_answer("14 December 1972") == canonical_answer("1972-12-14") == canonical_answer("Dec. 14th, 1972")
    True
    """
    text = re.sub(r"(?<=\d)\.(?=\d)", " point ", text)
    text = re.sub(r"\b(\d{4})-(\d{2})-(\d{2})\b", _iso, text)
    apart = unicodedata.normalize("NFKD", text)
    words = normalise_text(
        "".join(c for c in apart if not unicodedata.combining(c))
    ).split()
    plain = " ".join(_figures(words))
    for pattern in _DATES:
        plain = pattern.sub(_date, plain)
    return re.sub(r"^(?:the|an?) (?=\S)", "", plain)


def same_answer(text: str, answers: Iterable[str]) -> bool:
    """Say whether a response is one of the true answers or their aliases, in any spelling."""
    said = canonical_answer(text)
    return bool(said) and any(said == canonical_answer(answer) for answer in answers)


def contains_answer(text: str, answers: Iterable[str]) -> bool:
    """Say whether a true answer or alias stands in the response; "not France" passes, too."""
    said = f" {canonical_answer(text)} "
    wanted = (canonical_answer(answer) for answer in answers)
    return any(answer and f" {answer} " in said for answer in wanted)


def _figures(words: list[str]) -> list[str]:
    """Write each run of number words as one number."""
    found: list[str] = []
    place = 0
    while place < len(words):
        value, length, ordinal = _number(words[place:])
        if length:
            ending = {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
            ending = "th" if value % 100 in (11, 12, 13) else ending
            found.append(f"{value}{ending if ordinal else ''}")
        else:
            found.append(words[place])
        place += max(1, length)
    return found


def _number(words: list[str]) -> tuple[int, int, bool]:
    """Return the number that words begin with, how many of them it takes, and if it is ordinal."""
    total, part, last, length = 0, 0, 10**12, 0
    for place, word in enumerate(words):
        if (
            word == "and"
            and last in (100, *_SCALES.values())
            and place + 1 < len(words)
        ):
            continue
        value = _VALUES.get(word, _ORDINALS.get(word))
        if value is not None and word not in _SCALES:
            if last <= 19 or (last < 100 and (value > 9 or value == 0)):
                break
            part, last, length = part + value, value if value > 19 else 19, place + 1
            if word in _ORDINALS:
                return total + part, length, True
        elif word in _SCALES and (length or place == 0):
            scale = _SCALES[word]
            part = max(part, 1) * scale
            if scale > 100:
                total, part = total + part, 0
            last, length = scale, place + 1
        elif place == 0 and word.isdecimal() and words[1:2] and words[1] in _SCALES:
            part, last, length = int(word), 19, 1
        else:
            break
    return total + part, length, False


def _iso(match: re.Match) -> str:
    year, month, day = (int(part) for part in match.groups())
    if 1 <= month <= 12 and 1 <= day <= 31:
        return f"{day} {_MONTHS[month - 1]} {year:04d}"
    return match.group()


def _date(match: re.Match) -> str:
    parts = match.groupdict()
    year, day = parts.get("year"), parts.get("day")
    text = f"{year or '-'}-{_MONTH[parts['month']]:02d}"
    return f"{text}-{int(day):02d}" if day else text
