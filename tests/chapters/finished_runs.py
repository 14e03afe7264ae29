"""What the finished run of a chapter holds, and what each of them must hold."""

import re
from collections.abc import Iterable
from html import unescape
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from book.tools import chapters, parameters
from helpers import UserError, runs
from notebooks.kit import findings

TABLE_SUFFIXES = {".csv", ".md", ".tex"}  # of an exported table
INTERVAL_KIND = re.compile(
    "bootstrap|Wilson|Newcombe|Fisher|clustered"
)  # of an interval


def template_path(chapter: str) -> Path:
    """Return the notebook that a run of the chapter executes."""
    return chapters.TEMPLATES / f"{chapter}.ipynb"


def run(chapter: str, model: str, words: Iterable[str], folder: Path) -> Path:
    """Execute a chapter with settings as a user writes them, and return its run's folder."""
    settings = parameters.settings_of_chapters([template_path(chapter)], words)
    return chapters.run_chapter(chapter, model, settings, folder)


def fitting(chapter: str, words: Iterable[str]) -> list[str]:
    """Return the words that set parameters of a chapter."""
    known = parameters.declared_parameters(template_path(chapter))
    return [word for word in words if word.partition("=")[0] in known]


def executed_cells(folder: Path) -> dict:
    """Return the executed cells of a run, by their ids."""
    return {
        cell.id: cell
        for cell in nbformat.read(folder / "notebook.ipynb", as_version=4).cells
    }


def cell_outputs(folder: Path, kind: str) -> list[tuple[str, dict]]:
    """Return a run's outputs of one kind, such as "stream", each with the id of its cell."""
    found = [
        (name, out)
        for name, cell in executed_cells(folder).items()
        for out in cell.get("outputs", [])
    ]
    return [(name, out) for name, out in found if out.output_type == kind]


def stream_text(folder: Path, stream: str, cell: str | None = None) -> str:
    """Return what one cell of a run wrote to a stream, or all of them."""
    found = [
        (name, out)
        for name, out in cell_outputs(folder, "stream")
        if out.name == stream
    ]
    return "".join(out.text for name, out in found if cell in (None, name))


def printed_text(folder: Path, cell: str | None = None) -> str:
    """Return what one cell of a run printed, or all of them."""
    return stream_text(folder, "stdout", cell)


def markdown_text(folder: Path) -> str:
    cells = executed_cells(folder).values()
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def figure_cells(notebook: Path) -> dict:
    """Return the cells of a notebook that show a figure with a caption."""
    cells = nbformat.read(notebook, as_version=4).cells
    return {
        cell.id: cell for cell in cells if "figure" in cell.metadata.get("mystnb", {})
    }


def drawn_cell_names(folder: Path) -> set[str]:
    """Return the cells of a run that drew something, or said why there is nothing to draw."""
    made = cell_outputs(folder, "display_data")
    return {
        n
        for n, out in made
        if "image/png" in out.data or 'class="nothing"' in str(out.data)
    }


def check_finished_run(folder, words, tables=frozenset()) -> None:
    """Assert what holds for every finished run, given the words that set its parameters.

    It recorded all its parameters and named model and data; nothing warned; each figure
    has its text for those who do not see, and is drawn, or a sentence says why not;
    each table is exported in all kinds, and names the kind of its intervals if it has
    any; each claim of the chapter is a finding, said where it is shown and again in the
    end, and a row of everything compared.
    """
    check_manifest(folder, words)
    assert [
        line for line in stream_text(folder, "stderr").splitlines() if "Warning" in line
    ] == []
    shown = figure_cells(folder / "notebook.ipynb")
    assert set(shown) == set(figure_cells(template_path(folder.name)))
    assert all(
        cell.metadata["mystnb"]["image"]["alt"].strip() for cell in shown.values()
    )
    assert set(shown) <= drawn_cell_names(folder)
    exported = {path.stem for path in (folder / "tables").iterdir()}
    assert {"compared", *tables} <= exported
    for name in exported:
        assert {
            path.suffix for path in (folder / "tables").glob(f"{name}.*")
        } == TABLE_SUFFIXES, name
    tabled = re.findall("<table.*?</table>", "".join(html_outputs(folder)), re.DOTALL)
    tabled = [table for table in tabled if re.search(r">-?[\d.]+ \[-?[\d.]+, ", table)]
    captions = [
        unescape(re.findall(r"<caption>(.*?)</caption>", page)[0]) for page in tabled
    ]
    assert [caption for caption in captions if not INTERVAL_KIND.search(caption)] == []
    check_findings(folder)


def check_findings(folder: Path) -> None:
    """Assert that a run saved its findings, and that its page says them twice at least."""
    found = {finding.claim: finding for finding in findings.load_findings(folder)}
    assert set(found) == set(findings.claim_wordings(folder.name))
    compared = set(pd.read_csv(folder / "tables" / "compared.csv")["what"])
    assert {claim.replace("_", " ") for claim in found} <= compared
    shown = [unescape(page) for page in html_outputs(folder)]
    for finding in found.values():
        assert sum(finding.sentence in page for page in shown) >= 2, (
            finding.claim
        )  # summary, too
        assert not {"nan", "{"} & {*finding.sentence.split(), *finding.sentence}
    assert not [
        page for page in shown if "findings follow when the run is done" in page
    ]


def html_outputs(folder: Path) -> list[str]:
    """Return what a run shows as HTML, in order."""
    outs = [
        out
        for kind in ("display_data", "execute_result")
        for out in cell_outputs(folder, kind)
    ]
    return [out.data["text/html"] for _, out in outs if "text/html" in out.data]


def check_manifest(folder: Path, words: list[str]) -> None:
    """Assert that a run recorded its parameters and what it stood on."""
    told, declared = (
        runs.load_manifest(folder),
        parameters.declared_parameters(template_path(folder.name)),
    )
    assert set(told["parameters"]) == set(declared)
    settings = parameters.settings_of_chapters([template_path(folder.name)], words)
    assert {name: told["parameters"][name] for name in settings} == settings
    if "model" in declared:
        assert len(told["model"]["weights_sha"]) == 64
        assert {len(part) for part in told["dataset"]["checksum"].split("; ")} == {64}
    else:
        assert told["kind"] == "synthesis"
        assert folder.parent.name == "synthesis"
        assert not (folder / "answers.parquet").exists()


def refusal_sentence(chapter: str, model: str, words: list[str], folder: Path) -> str:
    """Run a chapter that must stop in a cell; return the one sentence that says why.

    The notebook with the traceback is kept under the name of a failed one, and under no
    other.
    """
    with pytest.raises(UserError) as caught:
        run(chapter, model, words, folder)
    told = str(caught.value)
    assert "\n" not in told
    assert "Traceback" not in told
    assert "Error:" not in told
    assert [path.parent.name for path in folder.rglob("failed.ipynb")] == [chapter]
    assert not list(folder.rglob("notebook.ipynb"))
    return told
