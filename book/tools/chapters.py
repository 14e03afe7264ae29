"""Run a chapter on a model: execute its notebook, keep its log, and its traceback if it fails."""

import contextlib
import logging
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
import papermill
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError

from book.tools import jobs, parameters, run_logs
from book.tools.jobs import TEMPLATES, Job
from book.tools.run_logs import RunLog
from helpers import UserError, models
from helpers.models.checkpoints import model_slug
from helpers.runs import (
    PROJECT_FOLDER,
    RUNS_FOLDER,
    SYNTHESIS,
    measuring,
    path_from_project,
)

UNFINISHED_NOTEBOOK = ".running.ipynb"
# A kernel calls its own end an error, and prints a traceback if it ends between two
# messages.
TORNADO_SILENCER = "__import__('logging').getLogger('tornado.general').setLevel(100)"
KERNEL_ARGUMENTS = ["--log-level=50", f"--IPKernelApp.exec_lines={TORNADO_SILENCER}"]
LOADING = ("dtype", "trust_remote_code")  # settings with which a model is loaded
RUN_FILES = ("answers.parquet", "metrics.parquet", "run.json")


def run_chapter(
    chapter: str,
    model: str,
    settings: Mapping[str, Any] | None = None,
    runs: Path = RUNS_FOLDER,
    templates: Path = TEMPLATES,
) -> Path:
    """Execute a chapter on a model and return its folder, ``<runs>/<model-slug>/<chapter>``."""
    template = templates / f"{chapter}.ipynb"
    settings = dict(settings or {})
    runs = runs.resolve()
    synthesis = jobs.chapter_kind(chapter, templates) == "synthesis"
    folder = runs / (SYNTHESIS if synthesis else model_slug(model)) / chapter
    for name in settings.keys() - parameters.declared_parameters(template).keys():
        raise UserError(f"The chapter {chapter} has no parameter '{name}'.")
    injected = settings | _places(template, model, folder, runs)
    job = Job(folder.name, chapter, "" if synthesis else model, settings)
    made = jobs.job_fingerprint(job, runs, templates)
    with run_logs.open_run_log(folder) as log:
        with _stops_told(folder, template), _told_to(log, template, folder):
            papermill.execute_notebook(
                template,
                folder / UNFINISHED_NOTEBOOK,
                injected,
                kernel_name="python3",
                cwd=PROJECT_FOLDER,
                progress_bar=False,
                log_output=True,
                stderr_file=sys.stderr,
                extra_arguments=KERNEL_ARGUMENTS,
            )
        for table in RUN_FILES[synthesis:]:  # who asks no model has no answers
            if not (folder / table).is_file():
                raise UserError(
                    f"The chapter {chapter} ended without {table} in {path_from_project(folder)}."
                )
        jobs.write_job_fingerprint(folder, made)
        (folder / UNFINISHED_NOTEBOOK).replace(folder / "notebook.ipynb")
    return folder


def measure(
    model: str, chapters: Sequence[str], settings: Mapping[str, Any], runs: Path
) -> list[Path]:
    """Measure a model as chapters would, without notebooks, and return the runs' folders.

    A study that cannot be done stops no other.
    """
    runs = runs.resolve()
    first, *more = (f"{model_slug(model)}/{chapter}" for chapter in chapters)
    job = Job(first, jobs.NOTEBOOK_FREE_CHAPTER, model, settings, tuple(more))
    made = jobs.job_fingerprint(job, runs)
    own = {}
    for chapter in chapters:
        template = TEMPLATES / f"{chapter}.ipynb"
        own[chapter] = jobs.measured_settings(template, settings)
    loading = {name: own[chapters[0]][name] for name in LOADING}
    folders, failures = [], []
    with run_logs.open_run_log(runs / first):
        lm = models.load(model, **loading)
        for chapter in chapters:
            folder = runs / model_slug(model) / chapter
            try:
                measuring.measure_by_study(chapter, lm, own[chapter], folder)
            except UserError as error:
                failures.append(f"{chapter}: {error}")
            else:
                folders.append(folder)
        if failures:
            raise UserError(" ".join(failures))
        for folder in folders:
            jobs.write_job_fingerprint(folder, made)
    return folders


def _places(template: Path, model: str, folder: Path, runs: Path) -> dict[str, str]:
    """Return the parameters of a chapter that no user sets: the model and the folders."""
    places = {
        "model": model,
        "run_dir": path_from_project(folder),
        "runs_dir": path_from_project(runs),
    }
    known = parameters.declared_parameters(template)
    return {name: places[name] for name in places if name in known}


@contextlib.contextmanager
def _stops_told(folder: Path, template: Path) -> Iterator[None]:
    """Keep a notebook that stops as ``failed.ipynb``, and say in which cell and why."""
    failed = folder / "failed.ipynb"
    failed.unlink(missing_ok=True)
    try:
        yield
    except (PapermillExecutionError, DeadKernelError) as error:
        (folder / UNFINISHED_NOTEBOOK).replace(failed)
        raise UserError(
            f"The chapter {template.stem} stopped {_failure(error, template, failed)} "
            f"(log: {path_from_project(folder / run_logs.LOG_FILE_NAME)}, traceback: {path_from_project(failed)})"
        ) from error


@contextlib.contextmanager
def _told_to(log: RunLog, template: Path, folder: Path) -> Iterator[None]:
    """Prepare for a notebook: its log hears all that it says, the terminal its progress."""
    _add_to("PYTHONPATH", str(PROJECT_FOLDER), os.pathsep)
    # tqdm's, about widgets
    _add_to("PYTHONWARNINGS", "ignore:IProgress not found", ",")
    # this environment's kernel, not the user's
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    logger = logging.getLogger("papermill")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.handlers = [log, _Progress(template, folder)]
    try:
        yield
    finally:
        logger.handlers = []


def _add_to(variable: str, word: str, separator: str) -> None:
    """Put a word first in a list that the environment holds, once."""
    there = [found for found in os.getenv(variable, "").split(separator) if found]
    os.environ[variable] = separator.join(dict.fromkeys([word, *there]))


class _Progress(logging.Handler):
    """Print one plain line on the terminal for each cell that papermill reports to begin."""

    def __init__(self, template: Path, folder: Path) -> None:
        super().__init__(logging.INFO)
        self.name, self.started = (
            f"{folder.parent.name}/{folder.name}",
            time.monotonic(),
        )
        self.total = (
            len(nbformat.read(template, as_version=4).cells) + 1
        )  # the injected one

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if message.startswith("Executing Cell "):
            cell = message.split()[2].rstrip("-")
            seconds = time.monotonic() - self.started
            print(
                f"{self.name}: cell {cell}/{self.total}, {seconds:.0f} s",
                file=sys.stderr,
            )


def _failure(error: Exception, template: Path, failed: Path) -> str:
    """Return where and why a notebook stopped: 'in cell 7: sentence'."""
    line = None
    if isinstance(error, PapermillExecutionError):
        source, reason = error.source, error.evalue
        if error.ename != "UserError":
            reason = f"{error.ename}: {reason}"
            traced = "\n".join(error.traceback)
            line = re.search(
                r"^-+> \d+ (.*)$", re.sub(r"\x1b\[[0-9;]*m", "", traced), re.MULTILINE
            )
    else:
        cells = nbformat.read(failed, as_version=4).cells
        source = [c.source for c in cells if c.metadata.papermill.get("start_time")][-1]
        reason = (
            "the Python process died, most likely for want of memory: set fewer facts."
        )
    sources = [cell.source for cell in nbformat.read(template, as_version=4).cells]
    place = (
        f"in cell {sources.index(source) + 1}"
        if source in sources
        else "in the parameters"
    )
    quoted = f" (`{line[1].strip()}`)" if line else ""
    return f"{place}{quoted}: {' '.join(reason.split())}"
