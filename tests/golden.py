"""Compare the numbers of two folders of runs: ``python -m tests.golden runs-before runs-after``.

Every ``metrics.parquet`` must be there in both, with the same rows and with numbers
that are equal to 1e-12; every ``findings.json`` with the same claims, decisions and
sentences.
"""

import json
import sys
from pathlib import Path

import pandas as pd

TOLERANCE = 1e-12
COMPARED_FILES = ("metrics.parquet", "findings.json")


def file_values(path: Path) -> pd.Series:
    """Return what a file says: the cells of a table, or the parts of findings."""
    if path.suffix == ".parquet":
        table = pd.read_parquet(path)
    else:
        table = pd.DataFrame(json.loads(path.read_text(encoding="utf-8")))
    cells = (
        table.astype(object).reset_index(drop=True).rename_axis("line").reset_index()
    )
    return cells.melt("line", var_name="column").set_index(["column", "line"])["value"]


def value_differences(before: Path, after: Path) -> list[str]:
    """Return the places at which two files differ, each with both values."""
    both = pd.concat(
        [file_values(before), file_values(after)], axis=1, keys=["was", "is"]
    )
    apart = both[(both["was"] != both["is"]) & ~both.isna().all(axis=1)]
    numbers = apart.apply(pd.to_numeric, errors="coerce").astype(float)
    apart = apart[~((numbers["was"] - numbers["is"]).abs() <= TOLERANCE)]
    return [
        f"{place}: was {row['was']}, is {row['is']}" for place, row in apart.iterrows()
    ]


def main(old: str, new: str) -> int:
    """Print what differs; return 1 if anything does, or if nothing could be compared."""
    tops, found = (Path(old), Path(new)), []
    names = [
        {p.relative_to(top) for name in COMPARED_FILES for p in top.rglob(name)}
        for top in tops
    ]
    found += [f"{path}: not in both" for path in sorted(names[0] ^ names[1])]
    for path in sorted(names[0] & names[1]):
        found += [
            f"{path}, {what}"
            for what in value_differences(tops[0] / path, tops[1] / path)
        ]
    print(
        *found,
        f"{len(names[0] & names[1])} files compared, {len(found)} differ",
        sep="\n",
    )
    return int(bool(found) or not names[0] & names[1])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
