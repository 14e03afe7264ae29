"""Measure what the chapters take: ``python -m helpers times monitor --model atlas-s``.

Each is run from nothing, so that no answer comes from the cache, and its row of the instructors'
table is written anew, with the day and the machine. Chapters that only read other chapters' runs
are left out: they take as long as what they read is.
"""

import resource
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from helpers import runs
from helpers.publishing import chapters, render, settings

TABLE = render.BOOK / "course_times.csv"
KEYS = ["notebook", "model"]
COLUMNS = [*KEYS, "minutes", "minutes of one core", "GB of memory", "machine", "measured"]


def timed() -> list[str]:
    """Return the chapters that put questions to a model, in the book's order."""
    paths = {name: chapters.TEMPLATES / f"{name}.ipynb" for name in render.chapters()}
    return [name for name, path in paths.items() if "model" in settings.declared(path)]


def measure(chapter: str, model: str) -> dict[str, object]:
    """Run a chapter with its defaults in an empty folder, and return its row of the table."""
    with tempfile.TemporaryDirectory() as folder:
        began, used = time.perf_counter(), _processor_seconds()
        done = chapters.run(chapter, model, runs=Path(folder))
        minutes = (time.perf_counter() - began) / 60
        core = (_processor_seconds() - used) / 60
        manifest = runs.manifest(done)
    memory = manifest["peak_memory_mib"]["cpu"] * 2**20 / 1e9
    day = datetime.now(UTC).date().isoformat()
    figures = (round(value, 1) for value in (minutes, core, memory))
    return dict(zip(COLUMNS, (chapter, model, *figures, manifest["device"], day)))


def _processor_seconds() -> float:
    """Return the processor time of the finished child processes: each kernel is one."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def merged(old: pd.DataFrame, new: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """Put new rows in the place of those of the same chapter and model.

    >>> row = dict.fromkeys(COLUMNS, "x")
    >>> old = pd.DataFrame([row | {"notebook": "b"}, row | {"notebook": "gone"}])
    >>> new = pd.DataFrame([row | {"notebook": "b", "minutes": 2}, row | {"notebook": "a"}])
    >>> merged(old, new, ["a", "b"])[["notebook", "minutes"]].values.tolist()
    [['a', 'x'], ['b', 2]]
    """
    table = pd.concat([old, new]).drop_duplicates(KEYS, keep="last")
    table = table[table["notebook"].isin(order)]
    place = table["notebook"].map(list(order).index)
    return table.assign(place=place).sort_values(["place", "model"])[COLUMNS]


def update(names: Sequence[str], model: str, table: Path = TABLE) -> None:
    """Measure the chapters named, or all, and write their rows of the table."""
    for chapter in names or timed():
        row = pd.DataFrame([measure(chapter, model)])
        old = pd.read_csv(table) if table.is_file() else row.head(0)
        merged(old, row, timed()).to_csv(table, index=False, lineterminator="\n")
