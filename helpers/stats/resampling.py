"""Bootstrap of any statistic, drawing facts with replacement within their strata.

The bounds are percentiles of the resamples, at a level expanded to cover what they promise.
"""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import scipy.stats

from helpers import UserError
from helpers.stats.results import Interval

Statistic = Callable[[np.ndarray], np.ndarray | float]

_CHUNK = 4_000_000  # numbers drawn at once: 32 MB


def mean(values: np.ndarray) -> np.ndarray:
    """Average the one column: the statistic of a rate.

    Parameters
    ----------
    values : ndarray, shape (..., n, 1)

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    >>> float(mean(np.array([[1.0], [0.0]])))
    0.5
    """
    return values[..., 0].mean(axis=-1)


def replicates(
    values: npt.ArrayLike,
    statistic: Statistic = mean,
    strata: npt.ArrayLike | None = None,
    n_resamples: int = 1000,
    seed: int | Sequence[int] = 0,
) -> np.ndarray:
    """Return a statistic's values on bootstrap samples of rows, as for :func:`bootstrap`.

    >>> replicates([3.0, 3.0], n_resamples=2).tolist()
    [3.0, 3.0]
    """
    table = as_table(values)
    if n_resamples < 1:
        raise UserError(f"A bootstrap needs at least 1 resample, not {n_resamples}.")
    if not len(table):
        raise UserError("A bootstrap needs at least one fact; there are none left to draw from.")
    start, size = _strata_bounds(strata, len(table))
    if strata is not None:
        table = table[np.argsort(np.asarray(strata), kind="stable")]
    generator = np.random.default_rng(seed)
    chunk = max(1, _CHUNK // table.size)
    parts = []
    for done in range(0, n_resamples, chunk):
        shape = (min(chunk, n_resamples - done), len(table))
        drawn = start + (generator.random(shape) * size).astype(np.int64)
        parts.append(np.asarray(statistic(table[drawn])))
    return np.concatenate(parts)


def bootstrap(
    values: npt.ArrayLike,
    statistic: Statistic = mean,
    strata: npt.ArrayLike | None = None,
    n_resamples: int = 1000,
    seed: int | Sequence[int] = 0,
    level: float = 0.95,
    centred: bool = False,
) -> Interval:
    """Estimate a statistic with its percentile interval.

    Parameters
    ----------
    values : array_like, shape (n,) or (n, k)
        One row a fact.
    statistic : callable
        Takes an array of shape (..., n, k), with k = 1 for one column, and reduces its last two
        axes; see :func:`mean`.
    strata : array_like, shape (n,), optional
        Labels, such as relations; each resample holds as many rows of each as there are.
    n_resamples : int
        How many samples.
    seed : int or sequence of int
        For numpy's generator; the same seed gives the same samples.
    level : float
        Of confidence, between 0 and 1.
    centred : bool
        Move the interval by the resamples' bias. Resampling adds noise, so the largest of several
        rates, or their standard deviation, is larger on resamples than on the facts themselves,
        and the plain interval may miss the estimate; a mean or a ratio needs no such move.

    Returns
    -------
    Interval
        Not numbers if there are no rows; bounds are none either for one row alone.

    Raises
    ------
    UserError
        If fewer than one resample is asked for.

    Notes
    -----
    The bounds are those of Hesterberg's expanded percentile interval
    (:func:`helpers.stats.resampling.expanded`), not clipped to a measure's range: the plain one
    is narrow for few facts, and covers 88 % instead of 95 % with five facts in each of ten
    relations. A stratum of one row adds no spread.

    Examples
    --------
    >>> bootstrap([1.0, 1.0, 1.0], n_resamples=10)
    Interval(estimate=1.0, low=1.0, high=1.0, n=3)
    >>> ratio = lambda rows: rows[..., 0].sum(-1) / rows[..., 1].sum(-1)
    >>> bootstrap([[1.0, 2.0], [2.0, 4.0]], ratio, n_resamples=10)
    Interval(estimate=0.5, low=0.5, high=0.5, n=2)
    """
    table = as_table(values)
    if not len(table):
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    draws = replicates(table, statistic, strata, n_resamples, seed)
    estimate = np.asarray(statistic(table), dtype=float)
    low, high = bounds(draws, len(table), strata, level, estimate if centred else None)
    if estimate.ndim == 0:
        return Interval(float(estimate), float(low), float(high), len(table))
    return Interval(estimate, low, high, len(table))


def expanded(level: float, n: int, strata: npt.ArrayLike | None = None) -> float:
    """Return the level at which percentiles of resamples cover as often as `level` says.

    2 Φ(t sqrt(n / (n - k))) - 1, with t the quantile of n - k degrees of freedom, for n facts in k
    strata: resamples spread too little by sqrt((n - k) / n) and know nothing of Student's t
    (Hesterberg 2015, The American Statistician 69 (4), for one sample).

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


def as_table(values: npt.ArrayLike) -> np.ndarray:
    """Return values as numbers in rows and columns, one column where there is but one number each.

    >>> as_table([1, 0]).tolist()
    [[1.0], [0.0]]
    """
    table = np.asarray(values, dtype=float)
    return table[:, None] if table.ndim == 1 else table


def _strata_bounds(strata: npt.ArrayLike | None, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where the stratum of each row starts, and its size, in a table sorted by stratum."""
    if strata is None:
        return np.zeros(n, dtype=np.int64), np.full(n, n)
    labels = np.asarray(strata)
    if labels.shape != (n,):
        raise UserError(f"There are {len(labels)} strata for {n} facts; give one each.")
    _, sizes = np.unique(labels, return_counts=True)
    starts = np.cumsum(sizes) - sizes
    return np.repeat(starts, sizes), np.repeat(sizes, sizes)
