"""Tables of numbers by group, each with the interval that suits it."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers import check_columns
from helpers.stats import resampling
from helpers.stats.resampling import (
    Statistic,
    as_matrix,
    binary_outcomes,
    bootstrap,
    interval_bounds,
    mean,
)
from helpers.stats.results import Interval, NumberOrArray


def intervals_by_group(
    table: pd.DataFrame,
    measures: Mapping[str, tuple[Sequence[str], Statistic]],
    by: str = "relation",
    n_resamples: int = 1000,
    seed: int = 0,
    *,
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
    n_resamples, seed, centred
        As for :func:`bootstrap`. A group's interval depends neither on the other groups
        nor on the order of rows.
    strata : str, optional
        Column of strata within the groups, such as the relation where groups are ways
        of asking.

    Returns
    -------
    DataFrame
        Columns `by`, ``measure, estimate, low, high, n``; after the groups come ``all``
        (facts of all groups together) and ``mean`` (the mean of the groups' numbers, as
        the papers report; a group where the figure is not a number is left out).
        Without any facts those two rows stand alone, with n = 0 and no numbers. A mean
        of zeros or ones alone has Wilson's interval.

    Raises
    ------
    UserError
        If the table lacks a column.

    Examples
    --------
    >>> from helpers.stats import mean
    >>> table = pd.DataFrame(
    ...     {"relation": ["P17", "P17", "P36"], "hit": [1.0, 1.0, 0.0]})
    >>> rates = intervals_by_group(table, {"rate": (["hit"], mean)}, n_resamples=10)
    >>> rates[["relation", "estimate", "n"]].round(3).values.tolist()
    [['P17', 1.0, 2], ['P36', 0.0, 1], ['all', 0.667, 3], ['mean', 0.5, 3]]
    """
    keys = [by] if strata is None else [by, strata]
    needed = list(keys)
    for columns, _ in measures.values():
        needed.extend(columns)
    check_columns(table, needed, "facts")
    rows = []
    for name, (columns, statistic) in measures.items():
        ordered = table.sort_values([*keys, *columns])
        facts = _GroupedFacts(
            numbers=ordered[list(columns)].to_numpy(dtype=float),
            labels=ordered[by].to_numpy(),
            strata=None if strata is None else ordered[strata].to_numpy(),
        )
        groups = _estimate_groups(facts, statistic, n_resamples, seed, centred)
        for group in groups:
            rows.append((group.label, name, *group.interval))
        whole = estimate_with_interval(
            facts.numbers, statistic, facts.all_strata(), n_resamples, seed, centred
        )
        rows.append(("all", name, *whole))
        middle = _mean_over_groups(facts, groups, statistic, n_resamples, centred)
        rows.append(("mean", name, *middle))
    return pd.DataFrame(rows, columns=[by, "measure", "estimate", "low", "high", "n"])


def estimate_with_interval(
    values: npt.ArrayLike,
    statistic: Statistic = mean,
    strata: npt.ArrayLike | None = None,
    n_resamples: int = 1000,
    seed: int | Sequence[int] = 0,
    centred: bool = False,
) -> Interval:
    """Estimate as :func:`bootstrap` does, with Wilson's bounds of shares of few rows.

    >>> [round(value, 2) for value in estimate_with_interval([1.0, 1.0, 1.0])]
    [1.0, 0.44, 1.0, 3]
    """
    table = as_matrix(values)
    estimate, low, high, n = bootstrap(
        table, statistic, strata, n_resamples, seed, centred
    )
    n_outcomes = len(binary_outcomes(table, statistic))
    low, high = resampling.bounds_or_wilson_bounds((low, high), estimate, n_outcomes)
    return Interval(estimate, low, high, n)


def group_averages(
    table: pd.DataFrame,
    columns: Sequence[str],
    by: str | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Average columns over the rows of each group.

    Parameters
    ----------
    table : DataFrame
        One row an item, drawn independently.
    columns : sequence of str
        Columns of numbers. One of zeros and ones is a share and gets Wilson's interval,
        which keeps its width where all or none are ones; any other that of
        :func:`bootstrap` over rows.
    by : str, optional
        Column of groups; by default all rows are one.
    n_resamples, seed
        As for :func:`bootstrap`.

    Returns
    -------
    DataFrame
        `by` (if given), ``measure, estimate, low, high, n``; groups in order of
        appearance.

    Examples
    --------
    >>> table = pd.DataFrame({"hit": [1.0] * 4, "kind": ["a", "a", "b", "b"]})
    >>> group_averages(table, ["hit"], by="kind").round(2).values.tolist()
    [['a', 'hit', 1.0, 0.34, 1.0, 2], ['b', 'hit', 1.0, 0.34, 1.0, 2]]
    """
    groups: list[tuple[Hashable, pd.DataFrame]]
    if by:
        check_columns(table, [*columns, by], "items")
        groups = list(table.groupby(by, sort=False))
    else:
        check_columns(table, columns, "items")
        groups = [(None, table)]
    rows = []
    for label, group in groups:
        for name in columns:
            values = group[name].to_numpy(dtype=float)
            if len(values) and np.isin(values, (0.0, 1.0)).all():
                interval = resampling.wilson_interval(int(values.sum()), len(values))
            else:
                interval = bootstrap(values, n_resamples=n_resamples, seed=seed)
            rows.append((label, name, *interval))
    averages = pd.DataFrame(rows, columns=["group", "measure", *Interval._fields])
    if by:
        return averages.rename(columns={"group": by})
    return averages.drop(columns="group")


class _GroupedFacts(NamedTuple):
    """One row a fact: numbers, the label of its group, its stratum within the group."""

    numbers: np.ndarray
    labels: np.ndarray
    strata: np.ndarray | None

    def all_strata(self) -> np.ndarray:
        """Return the strata of all facts: the groups, or the strata within each."""
        if self.strata is None:
            return self.labels
        pairs = pd.Series(zip(self.labels, self.strata, strict=True))
        return pd.factorize(pairs)[0]


class _Group(NamedTuple):
    """A group's figure with its interval, and its replicates for the mean."""

    label: Hashable
    interval: Interval
    replicates: np.ndarray


def _estimate_groups(
    facts: _GroupedFacts,
    statistic: Statistic,
    n_resamples: int,
    seed: int,
    centred: bool,
) -> list[_Group]:
    """Estimate a statistic for each group, in the order of the facts."""
    pools = resampling.pooled_strata(facts.labels)
    groups = []
    for label in pd.unique(facts.labels):
        inside = facts.labels == label
        values = facts.numbers[inside]
        strata = None if facts.strata is None else facts.strata[inside]
        # The label is part of the seed: no other group changes a group's draws.
        group_seed = [seed, crc32(str(label).encode())]
        replicates = resampling.bootstrap_replicates(
            values, statistic, strata, n_resamples, group_seed
        )
        estimate = float(statistic(values))
        centre = estimate if centred else None
        low, high = resampling.bounds_or_wilson_bounds(
            interval_bounds(replicates, len(values), strata, centre),
            estimate,
            len(binary_outcomes(values, statistic)),
        )
        pool = facts.numbers[np.isin(pools, pools[inside])]
        if len(pool) > len(values):
            # The group has too few facts to show in the mean how far they vary.
            replicates = _replicates_from_pool(
                values, pool, statistic, n_resamples, group_seed
            )
        interval = Interval(estimate, float(low), float(high), len(values))
        groups.append(_Group(label, interval, replicates))
    return groups


def _mean_over_groups(
    facts: _GroupedFacts,
    groups: Sequence[_Group],
    statistic: Statistic,
    n_resamples: int,
    centred: bool,
) -> Interval:
    """Return the mean of the groups' figures with its interval."""
    n = len(facts.numbers)
    estimates = np.array([group.interval.estimate for group in groups])
    replicates = [group.replicates for group in groups]
    estimate = float(_mean_of_numbers(estimates))
    means = _mean_of_numbers(np.reshape(replicates, (-1, n_resamples)))
    centre = estimate if centred else None
    low: NumberOrArray
    high: NumberOrArray
    low, high = interval_bounds(means, n, facts.all_strata(), centre)
    if statistic is mean and len(binary_outcomes(facts.numbers, statistic)):
        # A mean over groups of n facts each varies as a rate of the groups' harmonic
        # size does.
        sum_of_inverse_sizes = sum(1 / group.interval.n for group in groups)
        size = len(groups) ** 2 / sum_of_inverse_sizes
        low, high = resampling.bounds_or_wilson_bounds((low, high), estimate, size)
    return Interval(estimate, float(low), float(high), n)


def _replicates_from_pool(
    values: np.ndarray,
    pool: np.ndarray,
    statistic: Statistic,
    n_resamples: int,
    seed: Sequence[int],
) -> np.ndarray:
    """Return a group's replicates, moved as facts of all small groups move them."""

    def statistic_of_as_many(rows: np.ndarray) -> np.ndarray:
        return np.asarray(statistic(rows[..., : len(values), :]))

    replicates = resampling.bootstrap_replicates(
        pool, statistic_of_as_many, None, n_resamples, seed
    )
    return replicates - np.asarray(statistic(pool)) + np.asarray(statistic(values))


def _mean_of_numbers(values: np.ndarray) -> np.ndarray:
    """Average over the first axis what is a number."""
    return np.ma.filled(np.ma.masked_invalid(values).mean(axis=0), np.nan)
