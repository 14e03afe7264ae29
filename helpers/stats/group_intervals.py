"""Tables of numbers by group, each with the interval that suits it: bootstrap or Wilson's."""

from collections.abc import Mapping, Sequence
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
from helpers.stats.results import Interval


def intervals_by_group(
    table: pd.DataFrame,
    measures: Mapping[str, tuple[Sequence[str], Statistic]],
    by: str = "relation",
    n_resamples: int = 1000,
    seed: int = 0,
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
    >>> table = pd.DataFrame({"relation": ["P17", "P17", "P36"], "hit": [1.0, 1.0, 0.0]})
    >>> found = intervals_by_group(table, {"rate": (["hit"], mean)}, n_resamples=10)
    >>> found[["relation", "estimate", "n"]].round(3).values.tolist()
    [['P17', 1.0, 2], ['P36', 0.0, 1], ['all', 0.667, 3], ['mean', 0.5, 3]]
    """
    within = [] if strata is None else [strata]
    needed = [
        by,
        *within,
        *(column for columns, _ in measures.values() for column in columns),
    ]
    check_columns(table, needed, "facts")
    rows = []
    for name, (columns, statistic) in measures.items():
        ordered = table.sort_values([by, *within, *columns])
        layers = None if strata is None else ordered[strata].to_numpy()
        values, labels = (
            ordered[list(columns)].to_numpy(dtype=float),
            ordered[by].to_numpy(),
        )
        found, draws, sizes, shared = [], [], [], resampling.pooled_strata(labels)
        for label in pd.unique(labels):
            inside, own_seed = labels == label, [seed, crc32(str(label).encode())]
            part, pool = values[inside], values[np.isin(shared, shared[inside])]
            found.append(float(statistic(part)))
            sizes.append(len(part))
            layer = None if layers is None else layers[inside]
            drawn = resampling.bootstrap_replicates(
                part, statistic, layer, n_resamples, own_seed
            )
            centre = found[-1] if centred else None
            ends = interval_bounds(drawn, len(part), layer, centre)
            ends = resampling.bounds_or_wilson_bounds(
                ends, found[-1], len(binary_outcomes(part, statistic))
            )
            rows.append((label, name, found[-1], *map(float, ends), len(part)))
            if len(pool) > len(
                part
            ):  # of too few facts to show in the mean how far they vary
                drawn = _moved(part, pool, statistic, n_resamples, own_seed)
            draws.append(drawn)
        both = (
            labels
            if layers is None
            else pd.factorize(pd.Series(zip(labels, layers)))[0]
        )
        whole = estimate_with_interval(
            values, statistic, both, n_resamples, seed, centred
        )
        rows.append(("all", name, *whole))
        middle = float(_mean_of_numbers(np.array(found)))
        means = _mean_of_numbers(np.reshape(draws, (-1, n_resamples)))
        # A mean over groups of n facts each varies as a rate of the groups' harmonic
        # size does.
        weight = len(sizes) ** 2 / sum(1 / size for size in sizes) if sizes else 0
        ends = interval_bounds(means, len(values), both, middle if centred else None)
        if statistic is mean and len(binary_outcomes(values, statistic)):
            ends = resampling.bounds_or_wilson_bounds(ends, middle, weight)
        rows.append(("mean", name, middle, *map(float, ends), len(values)))
    columns = [by, "measure", "estimate", "low", "high", "n"]
    return pd.DataFrame(rows, columns=columns)


def estimate_with_interval(
    values: npt.ArrayLike,
    statistic: Statistic = mean,
    strata: npt.ArrayLike | None = None,
    n_resamples: int = 1000,
    seed: int | Sequence[int] = 0,
    centred: bool = False,
) -> Interval:
    """Estimate a measure as :func:`bootstrap` does; shares of few rows have Wilson's bounds, too.

    >>> [round(value, 2) for value in estimate_with_interval([1.0, 1.0, 1.0])]
    [1.0, 0.44, 1.0, 3]
    """
    table = as_matrix(values)
    found = bootstrap(table, statistic, strata, n_resamples, seed, centred)
    ends = resampling.bounds_or_wilson_bounds(
        found[1:3], found.estimate, len(binary_outcomes(table, statistic))
    )
    return Interval(found.estimate, *ends, found.n)


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
    >>> table = pd.DataFrame({"hit": [1.0, 1.0, 1.0, 1.0], "kind": ["a", "a", "b", "b"]})
    >>> group_averages(table, ["hit"], by="kind").round(2).values.tolist()
    [['a', 'hit', 1.0, 0.34, 1.0, 2], ['b', 'hit', 1.0, 0.34, 1.0, 2]]
    """
    check_columns(table, [*columns, *([by] if by else [])], "items")
    groups = table.groupby(by, sort=False) if by else [(None, table)]
    rows = []
    for label, group in groups:
        for name in columns:
            values = group[name].to_numpy(dtype=float)
            head = {by: label, "measure": name} if by else {"measure": name}
            if len(values) and np.isin(values, (0.0, 1.0)).all():
                found = resampling.wilson_interval(int(values.sum()), len(values))
            else:
                found = bootstrap(values, n_resamples=n_resamples, seed=seed)
            rows.append(head | found._asdict())
    columns = [*([by] if by else []), "measure", *Interval._fields]
    return pd.DataFrame(rows, columns=columns)


def _moved(
    part: np.ndarray,
    pool: np.ndarray,
    statistic: Statistic,
    n_resamples: int,
    seed: Sequence[int],
) -> np.ndarray:
    """Return a group's figure as it moves if its facts are drawn from a pool of small groups."""

    def figure(rows: np.ndarray) -> np.ndarray:
        return np.asarray(statistic(rows[..., : len(part), :]))

    drawn = resampling.bootstrap_replicates(pool, figure, None, n_resamples, seed)
    return drawn - np.asarray(statistic(pool)) + np.asarray(statistic(part))


def _mean_of_numbers(values: np.ndarray) -> np.ndarray:
    """Average over the first axis what is a number."""
    return np.ma.filled(np.ma.masked_invalid(values).mean(axis=0), np.nan)
