"""Run a chapter on a model: execute its notebook, keep its log and its traceback."""

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
from book.tools.run_logs import TERMINAL_COLOURS, RunLog
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
# A kernel that ends between two messages calls that an error, with a traceback.
TORNADO_SILENCER = "__import__('logging').getLogger('tornado.general').setLevel(100)"
KERNEL_ARGUMENTS = ["--log-level=50", f"--IPKernelApp.exec_lines={TORNADO_SILENCER}"]
LOADING_SETTINGS = ("dtype", "trust_remote_code")
ANSWERS_FILE = "answers.parquet"
RUN_FILES = (ANSWERS_FILE, "metrics.parquet", "run.json")
LINE_OF_TRACEBACK = re.compile(r"^-+> \d+ (.*)$", re.MULTILINE)


def run_chapter(
    chapter: str,
    model: str,
    settings: Mapping[str, Any] | None = None,
    runs: Path = RUNS_FOLDER,
    templates: Path = TEMPLATES,
) -> Path:
    """Execute a chapter on a model; return its folder, ``<runs>/<slug>/<chapter>``."""
    template = templates / f"{chapter}.ipynb"
    settings = dict(settings or {})
    runs = runs.resolve()
    if jobs.chapter_kind(chapter, templates) == "synthesis":
        folder = runs / SYNTHESIS / chapter
        job = Job(folder.name, chapter, "", settings)
    else:
        folder = runs / model_slug(model) / chapter
        job = Job(folder.name, chapter, model, settings)
    for name in settings.keys() - parameters.declared_parameters(template).keys():
        raise UserError(f"The chapter {chapter} has no parameter '{name}'.")
    injected = settings | _model_and_folders(template, model, folder, runs)
    fingerprint = jobs.job_fingerprint(job, runs, templates)
    with run_logs.open_run_log(folder) as log:
        with _failure_kept(folder, template), _notebook_logged(log, template, folder):
            papermill.execute_notebook(
                _path_for_papermill(template),
                _path_for_papermill(folder / UNFINISHED_NOTEBOOK),
                injected,
                kernel_name="python3",
                cwd=PROJECT_FOLDER,
                progress_bar=False,
                log_output=True,
                stderr_file=sys.stderr,
                extra_arguments=KERNEL_ARGUMENTS,
            )
        for file in RUN_FILES:
            needed = job.model or file != ANSWERS_FILE  # of who asks a model
            if needed and not (folder / file).is_file():
                raise UserError(
                    f"The chapter {chapter} ended without {file} in "
                    f"{path_from_project(folder)}."
                )
        jobs.write_job_fingerprint(folder, fingerprint)
        (folder / UNFINISHED_NOTEBOOK).replace(folder / "notebook.ipynb")
    return folder


def _path_for_papermill(path: Path) -> str:
    """Return a path whose braces papermill does not fill with parameters."""
    return str(path).replace("{", "{{").replace("}", "}}")


def measure(
    model: str, chapters: Sequence[str], settings: Mapping[str, Any], runs: Path
) -> list[Path]:
    """Measure a model as chapters would, without notebooks; return the runs' folders.

    A study that cannot be done stops no other.
    """
    runs = runs.resolve()
    first, *more = (f"{model_slug(model)}/{chapter}" for chapter in chapters)
    job = Job(first, jobs.NOTEBOOK_FREE_CHAPTER, model, settings, tuple(more))
    fingerprint = jobs.job_fingerprint(job, runs)
    own = {}
    for chapter in chapters:
        template = TEMPLATES / f"{chapter}.ipynb"
        own[chapter] = jobs.measured_settings(template, settings)
    loading_settings = {name: own[chapters[0]][name] for name in LOADING_SETTINGS}
    folders = []
    failures = []
    with run_logs.open_run_log(runs / first):
        lm = models.load(model, **loading_settings)
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
            jobs.write_job_fingerprint(folder, fingerprint)
    return folders


def _model_and_folders(
    template: Path, model: str, folder: Path, runs: Path
) -> dict[str, str]:
    """Return the parameters of a chapter that no user sets."""
    fixed = {
        "model": model,
        "run_dir": path_from_project(folder),
        "runs_dir": path_from_project(runs),
    }
    declared = parameters.declared_parameters(template)
    return {name: fixed[name] for name in fixed if name in declared}


@contextlib.contextmanager
def _failure_kept(folder: Path, template: Path) -> Iterator[None]:
    """Keep a notebook that stops as ``failed.ipynb``, and say in which cell and why."""
    failed = folder / "failed.ipynb"
    failed.unlink(missing_ok=True)
    try:
        yield
    except (PapermillExecutionError, DeadKernelError) as error:
        (folder / UNFINISHED_NOTEBOOK).replace(failed)
        log = path_from_project(folder / run_logs.LOG_FILE_NAME)
        raise UserError(
            f"The chapter {template.stem} stopped {_failure(error, template, failed)} "
            f"(log: {log}, traceback: {path_from_project(failed)})"
        ) from error


@contextlib.contextmanager
def _notebook_logged(log: RunLog, template: Path, folder: Path) -> Iterator[None]:
    """Send what a notebook says to its log, and its progress to the terminal."""
    _put_first_in_variable("PYTHONPATH", str(PROJECT_FOLDER), os.pathsep)
    # tqdm's, about widgets
    _put_first_in_variable("PYTHONWARNINGS", "ignore:IProgress not found", ",")
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


def _put_first_in_variable(variable: str, word: str, separator: str) -> None:
    """Put a word first in a list that the environment holds, once."""
    words = [word]
    for present in os.getenv(variable, "").split(separator):
        if present and present not in words:
            words.append(present)
    os.environ[variable] = separator.join(words)


class _Progress(logging.Handler):
    """Print a plain line on the terminal for each cell that papermill begins."""

    def __init__(self, template: Path, folder: Path) -> None:
        super().__init__(logging.INFO)
        self.name = f"{folder.parent.name}/{folder.name}"
        self.started = time.monotonic()
        cells = nbformat.read(template, as_version=4).cells
        self.total = len(cells) + 1  # and the injected one

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
        source = error.source
        reason = error.evalue
        if error.ename != "UserError":
            reason = f"{error.ename}: {reason}"
            traceback = TERMINAL_COLOURS.sub("", "\n".join(error.traceback))
            line = LINE_OF_TRACEBACK.search(traceback)
    else:
        cells = nbformat.read(failed, as_version=4).cells
        begun = [cell for cell in cells if cell.metadata.papermill.get("start_time")]
        source = begun[-1].source
        reason = (
            "the Python process died, most likely for want of memory: set fewer facts."
        )
    sources = [cell.source for cell in nbformat.read(template, as_version=4).cells]
    place = "in the parameters"
    if source in sources:
        place = f"in cell {sources.index(source) + 1}"
    if line:
        place += f" (`{line[1].strip()}`)"
    return f"{place}: {' '.join(reason.split())}"
