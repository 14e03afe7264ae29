"""The papers' tables compared with each other: what is printed, and what other cells say it is.

A :class:`Check` states one claim about printed numbers and tests it cell by cell. ``published`` is
what is printed; ``recomputed`` is what other printed cells give, or the nearest number that would
fulfil the claim. Cells agree where the two differ by no more than the tolerance, which rounding of
the printed numbers allows. Each paper has a module; its function ``checks`` takes a loader, so that
a changed copy of the tables can be checked as well.
"""

from collections.abc import Iterable
from functools import cache

import numpy as np
import pandas as pd

from helpers.published import load as published
from tests.published.recomputed import knowledge_base, latent_knowledge, monitor, multiplicity
from tests.published.recomputed.check import Check, Load, check, nearest

__all__ = [
    "PAPERS",
    "PREFIXES",
    "Check",
    "Load",
    "cells",
    "check",
    "every",
    "nearest",
    "paper_of",
    "shown",
    "summary",
]

PAPERS = {
    "MONITOR": monitor.checks,
    "knowledge bases": knowledge_base.checks,
    "IC-LKE": latent_knowledge.checks,
    "multiplicity": multiplicity.checks,
}
PREFIXES = dict(zip(PAPERS, ("monitor", "kb", "lke", "multiplicity")))  # of table names


def every() -> list[Check]:
    """Return all checks of all papers.

    >>> [one.name for one in every()][:1]
    ['Table 4: correlation']
    """
    once = cache(published)
    return [one for paper in PAPERS.values() for one in paper(once)]


def cells(checks: Iterable[Check]) -> pd.DataFrame:
    """Return the cells of all checks in one tidy table.

    >>> cells(PAPERS["MONITOR"](published)).query("check == 'Table 8: ratio'")["agrees"].tolist()
    [True]
    """
    checks = list(checks)
    parts = [one.cells.assign(check=one.name, paper=paper_of(one)) for one in checks]
    columns = ["paper", "check", "row", "published", "recomputed", "difference", "tolerance"]
    return pd.concat(parts, ignore_index=True)[[*columns, "agrees"]]


def summary(checks: Iterable[Check]) -> pd.DataFrame:
    """Tabulate checks: how many cells agree, the one that agrees least, the verdict.

    >>> row = summary(PAPERS["MONITOR"](published)).set_index("check").loc["Table 8: ratio"]
    >>> float(row["published"]), row["verdict"]
    (2.97, 'agrees')
    """
    rows = []
    for one in checks:
        n, agree = len(one.cells), int(one.cells["agrees"].sum())
        room = one.cells["difference"].abs() - one.cells["tolerance"]
        worst = one.cells.loc[room.fillna(np.inf).idxmax()].drop("agrees")
        verdict = "agrees" if agree == n else f"{n - agree} of {n} differ"
        rows.append([paper_of(one), one.name, one.claim, n, agree, *worst, verdict])
    columns = ["paper", "check", "claim", "cells", "agree", "cell", "published", "recomputed"]
    return pd.DataFrame(rows, columns=[*columns, "difference", "tolerance", "verdict"])


def shown(checks: Iterable[Check], paper: str) -> pd.DataFrame:
    """Return the summary of one paper's checks as texts to read, numbers with four digits.

    >>> table = shown(PAPERS["MONITOR"](published), "MONITOR")
    >>> table.set_index("check").loc["Text: corpus", "published"]
    '210,158'
    """
    table = summary(checks)
    table = table[table["paper"] == paper].drop(columns=["paper", "agree"]).reset_index(drop=True)
    numbers = ["published", "recomputed", "difference", "tolerance"]
    table[numbers] = table[numbers].map(_written_out)
    return table[["check", "claim", "verdict", "cells", *numbers, "cell"]]


def _written_out(x: float) -> str:
    """Write a number with four digits, without an exponent where it is large."""
    return f"{x:,.0f}" if abs(x) >= 1e4 else f"{round(x, 9):.4g}"


def paper_of(one: Check) -> str:
    """Return the paper that a check belongs to, by the names of its tables.

    >>> paper_of(Check("demo", "", ("kb_table2",), pd.DataFrame()))
    'knowledge bases'
    """
    return next(name for name, prefix in PREFIXES.items() if one.tables[0].startswith(prefix))
