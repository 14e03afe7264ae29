"""Arrange an executed chapter: its answer first, its appendix on a page of its own."""

import copy
import re
from collections.abc import Collection, Mapping

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ANSWER_TAG = "answer"
OPENING_CELL_ID = "opening"
CLAIM_TAG_PREFIX = "when:"
ALT_TEXT_TAG_PREFIX = "says:"
TITLE_LINE = re.compile(r"^# (.+)$", flags=re.MULTILINE)
HEADING_LINE = re.compile(r"^(##+ ).+$", flags=re.MULTILINE)
APPENDIX_HEADING = re.compile(r"^## (Exercises|Appendix)\b", flags=re.MULTILINE)


def page_with_answer_first(notebook: NotebookNode) -> NotebookNode:
    """Return a chapter that shows its cell tagged ``answer`` after the opening."""
    page = copy.deepcopy(notebook)
    opening = None
    answer = None
    for number, cell in enumerate(page.cells):
        if opening is None and cell.get("id") == OPENING_CELL_ID:
            opening = number
        if ANSWER_TAG in _tags(cell):
            answer = cell
    if answer is None or opening is None:
        return page
    shown = new_code_cell(
        "...", execution_count=answer.execution_count, outputs=answer.outputs
    )
    shown["id"] = "answer-shown"
    shown.metadata = answer.metadata.copy()
    shown.metadata["tags"] = ["remove-input"]
    answer.outputs = []
    answer.metadata.pop("mystnb", None)
    page.cells.insert(opening + 1, shown)
    return page


def page_without_unfound_claims(
    notebook: NotebookNode, claims: Collection[str]
) -> NotebookNode:
    """Return a chapter without cells, tagged ``when:CLAIM``, of claims not found."""
    page = copy.deepcopy(notebook)
    page.cells = [
        cell
        for cell in page.cells
        if set(_claims_in_tags(cell, CLAIM_TAG_PREFIX)) <= set(claims)
    ]
    return page


def _tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def _claims_in_tags(cell: NotebookNode, prefix: str) -> list[str]:
    """Return the claims that a cell's tags of one prefix name."""
    tags = [tag for tag in _tags(cell) if tag.startswith(prefix)]
    return [tag.removeprefix(prefix) for tag in tags]


def page_with_finding_headings(
    notebook: NotebookNode, words: Mapping[str, Mapping], decisions: Mapping[str, str]
) -> NotebookNode:
    """Return a chapter whose headings say what was found, if the wordings have one."""
    page = copy.deepcopy(notebook)
    heading_cell = None  # the last above a cell, as long as its heading is its own
    for cell in page.cells:
        if cell.cell_type == "markdown":
            if HEADING_LINE.search(cell.source):
                heading_cell = cell
            continue
        heading = _heading_of_claims(cell.source, words, decisions)
        if heading_cell and heading:
            *_, last = HEADING_LINE.finditer(heading_cell.source)
            before = heading_cell.source[: last.end(1)]
            after = heading_cell.source[last.end() :]
            heading_cell.source = f"{before}{heading}{after}"
            heading_cell = None
    return page


def _heading_of_claims(
    source: str, words: Mapping[str, Mapping], decisions: Mapping[str, str]
) -> str | None:
    """Return the heading of the first claim that a cell names and that has one."""
    for claim, wordings in words.items():
        if f'"{claim}"' in source:
            heading = wordings.get("heading", {}).get(decisions.get(claim))
            if heading:
                return heading
    return None


def page_with_finding_alt_texts(
    notebook: NotebookNode, sentences: Mapping[str, str]
) -> NotebookNode:
    """Return a chapter whose figures, tagged ``says:CLAIM``, say so in alt texts."""
    page = copy.deepcopy(notebook)
    for cell in page.cells:
        for claim in _claims_in_tags(cell, ALT_TEXT_TAG_PREFIX):
            if sentences.get(claim):
                cell.metadata["mystnb"]["image"]["alt"] += f" {sentences[claim]}"
    return page


def page_and_appendix(notebook: NotebookNode) -> tuple[NotebookNode, NotebookNode]:
    """Return the page of a chapter, and that of its exercises and its appendix."""
    page = copy.deepcopy(notebook)
    start = len(page.cells)
    for number, cell in enumerate(page.cells):
        if cell.cell_type == "markdown" and APPENDIX_HEADING.search(cell.source):
            start = number
            break
    appendix_cells = page.cells[start:]
    page.cells = page.cells[:start]
    titles = [TITLE_LINE.search(cell.source) for cell in page.cells]
    title = next(title[1] for title in titles if title)
    opening = f"# Exercises and appendix: {title}"
    if not appendix_cells:
        opening += "\n\nThis book has none of this chapter."
    head = new_markdown_cell(opening)
    # Else a random one, and the page seems to change.
    head["id"] = "exercises-and-appendix"
    metadata = copy.deepcopy(page.metadata)
    return page, new_notebook(cells=[head, *appendix_cells], metadata=metadata)
