"""What the faults happen to: scoring, a chapter, and files that are slow to be written.

Functions here run in processes of their own, which the tests kill.
"""

import os
import sys
import time
from functools import cache
from pathlib import Path

import nbformat
import pandas as pd
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book.tools import __main__ as commands
from helpers import UserError, runs
from helpers.probing import engine, score
from helpers.probing import result_cache as caches
from tests import tiny_models

CITIES = [
    "Lyon",
    "Bern",
    "Turin",
    "Rome",
    "Nice",
    "Bari",
    "Paris",
    "Basel",
    "Milan",
    "Brest",
]
PROBES = pd.DataFrame(
    [
        (f"item{i}", "base", j, f"Which country is {city} in?", option, j == 0)
        for i, city in enumerate(CITIES)
        for j, option in enumerate([" France", " Italy"])
    ],
    columns=["item", "variant", "option", "prompt", "continuation", "correct"],
)
CHUNK_ROWS_OF_TEST = 4  # rows of one file of the cache
PARAMETERS_CELL = """model = "tiny"  # a name
pause = 0.0  # seconds between two passes of the model
run_dir = ""  # where the run's files go"""
START_CELL = """from helpers import runs
from tests.faults import fault_targets
run = runs.start("monitor", dict(model=model), run_dir)"""
SCORE_CELL = "answers = fault_targets.score_probes_slowly(run.cache, pause)"
SAVE_CELL = """metrics = fault_targets.answer_metrics(answers)
folder = runs.save(run, answers=answers, metrics=metrics, **fault_targets.MANIFEST_ENTRIES)"""
MANIFEST_ENTRIES = {"model": {"name": "tiny"}, "dataset": {"name": "none"}}


def write_chapter_template(folder: Path) -> Path:
    """Write a chapter that scores and saves, as folder/monitor.ipynb; return the folder."""
    cells = [
        new_markdown_cell("# A chapter"),
        new_code_cell(PARAMETERS_CELL, metadata={"tags": ["parameters"]}),
        *map(new_code_cell, (START_CELL, SCORE_CELL, SAVE_CELL)),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    folder.mkdir(parents=True, exist_ok=True)
    notebook = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, folder / "monitor.ipynb")
    return folder


@cache
def tiny_model():
    """Return the tiny model that all processes share in kind."""
    return tiny_models.tiny_language_model("llama")


def score_probes_slowly(folder: Path | None, pause: float = 0.0) -> pd.DataFrame:
    """Score the probes a few at a time, with a pause after each pass."""
    way = engine.PackScorer
    engine.scorer_of_model(tiny_model())  # tried
    trials = tiny_model().trials
    passes, rows, length = way.score, caches.CHUNK_ROWS, trials.pack_length

    def slow(*arguments):
        for done in passes(*arguments):
            yield done
            time.sleep(pause)

    way.score, caches.CHUNK_ROWS = slow, CHUNK_ROWS_OF_TEST
    trials.pack_length = 9
    try:
        return score(tiny_model(), PROBES, folder, progress=False)
    finally:
        way.score, caches.CHUNK_ROWS, trials.pack_length = passes, rows, length


def write_scored_probes(
    folder: Path, pause: float = 0.0, out: Path | None = None
) -> None:
    """Score in a process of its own; write the answers, or the sentence of a mistake."""
    try:
        table = score_probes_slowly(folder, pause)
        if out is not None:
            out.write_bytes(parquet_bytes(table))
    except UserError as error:
        (out or folder / "sentence").write_text(f"error: {error}")
        sys.exit(2)


def run_chapter_and_exit(templates: Path, folder: Path, *words: str) -> None:
    """Run the chapter as ``make book`` does; a mistake ends in one sentence on stderr."""
    os.environ["PYTHONPATH"] = str(runs.PROJECT_FOLDER)
    where = ["--runs", str(folder), "--templates", str(templates)]
    sys.exit(
        commands.main(["run", "monitor", "--model", "tiny", *where, "--set", *words])
    )


def save_tables(folder: Path, n: int) -> None:
    """Save tables of n rows."""
    run = runs.start("monitor", {"model": "tiny", "n": n}, folder)
    table = pd.DataFrame({"item": range(n), "n": n})
    runs.save(run, answers=table, metrics=table, **MANIFEST_ENTRIES)


def save_tables_and_stall(folder: Path, n: int, stop: str) -> None:
    """Save tables; wait for ever when half of one is written, or before one goes to its place."""
    rename, write = Path.replace, pd.DataFrame.to_parquet

    def half(self, path, **options):
        write(self, path, **options)
        if stop == "half" and "metrics" in Path(path).name:
            content = Path(path).read_bytes()
            Path(path).write_bytes(content[: len(content) // 2])
            _wait_to_be_killed(folder)

    def late(self, target):
        if Path(target).name == stop:
            _wait_to_be_killed(folder)
        return rename(self, target)

    Path.replace, pd.DataFrame.to_parquet = late, half
    save_tables(folder, n)


def score_until_half_cached(folder: Path) -> None:
    """Score, and wait for ever when half of the cache's second file is on the disk."""
    write, seen = Path.write_bytes, []

    def half(self, content):
        seen.append(self)
        if len([path for path in seen if "answers" in path.name]) == 2:
            write(self, content[: len(content) // 2])
            _wait_to_be_killed(folder)
        return write(self, content)

    Path.write_bytes = half
    score_probes_slowly(folder)


def _wait_to_be_killed(folder: Path) -> None:
    (folder / "ready").touch()
    time.sleep(600)


def answer_metrics(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the chapter's metrics: the log-probability of each answer."""
    return answers.assign(logprob=answers["logprobs"].map(sum))[["item", "logprob"]]


def parquet_bytes(table: pd.DataFrame) -> bytes:
    """Return a table as the bytes of its file."""
    return table.to_parquet(index=False)
