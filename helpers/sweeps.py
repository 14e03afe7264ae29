"""Run many chapters on many models, here or on a cluster, and say what became of each run.

Snakemake does the work; a run that fails does not stop the others, and the same command repeats
only what is missing or made from something that has changed since.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import checkpoints, grid, locks, publish, resources, runlog, workflow
from helpers.errors import UserError
from helpers.runs import ROOT, SYNTHESIS, shown

PROFILES = ROOT / "notebooks" / "profiles"
SILENT = "It did not start: see what is printed above, and the log that it names for the job."


@dataclass(frozen=True)
class Sweep:
    """A grid of runs: where they go, and how they are made."""

    models: tuple[str, ...]
    chapters: tuple[str, ...]
    given: tuple[str, ...]
    runs: Path
    profile: Path | None
    cores: int

    @property
    def grid(self) -> list[str]:
        """Return the runs of chapters that ask a model, as ``<slug>/<chapter>``."""
        names = [name for name in self.chapters if grid.kind(name) != "synthesis"]
        return [f"{checkpoints.slug(m)}/{name}" for m in self.models for name in names]

    @property
    def readers(self) -> list[str]:
        """Return those of chapters that read runs."""
        return [f"{SYNTHESIS}/{n}" for n in self.chapters if grid.kind(n) == "synthesis"]


def prepare(
    models: Sequence[str],
    chapters: Sequence[str],
    given: Sequence[str],
    runs: Path,
    profile: str = "",
    cores: int | None = None,
) -> Sweep:
    """Return a sweep whose chapters, settings and profile are known to be in order.

    A model that cannot be found is no mistake here: its runs will fail and say so.

    Parameters
    ----------
    models, chapters : sequence of str
        Chapters empty: all that measure a model, and all that read runs.
    given : sequence of str
        Settings, as ``name=value``, for every run alike.
    runs : Path
        The folder of the runs.
    profile : str
        A folder of ``notebooks/profiles``, or any other, for a cluster; empty: this machine.
    cores : int, optional
        Processor cores to keep busy on this machine; all by default.

    Raises
    ------
    UserError
        If no model is named, or a chapter, a setting or the profile is not there.
    """
    if not models:
        raise UserError('A sweep needs models: name them, as in MODELS="atlas-s atlas-m".')
    names = list(chapters) or [n for n in publish.chapters() if grid.kind(n) != "single"]
    publish.check_settings(names, given)
    found = next((p for p in (PROFILES / profile, Path(profile)) if profile and p.is_dir()), None)
    if profile and not (found and (found / "config.yaml").is_file()):
        known = ", ".join(sorted(path.name for path in PROFILES.iterdir() if path.is_dir()))
        raise UserError(f"There is no profile {profile}: choose from {known}, or give a folder.")
    if found and (found / "resources.yaml").is_file():
        resources.read(found / "resources.yaml")
    unique = tuple({checkpoints.slug(name): name for name in models}.values())
    everything = (unique, tuple(dict.fromkeys(names)), tuple(given), runs.resolve())
    return Sweep(*everything, found, cores or publish.all_cores())


def run(sweep: Sweep) -> pd.DataFrame:
    """Make what is missing or out of date, the chapters that read runs last; tell what came of it.

    Parameters
    ----------
    sweep : Sweep

    Returns
    -------
    DataFrame
        One row a run: ``run`` (``<slug>/<chapter>``), ``state`` (``done``, ``failed`` or ``left``),
        ``new`` (whether it was made now), ``why`` (a sentence, where it is not done), ``log``.

    Raises
    ------
    UserError
        If another sweep is at work in the folder.
    """
    with locks.alone([sweep.runs], "sweep or make book") as held:
        _fetch(sweep.models)
        rows = _make(sweep, sweep.grid, held)
        if any(row["state"] == "done" for row in rows):
            rows += _make(sweep, sweep.readers, held)
        else:
            why = "No run is there that it could read."
            rows += [_row(sweep, name, "left", False, why) for name in sweep.readers]
    return pd.DataFrame(rows, columns=["run", "state", "new", "why", "log"])


def main(sweep: Sweep, dry: bool = False) -> None:
    """Make a sweep and print what came of it; dry: print what it would make.

    Raises
    ------
    UserError
        If a run is not done in the end.
    """
    if dry:
        states = pending(sweep)
        print("\n".join(f"{'to do' if todo else 'done':6} {run}" for run, todo in states.items()))
        return
    table = run(sweep)
    print(report(table))
    if wrong := (table["state"] != "done").sum():
        raise UserError(
            f"The sweep lacks {wrong} of {len(table)} runs: mend what the sentences above name; "
            "the same command makes these alone."
        )


def pending(sweep: Sweep) -> dict[str, bool]:
    """Return, for each run of a sweep, whether the sweep would make it.

    Raises
    ------
    UserError
        If Snakemake finds something that it cannot make.
    """
    todo = workflow.waiting(_configured(sweep), sweep.grid)
    return {name: name in todo for name in sweep.grid}


def report(table: pd.DataFrame) -> str:
    """Return a sweep's outcome as lines for the terminal.

    Examples
    --------
    >>> row = {"run": "m/monitor", "state": "failed", "new": False, "why": "Why.", "log": "run.log"}
    >>> done = {**row, "run": "m/atlas", "state": "done", "new": True, "why": ""}
    >>> print(report(pd.DataFrame([row, done])))
    failed  m/monitor: Why. (log: run.log)
    1 done (1 of them now), 1 failed, 0 left
    """
    lines = []
    for row in table[table["state"] != "done"].itertuples():
        log = f" (log: {row.log})" if row.log and row.log not in row.why else ""
        lines.append(f"{row.state:7} {row.run}: {row.why}{log}")
    count = table["state"].value_counts().to_dict()
    now = int((table["new"] & (table["state"] == "done")).sum())
    ends = ", ".join(f"{count.get(state, 0)} {state}" for state in ("failed", "left"))
    return "\n".join([*lines, f"{count.get('done', 0)} done ({now} of them now), {ends}"])


def _fetch(models: Sequence[str]) -> None:
    """Fetch models of the hub once, before jobs ask for them; jobs say what cannot be fetched."""
    for name in models:
        if checkpoints.on_hub(name):
            with contextlib.suppress(UserError):
                checkpoints.find(name)


def _configured(sweep: Sweep) -> Path:
    """Tell the Snakefile of the sweep; return the file that does."""
    config: dict[str, Any] = {"model": sweep.models[0], "models": list(sweep.models[1:])}
    config |= {"set": list(sweep.given), "chapters": [], "sweep": True}
    table = sweep.profile and sweep.profile / "resources.yaml"
    config |= {"resources": str(table)} if table and table.is_file() else {}
    return workflow.configure(sweep.runs, config)


def _make(sweep: Sweep, names: Sequence[str], held: Sequence[int]) -> list[dict[str, Any]]:
    """Make runs; return a row for each."""
    config = _configured(sweep)
    todo = workflow.waiting(config, names)
    before = {name: _stamp(sweep.runs / name / runlog.NAME) for name in todo}
    if todo:
        here = ["--cores", str(sweep.cores)]
        options = ["--profile", str(sweep.profile)] if sweep.profile else here
        workflow.make(config, todo, options, held)
    left = workflow.waiting(config, todo)
    rows = []
    for name in names:
        log = sweep.runs / name / runlog.NAME
        if name not in left:
            rows.append(_row(sweep, name, "done", name in todo))
        elif before[name] == _stamp(log):
            rows.append(_row(sweep, name, "left", False, SILENT))
        else:
            rows.append(_row(sweep, name, "failed", True, runlog.last_words(log.parent)))
    return rows


def _stamp(file: Path) -> tuple[int, int] | None:
    return (file.stat().st_mtime_ns, file.stat().st_ino) if file.is_file() else None


def _row(sweep: Sweep, name: str, state: str, new: bool, why: str = "") -> dict[str, Any]:
    log = sweep.runs / name / runlog.NAME
    return {
        "run": name,
        "state": state,
        "new": new,
        "why": why,
        "log": shown(log) if log.is_file() else "",
    }
