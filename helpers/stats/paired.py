"""Two models, or two prompts, on the same facts; and many such comparisons at once."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.stats
from statsmodels.stats.proportion import confint_proportions_2indep

from helpers import UserError
from helpers.stats.resampling import (
    CONFIDENCE_LEVEL,
    FEWEST_FACTS_TO_DECIDE,
    Statistic,
    as_matrix,
    binary_outcomes,
    bootstrap_replicates,
    interval_bounds,
    mean,
    pooled_strata,
)
from helpers.stats.results import Difference


def paired_difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    statistic: Statistic = mean,
    strata: npt.ArrayLike | None = None,
    n_resamples: int = 1000,
    seed: int | Sequence[int] = 0,
) -> Difference:
    """Compare two models, or two prompts, on the same facts: first minus second.

    Both tables are resampled together: a fact that is hard for both does not blur the
    difference.

    Parameters
    ----------
    first, second : array_like, shape (n,) or (n, k)
        Row i of both is the same fact.
    statistic, strata, n_resamples, seed
        As for :func:`bootstrap`; the statistic gives one number.

    Returns
    -------
    Difference
        p: twice the smaller share of resamples at or beyond 0, one resample added to
        each count. Not numbers without rows; bounds and p are none either for one row
        alone, nor where all resamples are alike, but for shares of twenty zeros and
        ones or more: these have Newcombe's interval (1998), of the share that the first
        alone has less that of the second alone.

    Raises
    ------
    UserError
        If the shapes differ.

    Examples
    --------
    >>> difference = paired_difference([1, 1, 1, 0], [0, 0, 1, 0], n_resamples=99)
    >>> difference.estimate, difference.n
    (0.5, 4)
    """
    first = as_matrix(first)
    second = as_matrix(second)
    if first.shape != second.shape:
        raise UserError(
            "A paired difference needs the same facts in both tables, "
            f"not {len(first)} and {len(second)} rows."
        )
    n, width = first.shape

    def difference(rows: np.ndarray) -> np.ndarray:
        of_first = np.asarray(statistic(rows[..., :width]))
        of_second = np.asarray(statistic(rows[..., width:]))
        return of_first - of_second

    if not n:
        return Difference(np.nan, np.nan, np.nan, np.nan, 0)
    both = np.hstack([first, second])
    replicates = bootstrap_replicates(both, difference, strata, n_resamples, seed)
    low, high = (float(bound) for bound in interval_bounds(replicates, n, strata))
    if np.isnan(low):
        outcomes = binary_outcomes(first, statistic)
        outcomes_of_second = binary_outcomes(second, statistic)
        if len(outcomes) == len(outcomes_of_second) >= FEWEST_FACTS_TO_DECIDE:
            low, high = _newcombe_interval(outcomes, outcomes_of_second)
    p = np.nan
    if not np.isnan(low):
        tail = min((replicates <= 0).sum(), (replicates >= 0).sum())
        n_numbers = (~np.isnan(replicates)).sum()
        p = float(min(1.0, 2 * (tail + 1) / (n_numbers + 1)))
    return Difference(float(difference(both)), low, high, p, n)


def _newcombe_interval(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Return Newcombe's interval of two paired shares, from zeros and ones."""
    first_alone = int((first > second).sum())
    second_alone = int((second > first).sum())
    low, high = confint_proportions_2indep(
        first_alone,
        len(first),
        second_alone,
        len(second),
        method="newcomb",
        alpha=1 - CONFIDENCE_LEVEL,
    )
    return float(low), float(high)


def expanded_p_value(p: float, strata: npt.ArrayLike) -> float:
    """Widen a p-value of resamples for few facts, one stratum each, as intervals are.

    It is at most 0.05 where the interval of 95 %, expanded
    (:func:`helpers.stats.resampling.expanded_confidence_level`), leaves out 0.

    >>> round(expanded_p_value(1 - 0.968, [0] * 20), 2)
    0.05
    >>> round(expanded_p_value(0.002, [0] * 1000), 4)
    0.0021
    """
    layers = pooled_strata(strata)
    n = len(layers)
    freedom = n - len(np.unique(layers))
    if np.isnan(p) or freedom < 1:
        return p
    reach = scipy.stats.norm.isf(p / 2)
    return float(2 * scipy.stats.t.sf(reach * np.sqrt(freedom / n), freedom))


def simultaneous_level(n_intervals: int) -> float:
    """Return the level of each of several intervals that hold at once in 95 of 100.

    Bonferroni's: one minus 0.05 over their number.

    >>> [simultaneous_level(n) for n in (0, 1, 4)]
    [0.95, 0.95, 0.9875]
    """
    return 1 - (1 - CONFIDENCE_LEVEL) / max(1, n_intervals)


def holm_adjusted_p_values(p: npt.ArrayLike) -> np.ndarray:
    """Adjust p-values for their number after Holm (1979); not a number counts nowhere.

    >>> holm_adjusted_p_values([0.01, float("nan"), 0.04, 0.03]).round(2).tolist()
    [0.03, nan, 0.06, 0.06]
    """
    p = np.asarray(p, dtype=float)
    n = np.count_nonzero(~np.isnan(p))
    order = np.argsort(p)[:n]  # not a number is sorted last
    multiplied = p[order] * np.arange(n, 0, -1)
    adjusted = np.full(p.shape, np.nan)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(multiplied))
    return adjusted
