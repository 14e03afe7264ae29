"""Place the executed chapters of one model in the book, and render its pages."""

import html
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import nbformat
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from book.tools import arrange, jobs, run_logs
from helpers import UserError, runs
from helpers.models.checkpoints import model_slug
from helpers.runs import PROJECT_FOLDER, SYNTHESIS, path_from_project
from notebooks.kit import findings

BOOK_FOLDER = PROJECT_FOLDER / "book"
FRONT_PAGE = BOOK_FOLDER / "_build" / "html" / "index.html"
RUN_TIMES_FILE = "times.txt"
APPENDIX_SUFFIX = (
    "_appendix"  # of a page's name: it has the tables of the chapter before it
)
TEXT_SUFFIXES = {
    ".html",
    ".ipynb",
    ".json",
    ".js",
    ".md",
    ".txt",
}  # what may name a folder
BOOK_CONFIG = PROJECT_FOLDER / "_config.yml"
SOLUTION_DIRECTIVE = re.compile(
    r"^(`{3,}|:{3,})\{solution\}.*?^\1 *$\n?", flags=re.MULTILINE | re.DOTALL
)


def chapter_names() -> list[str]:
    """Return the book's chapters in order: what stands under ``chapters/`` in its contents."""
    return [name for name in _listed() if not name.endswith(APPENDIX_SUFFIX)]


def _listed() -> list[str]:
    toc = (BOOK_FOLDER / "_toc.yml").read_text(encoding="utf-8")
    return re.findall(
        r"^\s*-?\s*file: chapters/(\S+?)(?:\.ipynb)?\s*$", toc, flags=re.MULTILINE
    )


def repository_url() -> str:
    """Return where the repository is, as the book's settings say; "" if they do not."""
    return yaml.safe_load(BOOK_CONFIG.read_text(encoding="utf-8"))["repository"]["url"]


def place_chapters(
    model: str, top: Path, why: Mapping[str, str] | None = None
) -> list[Path]:
    """Put a model's executed chapters into ``book/chapters``, and a page in place of each other."""
    folder, why = top.resolve() / model_slug(model), dict(why or {})
    ready, beside, found = {}, [], {}
    for name in chapter_names():
        synthesis = jobs.chapter_kind(name) == "synthesis"
        place = folder.with_name(SYNTHESIS) if synthesis else folder
        try:
            if name in why:
                raise UserError(why[name])
            ready[name] = _read(place / name / "notebook.ipynb", name, model)
            beside += [
                place / name / file for file in (findings.FINDINGS_FILE, "run.json")
            ]
            found[name] = findings.load_findings(place / name)
        except UserError as error:
            ready[name] = _stand_in(name, str(error))
    if hides_solutions():
        for notebook in ready.values():
            for cell in notebook.cells:
                if cell.cell_type == "markdown":
                    cell.source = SOLUTION_DIRECTIVE.sub("", cell.source)
    target = BOOK_FOLDER / "chapters"
    target.mkdir(exist_ok=True)
    for old in (*target.glob("*.ipynb"), *target.glob("*/*.json")):
        old.unlink()
    for name, notebook in ready.items():
        told = {
            one.claim: one
            for one in found.get(name, ())
            if one.decision != findings.UNDEFINED
        }
        said = {claim: one.sentence for claim, one in told.items()}
        page = arrange.page_with_finding_alt_texts(
            arrange.page_without_unfound_claims(notebook, told), said
        )
        decided = {claim: one.decision for claim, one in told.items()}
        page = arrange.page_with_finding_headings(
            page, findings.claim_wordings(name), decided
        )
        page = arrange.page_with_answer_first(page)
        if f"{name}{APPENDIX_SUFFIX}" in _listed():
            page, appendix = arrange.page_and_appendix(page)
            nbformat.write(appendix, target / f"{name}{APPENDIX_SUFFIX}.ipynb")
        nbformat.write(page, target / f"{name}.ipynb")
    for file in filter(Path.is_file, beside):
        (target / file.parent.name).mkdir(exist_ok=True)
        shutil.copy(file, target / file.parent.name)
    (target / RUN_TIMES_FILE).write_text(
        _times([folder, folder.with_name(SYNTHESIS)]), encoding="utf-8"
    )
    return [target / f"{name}.ipynb" for name in ready]


def _times(folders: Sequence[Path]) -> str:
    """Return what the shown runs took, as a table in Markdown."""
    lines = ["| chapter | seconds | memory, MiB |", "|---|---:|---:|"]
    where = set()
    for name in chapter_names():
        for folder in folders:
            if (folder / name / "run.json").is_file():
                told = runs.load_manifest(folder / name)
                figures = (
                    f"{told['seconds']:.0f} | {told['peak_memory_mib']['cpu']:.0f}"
                )
                lines.append(f"| {{doc}}`chapters/{name}` | {figures} |")
                where.add(told["device"])
    return "\n".join(
        [*lines, "", f"Measured on: {', '.join(sorted(where)) or 'unknown'}.", ""]
    )


def hides_solutions() -> bool:
    """Tell whether the book's settings leave out the solutions."""
    settings = yaml.safe_load(BOOK_CONFIG.read_text(encoding="utf-8"))
    return bool(settings["sphinx"]["config"].get("hide_solutions"))


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
                f"Cell {number} of {path_from_project(path)} failed or has not run: "
                f"see {path_from_project(path.with_name(run_logs.LOG_FILE_NAME))} and run make book again."
            )
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell.metadata.tags.append("hide-input")
            sides = ("code_prompt_show", "code_prompt_hide")
            cell.metadata["mystnb"] = dict.fromkeys(sides, "The values of this run")
    if notebook.metadata.get("papermill", {}).get("exception"):
        raise UserError(
            f"The run of {path_from_project(path)} failed: run make book again."
        )
    return notebook


def _stand_in(chapter: str, sentence: str) -> nbformat.NotebookNode:
    """Return a page with a chapter's title and question that says why the chapter is not there."""
    cells = nbformat.read(jobs.TEMPLATES / f"{chapter}.ipynb", as_version=4).cells
    text = next(
        (cell.source for cell in cells if cell.cell_type == "markdown"), f"# {chapter}"
    )
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
        part["id"] = (
            f"stand-in-{number}"  # else a random one, and the pages seem to change
        )
    return notebook


def _succeeded(cell: nbformat.NotebookNode) -> bool:
    """Tell whether a code cell has run, and run to its end."""
    failed = cell.metadata.get("papermill", {}).get("exception")
    errors = any(output.output_type == "error" for output in cell.outputs)
    return cell.execution_count is not None and not failed and not errors


def render_book(log: Path) -> Path:
    """Render what is placed in the book, warnings being errors; return the first page."""
    made, now = (
        FRONT_PAGE.with_name(".made_from"),
        jobs.files_digest(book_source_files()),
    )
    if made.is_file() and made.read_text() == now:
        return FRONT_PAGE
    made.unlink(missing_ok=True)
    status, text = run_jupyter_book(
        "html", BOOK_FOLDER, log, ["-W", "-n", "--keep-going", "--all"]
    )
    if status:
        lines = [
            line
            for line in text.splitlines()
            if re.search(r"WARNING|ERROR|Error:", line)
        ]
        raise UserError(
            f"The pages were not rendered: {lines[0] if lines else 'see'} (log: {log})"
        )
    _without_places(FRONT_PAGE.parent)
    made.write_text(now)
    return FRONT_PAGE


def _without_places(folder: Path) -> None:
    """Take out of what is published where it was made: the project's folder, and the user's."""
    own = [(re.compile(re.escape(f"{PROJECT_FOLDER}") + r"(?:/|(?=[\s\"'<&]))"), "")]
    own += [(re.compile(re.escape(f"{Path.home()}") + r"(?=[/\s\"'<&\\])"), "~")]
    for path in folder.rglob("*"):
        if path.suffix in TEXT_SUFFIXES and path.is_file():
            text = told = path.read_text(encoding="utf-8")
            for place, instead in own:
                told = place.sub(instead, told)
            if told != text:
                path.write_text(told, encoding="utf-8")


def book_source_files() -> set[Path]:
    """Return all that the pages are made of: the book, its settings, the notebooks, the package."""
    found = jobs.files_below(
        BOOK_FOLDER, BOOK_CONFIG, jobs.TEMPLATES, PROJECT_FOLDER / "helpers"
    )
    return {path for path in found if not path.is_relative_to(BOOK_FOLDER / "_build")}


def run_jupyter_book(
    builder: str, output: Path, log: Path, options: Sequence[str] = ()
) -> tuple[int, str]:
    """Have jupyter-book make something of what is placed in the book."""
    if (found := version("jupyter-book")).partition(".")[0] != "1":
        raise UserError(
            f"The pages need jupyter-book 1, and here is {found}: run make install."
        )
    tool = Path(sys.executable).with_name("jupyter-book")
    command = [
        tool,
        "build",
        "book",
        "--config",
        "_config.yml",
        "--path-output",
        output,
    ]
    command += ["--builder", builder, *options]
    here = os.environ | {
        "PYTHONPATH": str(PROJECT_FOLDER)
    }  # the reference imports the helpers
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=PROJECT_FOLDER, env=here, text=True, **streams)
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(text, encoding="utf-8")
    return done.returncode, text
