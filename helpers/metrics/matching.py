"""When is an answer right? Three rules, from strict to lenient.

What the answer is, :mod:`helpers.metrics.answer_text` decides: a model may think before
it answers, and go on afterwards ("France. Which country is ..."). What passes a rule
passes every more lenient one.

Rules of normalisation, in order: characters dropped that nobody sees; all apostrophes
the same; Unicode NFKC, with powers kept ("10⁶" is not "106"); thousands joined ("8,849"
and "1.000.000" are "8849" and "1000000"), decimals kept apart ("1.5" is not "15") and
the sign of a number kept ("-40" and "–40" are not "40"); case folded; digits of any
script the same; full stops and apostrophes dropped ("U.S." is "us", "Côte d'Ivoire" is
"côte divoire"); every other punctuation character becomes a space ("Guinea-Bissau" is
"guinea bissau"), but for the sharp of "C#"; surplus space dropped. Accents, articles
("the Netherlands" is not "Netherlands") and symbols such as + are kept.

Source: Wang et al. 2024 ask for an "Exact Match" and judged whole sentences by hand;
the rules are ours.
"""

import re
import unicodedata
from collections.abc import Callable

from helpers import UserError
from helpers.metrics.answer_text import (
    answer_readings,
    answer_text,
    answer_versions,
    first_line,
    first_sentence,
    join_spaced_thousands,
    longest_first_sentence,
    with_plain_apostrophes,
    without_unseen_characters,
    without_words_before,
)

# Raised where the same text becomes right or wrong.
MATCHING_VERSION = "4"
_DROPPED = frozenset(".'")
# Before NFKC, which writes these blanks as ordinary ones, and powers as figures.
_BLANK_GROUPS = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_POWER = re.compile(r"(?<=\d)(?=[⁰¹²³⁴-⁹⁻])")
_FRACTION_BEHIND_FIGURE = re.compile(r"(?<=\d)(?=[¼-¾⅐-⅞])")
_GROUPS = re.compile(r"(?<=\d)[,٬'_](?=\d{3}(?!\d))")
_LAKHS = re.compile(r"(?<!\d)(?<!\d,)\d{1,2}(?:,\d\d)+,\d{3}(?!,?\d)")
_POINT = re.compile(r"(?<=\d)[.']+(?=\d)")
_POINT_FIRST = re.compile(r"(?<![\w.])\.(?=\d)")
_DOTS = re.compile(r"(?<!\d)(?<!\d\.)\d{1,3}(?:\.\d{3}){2,}(?!\.?\d)")
_SHARP = re.compile(r"(?<=[A-Za-z])#(?!\w)")
# Of other dashes one between two figures is none: "1914 –18".
_MINUS = re.compile(
    r"(?<![^\s(\[{\"“«'*_=:$€£¥≈~])(?:[-\N{MINUS SIGN}]|(?<!\d\s)[‐-―])(?=[$€£¥]?\d)"
)


def normalise_text(text: str) -> str:
    r"""Reduce an answer to what counts: case, punctuation and surplus space aside.

    >>> normalise_text("  The U.S. of America!\n")
    'the us of america'
    >>> normalise_text("Guinea-Bissau") == normalise_text("guinea  bissau.")
    True
    >>> normalise_text("Peru\u200b")
    'peru'
    """
    text = join_thousands(with_plain_characters(text))
    text = _SHARP.sub("\N{MUSIC SHARP SIGN}", text)
    text = _POINT_FIRST.sub("0 ", text)
    text = _POINT.sub(" ", text)
    text = _MINUS.sub("\N{MINUS SIGN}", text)
    text = unicodedata.normalize("NFKC", text.casefold())
    text = text.replace("i\N{COMBINING DOT ABOVE}", "i")  # of the Turkish capital
    text = "".join(_plain_character(sign) for sign in text if sign not in _DROPPED)
    text = unicodedata.normalize("NFKC", text)
    return " ".join(text.split())


def with_plain_characters(text: str) -> str:
    r"""Write each character in its plain form; powers and fractions stay apart.

    >>> with_plain_characters("３．５ km²\u200b, 10⁶ or 2½ of Hawaiʻi")
    "3.5 km2, 10^6 or 2 1⁄2 of Hawai'i"
    """
    text = with_plain_apostrophes(without_unseen_characters(text))
    text = _BLANK_GROUPS.sub("", text)
    text = _FRACTION_BEHIND_FIGURE.sub(" ", _POWER.sub("^", text))
    return with_plain_apostrophes(unicodedata.normalize("NFKC", text))


def join_thousands(text: str) -> str:
    """Write "8,849" as "8849", "1.000.000" as "1000000", and "12,34,567" as "1234567".

    >>> join_thousands("8,849 or 1.000.000 or 12,34,567, not 1.000 or 3,14")
    '8849 or 1000000 or 1234567, not 1.000 or 3,14'
    """
    text = _LAKHS.sub(_without_commas, text)
    text = _GROUPS.sub("", text)
    return _DOTS.sub(_without_dots, text)


def holds_answer(text: str) -> bool:
    r"""Say whether a text holds an answer: thoughts that do not end hold none.

    >>> holds_answer("Bern"), holds_answer(" \n?"), holds_answer("<think>Bern")
    (True, False, False)
    """
    return bool(normalise_text(answer_text(text)))


def exact_match(text: str, gold: str) -> bool:
    """Say whether a reading of an answer (`answer_readings`) is the true object.

    An object of which nothing is left after :func:`normalise_text` matches no answer.

    >>> exact_match(" France. It is", "France")
    True
    >>> exact_match("France and Spain", "France")
    False
    """
    wanted = normalise_text(join_spaced_thousands(gold))
    if not wanted:
        return False
    if not _may_hold(text, wanted):
        return False
    return any(normalise_text(words) == wanted for words in answer_readings(text, gold))


def starts_with(text: str, gold: str) -> bool:
    """Say whether an answer, as to a cloze sentence, begins with the true object.

    >>> starts_with(" Paris, the capital of France.", "Paris")
    True
    >>> starts_with("Parisian", "Paris")
    False
    """
    if exact_match(text, gold):
        return True
    wanted = normalise_text(join_spaced_thousands(gold))
    if not wanted:
        return False
    for version in answer_versions(text):
        line = first_line(version)
        for words in dict.fromkeys((version, line, without_words_before(line))):
            if _begins_with_words(words, wanted):
                return True
    return False


def contains(text: str, gold: str) -> bool:
    """Say whether the cut answer holds the words of the true object, even denied.

    >>> contains("I think it is France.", "France"), contains("Nigeria", "Niger")
    (True, False)
    """
    if starts_with(text, gold):
        return True
    for version in answer_versions(text):
        if contains_words(longest_first_sentence(version), gold):
            return True
    return contains_words(first_sentence(text, gold), gold)


def contains_words(text: str, words: str) -> bool:
    """Say whether a text holds these words, whole and in their order.

    Both are compared after :func:`normalise_text`; no words are in no text.
    """
    wanted = normalise_text(join_spaced_thousands(words))
    if not wanted:
        return False
    return f" {wanted} " in f" {normalise_text(join_spaced_thousands(text))} "


MATCH_RULES: dict[str, Callable[[str, str], bool]] = {
    "exact_match": exact_match,
    "starts_with": starts_with,
    "contains": contains,
}


def match_rule(name: str) -> Callable[[str, str], bool]:
    """Return the rule of that name, or say that there is none."""
    if name not in MATCH_RULES:
        rules = ", ".join(MATCH_RULES)
        raise UserError(f'There is no rule "{name}" for a right answer; use {rules}.')
    return MATCH_RULES[name]


def _may_hold(text: str, wanted: str) -> bool:
    """Say whether an answer holds the letters of the true one: most do not."""
    letters = wanted.replace(" ", "")
    for version in answer_versions(text):
        if letters in normalise_text(version).replace(" ", ""):
            return True
    return False


def _begins_with_words(text: str, wanted: str) -> bool:
    """Say whether the first words of a text, normalised, are these."""
    beginning = ""
    for word in text.split():
        if not normalise_text(word):
            continue
        beginning = f"{beginning} {word}"
        normalised = normalise_text(beginning)
        if normalised == wanted:
            return True
        if len(normalised) > len(wanted):
            return False
    return False


def _without_dots(match: re.Match) -> str:
    return match[0].replace(".", "")


def _without_commas(match: re.Match) -> str:
    return match[0].replace(",", "")


def _plain_character(character: str) -> str:
    """Write a digit of any script as one of ours, and punctuation as a space."""
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if unicodedata.category(character).startswith("P"):
        return " "
    return character
