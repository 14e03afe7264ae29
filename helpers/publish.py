"""Make the book of one model: have its chapters run, place them in the book, render the pages."""

import difflib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import nbformat

from helpers import checkpoints, grid, locks, settings, timing
from helpers.checkpoints import WEIGHTS, slug
from helpers.errors import UserError
from helpers.runs import ROOT, SYNTHESIS
from helpers.servers import address, session

BOOK = ROOT / "book"
QUIET = ("host", "reason", "rules")
# What Snakemake says of itself besides how many of its steps are done.
CHATTER = re.compile(
    r"Assuming unrestricted shared file|Building DAG of jobs|Using shell: |Provided cores: "
    r"|Rules claiming more threads|Select jobs to execute|Execute \d+ jobs|Finished jobid: "
    r"|\[\w{3} \w{3} +\d+ [\d:]+ \d{4}\]$"
)
HTML = BOOK / "_build" / "html" / "index.html"
TIMES = "times.txt"


def chapters() -> list[str]:
    """Return the book's chapters in order: what stands under ``chapters/`` in its contents."""
    toc = (BOOK / "_toc.yml").read_text(encoding="utf-8")
    return re.findall(r"^\s*-?\s*file: chapters/(\S+?)(?:\.ipynb)?\s*$", toc, flags=re.MULTILINE)


def prose() -> list[Path]:
    """Return the files that the pages are made of, the executed chapters left out."""
    made = (BOOK / "_build", BOOK / "chapters")
    files = (path for path in sorted(BOOK.rglob("*")) if path.is_file())
    return [path for path in files if not any(path.is_relative_to(folder) for folder in made)]


def sources(model: str, words: Iterable[str], chapter: str = "") -> list[Path]:
    """Return the files that a chapter's result depends on: code, data, weights, local datasets.

    How the bundled models are made, and all of their weights, count for a chapter that tells of it.
    """
    helpers, template = ROOT / "helpers", ROOT / "notebooks" / f"{chapter}.ipynb"
    told = template.is_file() and "helpers.atlas" in template.read_text(encoding="utf-8")
    code = {p for p in helpers.rglob("*.py") if told or not p.is_relative_to(helpers / "atlas")}
    given = [
        WEIGHTS if told else WEIGHTS / model,
        Path(model).expanduser(),
        *(Path(word.partition("=")[2]) for word in words),
    ]
    outside = [path for path in given if path.name and path.exists()]
    data = [helpers / "data", *outside]
    files = {p for path in data for p in ([path] if path.is_file() else path.rglob("*"))}
    return sorted(code | {p for p in files if p.is_file()})


def words(value: str | Sequence[str] | None) -> list[str]:
    """Return a list of words, given as a list or as one string.

    Examples
    --------
    >>> words("n_facts=30 dataset='my facts'"), words(None)
    (['n_facts=30', 'dataset=my facts'], [])
    """
    return shlex.split(value) if isinstance(value, str) else [str(word) for word in value or []]


def check(
    names: Sequence[str], model: str, given: Iterable[str], models: Sequence[str] = ()
) -> None:
    """Refuse at once what would fail later; models on the hub are fetched.

    Raises
    ------
    UserError
        If a chapter does not exist, no chapter takes a parameter or its value, or there is no such
        model.
    """
    check_settings(names, given)
    for name in [model, *models]:
        if address.is_address(name):
            session.models(address.parse(name), address.limits())
        else:
            checkpoints.find(name)


def check_settings(names: Sequence[str], given: Iterable[str]) -> None:
    """Refuse chapters that do not exist, and settings that none of them takes.

    Raises
    ------
    UserError
        Naming the chapter, or the setting and one that is spelt much like it.
    """
    given, strange = list(given), set(given)
    for name in names or chapters():
        taken = fitting(name, given)
        settings.read(ROOT / "notebooks" / f"{name}.ipynb", taken)
        strange -= set(taken)
    if strange:
        settings.read(_nearest(names or chapters(), min(strange)), [min(strange)])


def fitting(chapter: str, given: Iterable[str]) -> list[str]:
    """Return the words among ``name=value`` that are not for other chapters alone.

    Raises
    ------
    UserError
        If there is no such chapter.
    """
    declared = settings.declared(ROOT / "notebooks" / f"{chapter}.ipynb")
    return [word for word in given if "=" not in word or word.partition("=")[0] in declared]


def _nearest(names: Sequence[str], word: str) -> Path:
    """Return the first chapter with a parameter named much like the word's, or else the first."""
    templates = [ROOT / "notebooks" / f"{name}.ipynb" for name in names]
    name = word.partition("=")[0]
    near = [t for t in templates if difflib.get_close_matches(name, settings.declared(t), n=1)]
    return (near or templates)[0]


def place(model: str, runs: Path) -> list[Path]:
    """Copy a model's executed chapters into ``book/chapters``, all or none; return the copies.

    Beside them goes the table of what their runs took.

    Raises
    ------
    UserError
        If a chapter of the book has not run on the model, or a cell of it failed or has not run.
    """
    folder = runs.resolve() / slug(model)
    ready = {}
    for name in chapters():
        synthesis = grid.kind(name) == "synthesis"
        place = folder.with_name(SYNTHESIS) if synthesis else folder
        ready[name] = _read(place / name / "notebook.ipynb", name, "" if synthesis else model)
    target = BOOK / "chapters"
    target.mkdir(exist_ok=True)
    for old in target.glob("*.ipynb"):
        old.unlink()
    for name, notebook in ready.items():
        nbformat.write(notebook, target / f"{name}.ipynb")
    (target / TIMES).write_text(timing.page(runs.resolve(), list(ready), model), encoding="utf-8")
    return [target / f"{name}.ipynb" for name in ready]


def _read(path: Path, chapter: str, model: str) -> nbformat.NotebookNode:
    """Return an executed notebook, ready to be rendered."""
    if not path.is_file():
        raise UserError(
            f"The chapter {chapter} has not run{f' on {model}' if model else ''}: "
            "run make book without CHAPTERS."
        )
    notebook = nbformat.read(path, as_version=4)
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type == "code" and cell.source.strip() and not _succeeded(cell):
            raise UserError(
                f"The chapter {chapter} cannot be rendered, cell {number} of {path} failed or has "
                f"not run: see {path.with_name('run.log')} and run make book again."
            )
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell.metadata.tags.append("hide-input")
            cell.metadata["mystnb"] = {"code_prompt_show": "The values of this run"}
    if notebook.metadata.get("papermill", {}).get("exception"):
        raise UserError(f"The chapter {chapter} cannot be rendered, its run failed: see {path}.")
    return notebook


def _succeeded(cell: nbformat.NotebookNode) -> bool:
    """Tell whether a code cell has run, and run to its end."""
    failed = cell.metadata.get("papermill", {}).get("exception")
    errors = any(output.output_type == "error" for output in cell.outputs)
    return cell.execution_count is not None and not failed and not errors


def render(log: Path) -> Path:
    """Render what is placed in the book, warnings being errors; return the first page.

    Raises
    ------
    UserError
        If jupyter-book stops; the sentence holds its first warning and names the log.
    """
    started = time.time()
    status, text = build("html", BOOK, log, ["-W", "-n", "--keep-going", "--all"])
    if status:
        lines = [line for line in text.splitlines() if re.search(r"WARNING|ERROR|Error:", line)]
        raise UserError(f"The pages were not rendered: {lines[0] if lines else 'see'} (log: {log})")
    page = HTML.with_name("times.html")
    if page.is_file():
        told = page.read_text(encoding="utf-8")
        told = told.replace(timing.RENDERING, f"{time.time() - started:.0f}")
        page.write_text(told, encoding="utf-8")
    return HTML


def build(builder: str, output: Path, log: Path, options: Sequence[str] = ()) -> tuple[int, str]:
    """Have jupyter-book make something of what is placed in the book.

    Parameters
    ----------
    builder : str
        ``html``, ``singlehtml`` or ``linkcheck``.
    output : Path
        The folder in which ``_build/<builder>`` is made.
    log : Path
        File for all that is printed.
    options : sequence of str
        Further options of ``jupyter-book build``.

    Returns
    -------
    int
        The exit status.
    str
        All that was printed.
    """
    tool = Path(sys.executable).with_name("jupyter-book")
    command = [tool, "build", "book", "--config", "_config.yml", "--path-output", output]
    command += ["--builder", builder, *options]
    here = os.environ | {"PYTHONPATH": str(ROOT)}  # the reference imports the helpers
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=ROOT, env=here, text=True, **streams)
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(text, encoding="utf-8")
    return done.returncode, text


def book(
    names: Sequence[str],
    model: str,
    given: Sequence[str],
    cores: int | None,
    runs: Path,
    models: Sequence[str] = (),
) -> None:
    """Check the settings, then let Snakemake repeat what changed and render the book.

    Parameters
    ----------
    names : sequence of str
        Chapters to run again where something changed; empty: all of them, on all models.
    model, models : str, sequence of str
        The model that the book shows; others for the comparisons, all bundled ones if empty.
    given : sequence of str
        Settings, as ``name=value``.
    cores : int or None
        Processor cores to keep busy; None: all of them.
    runs : Path
        The folder of the runs.

    Raises
    ------
    UserError
        The sentence of the first thing that failed, repeated after all that Snakemake prints.
    """
    check(names, model, given, models)
    config = {"model": model, "models": list(models), "set": list(given)}
    config |= {"chapters": list(names), "runs": str(runs)}
    with (
        tempfile.TemporaryDirectory() as folder,
        locks.alone([ROOT / ".snakemake", runs], "sweep or make book") as held,
    ):
        path = Path(folder) / "config.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        command = [sys.executable, "-m", "snakemake", "-s", "notebooks/Snakefile"]
        command += ["--cores", str(cores or all_cores()), "--configfile", str(path)]
        command += ["--nolock", "--rerun-incomplete", "--nocolor", "--quiet", *QUIET]
        status, errors = pass_through(command, held)
    if status:
        raise UserError(errors[0] if errors else f"Snakemake stopped ({status}), see above.")
    print(f"The book is ready: open {HTML.relative_to(ROOT)}", file=sys.stderr)


def all_cores() -> int:
    """Return the number of processor cores that this process may use."""
    own = getattr(os, "sched_getaffinity", None)  # not on every system
    return max(1, len(own(0)) if own else os.cpu_count() or 1)


def pass_through(command: list[str], held: Sequence[int]) -> tuple[int, list[str]]:
    """Run Snakemake in the project's folder, showing what matters; return its status and errors.

    The command keeps the locks while it runs, even where this process is killed.
    """
    errors = []
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    told = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "pass_fds": held}
    with subprocess.Popen(command, cwd=ROOT, text=True, env=environment, **told) as process:
        try:
            for line in process.stdout:
                if line.startswith("error: "):
                    errors.append(line.removeprefix("error: ").strip())
                elif not CHATTER.match(line):
                    print(line, end="", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            process.wait()  # Snakemake heard it too, and cleans up
            raise
    return process.returncode, errors
