"""Average columns over items, group by group, each with the interval that suits it."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers import UserError, stats


def averages(
    table: pd.DataFrame,
    columns: Sequence[str],
    by: str | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Average columns over the rows of each group.

    A column of zeros and ones is a share and gets Wilson's interval, which keeps its width where
    all or none are ones; any other gets that of
    :func:`helpers.stats.bootstrap` over rows.

    Parameters
    ----------
    table : DataFrame
        One row an item, drawn independently.
    columns : sequence of str
        Columns of numbers.
    by : str, optional
        Column of groups; by default all rows are one.
    n_resamples, seed
        As for :func:`helpers.stats.bootstrap`.

    Returns
    -------
    DataFrame
        `by` (if given), ``measure, estimate, low, high, n``; groups in order of appearance, none
        in an empty table.

    Raises
    ------
    UserError
        If the table lacks a column.

    Examples
    --------
    >>> table = pd.DataFrame({"hit": [1.0, 1.0, 1.0, 1.0], "kind": ["a", "a", "b", "b"]})
    >>> averages(table, ["hit"], by="kind").round(2).values.tolist()
    [['a', 'hit', 1.0, 0.34, 1.0, 2], ['b', 'hit', 1.0, 0.34, 1.0, 2]]
    """
    missing = [name for name in [*columns, *([by] if by else [])] if name not in table.columns]
    if missing:
        raise UserError(f"The table of items lacks the column {', '.join(missing)}.")
    groups = table.groupby(by, sort=False) if by else [(None, table)]
    rows = []
    for label, group in groups:
        for name in columns:
            values = group[name].to_numpy(dtype=float)
            head = {by: label, "measure": name} if by else {"measure": name}
            rows.append(head | _average(values, n_resamples, seed)._asdict())
    columns = [*([by] if by else []), "measure", *stats.Interval._fields]
    return pd.DataFrame(rows, columns=columns)


def _average(values: np.ndarray, n_resamples: int, seed: int) -> stats.Interval:
    if len(values) and np.isin(values, (0.0, 1.0)).all():
        return stats.wilson(int(values.sum()), len(values))
    return stats.bootstrap(values, n_resamples=n_resamples, seed=seed)
