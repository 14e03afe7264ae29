"""Intervals, paired differences and correlations for facts that cluster in relations.

Every interval is the 95 % percentile interval of a bootstrap that draws facts with replacement
within their relation (stratum), so the mix of relations stays as it is, unless it says otherwise.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.stats
from statsmodels.stats import contingency_tables

from helpers.errors import UserError

Statistic = Callable[[np.ndarray], np.ndarray | float]

_CHUNK = 4_000_000  # numbers drawn at once: 32 MB


class Interval(NamedTuple):
    """An estimate with the bounds of its interval and the number of facts."""

    estimate: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray
    n: int


class Difference(NamedTuple):
    """A paired difference with its interval, two-sided p-value and number of pairs."""

    estimate: float
    low: float
    high: float
    p: float
    n: int


class Mcnemar(NamedTuple):
    """How often each of two alone is right, the exact two-sided p-value and the number of pairs."""

    first_only: int
    second_only: int
    p: float
    n: int


class Correlation(NamedTuple):
    """A correlation with its interval, two-sided p-value and number of pairs."""

    r: float
    low: float
    high: float
    p: float
    n: int


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
    """Compute a statistic on bootstrap samples of rows, drawn within strata.

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

    Returns
    -------
    ndarray, shape (n_resamples, ...)

    Raises
    ------
    UserError
        If there are no rows, or fewer than one resample is asked for.

    Examples
    --------
    >>> replicates([3.0, 3.0], n_resamples=2).tolist()
    [3.0, 3.0]
    """
    table = _table(values)
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
    values, statistic, strata, n_resamples, seed
        As for :func:`replicates`.
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
    The percentile interval is slightly narrow for small n (about 93 % instead of 95 % at n = 20);
    a stratum of one row adds no spread.

    Examples
    --------
    >>> bootstrap([1.0, 1.0, 1.0], n_resamples=10)
    Interval(estimate=1.0, low=1.0, high=1.0, n=3)
    >>> ratio = lambda rows: rows[..., 0].sum(-1) / rows[..., 1].sum(-1)
    >>> bootstrap([[1.0, 2.0], [2.0, 4.0]], ratio, n_resamples=10)
    Interval(estimate=0.5, low=0.5, high=0.5, n=2)
    """
    table = _table(values)
    if not len(table):
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    draws = replicates(table, statistic, strata, n_resamples, seed)
    estimate = np.asarray(statistic(table), dtype=float)
    low, high = _percentiles(draws, level, len(table), estimate if centred else None)
    if estimate.ndim == 0:
        return Interval(float(estimate), float(low), float(high), len(table))
    return Interval(estimate, low, high, len(table))


def intervals(
    table: pd.DataFrame,
    measures: Mapping[str, tuple[Sequence[str], Statistic]],
    by: str = "relation",
    n_resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    centred: bool = False,
    strata: str | None = None,
) -> pd.DataFrame:
    """Tabulate measures of every group, of all facts, and the mean over groups.

    Parameters
    ----------
    table : DataFrame
        One row a fact.
    measures : mapping
        Name to (columns, statistic): what is computed on which columns.
    by : str
        Column of groups, which are also the strata.
    n_resamples, seed, level, centred
        As for :func:`bootstrap`. A group's interval depends neither on the other groups nor on the
        order of rows.
    strata : str, optional
        Column of strata within the groups, such as the relation where groups are ways of asking.

    Returns
    -------
    DataFrame
        Columns `by`, ``measure, estimate, low, high, n``; after the groups come ``all`` (facts of
        all groups together) and ``mean`` (the mean of the groups' figures, as the papers report;
        a group where the figure is not a number is left out). Without any facts those two rows
        stand alone, with n = 0 and no numbers.

    Raises
    ------
    UserError
        If the table lacks a column.

    Examples
    --------
    >>> table = pd.DataFrame({"relation": ["P17", "P17", "P36"], "hit": [1.0, 1.0, 0.0]})
    >>> found = intervals(table, {"rate": (["hit"], mean)}, n_resamples=10)
    >>> found[["relation", "estimate", "n"]].round(3).values.tolist()
    [['P17', 1.0, 2], ['P36', 0.0, 1], ['all', 0.667, 3], ['mean', 0.5, 3]]
    """
    within = [] if strata is None else [strata]
    needed = [by, *within, *(column for columns, _ in measures.values() for column in columns)]
    missing = [column for column in needed if column not in table.columns]
    if missing:
        raise UserError(f"The table of facts lacks the column {missing[0]}.")
    rows = []
    for name, (columns, statistic) in measures.items():
        ordered = table.sort_values([by, *within, *columns])
        layers = None if strata is None else ordered[strata].to_numpy()
        values, labels = ordered[list(columns)].to_numpy(dtype=float), ordered[by].to_numpy()
        found, draws = [], []
        for label in pd.unique(labels):
            part = values[labels == label]
            found.append(float(statistic(part)))
            layer = None if layers is None else layers[labels == label]
            draws.append(replicates(part, statistic, layer, n_resamples, [seed, _number(label)]))
            bounds = _percentiles(draws[-1], level, len(part), found[-1] if centred else None)
            rows.append((label, name, found[-1], *map(float, bounds), len(part)))
        both = labels if layers is None else pd.factorize(pd.Series(zip(labels, layers)))[0]
        whole = bootstrap(values, statistic, both, n_resamples, seed, level, centred)
        rows.append(("all", name, *whole))
        middle = float(_mean_of_numbers(np.array(found)))
        means = _mean_of_numbers(np.reshape(draws, (-1, n_resamples)))
        bounds = _percentiles(means, level, len(values), middle if centred else None)
        rows.append(("mean", name, middle, *map(float, bounds), len(values)))
    columns = [by, "measure", "estimate", "low", "high", "n"]
    return pd.DataFrame(rows, columns=columns)


def paired_difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    statistic: Statistic = mean,
    strata: npt.ArrayLike | None = None,
    n_resamples: int = 2000,
    seed: int | Sequence[int] = 0,
    level: float = 0.95,
) -> Difference:
    """Compare two models, or two prompts, on the same facts: first minus second.

    Both tables are resampled together, so a fact that is hard for both does not blur the
    difference.

    Parameters
    ----------
    first, second : array_like, shape (n,) or (n, k)
        Row i of both is the same fact.
    statistic, strata, n_resamples, seed, level
        As for :func:`bootstrap`; the statistic gives one number.

    Returns
    -------
    Difference
        p: twice the smaller share of resamples at or beyond 0, one resample added to each count.

    Raises
    ------
    UserError
        If the shapes differ or there are no rows.

    Examples
    --------
    >>> found = paired_difference([1, 1, 1, 0], [0, 0, 1, 0], n_resamples=99)
    >>> found.estimate, found.n
    (0.5, 4)
    """
    first, second = _table(first), _table(second)
    if first.shape != second.shape:
        raise UserError(
            f"A paired difference needs the same facts in both tables, not {len(first)} and "
            f"{len(second)} rows."
        )
    width = first.shape[1]

    def difference(rows: np.ndarray) -> np.ndarray:
        return np.asarray(statistic(rows[..., :width])) - np.asarray(statistic(rows[..., width:]))

    both = np.hstack([first, second])
    draws = replicates(both, difference, strata, n_resamples, seed)
    low, high = _percentiles(draws, level, len(both))
    tail = min((draws <= 0).sum(), (draws >= 0).sum())
    p = min(1.0, 2 * (tail + 1) / (n_resamples + 1))
    return Difference(float(difference(both)), float(low), float(high), p, len(both))


def mcnemar(first: npt.ArrayLike, second: npt.ArrayLike) -> Mcnemar:
    """Test whether two models, or two prompts, are right equally often on the same facts, exactly.

    Only facts on which the two differ tell: under the null hypothesis each is a fair coin.

    Parameters
    ----------
    first, second : array_like of bool, shape (n,)
        Row i of both is the same fact.

    Returns
    -------
    Mcnemar
        p is 1 where the two never differ. It takes facts as independent; for facts that cluster
        in relations see :func:`paired_difference`.

    Raises
    ------
    UserError
        If the two differ in length.

    Notes
    -----
    McNemar 1947, by the binomial distribution, as statsmodels computes it.

    Examples
    --------
    >>> mcnemar([1, 1, 1, 1, 0], [0, 0, 0, 1, 0])
    Mcnemar(first_only=3, second_only=0, p=0.25, n=5)
    """
    one, two = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    if one.shape != two.shape:
        raise UserError(f"McNemar's test needs pairs, not {one.size} and {two.size} marks.")
    alone, other = int((one & ~two).sum()), int((two & ~one).sum())
    table = [[0, alone], [other, 0]]
    p = float(contingency_tables.mcnemar(table, exact=True).pvalue) if alone + other else 1.0
    return Mcnemar(alone, other, min(1.0, p), one.size)


def correlation(
    x: npt.ArrayLike, y: npt.ArrayLike, method: str = "pearson", level: float = 0.95
) -> Correlation:
    """Correlate two columns, with the interval of Fisher's transformation.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Pairs with a number missing are left out.
    method : {"pearson", "spearman"}
        For ranks the standard error is Bonett and Wright's (2000), sqrt((1 + r²/2) / (n - 3)).
    level : float
        Of confidence, between 0 and 1.

    Returns
    -------
    Correlation
        r in [-1, 1]; not a number for fewer than two pairs or a constant column, bounds not
        numbers for fewer than four pairs.

    Raises
    ------
    UserError
        For another method or columns of different lengths.

    Examples
    --------
    >>> found = correlation([1, 2, 3, 4], [2, 1, 4, 3])
    >>> round(found.r, 3), round(found.low, 3), round(found.high, 3), round(found.p, 3), found.n
    (0.6, -0.853, 0.99, 0.4, 4)
    """
    if method not in ("pearson", "spearman"):
        raise UserError(f'The method of a correlation is pearson or spearman, not "{method}".')
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.shape != y.shape:
        raise UserError(f"A correlation needs pairs, not {x.size} and {y.size} numbers.")
    there = ~(np.isnan(x) | np.isnan(y))
    x, y, n = x[there], y[there], int(there.sum())
    nothing = float("nan")
    if n < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(nothing, nothing, nothing, nothing, n)
    r, p = getattr(scipy.stats, f"{method}r")(x, y)
    r = float(np.clip(r, -1, 1))
    if n < 4:
        return Correlation(r, nothing, nothing, float(p), n)
    if abs(r) == 1:
        return Correlation(r, r, r, float(p), n)
    spread = (1 + r**2 / 2 if method == "spearman" else 1) / (n - 3)
    reach = scipy.stats.norm.ppf((1 + level) / 2) * np.sqrt(spread)
    low, high = np.tanh(np.arctanh(r) + np.array([-reach, reach]))
    return Correlation(r, float(low), float(high), float(p), n)


def wilson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Estimate a share with Wilson's score interval, for n independent trials.

    Parameters
    ----------
    successes, n : int
        How many of how many.
    level : float
        Of confidence, between 0 and 1.

    Returns
    -------
    Interval
        Within [0, 1]; not numbers if n is 0.

    Raises
    ------
    UserError
        If there are more successes than trials, or fewer than 0.

    Notes
    -----
    Wilson 1927. For facts that cluster in relations use :func:`bootstrap`.

    Examples
    --------
    >>> [round(value, 3) for value in wilson(8, 10)]
    [0.8, 0.49, 0.943, 10]
    """
    if not 0 <= successes <= n:
        raise UserError(f"{successes} successes of {n} trials cannot be; give 0 to {n}.")
    if n == 0:
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    z = scipy.stats.norm.ppf((1 + level) / 2)
    share = successes / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    low, high = max(0.0, float(centre - reach)), min(1.0, float(centre + reach))
    return Interval(share, low, high, n)


def _table(values: npt.ArrayLike) -> np.ndarray:
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


def _percentiles(
    draws: np.ndarray, level: float, n: int, centre: npt.ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds over resamples that are numbers; none from fewer than two facts."""
    nothing = np.isnan(draws).all(axis=0) | (n < 2)
    filled = np.where(nothing, 0.0, draws)
    low, high = np.nanquantile(filled, [(1 - level) / 2, (1 + level) / 2], axis=0)
    bias = 0.0 if centre is None else np.nanmean(filled, axis=0) - centre
    return np.where(nothing, np.nan, low - bias), np.where(nothing, np.nan, high - bias)


def _mean_of_numbers(values: np.ndarray) -> np.ndarray:
    """Average over the first axis what is a number."""
    return np.ma.filled(np.ma.masked_invalid(values).mean(axis=0), np.nan)


def _number(label: object) -> int:
    """Return a number that a label always has, to seed its group apart from the others."""
    return crc32(str(label).encode())
