"""The difference of two groups of facts, whose members a resample draws anew."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers import stats
from helpers.stats.within_groups import sums_by_group


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


def mean_difference_within_relations(
    values: npt.ArrayLike, first: npt.ArrayLike, relations: npt.ArrayLike, **draws: int
) -> stats.Interval:
    """Estimate the mean of one group less that of the others, relation by relation.

    The relations' differences are averaged with the weights n m / (n + m), of n facts
    inside the group and m outside: a relation with one kind alone does not count.

    >>> relations = ["P17", "P17", "P36", "P36"]  # of unlike levels
    >>> values, in_group = [1.0, 0.5, 0.5, 0.0], [True, False, True, False]
    >>> interval = mean_difference_within_relations(
    ...     values, in_group, relations, n_resamples=9)
    >>> interval.estimate
    0.5
    """
    codes, _ = pd.factorize(np.asarray(relations))
    rows = np.column_stack([values, first, codes]).astype(float)
    strata = 2 * codes + np.asarray(first, dtype=int)
    return stats.bootstrap(rows, _difference_within_relations, strata, **draws)


def _difference_within_relations(rows: np.ndarray) -> np.ndarray:
    """Return the weighted mean of differences, of rows: value, inside (1), relation."""
    value = rows[..., 0]
    inside = rows[..., 1]
    relation = rows[..., 2]
    n_inside = sums_by_group(inside, relation)
    n_outside = sums_by_group(1 - inside, relation)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_inside = sums_by_group(value * inside, relation) / n_inside
        mean_outside = sums_by_group(value * (1 - inside), relation) / n_outside
        weight = n_inside * n_outside / (n_inside + n_outside)
        differences = np.where(weight > 0, mean_inside - mean_outside, 0.0)
        weight = np.where(weight > 0, weight, 0.0)
        return (differences * weight).sum(axis=-1) / weight.sum(axis=-1)


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
