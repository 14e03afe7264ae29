"""Claims that a count decides: a share without an interval, and what follows from it."""

from notebooks.kit.findings import HOLDS, OPPOSITE, UNDECIDED, UNDEFINED

ShareStatistic = tuple[float, float, float, int]
NOT_A_NUMBER = float("nan")


def share_without_interval(k: int, n: int) -> ShareStatistic:
    """Return a share of a whole as a statistic without an interval."""
    return (k / n if n else NOT_A_NUMBER, NOT_A_NUMBER, NOT_A_NUMBER, int(n))


def decision_of_claim(
    holds: bool, opposite: bool = False, *, there: bool = True
) -> str:
    """Return the decision of a claim that holds, or whose opposite does; or that has no data.

    >>> decision_of_claim(True), decision_of_claim(False, True), decision_of_claim(False), decision_of_claim(False, there=False)
    ('holds', 'opposite', 'undecided', 'undefined')
    """
    return (
        UNDEFINED
        if not there
        else HOLDS
        if holds
        else OPPOSITE
        if opposite
        else UNDECIDED
    )
