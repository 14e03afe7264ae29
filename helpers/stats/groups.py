"""Intervals of every group, of all facts together, and of the mean over groups."""

from collections.abc import Mapping, Sequence
from zlib import crc32

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.stats.percentiles import bounds
from helpers.stats.resampling import Statistic, bootstrap, replicates


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
    >>> from helpers.stats import mean
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
            centre = found[-1] if centred else None
            ends = bounds(draws[-1], len(part), layer, level, centre)
            rows.append((label, name, found[-1], *map(float, ends), len(part)))
        both = labels if layers is None else pd.factorize(pd.Series(zip(labels, layers)))[0]
        whole = bootstrap(values, statistic, both, n_resamples, seed, level, centred)
        rows.append(("all", name, *whole))
        middle = float(_mean_of_numbers(np.array(found)))
        means = _mean_of_numbers(np.reshape(draws, (-1, n_resamples)))
        ends = bounds(means, len(values), both, level, middle if centred else None)
        rows.append(("mean", name, middle, *map(float, ends), len(values)))
    columns = [by, "measure", "estimate", "low", "high", "n"]
    return pd.DataFrame(rows, columns=columns)


def _mean_of_numbers(values: np.ndarray) -> np.ndarray:
    """Average over the first axis what is a number."""
    return np.ma.filled(np.ma.masked_invalid(values).mean(axis=0), np.nan)


def _number(label: object) -> int:
    """Return a number that a label always has, to seed its group apart from the others."""
    return crc32(str(label).encode())
