"""Compare the numbers of two folders of runs: ``python -m tests.golden runs-before runs-after``.

Every ``metrics.parquet`` must be there in both, with the same rows and with numbers that are equal
to 1e-12; every ``findings.json`` with the same claims, decisions and sentences. One finding rests
on the clock; of that one only the claim and the number of facts must be the same.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

TOLERANCE = 1e-12
METRICS, FINDINGS = "metrics.parquet", "findings.json"
TIMED = {"grid_is_dearer"}  # claims about seconds


def told(path: Path) -> dict[str, Any]:
    """Return what a file says, by its place: cells of a table, or parts of findings."""
    if path.name == METRICS:
        table = pd.read_parquet(path).astype(object)
        table = table.where(table.notna(), None)
        cells = {f"{name} of row {n}": v for name in table for n, v in enumerate(table[name])}
        return {"columns and rows": [*table, len(table)], **cells}
    found = json.loads(path.read_text(encoding="utf-8"))
    parts = {
        f"{name} of {one['claim']}": None if value != value else value
        for one in found
        for name, value in one.items()
        if name == "n" or one["claim"] not in TIMED
    }
    return {"claims": [one["claim"] for one in found], **parts}


def apart(first: Any, second: Any) -> float:
    """Return how far two values are from each other; infinity where they are no equal numbers."""
    numbers = all(isinstance(v, int | float | np.number) for v in (first, second))
    return abs(first - second) if numbers and first != second else 0 if first == second else np.inf


def main(old: str, new: str) -> int:
    """Print what was compared; return 1 if anything differs or nothing is there."""
    tops, differing, most, counts = (Path(old), Path(new)), [], 0.0, {METRICS: 0, FINDINGS: 0}
    names = [{p.relative_to(t) for n in counts for p in t.rglob(n)} for t in tops]
    for path in sorted(names[0] | names[1]):
        if alone := [str(top) for top, there in zip(tops, names) if path not in there]:
            differing.append(f"{path}: not in {alone[0]}")
            continue
        before, after = (told(top / path) for top in tops)
        gaps = {key: apart(before.get(key), after.get(key)) for key in before | after}
        most = max([most, *gaps.values()])
        counts[path.name] += len(gaps)
        differing += [
            f"{path}: {key} is {after.get(key)}, was {before.get(key)}"
            for key, gap in gaps.items()
            if not gap <= TOLERANCE
        ]
    print(*differing, sep="\n", end="\n" if differing else "")
    print(
        f"{len({path.parent for path in names[0] & names[1]})} runs, {counts[METRICS]:,} cells and "
        f"{counts[FINDINGS]:,} parts of findings compared; largest difference {most:.1e}, "
        f"{len(differing)} differ"
    )
    return int(bool(differing) or not names[0] & names[1])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
