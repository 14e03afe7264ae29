"""Rank correlations of few pairs: exact p-values, size taken out, resamples of whole groups."""

from functools import lru_cache
from math import factorial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.stats

from helpers import UserError
from helpers.stats.correlations import pearson_correlation
from helpers.stats.resampling import Statistic, bootstrap_replicates, interval_bounds

MOST_PAIRS_OF_EXACT_TEST = 16  # pairs: each further one doubles the time and the memory


class RankTest(NamedTuple):
    """Spearman's rho, its two-sided p-value, the pairs, and the draws behind p (0: it is exact)."""

    rho: float
    p: float
    n: int
    draws: int


class GroupInterval(NamedTuple):
    """An estimate with the interval of resampled groups; `left_out` draws had no estimate."""

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
    a, b = _pairs(x, y)
    n = len(a)
    if n < 2 or not a.any() or not b.any():
        return RankTest(float("nan"), float("nan"), n, 0)
    rho = float(pearson_correlation(np.column_stack([a, b]).astype(float)))
    middle, far = int(a.sum() * b.sum()), abs(n * int(a @ b) - int(a.sum() * b.sum()))
    if n <= MOST_PAIRS_OF_EXACT_TEST:
        ways = _ways(*(tuple(sorted(map(int, ranks))) for ranks in (a, b)))
        extreme = np.abs(n * np.arange(len(ways)) - middle) >= far
        return RankTest(rho, float(ways[extreme].sum() / factorial(n)), n, 0)
    mixed = np.random.default_rng(seed).permuted(np.tile(b, (n_draws, 1)), axis=1)
    hits = int((np.abs(n * (mixed @ a) - middle) >= far).sum())
    return RankTest(rho, (1 + hits) / (1 + n_draws), n, n_draws)


def spearman_correlation(rows: np.ndarray) -> np.ndarray:
    """Correlate the ranks of two columns: a statistic, as :func:`helpers.stats.pearson_correlation` is."""
    return pearson_correlation(scipy.stats.rankdata(rows, axis=-2))


def partial_spearman_correlation(rows: np.ndarray) -> np.ndarray:
    """Correlate the ranks of the first two of three columns, given those of the third.

    (r_xy - r_xz r_yz) / sqrt((1 - r_xz²)(1 - r_yz²)) of ranks. Not a number where a
    column is constant or z orders as x or y does.

    >>> rows = np.array([[1.0, 1, 2], [2, 3, 4], [3, 2, 1], [4, 4, 3]])
    >>> round(float(partial_spearman_correlation(rows)), 3)  # 0.8 / sqrt(1 - 0.36)
    1.0
    """
    xy, xz, yz = (
        spearman_correlation(rows[..., pair]) for pair in ([0, 1], [0, 2], [1, 2])
    )
    left = (1 - xz**2) * (1 - yz**2)
    flat = left < 1e-12  # NaN stays NaN
    found = (xy - xz * yz) / np.sqrt(np.where(flat, 1.0, left))
    return np.where(flat, np.nan, np.clip(found, -1, 1))


def bootstrap_over_groups(
    values: npt.ArrayLike,
    groups: npt.ArrayLike,
    statistic: Statistic = spearman_correlation,
    n_resamples: int = 1000,
    seed: int = 0,
) -> GroupInterval:
    """Estimate a statistic, shape (n, k) to a number, with an interval that draws whole groups.

    Models of one family are no independent draws, nor are facts of one relation;
    families and relations nearly are. Each resample holds as many groups as there are,
    each with all its rows. Resamples on which the statistic is undefined are left out
    and counted.

    >>> pairs = [[1, 2], [2, 1], [3, 4], [4, 3]]
    >>> found = bootstrap_over_groups(pairs, ["a", "a", "b", "b"], n_resamples=100)
    >>> [round(number, 2) for number in found]
    [0.6, -1.0, 0.6, 4, 2, 0]
    """
    table, labels = np.asarray(values, dtype=float), np.asarray(groups)
    if labels.shape != (len(table),):
        raise UserError(
            f"There are {labels.size} groups for {len(table)} rows; give one each."
        )
    members = [np.flatnonzero(labels == label) for label in pd.unique(labels)]
    if not members:
        return GroupInterval(float("nan"), float("nan"), float("nan"), 0, 0, 0)

    def drawn(numbers: np.ndarray) -> np.ndarray:
        """Return the statistic on each draw of groups; few groups give few different draws."""
        kinds, which = np.unique(np.sort(numbers[..., 0]), axis=0, return_inverse=True)
        rows = [
            np.concatenate([members[int(group)] for group in kind]) for kind in kinds
        ]
        return np.array([statistic(table[row]) for row in rows], dtype=float)[
            which.ravel()
        ]

    draws = bootstrap_replicates(
        np.arange(len(members)), drawn, None, n_resamples, seed
    )
    low, high = interval_bounds(draws, len(members))
    left_out = int(np.isnan(draws).sum())
    estimate = float(statistic(table))
    return GroupInterval(
        estimate, float(low), float(high), len(table), len(members), left_out
    )


def _pairs(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the ranks of two columns as the smallest whole numbers from 0 that keep their gaps."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.shape != y.shape:
        raise UserError(
            f"A correlation needs pairs, not {x.size} and {y.size} numbers."
        )
    there = ~(np.isnan(x) | np.isnan(y))
    doubled = [
        np.rint(2 * scipy.stats.rankdata(each[there])).astype(int) for each in (x, y)
    ]
    above = [each - each.min(initial=2 * len(each)) for each in doubled]
    first, second = (each // max(1, np.gcd.reduce(each)) for each in above)
    return first, second


@lru_cache(maxsize=32)  # columns without ties share one
def _ways(first: tuple[int, ...], second: tuple[int, ...]) -> np.ndarray:
    """Count pairings of sorted whole numbers by their sum of products: entry s is how many have s.

    After k steps each choice of k numbers of b (how many of each value) holds how often
    they, and the k smallest of a, give each sum: the sums stay short where the choices
    are many.
    """
    several = [np.unique(each, return_counts=True) for each in (first, second)]
    fewer = min((0, 1), key=lambda which: np.prod(several[which][1] + 1.0))
    values, there = several[fewer]
    a, b = np.array((second, first)[fewer]), np.array((first, second)[fewer])
    n = len(a)
    steps = np.cumprod(
        [1, *there[:-1] + 1]
    )  # a choice is a number with one digit a value
    chosen, counts = np.zeros(1, dtype=int), np.ones((1, 1))
    for k in range(1, n + 1):
        left = [
            count - chosen // step % (count + 1) for step, count in zip(steps, there)
        ]
        larger = np.unique(
            np.concatenate([chosen[u > 0] + s for u, s in zip(left, steps)])
        )
        longest = int(a[:k] @ b[n - k :]) + 1
        grown = np.zeros((len(larger), longest))
        for value, step, unused in zip(values, steps, left):
            free = np.flatnonzero(unused)
            start = int(a[k - 1] * value)
            stop = min(start + counts.shape[1], longest)
            more = unused[free, None] * counts[free, : stop - start]
            grown[np.searchsorted(larger, chosen[free] + step), start:stop] += more
        chosen, counts = larger, grown
    return counts[0]
