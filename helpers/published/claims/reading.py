"""How a sentence is judged by the numbers that it speaks of."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

SUPPORTED, PARTLY, CONTRADICTED = "supported", "partly", "contradicted"
UNDECIDABLE = "not decidable"
VERDICTS = (SUPPORTED, PARTLY, CONTRADICTED, UNDECIDABLE)


class Reading(NamedTuple):
    """A verdict on a sentence, and what the tables say."""

    verdict: str
    says: str


def parts(says: str, *holds: bool) -> Reading:
    """Judge a sentence that says several things: supported where all of them hold.

    >>> parts("The sum is right, the order is not.", True, False).verdict
    'partly'
    """
    right = [bool(part) for part in holds]
    verdict = SUPPORTED if all(right) else PARTLY if any(right) else CONTRADICTED
    return Reading(verdict, says)


def about_all(says: str, holds: Collection[bool]) -> Reading:
    """Judge a sentence about all of something: one exception contradicts it.

    >>> about_all("It rises in {k} of {n}.", [True, True, False])
    Reading(verdict='contradicted', says='It rises in 2 of 3.')
    """
    k, n = _count(holds)
    return Reading(SUPPORTED if k == n else CONTRADICTED, says.format(k=k, n=n))


def in_general(says: str, holds: Collection[bool], enough: float = 1.0) -> Reading:
    """Judge a sentence about the usual case: partly supported where more than half of them hold.

    >>> in_general("It rises in {k} of {n}.", [True, True, False]).verdict
    'partly'
    """
    k, n = _count(holds)
    verdict = SUPPORTED if k >= enough * n else PARTLY if k > n / 2 else CONTRADICTED
    return Reading(verdict, says.format(k=k, n=n))


def _count(holds: Iterable[bool]) -> tuple[int, int]:
    """Return how many hold, of how many."""
    cases = [bool(case) for case in holds]
    return sum(cases), len(cases)
