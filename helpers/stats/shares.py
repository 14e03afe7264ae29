"""Shares of independent trials with Wilson's interval."""

import numpy as np
import scipy.stats

from helpers import UserError
from helpers.stats.results import Interval


def wilson(successes: float, n: int, level: float = 0.95) -> Interval:
    """Estimate a share with Wilson's score interval, for n independent trials.

    Parameters
    ----------
    successes : float
        How many; a trial that was repeated may count by the share of its successes.
    n : int
        Of how many trials.
    level : float
        Of confidence, between 0 and 1.

    Returns
    -------
    Interval
        Within [0, 1]; not numbers if n is 0.

    Raises
    ------
    UserError
        If there are more successes than trials, or fewer than 0.

    Notes
    -----
    Wilson 1927. For facts that cluster in relations use :func:`bootstrap`.

    Examples
    --------
    >>> [round(value, 3) for value in wilson(8, 10)]
    [0.8, 0.49, 0.943, 10]
    """
    if not 0 <= successes <= n:
        raise UserError(f"{successes} successes of {n} trials cannot be; give 0 to {n}.")
    if n == 0:
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    z = scipy.stats.norm.ppf((1 + level) / 2)
    share = successes / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low, high = max(0.0, float(centre - reach)), min(1.0, float(centre + reach))
    return Interval(share, low, high, n)
