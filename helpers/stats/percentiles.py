"""Bounds of a bootstrap: percentiles of the resamples, expanded to cover what they promise."""

import numpy as np
import numpy.typing as npt
import scipy.stats


def expanded(level: float, n: int, strata: npt.ArrayLike | None = None) -> float:
    """Return the level at which percentiles of resamples cover as often as `level` says.

    Resamples of n facts in k strata spread too little by sqrt((n - k) / n), since each stratum's
    variance is taken about its own mean, and their percentiles know nothing of Student's t. The
    expanded level is 2 Φ(t sqrt(n / (n - k))) - 1, with t the quantile of n - k degrees of freedom.

    Notes
    -----
    Hesterberg 2015, What Teachers Should Know About the Bootstrap, The American Statistician
    69 (4), 371-386, for one sample; here with the degrees of freedom of all strata.

    Twenty facts: t = 2.093, times sqrt(20 / 19) is 2.147, so 96.8 % of resamples.

    >>> round(expanded(0.95, 20), 3), round(expanded(0.95, 20, [0, 1] * 10), 3)
    (0.968, 0.973)
    """
    freedom = n - (1 if strata is None else len(np.unique(np.asarray(strata))))
    if freedom < 1:
        return level
    reach = scipy.stats.t.ppf((1 + level) / 2, freedom) * np.sqrt(n / freedom)
    return float(2 * scipy.stats.norm.cdf(reach) - 1)


def bounds(
    draws: np.ndarray,
    n: int,
    strata: npt.ArrayLike | None = None,
    level: float = 0.95,
    centre: npt.ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds of an interval: the one rule for all that is resampled.

    With twenty facts, 96.8 % of the resamples instead of 95 %:

    >>> low, high = bounds(np.arange(1001.0), n=20)
    >>> round(float(low)), round(float(high))
    (16, 984)
    """
    return percentiles(draws, expanded(level, n, strata), n, centre)


def percentiles(
    draws: np.ndarray, level: float, n: int, centre: npt.ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds of the middle `level` of resamples, leaving out what is not a number.

    >>> low, high = percentiles(np.arange(101.0), 0.9, n=3)
    >>> round(float(low)), round(float(high))
    (5, 95)
    """
    nothing = np.isnan(draws).all(axis=0) | (n < 2)
    filled = np.where(nothing, 0.0, draws)
    low, high = np.nanquantile(filled, [(1 - level) / 2, (1 + level) / 2], axis=0)
    bias = 0.0 if centre is None else np.nanmean(filled, axis=0) - centre
    return np.where(nothing, np.nan, low - bias), np.where(nothing, np.nan, high - bias)
