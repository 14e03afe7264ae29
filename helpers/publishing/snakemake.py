"""Have Snakemake make runs, here or on a cluster, and say what became of each."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from helpers.models import checkpoints
from helpers.publishing import jobs as planned
from helpers.publishing import locks, resources
from helpers.publishing.jobs import Job
from helpers.runs import ROOT, shown

COLUMNS = ["run", "state", "new", "why", "log"]
SILENT = "It did not start: see what is printed above, and the log that it names for the job."
# What Snakemake says of itself besides how many of its steps are done.
CHATTER = re.compile(
    r"Assuming unrestricted shared file|Building DAG of jobs|Using shell: |Provided cores: "
    r"|Rules claiming more threads|Select jobs to execute|Execute \d+ jobs|Finished jobid: "
    r"|Touching output file |Complete log|Elapsed time: "
    r"|RuleException:|CalledProcessError in file |Command 'set -euo "
    r"|\[\w{3} \w{3} +\d+ [\d:]+ \d{4}\]$"
)


def make(
    jobs: Sequence[Job],
    runs: Path,
    held: Sequence[int],
    cores: int | None = None,
    profile: Path | None = None,
) -> pd.DataFrame:
    """Make what is missing or out of date, and say what came of it; failures stop no other run.

    Chapters that read the runs of the others come last.
    """
    last = [job for job in jobs if planned.reads_runs(job)]
    table = _make([job for job in jobs if job not in last], runs, held, cores, profile)
    idle = [] if planned.finished(runs) else [job for job in last if planned.needs_runs(job)]
    able = [job for job in last if job not in idle]
    made = _make(able, runs, held, cores, profile) if able else table[:0]
    left = [(job.name, "left", False, "No run is there that it could read.", "") for job in idle]
    return pd.concat([table, made, pd.DataFrame(left, columns=COLUMNS)])


def _make(
    jobs: Sequence[Job], runs: Path, held: Sequence[int], cores: int | None, profile: Path | None
) -> pd.DataFrame:
    """Make jobs that need none of each other."""
    todo = waiting(jobs, runs)
    logs = {job.name: runs / job.name / locks.LOG for job in jobs}
    before = {job.name: _stamp(logs[job.name]) for job in todo}
    if todo:
        options = ["--profile", str(profile)] if profile else ["--cores", str(cores or all_cores())]
        _run(_configure(todo, runs, profile), [job.name for job in todo], options, held)
    left = {job.name for job in waiting(todo, runs)}
    rows = []
    for job in jobs:
        name, log = job.name, logs[job.name]
        if name not in left:
            outcome = ("done", job in todo, "")
        elif before[name] == _stamp(log):
            outcome = ("left", False, SILENT)
        else:
            outcome = ("failed", True, locks.last_words(log.parent))
        rows.append((name, *outcome, shown(log) if log.is_file() else ""))
    return pd.DataFrame(rows, columns=COLUMNS)


def waiting(jobs: Sequence[Job], runs: Path) -> list[Job]:
    """Return the jobs whose runs are missing or out of date."""
    return [job for job in jobs if not planned.is_current(job, runs)]


def all_cores() -> int:
    """Return the number of processor cores that this process may use."""
    own = getattr(os, "sched_getaffinity", None)  # not on every system
    return max(1, len(own(0)) if own else os.cpu_count() or 1)


def _configure(jobs: Sequence[Job], runs: Path, profile: Path | None) -> Path:
    """Write what the Snakefile needs to know where the jobs of a cluster see it, too."""
    file = profile / "resources.yaml" if profile else None
    table = resources.read(file) if file and file.is_file() else None
    given = {
        job.name: {
            "command": shlex.join([sys.executable, *_command(job, runs)]),
            # what asks no model needs what the smallest one does
            "needs": table
            and resources.need(
                table, job.chapter, resources.billions(job.model) if job.model else 0.0
            ),
            "shared": not job.model or job.model in checkpoints.bundled(),
            "priority": planned.priority(job),
        }
        for job in jobs
    }
    path = runs / ".jobs.json"
    try:
        runs.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"runs": str(runs), "jobs": given}), encoding="utf-8")
    except OSError as error:
        raise locks.unwritable("sweep", runs, error) from error
    return path


def _command(job: Job, runs: Path) -> list[str]:
    """Return the arguments of Python that make a run."""
    words = [job.chapter] if job.early else ["run", job.chapter]
    words += [folder.rpartition("/")[2] for folder in job.folders] * (job.chapter == planned.OTHERS)
    of = ["--model", job.model] if job.model else []
    settings = ["--set", *job.words] if job.words else []
    return ["-m", "helpers", *words, *of, "--runs", str(runs), *settings]


def _run(config: Path, names: Sequence[str], options: Sequence[str], held: Sequence[int]) -> None:
    """Have Snakemake make runs in the project's folder, showing what matters.

    It keeps the locks while it runs, even where this process is killed; its own lock would outlive
    a process that is killed.
    """
    call = [sys.executable, "-m", "snakemake", "-s", "notebooks/Snakefile", "--nolock"]
    call += ["--configfile", str(config), "--quiet", "host", "reason", "rules", *options]
    call += ["--force", "--rerun-incomplete", "--keep-going", "--nocolor"]
    call += [str(config.parent / name / ".made") for name in names]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "pass_fds": held}
    with subprocess.Popen(call, cwd=ROOT, text=True, env=environment, **streams) as process:
        try:
            for line in process.stdout:
                if not CHATTER.match(line):
                    line = re.sub(r"^error: ", "failed: ", line)  # the others go on
                    print(line, end="", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            process.wait()  # Snakemake heard it too, and cleans up
            raise


def _stamp(file: Path) -> tuple[int, int] | None:
    return (file.stat().st_mtime_ns, file.stat().st_ino) if file.is_file() else None
