"""Make the book of one model: have its chapters run, place them in the book, render the pages."""

import difflib
import html
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import nbformat
import pandas as pd
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from helpers import UserError
from helpers.models import address, checkpoints
from helpers.models.checkpoints import slug
from helpers.models.server import session
from helpers.publishing import (
    checksums,
    grid,
    live,
    locks,
    noise,
    settings,
    state,
    timing,
    workflow,
)
from helpers.publishing.grid import TEMPLATES
from helpers.runs import ROOT, SYNTHESIS, shown
from helpers.studies import suitability

BOOK = ROOT / "book"
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


def check(
    names: Sequence[str], model: str, given: Iterable[str], models: Sequence[str] = ()
) -> None:
    """Refuse at once what would fail later; models on the hub are fetched."""
    given = list(given)
    check_settings(names, given)
    trusted = "trust_remote_code=yes" in given
    for name in [model, *models]:
        if address.is_address(name):
            session.models(address.parse(name), address.limits())
        else:
            checkpoints.find(name, code=trusted)


def check_settings(names: Sequence[str], given: Iterable[str]) -> None:
    """Refuse chapters that do not exist, and settings that none of them takes."""
    given, strange = list(given), set(given)
    for name in names or chapters():
        taken = grid.fitting(name, given)
        settings.read(ROOT / "notebooks" / f"{name}.ipynb", taken)
        strange -= set(taken)
    if strange:
        settings.read(_nearest(names or chapters(), min(strange)), [min(strange)])


def suited(names: Sequence[str], given: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the chapters that can be run on their data, and for each other a sentence why not."""
    why = {}
    for name in names:
        template = TEMPLATES / f"{name}.ipynb"
        taken = settings.declared(template)
        taken |= settings.read(template, grid.fitting(name, given))
        if "dataset" in taken:
            why[name] = suitability.unsuited(name, taken["dataset"], taken.get("relations", ()))
    why = {name: sentence for name, sentence in why.items() if sentence}
    kept = [name for name in names if name not in why]
    for name, sentence in why.items():
        print(f"The chapter {name} is left out: {sentence}", file=sys.stderr)
    if why and all(grid.kind(name) == "synthesis" for name in kept):
        raise UserError(f"No chapter can be run: {next(iter(why.values()))}")
    return kept, why


def _nearest(names: Sequence[str], word: str) -> Path:
    """Return the first chapter with a parameter named much like the word's, or else the first."""
    templates = [ROOT / "notebooks" / f"{name}.ipynb" for name in names]
    name = word.partition("=")[0]
    near = [t for t in templates if difflib.get_close_matches(name, settings.declared(t), n=1)]
    return (near or templates)[0]


def place(model: str, runs: Path, why: Mapping[str, str] | None = None) -> list[Path]:
    """Put a model's executed chapters into ``book/chapters``, and a page in place of each other.

    Beside them goes the table of what their runs took.
    """
    folder, why = runs.resolve() / slug(model), dict(why or {})
    ready = {}
    for name in chapters():
        synthesis = grid.kind(name) == "synthesis"
        place = folder.with_name(SYNTHESIS) if synthesis else folder
        try:
            if name in why:
                raise UserError(why[name])
            ready[name] = _read(place / name / "notebook.ipynb", name, model)
        except UserError as error:
            ready[name] = _stand_in(name, str(error))
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
            f"This chapter has not run for {model}. To add it: "
            f"make book MODEL={shlex.quote(model)} CHAPTERS={chapter}"
        )
    notebook = nbformat.read(path, as_version=4)
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type == "code" and cell.source.strip() and not _succeeded(cell):
            raise UserError(
                f"Cell {number} of {shown(path)} failed or has not run: "
                f"see {shown(path.with_name('run.log'))} and run make book again."
            )
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell.metadata.tags.append("hide-input")
            cell.metadata["mystnb"] = {"code_prompt_show": "The values of this run"}
    if notebook.metadata.get("papermill", {}).get("exception"):
        raise UserError(f"The run of {shown(path)} failed: run make book again.")
    return notebook


def _stand_in(chapter: str, sentence: str) -> nbformat.NotebookNode:
    """Return a page with a chapter's title and question that says why the chapter is not there."""
    cells = nbformat.read(grid.TEMPLATES / f"{chapter}.ipynb", as_version=4).cells
    text = next((cell.source for cell in cells if cell.cell_type == "markdown"), f"# {chapter}")
    head = "\n\n".join(text.split("\n\n")[:2])  # its label and title, and the question
    # an output, not Markdown: what a model's name or an error holds is shown as it is
    box = (
        f'<div class="admonition warning"><p class="admonition-title">Not in this book</p>'
        f"<p>{html.escape(sentence)}</p></div>"
    )
    output = new_output("display_data", {"text/html": box, "text/plain": sentence})
    cell = new_code_cell("...", execution_count=1, outputs=[output])
    cell.metadata["tags"] = ["remove-input"]
    notebook = new_notebook(cells=[new_markdown_cell(head), cell])
    for number, part in enumerate(notebook.cells):
        part["id"] = f"stand-in-{number}"  # else a random one, and the pages seem to change
    return notebook


def _succeeded(cell: nbformat.NotebookNode) -> bool:
    """Tell whether a code cell has run, and run to its end."""
    failed = cell.metadata.get("papermill", {}).get("exception")
    errors = any(output.output_type == "error" for output in cell.outputs)
    return cell.execution_count is not None and not failed and not errors


def render(log: Path) -> Path:
    """Render what is placed in the book, warnings being errors; return the first page.

    Where nothing has changed since the last time, the pages stay as they are.
    """
    started, made = time.time(), HTML.with_name(".made_from")
    placed = (BOOK / "chapters").iterdir()
    now = checksums.digest(
        [ROOT / "_config.yml", *prose(), *placed, *state.sources(live.MODEL, [])]
    )
    if made.is_file() and made.read_text() == now:
        return HTML
    made.unlink(missing_ok=True)
    status, text = build("html", BOOK, log, ["-W", "-n", "--keep-going", "--all"])
    if status:
        lines = [line for line in text.splitlines() if re.search(r"WARNING|ERROR|Error:", line)]
        raise UserError(f"The pages were not rendered: {lines[0] if lines else 'see'} (log: {log})")
    page = HTML.with_name("times.html")
    if page.is_file():
        told = page.read_text(encoding="utf-8")
        told = told.replace(timing.RENDERING, f"{time.time() - started:.0f}")
        page.write_text(told, encoding="utf-8")
    made.write_text(now)
    return HTML


def build(builder: str, output: Path, log: Path, options: Sequence[str] = ()) -> tuple[int, str]:
    """Have jupyter-book make something of what is placed in the book."""
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
    """Run what is missing or out of date, and render the book, whatever becomes of the runs."""
    check(names, model, given, models)
    runs = runs.resolve()
    kept, why = suited(names or chapters(), given)
    jobs = grid.jobs(kept, model, [model] if names else models, given)
    readers = [job for job in jobs if grid.reads_runs(job.chapter)]
    first = [job for job in jobs if job not in readers]
    if any(job.chapter == "comparison" for job in readers):
        known = checkpoints.bundled()  # of a large model the floor would cost too much
        first.append(noise.job(model if model in known else min(known, default=model)))
    with locks.alone([ROOT / ".snakemake", runs], "sweep or make book") as held:
        table = workflow.make(first, runs, held, cores)
        table = pd.concat([table, workflow.make(readers, runs, held, cores)])
        wrong = table[table["state"] != "done"]
        shown_runs = {
            f"{place}/{name}": name for name in kept for place in (slug(model), SYNTHESIS)
        }
        failed = wrong[wrong["run"].isin(shown_runs)]
        why |= dict(zip(failed["run"].map(shown_runs), failed["why"]))
        place(model, runs, why)
        render(runs / slug(model) / "book.log")
    print(f"The book is ready: open {HTML.relative_to(ROOT)}", file=sys.stderr)
    if len(wrong):
        told = "; ".join(wrong["run"] + ": " + wrong["why"])
        raise UserError(
            f"{len(wrong)} of {len(table)} runs failed, and the book says so in their place. {told}"
        )
