"""Run many chapters on many models, here or on a cluster, and say what became of each run."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from book.tools import book_making, jobs, render, resources, runner
from book.tools.jobs import Job
from helpers import UserError
from helpers.models import checkpoints
from helpers.runs import PROJECT_FOLDER, store

PROFILES_FOLDER = PROJECT_FOLDER / "notebooks" / "profiles"


def plan_sweep_jobs(
    models: Sequence[str], chapters: Sequence[str], words: Iterable[str]
) -> list[Job]:
    """Return the runs of a sweep, whose chapters and settings are in order."""
    if not models:
        raise UserError(
            'A sweep needs models: name them, as in MODELS="atlas-s atlas-m".'
        )
    names = list(chapters) or [
        n for n in render.chapter_names() if jobs.chapter_kind(n) != "single"
    ]
    settings = book_making.settings_from_words(names, words)
    unique = tuple({checkpoints.model_slug(name): name for name in models}.values())
    return jobs.plan_jobs(
        dict.fromkeys(names), unique[-1], unique, settings, alike=True
    )


def profile_folder(name: str) -> Path | None:
    """Return the folder of one of the profiles, or a folder that is one."""
    if not name:
        return None
    found = next(
        (path for path in (PROFILES_FOLDER / name, Path(name)) if path.is_dir()), None
    )
    if not (found and (found / "config.yaml").is_file()):
        known = ", ".join(
            sorted(path.name for path in PROFILES_FOLDER.iterdir() if path.is_dir())
        )
        raise UserError(
            f"There is no profile {name}: choose from {known}, or give a folder."
        )
    if (found / "resources.yaml").is_file():
        resources.read_resource_table(found / "resources.yaml")
    return found.resolve()


def run_sweep(
    planned: Sequence[Job],
    runs: Path,
    cores: int | None = None,
    chosen: Path | None = None,
) -> pd.DataFrame:
    """Make what is missing or out of date, and say what came of it."""
    with store.lock_folder(runs, "sweep or make book"):
        runner.fetch_models(
            list(dict.fromkeys(job.model for job in planned if job.model))
        )
        return runner.make_runs(planned, runs, cores, chosen)


def print_sweep_plan(planned: Sequence[Job], runs: Path) -> None:
    """Print what a sweep would make."""
    asking = [job for job in planned if job.model]
    todo = runner.outdated_jobs(asking, runs)
    for job in asking:
        print(f"{'to do' if job in todo else 'done':6} {job.name}")


def sweep_report(table: pd.DataFrame) -> str:
    """Return a sweep's outcome as lines for the terminal."""
    lines = []
    for row in table[table["state"] != "done"].itertuples():
        log = f" (log: {row.log})" if row.log and row.log not in row.why else ""
        lines.append(f"{row.state:7} {row.run}: {row.why}{log}")
    count = table["state"].value_counts().to_dict()
    now = int((table["new"] & (table["state"] == "done")).sum())
    ends = ", ".join(f"{count.get(state, 0)} {state}" for state in ("failed", "left"))
    return "\n".join(
        [*lines, f"{count.get('done', 0)} done ({now} of them now), {ends}"]
    )
