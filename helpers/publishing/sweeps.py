"""Run many chapters on many models, here or on a cluster, and say what became of each run.

Snakemake does the work; a run that fails does not stop the others, and the same command repeats
only what is missing or made from something that has changed since.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from helpers import UserError
from helpers.models import checkpoints
from helpers.publishing import jobs, locks, publish, render, resources, snakemake
from helpers.publishing.jobs import Job
from helpers.runs import ROOT

PROFILES = ROOT / "notebooks" / "profiles"


@dataclass(frozen=True)
class Sweep:
    """A grid of runs: where they go, and how they are made."""

    models: tuple[str, ...]
    chapters: tuple[str, ...]
    given: tuple[str, ...]
    runs: Path
    profile: Path | None
    cores: int | None

    @property
    def jobs(self) -> list[Job]:
        """Return its runs, those of chapters that ask no model last."""
        return jobs.plan(self.chapters, self.models[-1], self.models, self.given, alike=True)


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
    """
    if not models:
        raise UserError('A sweep needs models: name them, as in MODELS="atlas-s atlas-m".')
    names = list(chapters) or [n for n in render.chapters() if jobs.kind(n) != "single"]
    publish.check_settings(names, given)
    found = next((p for p in (PROFILES / profile, Path(profile)) if profile and p.is_dir()), None)
    if profile and not (found and (found / "config.yaml").is_file()):
        known = ", ".join(sorted(path.name for path in PROFILES.iterdir() if path.is_dir()))
        raise UserError(f"There is no profile {profile}: choose from {known}, or give a folder.")
    if found and (found / "resources.yaml").is_file():
        resources.read(found / "resources.yaml")
    unique = tuple({checkpoints.slug(name): name for name in models}.values())
    everything = (unique, tuple(dict.fromkeys(names)), tuple(given), runs.resolve())
    return Sweep(*everything, found, cores)


def run(sweep: Sweep) -> pd.DataFrame:
    """Make what is missing or out of date, and say what came of it."""
    with locks.alone([sweep.runs], "sweep or make book") as held:
        fetch(sweep.models)
        return snakemake.make(sweep.jobs, sweep.runs, held, sweep.cores, sweep.profile)


def main(sweep: Sweep, dry: bool = False) -> None:
    """Make a sweep and print what came of it; dry: print what it would make."""
    if dry:
        asking = [job for job in sweep.jobs if job.model]
        todo = snakemake.waiting(asking, sweep.runs)
        for job in asking:
            print(f"{'to do' if job in todo else 'done':6} {job.name}")
        return
    table = run(sweep)
    print(report(table))
    if wrong := (table["state"] != "done").sum():
        raise UserError(
            f"The sweep lacks {wrong} of {len(table)} runs: mend what the sentences above name; "
            "the same command makes these alone."
        )


def report(table: pd.DataFrame) -> str:
    """Return a sweep's outcome as lines for the terminal.

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


def fetch(models: Sequence[str]) -> None:
    """Fetch models of the hub once, before jobs ask for them; jobs say what cannot be fetched."""
    for name in models:
        if checkpoints.on_hub(name):
            with contextlib.suppress(UserError):
                checkpoints.find(name)
