"""When is an answer right? Three rules, from strict to lenient.

A model may go on after its answer ("France. Which country is ..."), so an answer is cut
after its first line and sentence before it is judged (:func:`first_sentence`); one that
is the object as a whole is right in any case. What passes a rule passes every more
lenient one.

Rules of normalisation, in order: thousands joined ("8,849" and "1.000.000" are "8849"
and "1000000"), decimals kept apart ("1.5" is not "15") and the sign of a number kept
("-40" is not "40"); Unicode NFKC; case folded; digits of any script the same; full
stops and apostrophes dropped ("U.S." is "us", "Côte d'Ivoire" is "côte divoire"); every
other punctuation character becomes a space ("Guinea-Bissau" is "guinea bissau"), but
for the sharp of "C#"; surplus space dropped. Accents, articles ("the Netherlands" is
not "Netherlands") and symbols such as + are kept.

Source: Wang et al. 2024 ask for an "Exact Match" and judged whole sentences by hand;
the rules are ours.
"""

import re
import unicodedata
from collections.abc import Callable

from helpers import UserError

_DROPPED = frozenset(".'’‘`")
_END = re.compile(
    r"(?<!\bSt)(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)[.!?](?=\s|$)|[。！？।॥؟۔]"
)
_THOUGHTS = re.compile(
    r"^\s*<(think|thinking|thought)>(?:.*</\1>|.*)|^.*</think>", re.DOTALL
)
_GROUPS = re.compile(r"(?<=\d)[,\u00a0\u202f](?=\d{3}(?!\d))")
_POINT = re.compile(r"(?<=\d)[.](?=\d)")
_DOTS = re.compile(r"(?<!\d)(?<!\d\.)\d{1,3}(?:\.\d{3}){2,}(?!\.?\d)")
_SHARP = re.compile(r"(?<=[A-Za-z])#(?!\w)")
_MINUS = re.compile(r"(?<!\S)[-\N{MINUS SIGN}](?=\d)")


def normalise_text(text: str) -> str:
    r"""Reduce an answer to what counts: case, punctuation and surplus space aside.

    >>> normalise_text("  The U.S. of America!\n")
    'the us of america'
    >>> normalise_text("Guinea-Bissau") == normalise_text("guinea  bissau.")
    True
    """
    text = _GROUPS.sub("", text)
    text = _DOTS.sub(_without_dots, text)
    text = _SHARP.sub("\N{MUSIC SHARP SIGN}", text)
    text = _POINT.sub(" ", text)
    text = _MINUS.sub("\N{MINUS SIGN}", text)
    text = unicodedata.normalize("NFKC", text).casefold()
    text = unicodedata.normalize("NFKC", text)
    text = text.replace("i\N{COMBINING DOT ABOVE}", "i")  # of the Turkish capital
    text = "".join(_plain_character(sign) for sign in text if sign not in _DROPPED)
    text = unicodedata.normalize("NFKC", text)
    return " ".join(text.split())


def text_without_thoughts(text: str) -> str:
    """Return a response without the thoughts before it, nothing if they do not end."""
    if "think" not in text and "<thought>" not in text:
        return text
    return _THOUGHTS.sub("", text)


def first_sentence(text: str, gold: str = "") -> str:
    r"""Return the first line of an answer, up to the end of its first sentence.

    The marks in "U.S." and after "St" or "Dr" end none; where the true object holds
    marks itself ("J. K. Rowling"), as many more are read over.

    >>> first_sentence(" France. Which country is Lima in?")
    ' France.'
    >>> first_sentence("St. Louis\nQuestion:")
    'St. Louis'
    >>> first_sentence("J. K. Rowling. She", "J. K. Rowling")
    'J. K. Rowling.'
    """
    line = _first_line(text_without_thoughts(text))
    ends = [mark.end() for mark in _END.finditer(line)]
    ends_within_gold = [
        mark.end() for mark in _END.finditer(gold) if mark.end() < len(gold)
    ]
    n_read_over = len(ends_within_gold)
    if n_read_over < len(ends):
        return line[: ends[n_read_over]]
    return line


def exact_match(text: str, gold: str) -> bool:
    """Say whether an answer, or its :func:`first_sentence`, is the true object.

    An object of which nothing is left after :func:`normalise_text` matches no answer.

    >>> exact_match(" France. It is", "France")
    True
    >>> exact_match("France and Spain", "France")
    False
    """
    wanted = normalise_text(gold)
    if not wanted:
        return False
    text = text_without_thoughts(text)
    if normalise_text(text) == wanted:
        return True
    return normalise_text(first_sentence(text, gold)) == wanted


def starts_with(text: str, gold: str) -> bool:
    """Say whether an answer, as to a cloze sentence, begins with the true object.

    >>> starts_with(" Paris, the capital of France.", "Paris")
    True
    >>> starts_with("Parisian", "Paris")
    False
    """
    wanted = normalise_text(gold)
    if not wanted:
        return False
    beginning = ""
    for word in text_without_thoughts(text).split():
        beginning = f"{beginning} {word}"
        normalised = normalise_text(beginning)
        if normalised == wanted:
            return True
        if len(normalised) > len(wanted):
            return False
    return False


def contains(text: str, gold: str) -> bool:
    """Say whether the cut answer holds the words of the true object, even denied.

    >>> contains("I think it is France.", "France"), contains("Nigeria", "Niger")
    (True, False)
    """
    if starts_with(text, gold):
        return True
    return contains_words(first_sentence(text, gold), gold)


def contains_words(text: str, words: str) -> bool:
    """Say whether a text holds these words, whole and in their order.

    Both are compared after :func:`normalise_text`; no words are in no text.
    """
    wanted = normalise_text(words)
    if not wanted:
        return False
    return f" {wanted} " in f" {normalise_text(text)} "


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


def _first_line(text: str) -> str:
    """Return the first line of a text that is not empty, or an empty one."""
    for line in text.splitlines():
        if line.strip():
            return line
    return ""


def _without_dots(match: re.Match) -> str:
    return match[0].replace(".", "")


def _plain_character(character: str) -> str:
    """Write a digit of any script as one of ours, and punctuation as a space."""
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if unicodedata.category(character).startswith("P"):
        return " "
    return character
