"""One claim about printed numbers, tested cell by cell."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

Load = Callable[[str], pd.DataFrame]


@dataclass(frozen=True)
class Check:
    """One claim about printed numbers."""

    name: str  # short, and no other check's
    claim: str  # what should agree with what
    tables: tuple[str, ...]  # the tables that take part
    # ``row, published, recomputed, difference, tolerance, agrees``
    cells: pd.DataFrame = field(repr=False)

    @property
    def differing(self) -> list[str]:
        """Return the names of the cells that do not agree."""
        return self.cells.loc[~self.cells["agrees"], "row"].tolist()


def check(
    name: str,
    claim: str,
    tables: Iterable[str],
    published: pd.DataFrame | pd.Series,
    recomputed: pd.DataFrame | pd.Series,
    tolerance: float | pd.Series,
) -> Check:
    """Compare printed numbers with others, cell by cell.

    >>> printed, given = pd.Series({"a": 1.0, "b": 2.0}), pd.Series({"a": 1.004, "b": 2.1})
    >>> check("demo", "a sum is a sum", [], printed, given, 0.005).differing
    ['b']
    """
    printed, other = _flat(published), _flat(recomputed)
    if not printed.index.equals(other.index):
        other = other.reindex(printed.index)
    there = printed.notna().to_numpy()
    values, found = printed.to_numpy()[there], other.to_numpy()[there]
    room = np.broadcast_to(np.asarray(tolerance, dtype=float), len(printed))[there]
    cells = {
        "row": printed.index.to_numpy()[there],
        "published": values,
        "recomputed": found,
        "difference": found - values,
        "tolerance": room,
        "agrees": np.abs(found - values) <= room + 1e-12,
    }
    return Check(name, claim, tuple(tables), pd.DataFrame(cells))


def _flat(table: pd.DataFrame | pd.Series) -> pd.Series:
    """Return the cells of a table in one column, named by row and column."""
    if isinstance(table, pd.Series):
        return table.astype(float)
    names = [f"{row}, {column}" for row in table.index for column in table.columns]
    return pd.Series(table.to_numpy(dtype=float).ravel(), index=names)


def nearest(values: pd.DataFrame | pd.Series, counts: float | pd.Series, whole: float = 100.0):
    """Return the attainable number nearest to each: shares of n things come in steps of 1 / n.

    The GRIM test (Brown and Heathers 2017): of three questions, 66.7 % can be right, not 66.0 %.

    >>> nearest(pd.Series([66.7, 66.0]), 3).round(2).tolist()
    [66.67, 66.67]
    """
    by_row = {"axis": 0} if isinstance(values, pd.DataFrame) else {}
    return values.mul(counts, **by_row).div(whole).round().div(counts, **by_row).mul(whole)
