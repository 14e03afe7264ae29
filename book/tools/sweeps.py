"""Run chapters on many models, here or on a cluster; say what became of each run."""

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
    names = list(chapters)
    if not names:
        for name in render.chapter_names():
            if jobs.chapter_kind(name) != "single":
                names.append(name)
    settings = book_making.settings_of_named_chapters(names, words)
    names_by_slug = {checkpoints.model_slug(name): name for name in models}
    unique = tuple(names_by_slug.values())
    return jobs.plan_jobs(
        dict.fromkeys(names), unique[-1], unique, settings, alike=True
    )


def profile_folder(name: str) -> Path | None:
    """Return the folder of one of the profiles, or a folder that is one."""
    if not name:
        return None
    folder = PROFILES_FOLDER / name
    if not folder.is_dir():
        folder = Path(name)
    if not (folder / "config.yaml").is_file():
        known = [path.name for path in PROFILES_FOLDER.iterdir() if path.is_dir()]
        raise UserError(
            f"There is no profile {name}: choose from {', '.join(sorted(known))}, "
            "or give a folder."
        )
    resource_table = folder / "resources.yaml"
    if resource_table.is_file():
        resources.read_resource_table(resource_table)  # refuses what is wrong in it
    return folder.resolve()


def run_sweep(
    planned: Sequence[Job],
    runs: Path,
    cores: int | None = None,
    chosen: Path | None = None,
) -> pd.DataFrame:
    """Make what is missing or out of date, and say what came of it."""
    with store.lock_folder(runs, "sweep or make book"):
        models = dict.fromkeys(job.model for job in planned if job.model)
        runner.fetch_models(list(models))
        return runner.make_runs(planned, runs, cores, chosen)


def print_sweep_plan(planned: Sequence[Job], runs: Path) -> None:
    """Print what a sweep would make."""
    asking = [job for job in planned if job.model]
    todo = runner.outdated_jobs(asking, runs)
    for job in asking:
        state = "to do" if job in todo else "done"
        print(f"{state:6} {job.name}")


def sweep_report(table: pd.DataFrame) -> str:
    """Return a sweep's outcome as lines for the terminal."""
    lines = []
    for row in table[table["state"] != "done"].itertuples():
        line = f"{row.state:7} {row.run}: {row.why}"
        if row.log and row.log not in row.why:
            line += f" (log: {row.log})"
        lines.append(line)
    done = table["state"] == "done"
    done_now = table["new"] & done
    failed = table["state"] == "failed"
    left = table["state"] == "left"
    lines.append(
        f"{done.sum()} done ({int(done_now.sum())} of them now), "
        f"{failed.sum()} failed, {left.sum()} left"
    )
    return "\n".join(lines)
