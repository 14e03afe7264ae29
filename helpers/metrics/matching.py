"""When is an answer right? Three rules, from strict to lenient, on the answer's first sentence.

A model may go on after its answer ("France. Which country is ..."), so an answer is cut
after its first line and sentence before it is judged (:func:`first_sentence`); one that is the
object as a whole is right in any case. What passes a rule passes every more lenient
one.

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
    text = _DOTS.sub(lambda found: found[0].replace(".", ""), _GROUPS.sub("", text))
    text = _MINUS.sub(
        "\N{MINUS SIGN}", _POINT.sub(" ", _SHARP.sub("\N{MUSIC SHARP SIGN}", text))
    )
    folded = unicodedata.normalize(
        "NFKC", unicodedata.normalize("NFKC", text).casefold()
    )
    folded = folded.replace("i\N{COMBINING DOT ABOVE}", "i")  # of the Turkish capital
    kept = "".join(
        _kept(character) for character in folded if character not in _DROPPED
    )
    return " ".join(unicodedata.normalize("NFKC", kept).split())


def text_without_thoughts(text: str) -> str:
    """Return a response without the thoughts before it; nothing of thoughts that do not end."""
    return _THOUGHTS.sub("", text) if "think" in text or "<thought>" in text else text


def first_sentence(text: str, gold: str = "") -> str:
    r"""Return the first line of an answer, up to the end of its first sentence.

    The marks in "U.S." and after "St" or "Dr" end none; where the true object holds
    marks itself ("J. K. Rowling"), as many more are read over.

    >>> first_sentence(" France. Which country is Lima in?"), first_sentence("St. Louis\nQuestion:")
    (' France.', 'St. Louis')
    >>> first_sentence("J. K. Rowling. She", "J. K. Rowling")
    'J. K. Rowling.'
    """
    text = text_without_thoughts(text)
    line = next((line for line in text.splitlines() if line.strip()), "")
    ends = [mark.end() for mark in _END.finditer(line)]
    inside = sum(mark.end() < len(gold) for mark in _END.finditer(gold))
    return line[: ends[inside]] if len(ends) > inside else line


def exact_match(text: str, gold: str) -> bool:
    """Say whether an answer, or what :func:`first_sentence` leaves of it, and the object are the same.

    An object of which nothing is left after :func:`normalise_text` matches no answer.

    >>> exact_match(" France. It is", "France"), exact_match("France and Spain", "France")
    (True, False)
    """
    wanted, text = normalise_text(gold), text_without_thoughts(text)
    return bool(wanted) and wanted in (
        normalise_text(text),
        normalise_text(first_sentence(text, gold)),
    )


def starts_with(text: str, gold: str) -> bool:
    """Say whether the first words of an answer, as to a cloze sentence, are the true object.

    >>> starts_with(" Paris, the capital of France.", "Paris"), starts_with("Parisian", "Paris")
    (True, False)
    """
    wanted = normalise_text(gold)
    head = ""
    for word in text_without_thoughts(text).split():
        head = f"{head} {word}"
        seen = normalise_text(head)
        if wanted and seen == wanted:
            return True
        if len(seen) > len(wanted):
            return False
    return False


def contains(text: str, gold: str) -> bool:
    """Say whether the words of the true object are among the cut answer's, even denied, in order.

    >>> contains("I think it is France.", "France"), contains("Nigeria", "Niger")
    (True, False)
    """
    return starts_with(text, gold) or contains_words(first_sentence(text, gold), gold)


def contains_words(text: str, words: str) -> bool:
    """Say whether a text holds these words after :func:`normalise_text`, whole and in their order."""
    wanted = normalise_text(words)
    return bool(wanted) and f" {wanted} " in f" {normalise_text(text)} "


MATCH_RULES = {rule.__name__: rule for rule in (exact_match, starts_with, contains)}


def match_rule(name: str) -> Callable[[str, str], bool]:
    """Return the rule of that name, or say that there is none."""
    if name not in MATCH_RULES:
        raise UserError(
            f'There is no rule "{name}" for a right answer; use {", ".join(MATCH_RULES)}.'
        )
    return MATCH_RULES[name]


def _kept(character: str) -> str:
    if character.isdecimal():  # of any script
        return str(unicodedata.decimal(character))
    return " " if unicodedata.category(character).startswith("P") else character
