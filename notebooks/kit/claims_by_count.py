"""Claims that a count decides: a share without an interval, and the decision."""

from notebooks.kit.findings import HOLDS, OPPOSITE, UNDECIDED, UNDEFINED

ShareStatistic = tuple[float, float, float, int]
NOT_A_NUMBER = float("nan")


def share_without_interval(k: int, n: int) -> ShareStatistic:
    """Return a share of a whole as a statistic without an interval."""
    share = k / n if n else NOT_A_NUMBER
    return share, NOT_A_NUMBER, NOT_A_NUMBER, int(n)


def decision_of_claim(
    holds: bool, opposite: bool = False, *, there: bool = True
) -> str:
    """Return the decision of a claim: it holds, its opposite does, or it has no data.

    >>> decision_of_claim(True), decision_of_claim(False, True)
    ('holds', 'opposite')
    >>> decision_of_claim(False), decision_of_claim(False, there=False)
    ('undecided', 'undefined')
    """
    if not there:
        return UNDEFINED
    if holds:
        return HOLDS
    if opposite:
        return OPPOSITE
    return UNDECIDED
