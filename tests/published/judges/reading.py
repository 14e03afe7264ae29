"""How a sentence is judged by the numbers that it speaks of."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

SUPPORTED, PARTLY, CONTRADICTED = "supported", "partly", "contradicted"
UNDECIDABLE = "not decided"
VERDICTS = (SUPPORTED, PARTLY, CONTRADICTED, UNDECIDABLE)
SMALL = 5.0  # points: a change that a sentence may deny has to be smaller


class Reading(NamedTuple):
    """A verdict on a sentence, and what the tables say."""

    verdict: str
    says: str


def parts(says: str, *holds: bool | None) -> Reading:
    """Judge a sentence that says several things: supported where all of them hold.

    None stands for a part that the numbers leave open.
    """
    right = [bool(part) for part in holds if part is not None]
    verdict = SUPPORTED if all(right) else PARTLY if any(right) else CONTRADICTED
    return Reading(UNDECIDABLE if all(right) and None in holds else verdict, says)


def no_rise(low: float, high: float) -> bool | None:
    """Tell by an interval whether something does not rise; None where it may, and noticeably."""
    return False if low > 0 else True if high < SMALL else None


def no_change(low: float, high: float) -> bool | None:
    """Tell by an interval whether something neither rises nor falls."""
    both = no_rise(low, high), no_rise(-high, -low)
    return False if False in both else None if None in both else True


def about_all(says: str, holds: Collection[bool]) -> Reading:
    """Judge a sentence about all of something: one exception contradicts it."""
    k, n = _count(holds)
    return Reading(SUPPORTED if k == n else CONTRADICTED, says.format(k=k, n=n))


def in_general(says: str, holds: Collection[bool], enough: float = 1.0) -> Reading:
    """Judge a sentence about the usual case: partly supported where more than half of them hold."""
    k, n = _count(holds)
    verdict = SUPPORTED if k >= enough * n else PARTLY if k > n / 2 else CONTRADICTED
    return Reading(verdict, says.format(k=k, n=n))


def _count(holds: Iterable[bool]) -> tuple[int, int]:
    """Return how many hold, of how many."""
    cases = [bool(case) for case in holds]
    return sum(cases), len(cases)
