"""Claims that a count decides: a share without an interval, and what follows from it."""

from notebooks.kit.findings import HOLDS, OPPOSITE, UNDECIDED, UNDEFINED

Share = tuple[float, float, float, int]
NOTHING = float("nan")


def share(k: int, n: int) -> Share:
    """Return a share of a whole as a statistic without an interval."""
    return (k / n if n else NOTHING, NOTHING, NOTHING, int(n))


def decided(holds: bool, opposite: bool = False, *, there: bool = True) -> str:
    """Return the decision of a claim that holds, or whose opposite does; or that has no data.

    >>> decided(True), decided(False, True), decided(False), decided(False, there=False)
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
