"""Rank correlations of few pairs: exact p-values, size taken out, groups resampled."""

from functools import lru_cache
from itertools import combinations
from math import factorial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.stats

from helpers import UserError
from helpers.stats.correlations import pearson_correlation
from helpers.stats.resampling import Statistic, bootstrap_replicates, interval_bounds

# Pairs: each further one doubles the time and the memory.
MOST_PAIRS_OF_EXACT_TEST = 16


class RankTest(NamedTuple):
    """Spearman's rho, its two-sided p-value, pairs, and draws behind p (0: exact)."""

    rho: float
    p: float
    n: int
    draws: int


class GroupInterval(NamedTuple):
    """An estimate, its interval from groups, and the draws without an estimate."""

    estimate: float
    low: float
    high: float
    n: int
    groups: int
    left_out: int


def rank_correlation_test(
    x: npt.ArrayLike, y: npt.ArrayLike, n_draws: int = 100_000, seed: int = 0
) -> RankTest:
    """Test Spearman's rank correlation by permutations: all of them, up to 16 pairs.

    p is the share of the n! ways to pair the two columns whose abs(rho) is at least the
    one found. With ranks a and b (ties get their mean) rho depends on the sum of a·b
    alone, whose distribution over all pairings is counted subset by subset: at most 2^n
    of them in place of n! pairings.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Pairs with a number missing are left out.
    n_draws, seed : int
        Of random pairings, where there are more than 16 pairs; then p is
        (1 + hits) / (1 + n_draws), which is never 0.

    Returns
    -------
    RankTest
        rho in [-1, 1]; rho and p not numbers for fewer than two pairs or a constant
        column.

    Raises
    ------
    UserError
        For columns of different lengths.

    Examples
    --------
    Of the 24 pairings of four ranks, one gives rho = 1 and one gives rho = -1:

    >>> rank_correlation_test([1, 2, 3, 4], [10, 20, 30, 40])
    RankTest(rho=1.0, p=0.08333333333333333, n=4, draws=0)
    """
    a, b = _whole_number_ranks(x, y)
    n = len(a)
    if n < 2 or not a.any() or not b.any():
        return RankTest(float("nan"), float("nan"), n, 0)
    rho = float(pearson_correlation(np.column_stack([a, b]).astype(float)))
    # n times the sum of products that rho = 0 has, and how far the columns are from it.
    middle = int(a.sum() * b.sum())
    far = abs(n * int(a @ b) - middle)
    if n <= MOST_PAIRS_OF_EXACT_TEST:
        pairings = _pairings_by_sum(_ascending(a), _ascending(b))
        extreme = np.abs(n * np.arange(len(pairings)) - middle) >= far
        return RankTest(rho, float(pairings[extreme].sum() / factorial(n)), n, 0)
    generator = np.random.default_rng(seed)
    mixed = generator.permuted(np.tile(b, (n_draws, 1)), axis=1)
    hits = int((np.abs(n * (mixed @ a) - middle) >= far).sum())
    return RankTest(rho, (1 + hits) / (1 + n_draws), n, n_draws)


def spearman_correlation(rows: np.ndarray) -> np.ndarray:
    """Correlate the ranks of two columns: a statistic, as `pearson_correlation` is."""
    return pearson_correlation(scipy.stats.rankdata(rows, axis=-2))


def partial_spearman_correlation(rows: np.ndarray) -> np.ndarray:
    """Correlate the ranks of the first two of three columns, given those of the third.

    (r_xy - r_xz r_yz) / sqrt((1 - r_xz²)(1 - r_yz²)) of ranks. Not a number where a
    column is constant or z orders as x or y does.

    >>> rows = np.array([[1.0, 1, 2], [2, 3, 4], [3, 2, 1], [4, 4, 3]])
    >>> round(float(partial_spearman_correlation(rows)), 3)  # 0.8 / sqrt(1 - 0.36)
    1.0
    """
    xy = spearman_correlation(rows[..., [0, 1]])
    xz = spearman_correlation(rows[..., [0, 2]])
    yz = spearman_correlation(rows[..., [1, 2]])
    unexplained = (1 - xz**2) * (1 - yz**2)
    flat = unexplained < 1e-12  # NaN stays NaN
    partial = (xy - xz * yz) / np.sqrt(np.where(flat, 1.0, unexplained))
    return np.where(flat, np.nan, np.clip(partial, -1, 1))


def bootstrap_over_groups(
    values: npt.ArrayLike,
    groups: npt.ArrayLike,
    statistic: Statistic = spearman_correlation,
    n_resamples: int = 1000,
    seed: int = 0,
) -> GroupInterval:
    """Estimate a statistic, (n, k) to a number, with an interval that draws groups.

    Models of one family are no independent draws, nor are facts of one relation;
    families and relations nearly are. Each resample holds as many groups as there are,
    each with all its rows. Resamples on which the statistic is undefined are left out
    and counted.

    >>> pairs = [[1, 2], [2, 1], [3, 4], [4, 3]]
    >>> interval = bootstrap_over_groups(pairs, ["a", "a", "b", "b"], n_resamples=100)
    >>> [round(number, 2) for number in interval]
    [0.6, -1.0, 0.6, 4, 2, 0]
    """
    table = np.asarray(values, dtype=float)
    labels = np.asarray(groups)
    if labels.shape != (len(table),):
        raise UserError(
            f"There are {labels.size} groups for {len(table)} rows; give one each."
        )
    members = [np.flatnonzero(labels == label) for label in pd.unique(labels)]
    if not members:
        return GroupInterval(float("nan"), float("nan"), float("nan"), 0, 0, 0)

    def statistic_of_draws(numbers: np.ndarray) -> np.ndarray:
        """Return the statistic on each draw of groups, once for equal draws."""
        draws = np.sort(numbers[..., 0])
        different, which = np.unique(draws, axis=0, return_inverse=True)
        estimates = []
        for draw in different:
            rows = np.concatenate([members[int(group)] for group in draw])
            estimates.append(statistic(table[rows]))
        return np.array(estimates, dtype=float)[which.ravel()]

    group_numbers = np.arange(len(members))
    replicates = bootstrap_replicates(
        group_numbers, statistic_of_draws, None, n_resamples, seed
    )
    low, high = interval_bounds(replicates, len(members))
    return GroupInterval(
        estimate=float(statistic(table)),
        low=float(low),
        high=float(high),
        n=len(table),
        groups=len(members),
        left_out=int(np.isnan(replicates).sum()),
    )


def _whole_number_ranks(
    x: npt.ArrayLike, y: npt.ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ranks of two columns, of complete pairs, as whole numbers from 0."""
    first = np.asarray(x, dtype=float)
    second = np.asarray(y, dtype=float)
    if first.shape != second.shape:
        raise UserError(
            f"A correlation needs pairs, not {first.size} and {second.size} numbers."
        )
    complete = ~(np.isnan(first) | np.isnan(second))
    return _ranks_from_zero(first[complete]), _ranks_from_zero(second[complete])


def _ranks_from_zero(values: np.ndarray) -> np.ndarray:
    """Return ranks as the smallest whole numbers from 0 that keep their proportions."""
    doubled = np.rint(2 * scipy.stats.rankdata(values)).astype(int)  # ties end in 1/2
    from_zero = doubled - doubled.min(initial=2 * len(doubled))
    return from_zero // max(1, np.gcd.reduce(from_zero))


def _ascending(ranks: np.ndarray) -> tuple[int, ...]:
    """Return ranks in ascending order, as a key of a cache."""
    return tuple(np.sort(ranks).tolist())


@lru_cache(maxsize=32)  # columns without ties share one
def _pairings_by_sum(first: tuple[int, ...], second: tuple[int, ...]) -> np.ndarray:
    """Count the pairings of two ascending columns: entry s is how many have sum s.

    The sum is that of the products of paired ranks. All n! pairings are counted without
    making any of them, by what they have in common. Take the k smallest ranks of the
    first column and any k ranks of the second, and let `counts` hold, for these k, how
    many of their k! pairings give each sum. The largest of the k in the first column is
    paired with one of the k in the second; the other k - 1 of both were counted a step
    before, and each of their sums grows by the one product. So the counts of k ranks
    are k counts of k - 1 ranks, each moved up by its product and added. There are 2^n
    choices from the second column in all; only those of the last step are kept.
    Counts are whole numbers below 2^53, which a float holds exactly.

    >>> _pairings_by_sum((0, 1, 2), (0, 1, 2)).tolist()  # 0·2 + 1·1 + 2·0 = 1, ...
    [0.0, 1.0, 2.0, 0.0, 2.0, 1.0]
    """
    if len(set(first)) < len(set(second)):
        first, second = second, first  # ties leave fewer choices, and the same sums
    counts: dict[tuple[int, ...], np.ndarray] = {(): np.ones(1)}
    for k, rank in enumerate(first, start=1):
        counts_of_one_more = {}
        for chosen in set(combinations(second, k)):
            largest = int(np.dot(first[:k], chosen))  # both ascend
            by_sum = np.zeros(largest + 1)
            for place, partner in enumerate(chosen):
                others = counts[chosen[:place] + chosen[place + 1 :]]
                product = rank * partner
                by_sum[product : product + len(others)] += others
            counts_of_one_more[chosen] = by_sum
        counts = counts_of_one_more
    return counts[second]
