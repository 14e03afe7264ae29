"""What the finished run of a chapter holds, and what each of them must hold."""

import re
from html import unescape
from pathlib import Path

import nbformat
import pytest

from book.tools import chapters, settings
from helpers import UserError, findings, runs

KINDS = {".csv", ".md", ".tex"}  # of an exported table
KIND = re.compile("bootstrap|Wilson|Newcombe|Fisher|clustered")  # of an interval


def template(chapter: str) -> Path:
    """Return the notebook that a run of the chapter executes."""
    return chapters.TEMPLATES / f"{chapter}.ipynb"


def cells(notebook: Path) -> dict:
    """Return the cells of a notebook by their ids."""
    return {cell.id: cell for cell in nbformat.read(notebook, as_version=4).cells}


def executed(folder: Path) -> dict:
    """Return the executed cells of a run."""
    return cells(folder / "notebook.ipynb")


def outputs(folder: Path, kind: str) -> list[tuple[str, dict]]:
    """Return a run's outputs of one kind, such as "stream", each with the id of its cell."""
    found = [
        (name, out) for name, cell in executed(folder).items() for out in cell.get("outputs", [])
    ]
    return [(name, out) for name, out in found if out.output_type == kind]


def said(folder: Path, stream: str, cell: str | None = None) -> str:
    """Return what one cell of a run wrote to a stream, or all of them."""
    found = [(name, out) for name, out in outputs(folder, "stream") if out.name == stream]
    return "".join(out.text for name, out in found if cell in (None, name))


def printed(folder: Path, cell: str | None = None) -> str:
    """Return what one cell of a run printed, or all of them."""
    return said(folder, "stdout", cell)


def figures(notebook: Path) -> dict:
    """Return the cells of a notebook that show a figure with a caption."""
    return {
        name: cell
        for name, cell in cells(notebook).items()
        if "figure" in cell.metadata.get("mystnb", {})
    }


def drawn(folder: Path) -> set[str]:
    """Return the cells of a run that drew something, or said why there is nothing to draw."""
    made = outputs(folder, "display_data")
    return {n for n, out in made if "image/png" in out.data or 'class="nothing"' in str(out.data)}


def check(folder, words, n_figures, tables=frozenset()) -> None:
    """Assert what holds for every finished run, given the words that set its parameters.

    It recorded all its parameters and named model and data; nothing warned; each figure has its
    text for those who do not see, and is drawn, or a sentence says why not; each
    table is exported in all kinds, and names the kind of its intervals if it has any; each finding
    is said where it is shown and again in the end, and the main ones in the beginning.
    """
    check_manifest(folder, words)
    assert warnings(folder) == []
    found = figures(folder / "notebook.ipynb")
    assert set(found) == set(figures(template(folder.name)))
    assert len(found) >= n_figures
    assert all(cell.metadata["mystnb"]["image"]["alt"].strip() for cell in found.values())
    assert set(found) <= drawn(folder)
    exported = {path.stem for path in (folder / "tables").iterdir()}
    assert tables <= exported
    for name in exported:
        assert {path.suffix for path in (folder / "tables").glob(f"{name}.*")} == KINDS, name
    assert unnamed_intervals(folder) == []
    check_findings(folder)


def pages(folder: Path) -> list[str]:
    """Return what a run shows as HTML, in order."""
    outs = [out for kind in ("display_data", "execute_result") for out in outputs(folder, kind)]
    return [out.data["text/html"] for _, out in outs if "text/html" in out.data]


def unnamed_intervals(folder: Path) -> list[str]:
    """Return the captions of tables that hold intervals and do not say of which kind."""
    tables = re.findall("<table.*?</table>", "".join(pages(folder)), re.DOTALL)
    tables = [table for table in tables if re.search(r">-?[\d.]+ \[-?[\d.]+, ", table)]
    captions = [unescape(re.findall(r"<caption>(.*?)</caption>", table)[0]) for table in tables]
    return [caption for caption in captions if not KIND.search(caption)]


def check_findings(folder: Path) -> None:
    """Assert that a run saved its findings, and that its page says them twice at least."""
    kept = findings.load(folder)
    assert kept
    shown = [unescape(page) for page in pages(folder)]
    for finding in kept:
        assert sum(finding.sentence in page for page in shown) >= 2, finding.claim  # summary, too
        assert "{" not in finding.sentence
        assert "nan" not in finding.sentence.split()
    assert not [page for page in shown if "findings follow when the run is done" in page]


def check_manifest(folder: Path, words: list[str]) -> None:
    """Assert that a run recorded its parameters and what it stood on."""
    told, declared = runs.manifest(folder), settings.declared(template(folder.name))
    assert set(told["parameters"]) == set(declared)
    given = settings.read(template(folder.name), words)
    assert {name: told["parameters"][name] for name in given} == given
    if "model" in declared:
        assert len(told["model"]["weights_sha"]) == 64
        assert {len(part) for part in told["dataset"]["checksum"].split("; ")} == {64}
    else:
        assert told["kind"] == "synthesis"
        assert folder.parent.name == "synthesis"
        assert not (folder / "answers.parquet").exists()


def warnings(folder: Path) -> list[str]:
    """Return the warnings of a run."""
    return [line for line in said(folder, "stderr").splitlines() if "Warning" in line]


def refused(chapter: str, model: str, words: list[str], folder: Path) -> str:
    """Run a chapter that must stop in a cell; return the one sentence that says why.

    The notebook with the traceback is kept under the name of a failed one, and under no other.
    """
    with pytest.raises(UserError) as caught:
        chapters.run(chapter, model, words, folder)
    told = str(caught.value)
    assert "\n" not in told
    assert "Traceback" not in told
    assert "Error:" not in told
    assert [path.parent.name for path in folder.rglob("failed.ipynb")] == [chapter]
    assert not list(folder.rglob("notebook.ipynb"))
    return told
