"""Arrange an executed chapter: the figure of its answer first, the appendix on its own page."""

import copy
import re

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ANSWER, OPENING = "answer", "opening"
TITLE = re.compile(r"^# (.+)$", flags=re.MULTILINE)
APPENDIX = re.compile(r"^## Appendix\b", flags=re.MULTILINE)


def answer_first(notebook: NotebookNode) -> NotebookNode:
    """Return a chapter with what its cell tagged ``answer`` shows right after the opening.

    There a reader looks first. The code stays where the notebook computes it.
    """
    page = copy.deepcopy(notebook)
    at = {tag: n for n, cell in enumerate(page.cells) for tag in cell.metadata.get("tags", [])}
    opening = next((n for n, cell in enumerate(page.cells) if cell.get("id") == OPENING), None)
    if ANSWER not in at or opening is None:
        return page
    cell = page.cells[at[ANSWER]]
    shown = new_code_cell("...", execution_count=cell.execution_count, outputs=cell.outputs)
    shown["id"], shown.metadata = "answer-shown", cell.metadata.copy()
    shown.metadata["tags"] = ["remove-input"]
    cell.outputs = []
    cell.metadata = NotebookNode({k: v for k, v in cell.metadata.items() if k != "mystnb"})
    page.cells.insert(opening + 1, shown)
    return page


def split(notebook: NotebookNode) -> tuple[NotebookNode, NotebookNode]:
    """Return the page of a chapter and that of its appendix, which says so if there is none."""
    page = copy.deepcopy(notebook)
    start = next((n for n, cell in enumerate(page.cells) if _begins_appendix(cell)), None)
    title = next(found[1] for cell in page.cells if (found := TITLE.search(cell.source)))
    head = f"# Appendix: {title}"
    if start is None:
        cell = new_markdown_cell(f"{head}\n\nThis book has no appendix of the chapter.")
        cell["id"] = "no-appendix"  # else a random one, and the page seems to change
        return page, new_notebook(cells=[cell])
    rest, page.cells = page.cells[start:], page.cells[:start]
    rest[0].source = APPENDIX.sub(lambda _: head, rest[0].source, count=1)
    return page, new_notebook(cells=rest, metadata=copy.deepcopy(page.metadata))


def _begins_appendix(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" and bool(APPENDIX.search(cell.source))
