"""Make runs, each a process: here two at a time, on a cluster through Snakemake."""

import contextlib
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import pandas as pd

from book.tools import jobs as planned
from book.tools import resources, run_logs
from book.tools.jobs import Job
from helpers import UserError, reraise_failed_write
from helpers.models import checkpoints
from helpers.runs import PROJECT_FOLDER, path_from_project, store

OUTCOME_COLUMNS = ["run", "state", "new", "why", "log"]
NOT_STARTED_SENTENCE = (
    "It did not start: see what is printed above, and the log that it names for the "
    "job."
)
NOTHING_TO_READ_SENTENCE = "No run is there that it could read."
STDERR_DESCRIPTOR = 2  # where progress is told; what came of it goes to stdout
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


def make_runs(
    jobs: Sequence[Job],
    runs: Path,
    cores: int | None = None,
    profile: Path | None = None,
) -> pd.DataFrame:
    """Make what is missing or out of date; return a row a job, failed ones too."""
    readers = [job for job in jobs if planned.reads_finished_runs(job)]
    makers = [job for job in jobs if job not in readers]
    tables = [_make(makers, runs, cores, profile)]
    idle = []
    if not planned.finished_run_manifests(runs):
        idle = [job for job in readers if planned.requires_finished_runs(job)]
    able = [job for job in readers if job not in idle]
    if able:
        tables.append(_make(able, runs, cores, profile))
    rows = [(job.name, "left", False, NOTHING_TO_READ_SENTENCE, "") for job in idle]
    tables.append(pd.DataFrame(rows, columns=OUTCOME_COLUMNS))
    return pd.concat(tables)


def _make(
    jobs: Sequence[Job], runs: Path, cores: int | None, profile: Path | None
) -> pd.DataFrame:
    """Make jobs that need none of each other."""
    todo = outdated_jobs(jobs, runs)
    logs = {job.name: runs / job.name / run_logs.LOG_FILE_NAME for job in jobs}
    versions_before = {job.name: _file_version(logs[job.name]) for job in todo}
    if todo and profile:
        _make_with_snakemake(todo, runs, profile)
    elif todo:
        _make_here(todo, runs, cores or available_cores())
    unmade = {job.name for job in outdated_jobs(todo, runs)}
    rows = []
    for job in jobs:
        log = logs[job.name]
        if job.name not in unmade:
            outcome = ("done", job in todo, "")
        elif versions_before[job.name] == _file_version(log):
            outcome = ("left", False, NOT_STARTED_SENTENCE)
        else:
            outcome = ("failed", True, run_logs.failure_sentence(log.parent))
        shown_log = path_from_project(log) if log.is_file() else ""
        rows.append((job.name, *outcome, shown_log))
    return pd.DataFrame(rows, columns=OUTCOME_COLUMNS)


def outdated_jobs(jobs: Sequence[Job], runs: Path) -> list[Job]:
    """Return the jobs whose runs are missing or out of date."""
    return [job for job in jobs if not planned.is_run_current(job, runs)]


def available_cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on every system
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


def job_command(job: Job, runs: Path) -> list[str]:
    """Return the command that makes a run."""
    command = [sys.executable, "-m", "book.tools"]
    if job.chapter == planned.NOTEBOOK_FREE_CHAPTER:
        command += [job.chapter, *(Path(folder).name for folder in job.folders)]
    elif job.early:
        command += [job.chapter]
    else:
        command += ["run", job.chapter]
    if job.model:
        command += ["--model", job.model]
    command += ["--runs", str(runs)]
    if job.settings:
        command += ["--settings", json.dumps(dict(job.settings))]
    return command


def _make_here(jobs: Sequence[Job], runs: Path, cores: int) -> None:
    """Make runs on this machine, and say how far it is."""
    bundled = checkpoints.bundled_models()
    small = []
    large = []
    for job in sorted(jobs, key=planned.job_priority, reverse=True):
        if not job.model or job.model in bundled:
            small.append(job)
        else:
            large.append(job)
    started = time.monotonic()
    done = 0
    failed = 0
    for of_a_size, side_by_side in ((small, min(2, cores)), (large, 1)):
        pool = ThreadPoolExecutor(side_by_side)
        threads = cores // side_by_side
        futures = []
        for job in of_a_size:
            futures.append(pool.submit(_call, job_command(job, runs), threads))
        try:
            for future in as_completed(futures):
                done += 1
                failed += future.result() != 0
                seconds = time.monotonic() - started
                _print_progress(done, len(jobs), seconds, failed)
        finally:  # what is at work hears Ctrl-C as well, and is waited for
            pool.shutdown(cancel_futures=True)


def _print_progress(done: int, total: int, seconds: float, failed: int = 0) -> None:
    """Print how many runs are made, and about how long the others will take."""
    minutes = seconds / 60
    minutes_left = minutes / done * (total - done)
    line = f"{done - failed} of {total} runs made"
    if failed:
        line += f" and {failed} failed"
    line += f" in {minutes:.1f} minutes"
    if minutes_left:
        line += f", about {minutes_left:.1f} left"
    print(line, file=sys.stderr)


def _call(words: list[str], threads: int | None = None) -> int:
    """Run a command in the project's folder and return its exit status."""
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    if threads is not None:
        environment |= dict.fromkeys(THREAD_VARIABLES, str(threads))
    finished = subprocess.run(
        words,
        cwd=PROJECT_FOLDER,
        env=environment,
        stdout=STDERR_DESCRIPTOR,
        check=False,
    )
    return finished.returncode


def _make_with_snakemake(jobs: Sequence[Job], runs: Path, profile: Path) -> None:
    """Have Snakemake make runs as a profile says; its lock would outlive a kill."""
    table_file = profile / "resources.yaml"
    table = None
    if table_file.is_file():
        table = resources.read_resource_table(table_file)
    entries = {job.name: _snakemake_entry(job, runs, table) for job in jobs}
    config = runs / ".jobs.json"  # where the jobs of a cluster see it, too
    text = json.dumps({"runs": str(runs), "jobs": entries})
    with reraise_failed_write(config, store.OTHER_FOLDER_REMEDY):
        config.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "snakemake"]
    command += ["-s", "notebooks/Snakefile", "--nolock"]
    command += ["--configfile", str(config), "--quiet", "host", "reason", "rules"]
    command += ["--profile", str(profile), "--force", "--rerun-incomplete"]
    command += ["--keep-going", "--nocolor"]
    command += [str(runs / job.name / ".made") for job in jobs]
    _call(command)


def _snakemake_entry(
    job: Job, runs: Path, table: dict[str, Any] | None
) -> dict[str, Any]:
    """Return what the Snakefile reads of a job."""
    needs = None
    if table:
        billions = resources.billions_of_parameters(job.model)
        needs = resources.job_resources(table, job.chapter, billions)
    return {
        "command": shlex.join(job_command(job, runs)),
        "needs": needs,
        "priority": planned.job_priority(job),
    }


def fetch_models(models: Sequence[str]) -> None:
    """Fetch models of the hub before jobs ask for them; jobs say what is missing."""
    for name in models:
        if checkpoints.repository_and_revision(name):
            with contextlib.suppress(UserError):
                checkpoints.find_checkpoint(name)


def _file_version(file: Path) -> tuple[int, int] | None:
    """Return what changes when a file is written anew; None where there is none."""
    if not file.is_file():
        return None
    about = file.stat()
    return about.st_mtime_ns, about.st_ino
