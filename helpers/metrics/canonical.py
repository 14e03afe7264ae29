"""One spelling for answers that mean the same: numbers, dates, accents, articles.

Stricter matching stands in :mod:`helpers.metrics.matching`, whose normalisation is the
first step here. Then: accents and strokes dropped ("São Tomé" is "sao tome", "Łódź" is
"lodz"); thousands joined and decimals kept apart ("1,000" is "1000", "3.5" is not
"35"); numbers in words become figures (:mod:`helpers.metrics.spelt_numbers`); dates
become ISO ("Dec. 14th, 1972" is "1972-12-14"); articles at the beginning are dropped; a
number that begins an answer loses the last zeros of its decimals ("3.50 m" is "3.5 m").
"""

import html
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from helpers.metrics import spelt_numbers
from helpers.metrics.answer_text import (
    answer_readings,
    answer_versions,
    ends_within,
    join_spaced_thousands,
)
from helpers.metrics.matching import (
    join_thousands,
    normalise_text,
    with_plain_characters,
)

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
_ISO_DATE = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_ARTICLES = re.compile(r"^(?:(?:the|an?) )+(?=\S)")
# Letters that Unicode does not take apart into a plain one and its accent
_LETTERS_WITHOUT_ACCENTS = str.maketrans(
    dict(zip("øØłŁđĐħĦıŧŦðÐ", "oOlLdDhHitTdD", strict=True))
    | {"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "Th", "ß": "ss"}
)
_WORDS_BEFORE_A_QUESTION = re.compile(r"^\W*(?:q|question)\s*[:.]\s*", re.IGNORECASE)
_ROMAN = re.compile(r"(?<=\w )(?=[IVX]{2})X{0,2}(?:IX|IV|V?I{0,3})(?!\w)")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10}
_SAINT = re.compile(r"\bSt\b\.?")
# In "Python 3.10" the zero counts.
_LAST_ZEROS = re.compile(r"^([^\w\s]{0,2}\d+)(?: point 0+|( point \d*?[1-9])0+)(?!\S)")


def canonical_answer(text: str) -> str:
    """Return the one spelling of an answer; empty if only punctuation is left.

    >>> canonical_answer("The  twenty-one!"), canonical_answer("1,250.5 km")
    ('21', '1250 point 5 km')
    >>> canonical_answer("On December 14, 1972"), canonical_answer("14 December 1972")
    ('on 1972-12-14', '1972-12-14')
    >>> canonical_answer("1972-12-14"), canonical_answer("Dec. 14th, 1972")
    ('1972-12-14', '1972-12-14')
    """
    text = with_plain_characters(text)
    text = _ISO_DATE.sub(_with_month_name, text)
    text = spelt_numbers.mark_numbers(join_thousands(text))
    text = normalise_text(_without_accents(text))
    text = spelt_numbers.with_figures(text)
    for pattern in _DATES:
        text = pattern.sub(_one_date, text)
    text = _ARTICLES.sub("", text)
    return _LAST_ZEROS.sub(r"\1\2", text)


@lru_cache(maxsize=2**17)  # the same names are compared many times
def comparison_key(text: str) -> str:
    r"""Return what the spellings of a text have in common; coarse: "its" is "it's".

    It decides where one text too many is better left out: the demonstrations of a
    question, the wrong objects beside an object.

    >>> comparison_key("The U.S.A.") == comparison_key("ＵＳＡ\u200b")
    True
    >>> comparison_key("Q: World War II?") == comparison_key("World War 2")
    True
    >>> comparison_key("St. Kitts &amp; Nevis")
    'saint kitts and nevis'
    >>> comparison_key("!") == comparison_key("?")
    False
    """
    words = _WORDS_BEFORE_A_QUESTION.sub("", html.unescape(text))
    words = _SAINT.sub("Saint", words.replace("&", " and "))
    words = _ROMAN.sub(_roman_as_figures, words)
    return canonical_answer(words) or unicodedata.normalize("NFKC", text).strip()


def canonical_readings(text: str) -> set[str]:
    """Return the readings of a response, each in its one spelling.

    >>> sorted(canonical_readings("Paris. It lies"))
    ['paris', 'paris it lies']
    """
    return set(map(canonical_answer, answer_readings(text)))


def same_answer(text: str, answers: str | Iterable[str]) -> bool:
    """Say whether a reading of a response is a true answer or an alias of one.

    >>> same_answer("**Twenty-one.** That is", ["21"]), same_answer("21 or 22", ["21"])
    (True, False)
    """
    readings = set(answer_readings(text))
    spellings = set(map(canonical_answer, readings))
    for answer in _as_answers(answers):
        wanted = canonical_answer(join_spaced_thousands(answer))
        if not wanted:
            continue
        if wanted in spellings:
            return True
        if ends_within(answer):
            others = set(answer_readings(text, answer)) - readings
            if wanted in map(canonical_answer, others):
                return True
    return False


def contains_answer(text: str, answers: str | Iterable[str]) -> bool:
    """Say whether a true answer or alias is in the response, even in "not France"."""
    versions = answer_versions(text)
    words = "  ".join(map(canonical_answer, versions))
    for answer in _as_answers(answers):
        wanted = canonical_answer(join_spaced_thousands(answer))
        if wanted and f" {wanted} " in f" {words} ":
            return True
    return False


def _as_answers(answers: str | Iterable[str]) -> Iterable[str]:
    """Return answers, of which one may be given as a text."""
    return [answers] if isinstance(answers, str) else answers


def _without_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.translate(_LETTERS_WITHOUT_ACCENTS))
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _roman_as_figures(match: re.Match) -> str:
    """Write a Roman number behind a word in figures."""
    total = 0
    largest = 0
    for digit in reversed(match.group()):
        value = _ROMAN_DIGITS[digit]
        largest = max(largest, value)
        total += value if value == largest else -value
    return str(total)


def _with_month_name(match: re.Match) -> str:
    """Write an ISO date as day, month, year; what is no date stays."""
    year, month, day = (int(part) for part in match.groups())
    if 1 <= month <= 12 and 1 <= day <= 31:
        return f"{day} {_MONTHS[month - 1]} {year:04d}"
    return match.group()


def _one_date(match: re.Match) -> str:
    """Write a date as ISO does, one without day or year as one word."""
    parts = match.groupdict()
    year = parts.get("year")
    month = _MONTH_NUMBERS[parts["month"]]
    day = parts.get("day")
    if year and day:
        return f"{year}-{month:02d}-{int(day):02d}"
    if year:
        return f"{_MONTHS[month - 1]}{year}"
    return f"{int(parts['day'])}{_MONTHS[month - 1]}"
