"""Ranks and correlations within groups, such as relations, whose levels differ."""

import numpy as np
import scipy.stats

from helpers.stats.correlations import pearson_correlation


def ranks_within_groups(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Rank values among those of the same group, from 1; ties get their mean rank.

    Parameters
    ----------
    values, groups : ndarray, shape (..., n)
        Values, and whole numbers from 0 that name the group of each.

    Examples
    --------
    >>> ranks_within_groups(np.array([0.3, 0.1, 9.0, 9.0]), np.array([0, 0, 1, 1]))
    array([2. , 1. , 1.5, 1.5])
    """
    overall = scipy.stats.rankdata(values, axis=-1)
    n = overall.shape[-1]
    # No group's ranks reach those of the next one.
    among_all = scipy.stats.rankdata(groups * (n + 1.0) + overall, axis=-1)
    sizes = sums_by_group(np.ones(overall.shape), groups)
    before = np.cumsum(sizes, axis=-1) - sizes
    return among_all - np.take_along_axis(before, groups.astype(int), axis=-1)


def sums_by_group(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Add up values by group: shape (..., n) to (..., number of groups).

    >>> sums_by_group(np.array([1.0, 2.0, 4.0]), np.array([0, 1, 0]))
    array([5., 2.])
    """
    codes = np.asarray(groups).astype(int)
    n_groups = int(codes.max(initial=-1)) + 1
    n_samples = int(np.prod(codes.shape[:-1], dtype=int))
    first_place = np.arange(n_samples)[:, np.newaxis] * n_groups
    places = first_place + codes.reshape(n_samples, -1)
    sums = np.bincount(
        places.ravel(),
        weights=np.broadcast_to(values, codes.shape).ravel(),
        minlength=n_samples * n_groups,
    )
    return sums.reshape(*codes.shape[:-1], n_groups)


def rank_correlation_within_groups(rows: np.ndarray) -> np.ndarray:
    """Correlate two columns by their ranks within groups: a statistic.

    `rows` have the shape (..., n, 3): two columns, and the group as a whole number from
    0. Ranks are taken within the group and divided by its size, so that a group's level
    does not count and large groups do not count by their larger ranks. In [-1, 1]; not
    a number where a column is constant in every group.

    >>> rows = np.array([[1.0, 5, 0], [2, 6, 0], [8, 1, 1], [9, 2, 1]])
    >>> float(rank_correlation_within_groups(rows))  # -0.6 for ranks over all rows
    1.0
    """
    groups = rows[..., 2].astype(int)
    sizes = sums_by_group(np.ones(groups.shape), groups)
    size = np.take_along_axis(sizes, groups, axis=-1)
    columns = []
    for place in (0, 1):
        rank = ranks_within_groups(rows[..., place], groups)
        columns.append((rank - (size + 1) / 2) / size)
    return pearson_correlation(np.stack(columns, axis=-1))
