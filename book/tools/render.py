"""Place the executed chapters of one model in the book, and render its pages."""

import html
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import nbformat
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from book.tools import arrange, jobs, run_logs
from book.tools.run_logs import TERMINAL_COLOURS
from helpers import UserError, runs
from helpers.models.checkpoints import model_slug
from helpers.prompts import prompt_formats
from helpers.runs import PROJECT_FOLDER, SYNTHESIS, path_from_project
from notebooks.kit import findings

BOOK_FOLDER = PROJECT_FOLDER / "book"
FRONT_PAGE = BOOK_FOLDER / "_build" / "html" / "index.html"
RUN_TIMES_FILE = "times.txt"
# Of a page's name: it has the tables of the chapter before it.
APPENDIX_SUFFIX = "_appendix"
# Of files that may name a folder.
TEXT_SUFFIXES = {".html", ".ipynb", ".json", ".js", ".md", ".txt"}
BOOK_CONFIG = PROJECT_FOLDER / "_config.yml"
FAULT_OF_SPHINX = re.compile(r"WARNING|ERROR|Error:")
SOLUTION_DIRECTIVE = re.compile(
    r"^(`{3,}|:{3,})\{solution\}.*?^\1 *$\n?", flags=re.MULTILINE | re.DOTALL
)


def chapter_names() -> list[str]:
    """Return the chapters in order: what the contents have under ``chapters/``."""
    return [name for name in _page_names() if not name.endswith(APPENDIX_SUFFIX)]


def _page_names() -> list[str]:
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
    """Put a model's chapters into ``book/chapters``, and a page in place of each other.

    ``why`` has a sentence for each chapter that is left out.
    """
    reasons = why or {}
    model_folder = top.resolve() / model_slug(model)
    synthesis_folder = model_folder.with_name(SYNTHESIS)
    notebooks = {}
    files_beside: list[Path] = []
    run_findings: dict[str, list[findings.Finding]] = {}
    for name in chapter_names():
        synthesis = jobs.chapter_kind(name) == "synthesis"
        run = (synthesis_folder if synthesis else model_folder) / name
        try:
            if name in reasons:
                raise UserError(reasons[name])
            notebooks[name] = _executed_notebook(run / "notebook.ipynb", name, model)
            files_beside += [run / findings.FINDINGS_FILE, run / "run.json"]
            run_findings[name] = findings.load_findings(run)
        except UserError as error:
            notebooks[name] = _stand_in_page(name, str(error))
    if hides_solutions():
        for notebook in notebooks.values():
            _remove_solutions(notebook)
    models_of_book = [model, *_models_of_runs(files_beside)]
    target = BOOK_FOLDER / "chapters"
    _clear_chapters(target)
    for name, notebook in notebooks.items():
        _remove_folders(notebook, models_of_book)
        page = _arranged_page(name, notebook, run_findings.get(name, []))
        appendix_name = f"{name}{APPENDIX_SUFFIX}"
        if appendix_name in _page_names():
            page, appendix = arrange.page_and_appendix(page)
            nbformat.write(appendix, target / f"{appendix_name}.ipynb")
        nbformat.write(page, target / f"{name}.ipynb")
    for file in files_beside:
        if file.is_file():
            copy = target / file.parent.name / file.name
            copy.parent.mkdir(exist_ok=True)
            text = file.read_text(encoding="utf-8")
            text = _text_without_folders(text, models_of_book)
            copy.write_text(text, encoding="utf-8")
    times = _times_markdown([model_folder, synthesis_folder])
    (target / RUN_TIMES_FILE).write_text(times, encoding="utf-8")
    return [target / f"{name}.ipynb" for name in notebooks]


def _remove_solutions(notebook: nbformat.NotebookNode) -> None:
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = SOLUTION_DIRECTIVE.sub("", cell.source)


def _clear_chapters(target: Path) -> None:
    """Remove the chapters that an earlier book left, and what lay beside them."""
    target.mkdir(exist_ok=True)
    for old in (*target.glob("*.ipynb"), *target.glob("*/*.json")):
        old.unlink()


def _arranged_page(
    name: str,
    notebook: nbformat.NotebookNode,
    run_findings: Sequence[findings.Finding],
) -> nbformat.NotebookNode:
    """Return a chapter with what its run found in headings and alternative texts."""
    sentences = {}
    decisions = {}
    for finding in run_findings:
        if finding.decision != findings.UNDEFINED:
            sentences[finding.claim] = finding.sentence
            decisions[finding.claim] = finding.decision
    page = arrange.page_without_unfound_claims(notebook, sentences)
    page = arrange.page_with_finding_alt_texts(page, sentences)
    wordings = findings.claim_wordings(name)
    page = arrange.page_with_finding_headings(page, wordings, decisions)
    return arrange.page_with_answer_first(page)


def _times_markdown(folders: Sequence[Path]) -> str:
    """Return what the shown runs took, as a table in Markdown."""
    lines = ["| chapter | seconds | memory, MiB |", "|---|---:|---:|"]
    devices = set()
    for name in chapter_names():
        for folder in folders:
            if (folder / name / "run.json").is_file():
                manifest = runs.load_manifest(folder / name)
                seconds = manifest["seconds"]
                memory = manifest["peak_memory_mib"]["cpu"]
                lines.append(
                    f"| {{doc}}`chapters/{name}` | {seconds:.0f} | {memory:.0f} |"
                )
                devices.add(manifest["device"])
    named_devices = ", ".join(sorted(devices)) or "unknown"
    lines += ["", f"Measured on: {named_devices}.", ""]
    return "\n".join(lines)


def hides_solutions() -> bool:
    """Tell whether the book's settings leave out the solutions."""
    settings = yaml.safe_load(BOOK_CONFIG.read_text(encoding="utf-8"))
    return bool(settings["sphinx"]["config"].get("hide_solutions"))


def _executed_notebook(path: Path, chapter: str, model: str) -> nbformat.NotebookNode:
    """Return an executed notebook, ready to be rendered."""
    if not path.is_file():
        title = prompt_formats.model_title(model)
        name = model
        if Path(model).expanduser().exists():  # a folder of this machine alone
            name = _public_place(model)
        raise UserError(
            f"This chapter has not run for {title}. To add it: "
            f"make book MODEL={shlex.quote(name)} CHAPTERS={chapter}"
        )
    notebook = nbformat.read(path, as_version=4)
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type == "code" and cell.source.strip() and not _succeeded(cell):
            log = path_from_project(path.with_name(run_logs.LOG_FILE_NAME))
            raise UserError(
                f"Cell {number} of {path_from_project(path)} failed or has not run: "
                f"see {log} and run make book again."
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


def _models_of_runs(paths: Iterable[Path]) -> list[str]:
    """Return the names of all models that the runs of these manifests asked or read."""
    names = []
    for path in paths:
        if path.name != "run.json" or not path.is_file():
            continue
        manifest = runs.load_manifest(path.parent)
        asked = manifest.get("model") or {}
        names += [asked.get("name"), asked.get("base"), *manifest.get("models", [])]
        names += [run["model"] for run in manifest.get("read", [])]
    return [str(name) for name in names if name]


def _public_place(model: str) -> str:
    """Return how a page names a model's folder on this machine."""
    return f"path/to/{Path(model).expanduser().resolve().name}"


def _text_without_folders(text: str, models: Iterable[str]) -> str:
    """Return a text without the folders of models that were named by a whole path."""
    for model in dict.fromkeys(models):
        if model.startswith(("/", "~")):
            folder = re.escape(model.rstrip("/"))
            whole = rf"(?<![\w./~-]){folder}(?![\w-]|\.\w)"
            text = re.sub(whole, _public_place(model), text)
    return text


def _remove_folders(notebook: nbformat.NotebookNode, models: Sequence[str]) -> None:
    """Take out of a chapter the folders of models that were named by a whole path."""
    for cell in notebook.cells:
        cell.source = _text_without_folders(cell.source, models)
        for output in cell.get("outputs", []):
            if "text" in output:
                output.text = _text_without_folders(output.text, models)
            data = output.get("data", {})
            for kind, value in data.items():
                if kind.startswith("text/") and isinstance(value, str):
                    data[kind] = _text_without_folders(value, models)


def _stand_in_page(chapter: str, sentence: str) -> nbformat.NotebookNode:
    """Return a page with a chapter's title and question, and why it is not there."""
    cells = nbformat.read(jobs.TEMPLATES / f"{chapter}.ipynb", as_version=4).cells
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    text = texts[0] if texts else f"# {chapter}"
    head = "\n\n".join(text.split("\n\n")[:2])  # its label and title, and the question
    # an output, not Markdown: what a model's name or an error holds is shown as it is
    box = (
        '<div class="admonition warning">'
        '<p class="admonition-title">Not in this book</p>'
        f"<p>{html.escape(sentence)}</p></div>"
    )
    output = new_output("display_data", {"text/html": box, "text/plain": sentence})
    cell = new_code_cell("...", execution_count=1, outputs=[output])
    cell.metadata["tags"] = ["remove-input"]
    notebook = new_notebook(cells=[new_markdown_cell(head), cell])
    for number, part in enumerate(notebook.cells):
        # Else a random one, and the pages seem to change.
        part["id"] = f"stand-in-{number}"
    return notebook


def _succeeded(cell: nbformat.NotebookNode) -> bool:
    """Tell whether a code cell has run, and run to its end."""
    failed = cell.metadata.get("papermill", {}).get("exception")
    errors = any(output.output_type == "error" for output in cell.outputs)
    return cell.execution_count is not None and not failed and not errors


def render_book(log: Path) -> Path:
    """Render what is placed in the book, warnings as errors; return the first page."""
    digest_file = FRONT_PAGE.with_name(".made_from")
    digest = jobs.files_digest(book_source_files())
    if digest_file.is_file() and digest_file.read_text() == digest:
        return FRONT_PAGE
    digest_file.unlink(missing_ok=True)
    options = ["-W", "-n", "--keep-going", "--all"]
    status, text = run_jupyter_book("html", BOOK_FOLDER, log, options)
    if status:
        faults = [line for line in text.splitlines() if FAULT_OF_SPHINX.search(line)]
        first = faults[0] if faults else "see"
        raise UserError(f"The pages were not rendered: {first} (log: {log})")
    _remove_local_paths(FRONT_PAGE.parent)
    digest_file.write_text(digest)
    return FRONT_PAGE


def _remove_local_paths(folder: Path) -> None:
    """Take the project's and the user's folder out of what is published."""
    project = re.compile(re.escape(f"{PROJECT_FOLDER}") + r"(?:/|(?=[\s\"'<&]))")
    home = re.compile(re.escape(f"{Path.home()}") + r"(?=[/\s\"'<&\\])")
    for path in folder.rglob("*"):
        if path.suffix in TEXT_SUFFIXES and path.is_file():
            text = path.read_text(encoding="utf-8")
            cleaned = home.sub("~", project.sub("", text))
            if cleaned != text:
                path.write_text(cleaned, encoding="utf-8")


def book_source_files() -> set[Path]:
    """Return what pages are made of: the book, its settings, notebooks, the package."""
    files = jobs.files_below(
        BOOK_FOLDER, BOOK_CONFIG, jobs.TEMPLATES, PROJECT_FOLDER / "helpers"
    )
    return {path for path in files if not path.is_relative_to(BOOK_FOLDER / "_build")}


def run_jupyter_book(
    builder: str, output: Path, log: Path, options: Sequence[str] = ()
) -> tuple[int, str]:
    """Have jupyter-book make something of what is placed in the book."""
    installed = version("jupyter-book")
    major, _, _ = installed.partition(".")
    if major != "1":
        raise UserError(
            f"The pages need jupyter-book 1, and here is {installed}: run make install."
        )
    tool = Path(sys.executable).with_name("jupyter-book")
    command = [str(tool), "build", "book", "--config", "_config.yml"]
    command += ["--path-output", str(output), "--builder", builder, *options]
    # The reference imports the helpers.
    environment = os.environ | {"PYTHONPATH": str(PROJECT_FOLDER)}
    done = subprocess.run(
        command,
        cwd=PROJECT_FOLDER,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    text = TERMINAL_COLOURS.sub("", done.stdout)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(text, encoding="utf-8")
    return done.returncode, text
