"""How many facts an interval of a width needs, or a difference between two models.

The spread of a measure is read from a finished run: each fact's influence, by leaving it out, as
far as it differs from its relation's mean, since intervals draw facts within relations. What is
planned is the width that :func:`helpers.stats.bootstrap` gives.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.stats

from helpers import UserError
from helpers.stats.resampling import LEVEL, Statistic, as_table, mean, pooled

MOST = 100_000  # facts: a plan that needs more is none
POWER = 0.8  # of telling a difference that is there


class Spread(NamedTuple):
    """How far one fact moves a measure: standard deviation within strata, and how many of each."""

    sd: float
    n: int
    strata: int


def spread(
    values: npt.ArrayLike, statistic: Statistic = mean, strata: npt.ArrayLike | None = None
) -> Spread:
    """Return how far single facts move a measure, from the facts of a finished run.

    Parameters
    ----------
    values : array_like, shape (n,) or (n, k)
        One row a fact; for a difference of two models their columns side by side.
    statistic : callable
        As for :func:`bootstrap`; a measure that one fact can move by a jump (a median, a count of
        ranks) is planned badly.
    strata : array_like, shape (n,), optional
        Relations; strata of fewer than five facts count as one.

    Returns
    -------
    Spread
        Of the jackknife's influences, (n - 1) times what leaving the fact out takes away.

    Raises
    ------
    UserError
        If there are fewer than two facts more than strata, or all facts of a stratum are alike.

    Examples
    --------
    >>> found = spread([1.0, 0.0] * 10)
    >>> round(found.sd, 3), found.n, found.strata
    (0.513, 20, 1)
    """
    table = as_table(values)
    layers = pooled(np.zeros(len(table)) if strata is None else strata)
    names, places = np.unique(layers, return_inverse=True)
    freedom = len(table) - len(names)
    if freedom < 2:
        raise UserError(f"{len(table)} facts are too few to plan from: measure twenty or more.")
    left_out = np.array(
        [float(statistic(np.delete(table, place, axis=0))) for place in range(len(table))]
    )
    influence = (len(table) - 1) * (float(statistic(table)) - left_out)
    middle = np.bincount(places, influence) / np.bincount(places)
    sd = np.sqrt(((influence - middle[places]) ** 2).sum() / freedom)
    if np.isclose(sd, 0):
        raise UserError("These facts are all alike, so they show no spread to plan from.")
    return Spread(float(sd), len(table), len(names))


def planned_width(found: Spread, n: npt.ArrayLike) -> np.ndarray:
    """Return how wide the 95 % interval of a measure is with n facts in as many strata.

    Parameters
    ----------
    found : Spread
    n : array_like of int
        Numbers of facts.

    Returns
    -------
    ndarray
        Widths on the measure's scale; not a number where n leaves no degree of freedom.

    Examples
    --------
    Half of the facts known, in one relation: 100 facts tell the share to ten points each way.

    >>> round(float(planned_width(Spread(0.5, 20, 1), 100)), 3)
    0.198
    """
    return 2 * _reach(found, n, (1 + LEVEL) / 2)


def reworded(whole: Spread, half: Spread, asked: int, asked_half: int, wanted: int) -> Spread:
    r"""Return the spread if each fact were asked in more or fewer wordings, or samples.

    Of r wordings drawn for each fact, the variance of a fact's value is :math:`a + b / r`; two
    numbers of wordings give both parts, neither below 0.

    Parameters
    ----------
    whole, half : Spread
        From all wordings of a run, and from some of them.
    asked, asked_half : int
        How many these are.
    wanted : int

    Returns
    -------
    Spread

    Raises
    ------
    UserError
        If no wording is wanted.

    Examples
    --------
    A variance of 1/4 + 1 / r, at r = 4 and 2; at 16 it is 5/16:

    >>> found = reworded(Spread(0.5**0.5, 20, 1), Spread(0.75**0.5, 20, 1), 4, 2, 16)
    >>> round(found.sd**2, 6)
    0.3125
    """
    if wanted < 1:
        raise UserError(f"The number of wordings is {wanted}: give 1 or more.")
    slope = (half.sd**2 - whole.sd**2) / (1 / asked_half - 1 / asked)
    slope = min(max(slope, 0.0), whole.sd**2 * asked)
    variance = whole.sd**2 + slope * (1 / wanted - 1 / asked)
    return whole._replace(sd=float(np.sqrt(variance)))


def facts_for_width(found: Spread, width: float) -> float:
    """Return the fewest facts whose interval is at most so wide; infinity beyond `MOST`.

    Parameters
    ----------
    found : Spread
    width : float
        From bound to bound, on the measure's scale.

    Returns
    -------
    float

    Raises
    ------
    UserError
        If the width is not above 0.

    Examples
    --------
    >>> facts_for_width(Spread(0.5, 20, 1), 0.1)
    387.0
    """
    return _fewest(lambda n: planned_width(found, n), width, "width", found.strata)


def facts_for_difference(found: Spread, difference: float) -> float:
    """Return the fewest facts that tell a difference from none in four of five samples.

    Parameters
    ----------
    found : Spread
        Of the difference between two models on the same facts.
    difference : float
        True difference to be told, on the measure's scale; its sign does not matter.

    Returns
    -------
    float
        Infinity beyond `MOST`.

    Raises
    ------
    UserError
        If the difference is 0.

    Examples
    --------
    Ten points between two models that are right on other facts each:

    >>> facts_for_difference(Spread(0.7, 20, 1), 0.1)
    387.0
    """

    def told(n: np.ndarray) -> np.ndarray:
        return _reach(found, n, (1 + LEVEL) / 2) + _reach(found, n, POWER)

    return _fewest(told, abs(difference), "difference", found.strata)


def _reach(found: Spread, n: npt.ArrayLike, share: float) -> np.ndarray:
    """Return the standard error with n facts times Student's quantile of a share."""
    n = np.asarray(n, dtype=float)
    freedom = np.where(n > found.strata, n - found.strata, np.nan)
    return scipy.stats.t.ppf(share, freedom) * found.sd / np.sqrt(n)


def _fewest(
    size: Callable[[np.ndarray], np.ndarray], wanted: float, name: str, strata: int
) -> float:
    """Return the fewest facts for which what falls with their number is at most what is wanted."""
    if not wanted > 0:
        raise UserError(f"The {name} is {wanted}: give a number above 0, such as 0.1.")
    n = np.arange(strata + 1, MOST + 1)
    enough = np.flatnonzero(size(n) <= wanted)
    return float(n[enough[0]]) if len(enough) else float("inf")
