"""A chapter's page begins with its answer; its appendix is another page."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from book.tools.arrange import (
    ALT_TEXT_TAG_PREFIX,
    page_and_appendix,
    page_with_answer_first,
    page_with_finding_alt_texts,
    page_with_finding_headings,
    page_without_unfound_claims,
)
from notebooks.kit import findings


def chapter(*more):
    opening = new_code_cell("found.opening()", id="opening")
    figure = new_output("display_data", {"text/plain": "<Figure>"})
    drawn = new_code_cell("draw()", outputs=[figure], execution_count=5)
    drawn.metadata = {"tags": ["answer"], "mystnb": {"figure": {"name": "fig-a"}}}
    cells = [
        new_markdown_cell("(a)=\n# Is it so?"),
        opening,
        new_markdown_cell("## Results"),
    ]
    return new_notebook(cells=[*cells, drawn, *more])


def test_the_figure_of_the_answer_stands_after_the_opening():
    notebook = chapter()
    page = page_with_answer_first(notebook)
    first = page.cells[2]
    assert first.outputs == notebook.cells[3].outputs
    assert first.metadata == {
        "tags": ["remove-input"],
        "mystnb": {"figure": {"name": "fig-a"}},
    }
    assert page.cells[4].source == "draw()"
    assert (page.cells[4].outputs, "mystnb" in page.cells[4].metadata) == ([], False)
    assert len(notebook.cells) == 4


def test_exercises_and_appendix_are_a_page_with_the_title_of_the_chapter():
    more = ["## Exercises\n\nOne.", "(a-appendix)=\n## Appendix\n\nAll of it."]
    page, rest = page_and_appendix(
        chapter(*map(new_markdown_cell, more), new_code_cell("run"))
    )
    assert rest.cells[0].source == "# Exercises and appendix: Is it so?"
    assert [cell.source for cell in rest.cells[1:]] == [*more, "run"]
    assert len(page.cells) == 4


def test_a_chapter_without_either_stays_as_it_is():
    notebook = new_notebook(cells=[new_markdown_cell("# A"), new_code_cell("1")])
    assert page_with_answer_first(notebook) == notebook
    page, rest = page_and_appendix(notebook)
    assert page == notebook
    assert "has none" in rest.cells[0].source


@pytest.mark.parametrize(
    ("tags", "found", "kept"),
    [
        ([], "", True),
        (["hide-input"], "", True),
        (["when:rises"], "", False),
        (["when:rises"], "rises", True),
        (["answer", "when:rises", "when:more"], "rises", False),
        (["answer", "when:rises", "when:more"], "rises more", True),
    ],
)
@pytest.mark.parametrize("make", [new_markdown_cell, new_code_cell])
def test_a_cell_about_what_was_not_found_is_left_out(make, tags, found, kept):
    cell = make("Look at the left end.", metadata={"tags": tags})
    page = page_without_unfound_claims(chapter(cell), found.split())
    assert (cell in page.cells, len(page.cells)) == (kept, 4 + kept)


@pytest.mark.parametrize(
    ("decision", "shown"),
    [("holds", "It rises"), ("undecided", "Results"), ("undefined", "Results")],
)
def test_a_section_is_called_by_what_its_first_finding_says(decision, shown):
    words = {
        "rises": {"heading": {"holds": "It rises"}},
        "more": {"heading": {"holds": "More"}},
    }
    cells = [
        new_code_cell('found("rises", result)'),
        new_code_cell('found("more", result)'),
    ]
    page = page_with_finding_headings(
        chapter(*cells), words, {"rises": decision, "more": "undecided"}
    )
    assert page.cells[2].source == f"## {shown}"
    assert page.cells[0].source == "(a)=\n# Is it so?"


@pytest.mark.parametrize(
    ("tag", "alt"), [("says:rises", "Dots. It rises."), ("says:no", "Dots.")]
)
def test_a_figure_is_described_by_the_finding_it_shows(tag, alt):
    cell = new_code_cell("draw()")
    cell.metadata = {"tags": ["answer", tag], "mystnb": {"image": {"alt": "Dots."}}}
    notebook = new_notebook(cells=[cell, new_code_cell('found("near", x)')])
    page = page_with_finding_alt_texts(
        notebook, {"rises": "It rises.", "near": "Near."}
    )
    assert page.cells[0].metadata["mystnb"]["image"]["alt"] == alt
    assert cell.metadata["mystnb"]["image"]["alt"] == "Dots."


def test_figures_name_findings_of_their_chapter(root):
    for path in sorted((root / "notebooks").glob("*.ipynb")):
        cells = nbformat.read(path, 4).cells
        tags = [tag for cell in cells for tag in cell.metadata.get("tags", [])]
        named = {
            tag.removeprefix(ALT_TEXT_TAG_PREFIX)
            for tag in tags
            if tag.startswith(ALT_TEXT_TAG_PREFIX)
        }
        assert named
        assert named <= findings.claim_wordings(path.stem).keys()
