"""The difference of two groups of facts, whose members a resample draws anew."""

import numpy as np
import numpy.typing as npt

from helpers import stats


def group_mean_difference(
    values: npt.ArrayLike,
    first: npt.ArrayLike,
    strata: npt.ArrayLike | None = None,
    **draws: int,
) -> stats.Interval:
    """Estimate the mean of one group less that of the others.

    Rows are drawn within both groups, or within `strata`.

    >>> in_group = [True, True, False]
    >>> group_mean_difference([1.0, 1.0, 0.0], in_group, n_resamples=9).estimate
    1.0
    """
    rows = np.column_stack([values, first]).astype(float)
    if strata is None:
        strata = first
    return stats.bootstrap(rows, _difference_of_means, strata, **draws)


def _difference_of_means(rows: np.ndarray) -> np.ndarray:
    """Return the mean of the rows inside the group (1) less that of the others (0)."""
    value = rows[..., 0]
    inside = rows[..., 1]
    outside = 1 - inside
    # A resample may hold one side alone.
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_inside = (value * inside).sum(-1) / inside.sum(-1)
        mean_outside = (value * outside).sum(-1) / outside.sum(-1)
    return mean_inside - mean_outside
