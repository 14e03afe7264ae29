"""Two models, or two prompts, on the same facts; and many such comparisons at once."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from statsmodels.stats.proportion import confint_proportions_2indep

from helpers import UserError
from helpers.stats import resampling
from helpers.stats.resampling import (
    Statistic,
    as_matrix,
    binary_outcomes,
    bootstrap_replicates,
    interval_bounds,
    mean,
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
    >>> found = paired_difference([1, 1, 1, 0], [0, 0, 1, 0], n_resamples=99)
    >>> found.estimate, found.n
    (0.5, 4)
    """
    first, second = as_matrix(first), as_matrix(second)
    if first.shape != second.shape:
        raise UserError(
            f"A paired difference needs the same facts in both tables, not {len(first)} and "
            f"{len(second)} rows."
        )
    n, width = first.shape

    def difference(rows: np.ndarray) -> np.ndarray:
        return np.asarray(statistic(rows[..., :width])) - np.asarray(
            statistic(rows[..., width:])
        )

    both, nothing = np.hstack([first, second]), float("nan")
    if not n:
        return Difference(nothing, nothing, nothing, nothing, 0)
    draws = bootstrap_replicates(both, difference, strata, n_resamples, seed)
    low, high = interval_bounds(draws, n, strata)
    one, two = binary_outcomes(first, statistic), binary_outcomes(second, statistic)
    if np.isnan(low) and resampling.FEWEST_FACTS_TO_DECIDE <= (size := len(one)) == len(
        two
    ):
        alone = int((one > two).sum()), int((two > one).sum())
        ways = {"method": "newcomb", "alpha": 1 - resampling.CONFIDENCE_LEVEL}
        low, high = confint_proportions_2indep(alone[0], size, alone[1], size, **ways)
    tail, drawn = min((draws <= 0).sum(), (draws >= 0).sum()), (~np.isnan(draws)).sum()
    p = nothing if np.isnan(low) else min(1.0, 2 * (tail + 1) / (drawn + 1))
    return Difference(float(difference(both)), float(low), float(high), float(p), n)


def holm_adjusted_p_values(p: npt.ArrayLike) -> np.ndarray:
    """Adjust p-values for their number after Holm (1979); what is not a number does not count.

    >>> holm_adjusted_p_values([0.01, float("nan"), 0.04, 0.03]).round(2).tolist()
    [0.03, nan, 0.06, 0.06]
    """
    p = np.asarray(p, dtype=float)
    order = np.argsort(p)[
        : np.count_nonzero(~np.isnan(p))
    ]  # not a number is sorted last
    adjusted = np.full(p.shape, np.nan)
    adjusted[order] = np.minimum(
        1, np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1))
    )
    return adjusted
