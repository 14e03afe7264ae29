"""Run a chapter on a model: execute its notebook, keep its log, and its traceback if it fails."""

import logging
import os
import re
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat
import papermill
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError

from book.tools import jobs, locks, settings
from book.tools.jobs import TEMPLATES, Job
from book.tools.locks import RunLog
from helpers import UserError
from helpers.models.checkpoints import slug
from helpers.runs import ROOT, RUNS, SYNTHESIS, shown

RUNNING = ".running.ipynb"
# A kernel calls its own end an error, and prints a traceback if it ends between two
# messages.
MUTE = "__import__('logging').getLogger('tornado.general').setLevel(100)"
QUIET = ["--log-level=50", f"--IPKernelApp.exec_lines={MUTE}"]
TABLES = ("answers.parquet", "metrics.parquet", "run.json")


def run(
    chapter: str,
    model: str,
    words: Iterable[str] = (),
    runs: Path = RUNS,
    templates: Path = TEMPLATES,
) -> Path:
    """Execute a chapter on a model and return its folder, ``<runs>/<model-slug>/<chapter>``."""
    template = templates / f"{chapter}.ipynb"
    words = tuple(words)
    given = settings.read(template, words)
    synthesis = jobs.kind(chapter, templates) == "synthesis"
    folder = runs.resolve() / (SYNTHESIS if synthesis else slug(model)) / chapter
    fixed = {
        "model": model,
        "run_dir": shown(folder),
        "runs_dir": shown(runs.resolve()),
    }
    given |= {
        name: fixed[name] for name in settings.declared(template) if name in fixed
    }
    job = Job(folder.name, chapter, "" if synthesis else model, words)
    made = jobs.made_from(job, runs.resolve(), templates)
    with locks.logged(folder) as log:
        _into(folder, template, given, log)
        for table in TABLES[synthesis:]:  # who asks no model has no answers
            if not (folder / table).is_file():
                raise UserError(
                    f"The chapter {chapter} ended without {table} in {shown(folder)}."
                )
        jobs.sign(folder, made)
        (folder / RUNNING).replace(folder / "notebook.ipynb")
    return folder


def _into(folder: Path, template: Path, given: dict[str, Any], log: RunLog) -> None:
    """Execute a notebook into ``.running.ipynb`` or, if a cell fails, ``failed.ipynb``."""
    part, failed = folder / RUNNING, folder / "failed.ipynb"
    failed.unlink(missing_ok=True)
    try:
        _execute(template, part, given, log)
    except (PapermillExecutionError, DeadKernelError) as error:
        part.replace(failed)
        raise UserError(
            f"The chapter {template.stem} stopped {_failure(error, template, failed)} "
            f"(log: {shown(folder / locks.LOG)}, traceback: {shown(failed)})"
        ) from error


def _execute(template: Path, output: Path, given: dict[str, Any], log: RunLog) -> None:
    """Execute a notebook in the project's folder; the log hears all, the terminal the progress."""
    _add_to("PYTHONPATH", str(ROOT), os.pathsep)
    _add_to(
        "PYTHONWARNINGS", "ignore:IProgress not found", ","
    )  # tqdm's, about widgets
    os.environ["JUPYTER_PREFER_ENV_PATH"] = (
        "1"  # this environment's kernel, not the user's
    )
    progress = _Progress(template, output.parent)
    logger = logging.getLogger("papermill")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.handlers = [log, progress]
    try:
        papermill.execute_notebook(
            template,
            output,
            given,
            kernel_name="python3",
            cwd=ROOT,
            progress_bar=False,
            log_output=True,
            stderr_file=sys.stderr,
            extra_arguments=QUIET,
        )
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
