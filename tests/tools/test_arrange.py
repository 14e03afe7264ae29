"""A chapter's page begins with its answer; its appendix is another page."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from book.tools.arrange import answer_first, split


def chapter(*more):
    opening = new_code_cell("found.opening()", id="opening")
    figure = new_output("display_data", {"text/plain": "<Figure>"})
    drawn = new_code_cell("draw()", outputs=[figure], execution_count=5)
    drawn.metadata = {"tags": ["answer"], "mystnb": {"figure": {"name": "fig-a"}}}
    cells = [new_markdown_cell("(a)=\n# Is it so?"), opening, new_markdown_cell("## Results")]
    return new_notebook(cells=[*cells, drawn, *more])


def test_the_figure_of_the_answer_stands_after_the_opening():
    notebook = chapter()
    page = answer_first(notebook)
    first = page.cells[2]
    assert first.outputs == notebook.cells[3].outputs
    assert first.metadata == {"tags": ["remove-input"], "mystnb": {"figure": {"name": "fig-a"}}}
    assert page.cells[4].source == "draw()"
    assert (page.cells[4].outputs, "mystnb" in page.cells[4].metadata) == ([], False)
    assert len(notebook.cells) == 4


def test_the_appendix_is_a_page_with_the_title_of_its_chapter():
    more = [new_markdown_cell("(a-appendix)=\n## Appendix\n\nAll of it."), new_code_cell("run")]
    page, appendix = split(chapter(*more))
    assert appendix.cells[0].source == "(a-appendix)=\n# Appendix: Is it so?\n\nAll of it."
    assert [cell.source for cell in appendix.cells[1:]] == ["run"]
    assert len(page.cells) == 4


def test_a_chapter_without_either_stays_as_it_is():
    notebook = new_notebook(cells=[new_markdown_cell("# A"), new_code_cell("1")])
    assert answer_first(notebook) == notebook
    page, appendix = split(notebook)
    assert page == notebook
    assert appendix.cells[0].source.startswith("# Appendix: A\n\nThis book has no appendix")
