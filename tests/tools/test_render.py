"""Tests of book.tools.render: placing executed chapters, and pages in place of others."""

import json
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from book.tools import jobs, render
from book.tools.course import exercises
from helpers import UserError


def executed(path: Path, **changes) -> Path:
    """Write a notebook that looks executed, but for the changes to its second code cell."""
    cells = [new_code_cell(str(n), execution_count=n) for n in (1, 2)]
    cells[0].metadata["tags"] = ["injected-parameters"]
    cells[1].update(changes)
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=cells), path)
    return path


@pytest.fixture
def book(tmp_path, monkeypatch):
    folder = tmp_path / "book"
    folder.mkdir()
    (folder / "_toc.yml").write_text(
        "chapters:\n  - file: chapters/monitor\n  - file: data\n"
    )
    monkeypatch.setattr(render, "BOOK_FOLDER", folder)
    return folder


def test_place_copies_the_models_chapters_and_drops_old_ones(tmp_path, book):
    executed(tmp_path / "runs" / "m" / "monitor" / "notebook.ipynb")
    (book / "chapters").mkdir()
    (book / "chapters" / "old.ipynb").write_text("{}")
    copies = render.place_chapters("m", tmp_path / "runs")
    assert copies == [book / "chapters" / "monitor.ipynb"]
    assert [path.name for path in (book / "chapters").glob("*.ipynb")] == [
        "monitor.ipynb"
    ]
    injected = nbformat.read(copies[0], as_version=4).cells[0]
    assert "hide-input" in injected.metadata.tags


@pytest.mark.parametrize("hidden", [False, True])
def test_solutions_are_left_out_where_the_settings_say_so(
    tmp_path, book, monkeypatch, hidden
):
    config = tmp_path / "_config.yml"
    config.write_text(f"sphinx:\n  config:\n    hide_solutions: {hidden}\n")
    monkeypatch.setattr(render, "BOOK_CONFIG", config)
    template = jobs.TEMPLATES / "monitor.ipynb"
    notebook = nbformat.read(template, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.execution_count = 1
    path = tmp_path / "runs" / "m" / "monitor" / "notebook.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    (copy,) = render.place_chapters("m", tmp_path / "runs")
    text, found = page(copy), exercises.read_exercises(template)
    assert len(found) == text.count("{exercise}")
    assert all(one.test in text for one in found)
    assert text.count("{solution}") == (0 if hidden else len(found))
    assert [one.label for one in found if one.notes.splitlines()[-1] in text] == (
        [] if hidden else [one.label for one in found]
    )
    assert "## What to do differently" in text


ERROR = nbformat.v4.new_output("error", ename="ValueError", evalue="no", traceback=[])


def page(path: Path) -> str:
    """Return what a placed notebook says: its sources, and its outputs as HTML."""
    cells = nbformat.read(path, as_version=4).cells
    shown = [
        out.data["text/html"]
        for c in cells
        for out in c.get("outputs", [])
        if "data" in out
    ]
    return "\n".join([*(cell.source for cell in cells), *shown])


@pytest.mark.parametrize(
    "changes",
    [
        {"execution_count": None},
        {"outputs": [ERROR]},
        {"metadata": {"papermill": {"exception": True}}},
    ],
)
def test_a_chapter_that_failed_or_was_not_executed_has_a_page_that_says_so(
    tmp_path, book, changes
):
    path = executed(tmp_path / "runs" / "m" / "monitor" / "notebook.ipynb", **changes)
    (copy,) = render.place_chapters("m", tmp_path / "runs")
    assert re.search(r"Cell 2 of .* failed or has not run: see .*run\.log", page(copy))
    notebook = nbformat.read(executed(path), 4)
    notebook.metadata["papermill"] = {
        "exception": True
    }  # as papermill calls one that failed
    nbformat.write(notebook, path)
    (copy,) = render.place_chapters("m", tmp_path / "runs")
    assert "failed: run make book again" in page(copy)


def test_a_page_in_place_of_a_chapter_keeps_its_title_and_escapes_the_reason(
    tmp_path, book
):
    executed(tmp_path / "runs" / "m" / "monitor" / "notebook.ipynb")
    (copy,) = render.place_chapters(
        "m", tmp_path / "runs", {"monitor": "It said <script>."}
    )
    text = page(copy)
    template = (jobs.TEMPLATES / "monitor.ipynb").read_text(encoding="utf-8")
    opening = "".join(json.loads(template)["cells"][0]["source"])
    assert opening.startswith("(monitor)=\n# Is a known fact stable?\n\n")
    assert text.startswith(opening)
    assert "It said &lt;script&gt;." in text
    before = copy.read_bytes()
    render.place_chapters("m", tmp_path / "runs", {"monitor": "It said <script>."})
    assert copy.read_bytes() == before


def test_place_takes_a_synthesis_from_its_own_folder(tmp_path, book):
    contents = "chapters:\n  - file: chapters/monitor\n  - file: chapters/published\n"
    (book / "_toc.yml").write_text(contents)
    executed(tmp_path / "runs" / "m" / "monitor" / "notebook.ipynb")
    copies = render.place_chapters("m", tmp_path / "runs")
    assert "make book MODEL=m CHAPTERS=published" in page(copies[1])
    executed(tmp_path / "runs" / "synthesis" / "published" / "notebook.ipynb")
    copies = render.place_chapters("m", tmp_path / "runs")
    assert [path.name for path in copies] == ["monitor.ipynb", "published.ipynb"]
    assert "make book" not in page(copies[1])


def test_another_jupyter_book_is_refused_in_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(render, "version", lambda _: "2.1.7")
    with pytest.raises(UserError, match=r"jupyter-book 1, and here is 2\.1\.7"):
        render.run_jupyter_book("html", tmp_path, tmp_path / "log")


def test_no_folder_of_a_model_is_on_a_page(tmp_path, book):
    folder = tmp_path / "secret place" / "tiny.gguf"
    other = tmp_path / "else" / "base"
    for path in (folder, other):
        path.parent.mkdir()
        path.write_text("")
    name = str(folder)
    run = tmp_path / "runs" / jobs.model_slug(name) / "monitor"
    html = {"text/html": f"<td>{name}</td><td>{other}, {other}-2</td>"}
    outputs = [
        new_output("stream", name="stdout", text=f"{name} runs\n"),
        new_output("display_data", html),
    ]
    executed(run / "notebook.ipynb", source=f'model = "{name}"', outputs=outputs)
    (run / "findings.json").write_text("[]")
    manifest = {"model": {"name": name, "base": str(other)}, "seconds": 1.0}
    manifest |= {"device": "cpu", "peak_memory_mib": {"cpu": 1}, "parameters": {}}
    (run / "run.json").write_text(json.dumps(manifest))
    (copy,) = render.place_chapters(name, tmp_path / "runs")
    text = copy.read_text()
    assert "path/to/tiny.gguf runs" in text
    assert "path/to/base" in text
    assert str(folder.parent) not in text
    assert f"{other}<" not in text
    (run / "notebook.ipynb").unlink()
    (stand_in,) = render.place_chapters(name, tmp_path / "runs")
    assert "This chapter has not run for tiny" in page(stand_in)
    assert str(folder.parent) not in stand_in.read_text()
