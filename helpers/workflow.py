"""Have Snakemake make runs of a sweep, or tell which it would make."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from helpers import locks, publish
from helpers.errors import UserError
from helpers.runs import ROOT, SYNTHESIS

PARTS = ("notebook.ipynb", "answers.parquet", "metrics.parquet", "run.json")


def configure(runs: Path, settings: dict[str, Any]) -> Path:
    """Write what the Snakefile needs to know where the jobs of a cluster see it, too.

    Raises
    ------
    UserError
        If the folder of the runs cannot be written to.
    """
    path = runs / ".sweep.json"
    try:
        runs.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings | {"runs": str(runs)}), encoding="utf-8")
    except OSError as error:
        raise locks.unwritable("sweep", runs, error) from error
    return path


def make(config: Path, names: Sequence[str], options: Sequence[str], held: Sequence[int]) -> None:
    """Have Snakemake make runs; what fails does not stop the others.

    Parameters
    ----------
    config : Path
        Of ``configure``.
    names : sequence of str
        Runs, as ``<slug>/<chapter>``.
    options : sequence of str
        Where the jobs run: ``--cores`` or ``--profile``.
    held : sequence of int
        Descriptors of locks, which Snakemake keeps while it works.
    """
    command = [*_call(config), "--quiet", *publish.QUIET, *options]
    command += ["--rerun-incomplete", "--keep-going", "--nocolor"]  # no list before the targets
    publish.pass_through([*command, *targets(config, names)], held)


def waiting(config: Path, names: Sequence[str]) -> list[str]:
    """Return the runs among `names` that are missing or out of date.

    Raises
    ------
    UserError
        If Snakemake finds no way to make them.
    """
    if not names:
        return []
    command = [*_call(config), "--summary", *targets(config, names)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise UserError(f"Snakemake cannot plan the sweep: {lines[-1] if lines else 'no reason'}")
    rows = [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 5]
    files = {row[0] for row in rows if row[-1] != "no update"}
    return [name for name in names if not files.isdisjoint(targets(config, [name]))]


def targets(config: Path, names: Sequence[str]) -> list[str]:
    """Return every file that runs leave: Snakemake misses only those that it is asked for.

    Examples
    --------
    >>> targets(Path("runs/.sweep.json"), ["synthesis/comparison"])[1:]
    ['runs/synthesis/comparison/metrics.parquet', 'runs/synthesis/comparison/run.json']
    >>> len(targets(Path("runs/.sweep.json"), ["atlas-s/monitor", "atlas-s/multiplicity"]))
    8
    """
    return [
        str(config.parent / name / part)
        for name in names
        for part in PARTS
        if part != "answers.parquet" or not name.startswith(f"{SYNTHESIS}/")
    ]


def _call(config: Path) -> list[str]:
    """Return the start of a call; the lock of Snakemake would outlive a process that is killed."""
    call = [sys.executable, "-m", "snakemake", "-s", "notebooks/Snakefile", "--nolock"]
    return [*call, "--configfile", str(config)]
