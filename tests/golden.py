"""Compare the numbers of two folders of runs: ``python -m tests.golden runs-before runs-after``.

Every ``metrics.parquet`` must be there in both, with the same rows and with numbers that are equal
to 1e-12; every ``findings.json`` with the same claims, decisions and sentences. One finding rests
on the clock; of that one only the claim and the number of facts must be the same.
"""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

TOLERANCE = 1e-12
METRICS, FINDINGS = "metrics.parquet", "findings.json"
TIMED = {"grid_is_dearer"}  # claims about seconds


@dataclass
class Comparison:
    """How much was compared, the largest difference, and what differs."""

    runs: set[Path] = field(default_factory=set)
    numbers: int = 0
    findings: int = 0
    largest: float = 0.0
    differences: list[str] = field(default_factory=list)


def compare(old: Path, new: Path) -> Comparison:
    """Compare all runs below two folders."""
    found = Comparison()
    for name, kind in ((METRICS, _metrics), (FINDINGS, _findings)):
        before, after = ({p.relative_to(top) for p in top.rglob(name)} for top in (old, new))
        found.differences += [f"{path}: only in {old}" for path in sorted(before - after)]
        found.differences += [f"{path}: only in {new}" for path in sorted(after - before)]
        for path in sorted(before & after):
            found.runs.add(path.parent)
            told = kind(found, old / path, new / path)
            found.differences += [f"{path}: {what}" for what in told]
    return found


def _metrics(found: Comparison, *paths: Path) -> list[str]:
    """Compare two tables; return what differs."""
    old, new = map(pd.read_parquet, paths)
    if list(old) != list(new) or len(old) != len(new):
        return [f"{old.shape} and {new.shape} rows and columns, or other columns"]
    told = []
    for name in old:
        if not all(pd.api.types.is_numeric_dtype(table[name]) for table in (old, new)):
            same = (old[name] == new[name]) | (old[name].isna() & new[name].isna())
        else:
            first, second = (t[name].to_numpy(float, na_value=np.nan) for t in (old, new))
            same = (first == second) | (np.isnan(first) & np.isnan(second))
            apart = np.abs(np.subtract(first, second, where=~same, out=np.zeros(len(first))))
            same |= apart <= TOLERANCE
            found.numbers += len(first)
            found.largest = max(found.largest, np.nan_to_num(apart, nan=np.inf).max(initial=0))
        if not np.all(same):
            row = int(np.argmin(np.asarray(same, dtype=bool)))
            told.append(f"{name} of row {row} is {new[name][row]}, was {old[name][row]}")
    return told


def _findings(found: Comparison, *paths: Path) -> list[str]:
    """Compare two lists of findings; return what differs."""
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
    found.findings += len(old)
    claims = [[finding["claim"] for finding in findings] for findings in (old, new)]
    if claims[0] != claims[1]:
        return [f"other claims: {sorted(set(claims[0]) ^ set(claims[1]))}, or another order"]
    told = []
    for before, after in zip(old, new, strict=True):
        names = {"n"} if before["claim"] in TIMED else before.keys() | after.keys()
        for name in sorted(names):
            first, second = before.get(name), after.get(name)
            if all(isinstance(value, int | float) for value in (first, second)):
                found.numbers += 1
                apart = 0.0 if first == second or first != first != second else abs(first - second)
                found.largest = max(found.largest, np.inf if apart != apart else apart)
                same = apart <= TOLERANCE
            else:
                same = first == second
            if not same:
                told.append(f"{name} of {before['claim']} is {second}, was {first}")
    return told


def main(old: str, new: str) -> int:
    """Print what was compared; return 1 if anything differs or nothing is there."""
    found = compare(Path(old), Path(new))
    print(*found.differences, sep="\n", end="\n" if found.differences else "")
    print(
        f"{len(found.runs)} runs, {found.numbers:,} numbers and {found.findings} findings compared;"
        f" largest difference {found.largest:.1e}, {len(found.differences)} differ"
    )
    return int(bool(found.differences) or not found.runs)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
