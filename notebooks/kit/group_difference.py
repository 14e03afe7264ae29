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
    """Estimate the mean of one group less that of the others, drawn within both or within strata.

    >>> group_mean_difference([1.0, 1.0, 0.0], [True, True, False], n_resamples=9).estimate
    1.0
    """

    def difference(rows: np.ndarray) -> np.ndarray:
        value, inside = rows[..., 0], rows[..., 1]
        with np.errstate(
            invalid="ignore", divide="ignore"
        ):  # a resample may hold one side alone
            one, other = ((value * w).sum(-1) / w.sum(-1) for w in (inside, 1 - inside))
        return one - other

    rows = np.column_stack([values, first]).astype(float)
    return stats.bootstrap(
        rows, difference, first if strata is None else strata, **draws
    )
