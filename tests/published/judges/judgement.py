"""How a sentence is judged by the numbers that it speaks of, and whether a reason states them."""

import re
from collections.abc import Collection
from typing import NamedTuple

SUPPORTED, PARTLY, CONTRADICTED = "supported", "partly", "contradicted"
UNDECIDABLE = "not decided"
VERDICTS = (SUPPORTED, PARTLY, CONTRADICTED, UNDECIDABLE)
SMALL_CHANGE = 5.0  # points: a change that a sentence may deny has to be smaller
PRINTED_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?")


class Judgement(NamedTuple):
    """A verdict on a sentence, and the numbers and names that its reason states, in order."""

    verdict: str
    told: list[float | str]


def judge_parts(told: Collection[float | str], *holds: bool | None) -> Judgement:
    """Judge a sentence that says several things: supported where all of them hold.

    None stands for a part that the numbers leave open.
    """
    right = [bool(part) for part in holds if part is not None]
    verdict = SUPPORTED if all(right) else PARTLY if any(right) else CONTRADICTED
    return Judgement(
        UNDECIDABLE if all(right) and None in holds else verdict, list(told)
    )


def does_not_rise(low: float, high: float) -> bool | None:
    """Tell by an interval whether something does not rise; None where it may, and noticeably."""
    return False if low > 0 else True if high < SMALL_CHANGE else None


def does_not_change(low: float, high: float) -> bool | None:
    """Tell by an interval whether something neither rises nor falls."""
    both = does_not_rise(low, high), does_not_rise(-high, -low)
    return False if False in both else None if None in both else True


def judge_all_cases(holds: Collection[bool], *more: float | str) -> Judgement:
    """Judge a sentence about all of something: one exception contradicts it."""
    k, n = sum(map(bool, holds)), len(holds)
    return Judgement(SUPPORTED if k == n else CONTRADICTED, [k, n, *more])


def judge_usual_case(
    holds: Collection[bool], *more: float | str, enough: float = 1.0
) -> Judgement:
    """Judge a sentence about the usual case: partly supported where more than half of them hold."""
    k, n = sum(map(bool, holds)), len(holds)
    verdict = SUPPORTED if k >= enough * n else PARTLY if k > n / 2 else CONTRADICTED
    return Judgement(verdict, [k, n, *more])


def unstated_values(told: Collection[float | str], says: str) -> list[float | str]:
    """Return what a reason does not state, in this order, rounded as it rounds."""
    place, left = 0, []
    for one in told:
        if isinstance(one, str):
            found = re.compile(re.escape(one)).search(says, place)
        else:
            found = next(
                (n for n in PRINTED_NUMBER.finditer(says, place) if _is(one, n)), None
            )
        left += [] if found else [one]
        place = found.end() if found else place
    return left


def _is(value: float, number: re.Match) -> bool:
    half = 0.5 * 10 ** -len(number[1] or "")
    return abs(float(number[0].replace(",", "")) - value) <= half + 1e-9


def parse_parameter_count(text: str) -> float:
    """Read a number of parameters as the papers write it."""
    return float(text[:-1]) * {"m": 1e6, "b": 1e9}[text[-1].lower()]
