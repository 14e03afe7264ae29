"""One spelling for answers that mean the same: numbers, dates, accents, articles.

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
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_UNIT_VALUES = {word: value for value, word in enumerate(_UNITS)}
_TEN_VALUES = {word: 10 * value for value, word in enumerate(_TENS, 2)}
_VALUES = _UNIT_VALUES | _TEN_VALUES
_IRREGULAR_ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fifth": 5,
    "eighth": 8,
    "ninth": 9,
    "twelfth": 12,
}
_ORDINALS = {f"{word}th": value for word, value in _VALUES.items()}
_ORDINALS |= {f"{word[:-1]}ieth": value for word, value in _TEN_VALUES.items()}
_ORDINALS |= _IRREGULAR_ORDINALS
_ORDINAL_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH_NUMBERS = {name: number for number, name in enumerate(_MONTHS, 1)}
_MONTH_NUMBERS |= {name[:3]: number for name, number in _MONTH_NUMBERS.items()}
_MONTH_NUMBERS |= {"sept": 9}
_MONTH_NAMES = "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True))
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATES = (
    re.compile(rf"\b{_DAY} (?:of )?(?P<month>{_MONTH_NAMES}) (?P<year>\d{{4}})\b"),
    re.compile(rf"\b(?P<month>{_MONTH_NAMES}) {_DAY} (?P<year>\d{{4}})\b"),
    re.compile(rf"\b(?P<month>{_MONTH_NAMES}) (?:of )?(?P<year>\d{{4}})\b"),
    re.compile(rf"\b{_DAY} (?:of )?(?P<month>{_MONTH_NAMES})\b"),
    re.compile(rf"\b(?P<month>{_MONTH_NAMES}) {_DAY}\b"),
)


def canonical_answer(text: str) -> str:
    """Return the one spelling of an answer; empty if only punctuation is left.

    >>> canonical_answer("The  twenty-one!"), canonical_answer("1,250.5 km")
    ('21', '1250 point 5 km')
    >>> canonical_answer("On December 14, 1972"), canonical_answer("14 December 1972")
    ('on 1972-12-14', '1972-12-14')
    >>> canonical_answer("1972-12-14"), canonical_answer("Dec. 14th, 1972")
    ('1972-12-14', '1972-12-14')
    """
    text = re.sub(r"(?<=\d)\.(?=\d)", " point ", text)
    text = re.sub(r"\b(\d{4})-(\d{2})-(\d{2})\b", _with_month_name, text)
    text = normalise_text(_without_accents(text))
    text = " ".join(_with_figures(text.split()))
    for pattern in _DATES:
        text = pattern.sub(_iso_date, text)
    return re.sub(r"^(?:the|an?) (?=\S)", "", text)


def same_answer(text: str, answers: Iterable[str]) -> bool:
    """Say whether a response is a true answer or an alias of one, in any spelling."""
    response = canonical_answer(text)
    if not response:
        return False
    return any(response == canonical_answer(answer) for answer in answers)


def contains_answer(text: str, answers: Iterable[str]) -> bool:
    """Say whether a true answer or alias is in the response, even in "not France"."""
    response = f" {canonical_answer(text)} "
    for answer in answers:
        wanted = canonical_answer(answer)
        if wanted and f" {wanted} " in response:
            return True
    return False


def _without_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _with_figures(words: list[str]) -> list[str]:
    """Write each run of number words as one number."""
    written: list[str] = []
    place = 0
    while place < len(words):
        value, length, is_ordinal = _leading_number(words[place:])
        if length == 0:
            written.append(words[place])
            place += 1
            continue
        written.append(_ordinal(value) if is_ordinal else str(value))
        place += length
    return written


def _ordinal(value: int) -> str:
    """Return 1st, 2nd, 3rd, 4th, but 11th, 12th, 13th."""
    if value % 100 in (11, 12, 13):
        return f"{value}th"
    return f"{value}{_ORDINAL_ENDINGS.get(value % 10, 'th')}"


def _leading_number(words: list[str]) -> tuple[int, int, bool]:
    """Return the number words begin with, how many it takes, and if it is ordinal.

    `total` holds what is closed by thousand, million or billion, `part` the rest.
    `last` is the size of the last word (a unit counts as 19, the largest one): a word
    may only follow a larger one.
    """
    total = 0
    part = 0
    last = 10**12
    length = 0
    for place, word in enumerate(words):
        if word == "and" and last in _SCALES.values() and place + 1 < len(words):
            continue
        value = _VALUES.get(word, _ORDINALS.get(word))
        if value is not None:
            if not _may_follow(value, last):
                break
            part += value
            last = value if value > 19 else 19
            length = place + 1
            if word in _ORDINALS:
                return total + part, length, True
        elif word in _SCALES and (length or place == 0):
            last = _SCALES[word]
            length = place + 1
            part = max(part, 1) * last
            if last > 100:
                total += part
                part = 0
        elif place == 0 and _is_figure_with_scale(words):
            part = int(word)
            last = 19
            length = 1
        else:
            break
    return total + part, length, False


def _may_follow(value: int, last: int) -> bool:
    """Say whether a word of this value continues a number whose last has this size."""
    if last <= 19:
        return False
    if last < 100:  # twenty-one, but not twenty zero or twenty ten
        return 0 < value <= 9
    return True


def _is_figure_with_scale(words: list[str]) -> bool:
    """Say whether the words begin as in "5 million"."""
    return len(words) > 1 and words[0].isdecimal() and words[1] in _SCALES


def _with_month_name(match: re.Match) -> str:
    """Write an ISO date as day, month, year; what is no date stays."""
    year, month, day = (int(part) for part in match.groups())
    if 1 <= month <= 12 and 1 <= day <= 31:
        return f"{day} {_MONTHS[month - 1]} {year:04d}"
    return match.group()


def _iso_date(match: re.Match) -> str:
    """Write a date as ISO does, of what there is of year and day."""
    parts = match.groupdict()
    year = parts.get("year") or "-"
    month = _MONTH_NUMBERS[parts["month"]]
    day = parts.get("day")
    if day:
        return f"{year}-{month:02d}-{int(day):02d}"
    return f"{year}-{month:02d}"
