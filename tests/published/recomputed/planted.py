"""Check the checks: plant wrong digits in copies of the tables and count which are noticed."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from helpers import UserError, published
from tests.published.recomputed import PAPERS, PREFIXES
from tests.published.recomputed.check import Check, Load


def misprint(text: str, generator: np.random.Generator) -> str:
    """Return a printed number with one of its digits replaced by another.

    >>> misprint("0.5", np.random.default_rng(0)) in {f"0.{d}" for d in "012346789"} | {
    ...     f"{d}.5" for d in range(1, 10)
    ... }
    True
    """
    place = generator.choice([i for i, sign in enumerate(text) if sign.isdigit()])
    other = generator.choice([digit for digit in "0123456789" if digit != text[place]])
    return text[:place] + str(other) + text[place + 1 :]


def check_number(n: int) -> int:
    """Return how many digits are to be planted, if it can be.

    >>> check_number(0)
    0
    """
    if n < 0:
        raise UserError(f"Give 0 or more wrong digits to plant in each table, not {n}.")
    return n


def numbers(tidy: pd.DataFrame) -> pd.Series:
    """Return the printed values that are numbers, as strings.

    >>> numbers(pd.DataFrame({"value": ["1.0", "-", "yes"]})).tolist()
    ['1.0']
    """
    values = tidy["value"]
    return values[pd.to_numeric(values, errors="coerce").notna()]


def detection(n: int = 20, seed: int = 0, papers: Sequence[str] = tuple(PAPERS)) -> pd.DataFrame:
    """Plant `n` wrong digits in each table, one at a time, and count those that a check notices.

    A misprint is noticed if any cell changes its verdict.

    >>> found = detection(3, papers=["multiplicity"]).set_index("table")
    >>> found.loc["multiplicity_table2", ["checks", "planted", "noticed"]].tolist()
    [0, 0, 0]
    """
    n = check_number(n)
    rows = []
    for paper in papers:
        names = [each for each in published.names() if each.startswith(PREFIXES[paper] + "_")]
        stored = {name: published.load_tidy(name) for name in names}
        tables = {name: published.wide(tidy) for name, tidy in stored.items()}
        checks, generator = PAPERS[paper], np.random.default_rng(seed)
        sound = checks(tables.__getitem__)
        for name, tidy in stored.items():
            values, count = numbers(tidy), sum(name in one.tables for one in sound)
            picks = generator.choice(values.index, n) if count and len(values) else []
            noticed = 0
            for pick in picks:
                changed = tidy.copy()
                changed.loc[pick, "value"] = misprint(values[pick], generator)
                spoilt = tables | {name: published.wide(changed)}
                noticed += differs(sound, checks, spoilt.__getitem__)
            if len(values):
                rows.append((paper, name, len(values), count, len(picks), noticed))
    columns = ["paper", "table", "numbers", "checks", "planted", "noticed"]
    return pd.DataFrame(rows, columns=columns)


def differs(sound: list[Check], checks: Callable[[Load], list[Check]], load: Load) -> bool:
    """Tell whether any verdict on other tables is not that of the sound ones.

    >>> differs(PAPERS["MONITOR"](published.load), PAPERS["MONITOR"], published.load)
    False
    """
    return [one.differing for one in sound] != [one.differing for one in checks(load)]
