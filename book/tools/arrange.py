"""Arrange an executed chapter: the figure of its answer first, the appendix on its own page."""

import copy
import re

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

ANSWER, OPENING = "answer", "opening"
TITLE = re.compile(r"^# (.+)$", flags=re.MULTILINE)
APPENDIX = re.compile(r"^## Appendix\b", flags=re.MULTILINE)


def arrange(notebook: NotebookNode) -> tuple[NotebookNode, NotebookNode | None]:
    """Return the page of a chapter and that of its appendix, which it may lack.

    What the cell tagged ``answer`` shows, caption and all, stands right after the findings of the
    opening, where a reader looks first; its code stays where the notebook computes it.
    """
    page = copy.deepcopy(notebook)
    _answer_first(page)
    start = next((n for n, cell in enumerate(page.cells) if _begins_appendix(cell)), None)
    if start is None:
        return page, None
    rest, page.cells = page.cells[start:], page.cells[:start]
    title = next(found[1] for cell in page.cells if (found := TITLE.search(cell.source)))
    rest[0].source = APPENDIX.sub(f"# Appendix: {title}", rest[0].source, count=1)
    return page, new_notebook(cells=rest, metadata=copy.deepcopy(page.metadata))


def _begins_appendix(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" and bool(APPENDIX.search(cell.source))


def _answer_first(page: NotebookNode) -> None:
    """Move the outputs of the answer's cell up, into a cell without input."""
    at = {tag: n for n, cell in enumerate(page.cells) for tag in cell.metadata.get("tags", [])}
    opening = next((n for n, cell in enumerate(page.cells) if cell.get("id") == OPENING), None)
    if ANSWER not in at or opening is None:
        return
    cell = page.cells[at[ANSWER]]
    shown = new_code_cell("...", execution_count=cell.execution_count, outputs=cell.outputs)
    shown["id"], shown.metadata = "answer-shown", cell.metadata.copy()
    shown.metadata["tags"] = ["remove-input"]
    cell.outputs = []
    cell.metadata = NotebookNode({k: v for k, v in cell.metadata.items() if k != "mystnb"})
    page.cells.insert(opening + 1, shown)
