"""Make runs, each a process of its own: here two at a time, on a cluster through Snakemake."""

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

import pandas as pd

from book.tools import jobs as planned
from book.tools import resources, run_logs
from book.tools.jobs import Job
from helpers import UserError, reraise_failed_write
from helpers.models import checkpoints
from helpers.runs import PROJECT_FOLDER, path_from_project, store

OUTCOME_COLUMNS = ["run", "state", "new", "why", "log"]
NOT_STARTED_SENTENCE = "It did not start: see what is printed above, and the log that it names for the job."
STDERR_DESCRIPTOR = 2  # where progress is told; what came of it goes to stdout
THREAD_VARIABLE_PREFIXES = (
    "OMP",
    "GOTO",
    "OPENBLAS",
    "MKL",
    "NUMEXPR",
)  # <name>_NUM_THREADS of their libraries


def make_runs(
    jobs: Sequence[Job],
    runs: Path,
    cores: int | None = None,
    profile: Path | None = None,
) -> pd.DataFrame:
    """Make what is missing or out of date, and say what came of it; failures stop no other run."""
    last = [job for job in jobs if planned.reads_finished_runs(job)]
    table = _make([job for job in jobs if job not in last], runs, cores, profile)
    idle = (
        []
        if planned.finished_run_manifests(runs)
        else [job for job in last if planned.requires_finished_runs(job)]
    )
    able = [job for job in last if job not in idle]
    made = _make(able, runs, cores, profile) if able else table[:0]
    left = [
        (job.name, "left", False, "No run is there that it could read.", "")
        for job in idle
    ]
    return pd.concat([table, made, pd.DataFrame(left, columns=OUTCOME_COLUMNS)])


def _make(
    jobs: Sequence[Job], runs: Path, cores: int | None, profile: Path | None
) -> pd.DataFrame:
    """Make jobs that need none of each other."""
    todo = outdated_jobs(jobs, runs)
    logs = {job.name: runs / job.name / run_logs.LOG_FILE_NAME for job in jobs}
    before = {job.name: _stamp(logs[job.name]) for job in todo}
    if todo and profile:
        _there(todo, runs, profile)
    elif todo:
        _here(todo, runs, cores or available_cores())
    left = {job.name for job in outdated_jobs(todo, runs)}
    rows = []
    for job in jobs:
        name, log = job.name, logs[job.name]
        if name not in left:
            outcome = ("done", job in todo, "")
        elif before[name] == _stamp(log):
            outcome = ("left", False, NOT_STARTED_SENTENCE)
        else:
            outcome = ("failed", True, run_logs.failure_sentence(log.parent))
        rows.append((name, *outcome, path_from_project(log) if log.is_file() else ""))
    return pd.DataFrame(rows, columns=OUTCOME_COLUMNS)


def outdated_jobs(jobs: Sequence[Job], runs: Path) -> list[Job]:
    """Return the jobs whose runs are missing or out of date."""
    return [job for job in jobs if not planned.is_run_current(job, runs)]


def available_cores() -> int:
    """Return the number of processor cores that this process may use."""
    own = getattr(os, "sched_getaffinity", None)  # not on every system
    return max(1, len(own(0)) if own else os.cpu_count() or 1)


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


def _here(jobs: Sequence[Job], runs: Path, cores: int) -> None:
    """Make runs on this machine, and say how far it is."""
    ordered = sorted(jobs, key=planned.job_priority, reverse=True)
    small = [
        job
        for job in ordered
        if not job.model or job.model in checkpoints.bundled_models()
    ]
    large = [job for job in ordered if job not in small]
    started, done = time.monotonic(), 0
    for several, side in ((small, min(2, cores)), (large, 1)):
        pool = ThreadPoolExecutor(side)
        begun = [
            pool.submit(_call, job_command(job, runs), cores // side) for job in several
        ]
        try:
            for _ in as_completed(begun):
                done += 1
                minutes = (time.monotonic() - started) / 60
                left = minutes / done * (len(jobs) - done)
                told = f"{done} of {len(jobs)} runs made in {minutes:.1f} minutes"
                print(
                    f"{told}, about {left:.1f} left" if left else told, file=sys.stderr
                )
        finally:  # what is at work hears Ctrl-C as well, and is waited for
            pool.shutdown(cancel_futures=True)


def _call(words: list[str], threads: int) -> None:
    """Run a command in the project's folder; it says itself what became of it."""
    shared = {f"{name}_NUM_THREADS": str(threads) for name in THREAD_VARIABLE_PREFIXES}
    environment = os.environ | {"PYTHONUNBUFFERED": "1"} | shared
    subprocess.run(
        words,
        cwd=PROJECT_FOLDER,
        env=environment,
        stdout=STDERR_DESCRIPTOR,
        check=False,
    )


def _there(jobs: Sequence[Job], runs: Path, profile: Path) -> None:
    """Have Snakemake make runs as a profile says, without its lock, which outlives a kill."""
    file = profile / "resources.yaml"
    table = resources.read_resource_table(file) if file.is_file() else None
    given = {
        job.name: {
            "command": shlex.join(job_command(job, runs)),
            "needs": table
            and resources.job_resources(
                table, job.chapter, resources.billions_of_parameters(job.model)
            ),
            "priority": planned.job_priority(job),
        }
        for job in jobs
    }
    config = runs / ".jobs.json"  # where the jobs of a cluster see it, too
    with reraise_failed_write(config, store.OTHER_FOLDER_REMEDY):
        config.write_text(
            json.dumps({"runs": str(runs), "jobs": given}), encoding="utf-8"
        )
    call = [sys.executable, "-m", "snakemake", "-s", "notebooks/Snakefile", "--nolock"]
    call += ["--configfile", str(config), "--quiet", "host", "reason", "rules"]
    call += ["--profile", str(profile), "--force", "--rerun-incomplete"]
    call += ["--keep-going", "--nocolor"]
    call += [str(runs / job.name / ".made") for job in jobs]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    subprocess.run(
        call, cwd=PROJECT_FOLDER, env=environment, stdout=STDERR_DESCRIPTOR, check=False
    )


def fetch_models(models: Sequence[str]) -> None:
    """Fetch models of the hub once, before jobs ask for them; jobs say what cannot be fetched."""
    for name in filter(checkpoints.repository_and_revision, models):
        with contextlib.suppress(UserError):
            checkpoints.find_checkpoint(name)


def _stamp(file: Path) -> tuple[int, int] | None:
    return (file.stat().st_mtime_ns, file.stat().st_ino) if file.is_file() else None
