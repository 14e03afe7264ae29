"""Arrange an executed chapter: the figure of its answer first, what follows on its own page."""

import copy
import re
from collections.abc import Collection, Mapping

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ANSWER_TAG, OPENING_CELL_ID, CLAIM_TAG_PREFIX, ALT_TEXT_TAG_PREFIX = (
    "answer",
    "opening",
    "when:",
    "says:",
)
TITLE_LINE = re.compile(r"^# (.+)$", flags=re.MULTILINE)
HEADING_LINE = re.compile(r"^(##+ ).+$", flags=re.MULTILINE)
APPENDIX_HEADING = re.compile(r"^## (Exercises|Appendix)\b", flags=re.MULTILINE)


def page_with_answer_first(notebook: NotebookNode) -> NotebookNode:
    """Return a chapter with what its cell tagged ``answer`` shows right after the opening."""
    page = copy.deepcopy(notebook)
    at = {
        tag: n
        for n, cell in enumerate(page.cells)
        for tag in cell.metadata.get("tags", [])
    }
    opening = next(
        (n for n, cell in enumerate(page.cells) if cell.get("id") == OPENING_CELL_ID),
        None,
    )
    if ANSWER_TAG not in at or opening is None:
        return page
    cell = page.cells[at[ANSWER_TAG]]
    shown = new_code_cell(
        "...", execution_count=cell.execution_count, outputs=cell.outputs
    )
    shown["id"], shown.metadata = "answer-shown", cell.metadata.copy()
    shown.metadata["tags"] = ["remove-input"]
    cell.outputs = []
    cell.metadata = NotebookNode(
        {k: v for k, v in cell.metadata.items() if k != "mystnb"}
    )
    page.cells.insert(opening + 1, shown)
    return page


def page_without_unfound_claims(
    notebook: NotebookNode, claims: Collection[str]
) -> NotebookNode:
    """Return a chapter without the cells, tagged ``when:CLAIM``, of what its run did not find."""
    page = copy.deepcopy(notebook)
    tags = [cell.metadata.get("tags", []) for cell in page.cells]
    needed = [
        {
            tag.removeprefix(CLAIM_TAG_PREFIX)
            for tag in own
            if tag.startswith(CLAIM_TAG_PREFIX)
        }
        for own in tags
    ]
    page.cells = [
        cell for cell, names in zip(page.cells, needed) if names <= set(claims)
    ]
    return page


def page_with_finding_headings(
    notebook: NotebookNode, words: Mapping[str, Mapping], decisions: Mapping[str, str]
) -> NotebookNode:
    """Return a chapter whose sections say what was found, where the wordings have a heading."""
    page, above = copy.deepcopy(notebook), None
    for cell in page.cells:
        if cell.cell_type == "markdown":
            above = cell if HEADING_LINE.search(cell.source) else above
            continue
        told = (
            words[claim].get("heading", {}).get(decisions.get(claim))
            for claim in words
            if f'"{claim}"' in cell.source
        )
        if above and (heading := next(filter(None, told), None)):
            last = list(HEADING_LINE.finditer(above.source))[-1]
            above.source = (
                f"{above.source[: last.end(1)]}{heading}{above.source[last.end() :]}"
            )
            above = None
    return page


def page_with_finding_alt_texts(
    notebook: NotebookNode, sentences: Mapping[str, str]
) -> NotebookNode:
    """Return a chapter whose figures, tagged ``says:CLAIM``, tell what was found by alt text."""
    page = copy.deepcopy(notebook)
    for cell in page.cells:
        for tag in cell.metadata.get("tags", []):
            if (
                said := sentences.get(tag.removeprefix(ALT_TEXT_TAG_PREFIX))
                if tag.startswith(ALT_TEXT_TAG_PREFIX)
                else None
            ):
                cell.metadata["mystnb"]["image"]["alt"] += f" {said}"
    return page


def page_and_appendix(notebook: NotebookNode) -> tuple[NotebookNode, NotebookNode]:
    """Return the page of a chapter, and that of its exercises and its appendix."""
    page = copy.deepcopy(notebook)
    starts = [n for n, cell in enumerate(page.cells) if cell.cell_type == "markdown"]
    start = next(
        (n for n in starts if APPENDIX_HEADING.search(page.cells[n].source)),
        len(page.cells),
    )
    rest, page.cells = page.cells[start:], page.cells[:start]
    title = next(
        found[1] for cell in page.cells if (found := TITLE_LINE.search(cell.source))
    )
    told = "" if rest else "\n\nThis book has none of this chapter."
    head = new_markdown_cell(f"# Exercises and appendix: {title}{told}")
    head["id"] = (
        "exercises-and-appendix"  # else a random one, and the page seems to change
    )
    return page, new_notebook(
        cells=[head, *rest], metadata=copy.deepcopy(page.metadata)
    )
