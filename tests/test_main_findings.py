"""Tests of book/_ext/main_findings.py: what the first page takes from the executed chapters."""

import importlib.util
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

PATH = Path(__file__).resolve().parent.parent / "book" / "_ext" / "main_findings.py"
SPEC = importlib.util.spec_from_file_location("main_findings", PATH)
main_findings = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(main_findings)


def chapter(path: Path, *shown: str, **given: str) -> Path:
    outputs = [new_output("display_data", {"text/html": html}) for html in shown]
    cells = [new_markdown_cell("(label)=\n# Title\n\nText."), new_code_cell("", outputs=outputs)]
    metadata = {"papermill": {"parameters": given}}
    nbformat.write(new_notebook(cells=cells, metadata=metadata), path)
    return path


def test_the_opening_is_the_first_that_is_shown(tmp_path):
    finding, later = '<p class="finding">One.</p>', '<p class="finding">Two.</p>'
    path = chapter(tmp_path / "one.ipynb", "<table></table>", f"<p>Head.</p>{finding}", later)
    expected = '<ul class="findings"><li class="finding">One.</li></ul>'
    assert main_findings.of_chapter(path, 3) == ("Title", expected)


def test_no_more_than_the_first_ones(tmp_path):
    items = [f'<li class="finding">{n}</li>' for n in range(9)]
    path = chapter(tmp_path / "one.ipynb", f"<ul>{''.join(items)}</ul>")
    shown = "".join(items[:2])
    assert main_findings.of_chapter(path, 2)[1] == f'<ul class="findings">{shown}</ul>'


def test_the_model_is_named(tmp_path):
    items = [
        f'<li class="finding">{said}</li>' for said in ("The model knows.", "Wrong words cost.")
    ]
    path = chapter(tmp_path / "one.ipynb", f"<ul>{''.join(items)}</ul>", model="some/folder/m<")
    shown = main_findings.of_chapter(path, 2)[1]
    assert '<li class="finding">m&lt; knows.</li>' in shown
    assert '<li class="finding">m&lt;: Wrong words cost.</li>' in shown


def test_a_chapter_that_is_not_in_the_book_has_none(tmp_path):
    assert main_findings.of_chapter(chapter(tmp_path / "one.ipynb"), 3) == ("Title", "")
