"""When is an answer right? Normalised exact match, and a match of the first words.

Rules of normalisation, in order: Unicode NFKC; case folded; full stops and apostrophes dropped
("U.S." is "us", "Côte d'Ivoire" is "côte divoire"); every other punctuation character becomes a
space ("Guinea-Bissau" is "guinea bissau"); surplus space dropped. Accents, articles ("the
Netherlands" is not "Netherlands") and symbols such as + are kept.

Source: Wang et al. 2024 ask for an "Exact Match" and judged whole sentences by hand; the rules are
ours.
"""

import unicodedata
from collections.abc import Callable

from helpers.errors import UserError

_DROPPED = frozenset(".'’‘`")


def normalise(text: str) -> str:
    r"""Reduce an answer to what counts: case, punctuation and surplus space aside.

    Parameters
    ----------
    text : str
        An answer as the model wrote it.

    Returns
    -------
    str
        The same for all spellings that count as one; empty if nothing but punctuation is left.

    Examples
    --------
    >>> normalise("  The U.S. of America!\n")
    'the us of america'
    >>> normalise("Guinea-Bissau") == normalise("guinea  bissau.")
    True
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = "".join(_kept(character) for character in folded if character not in _DROPPED)
    return " ".join(unicodedata.normalize("NFKC", kept).split())


def exact_match(text: str, gold: str) -> bool:
    """Say whether an answer and the true object are the same after :func:`normalise`.

    An object of which nothing is left after normalisation matches no answer.

    Examples
    --------
    >>> exact_match(" France.", "France"), exact_match("France and Spain", "France")
    (True, False)
    """
    wanted = normalise(gold)
    return bool(wanted) and normalise(text) == wanted


def starts_with(text: str, gold: str) -> bool:
    """Say whether the first words of an answer, split at white space, are the true object.

    Meant for cloze sentences, where the model may go on. "Parisian" and "Paris-based" do not start
    with "Paris"; "Guinea-Bissau" does not start with "Guinea", but "New York City" starts with
    "New York". Languages written without spaces need :func:`exact_match`.

    Examples
    --------
    >>> starts_with(" Paris, the capital of France.", "Paris"), starts_with("Parisian", "Paris")
    (True, False)
    """
    wanted = normalise(gold)
    head = ""
    for word in text.split():
        head = f"{head} {word}"
        seen = normalise(head)
        if wanted and seen == wanted:
            return True
        if len(seen) > len(wanted):
            return False
    return False


RULES: dict[str, Callable[[str, str], bool]] = {
    "exact_match": exact_match,
    "starts_with": starts_with,
}


def rule_of(name: str) -> Callable[[str, str], bool]:
    """Return the rule of that name: ``exact_match`` or ``starts_with``.

    Raises
    ------
    UserError
        For any other name.

    Examples
    --------
    >>> rule_of("exact_match")("Peru", "peru")
    True
    """
    if name not in RULES:
        raise UserError(f'There is no rule "{name}" for a right answer; use {" or ".join(RULES)}.')
    return RULES[name]


def _kept(character: str) -> str:
    return " " if unicodedata.category(character).startswith("P") else character
