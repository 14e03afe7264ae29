"""The directive ``paper-items``: what a paper prints, and where the book has it."""

from html import escape
from pathlib import Path

import pandas as pd
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from notebooks.kit import published
from notebooks.kit.published import printed_items

CHAPTERS_FOLDER = "chapters/"
APPENDIX_SUFFIX = "_appendix"
KINDS_BY_LABEL_START = {"fig-": "figure in ", "T_": "table in ", "equation-": "in "}
# Of pages whose name is not what readers call them.
PAGE_NAMES = {
    "knowledge_base": "knowledge bases",
    "latent_knowledge": "latent knowledge",
    "monitor": "MONITOR",
    "published": "the audit",
}


def link_to_place(place: str, book: Path) -> str:
    """Return a link to ``page#label``; to the page where the book has no run."""
    page, _, label = place.partition("#")
    address = f"{page}.html"
    if not page.startswith(CHAPTERS_FOLDER) or _has_run(page, book):
        address += f"#{label}"
    return f'<a href="{escape(address)}">{escape(_name_of_place(page, label))}</a>'


def _has_run(page: str, book: Path) -> bool:
    return (book / page.removesuffix(APPENDIX_SUFFIX) / "run.json").is_file()


def _name_of_place(page: str, label: str) -> str:
    """Name a place as readers do, such as "figure in knowledge bases, appendix"."""
    chapter = page.removeprefix(CHAPTERS_FOLDER)
    stem = chapter.removesuffix(APPENDIX_SUFFIX)
    name = PAGE_NAMES.get(stem, stem.replace("_", " "))
    if stem != chapter:
        name += ", appendix"
    for start, kind in KINDS_BY_LABEL_START.items():
        if label.startswith(start):
            return kind + name
    return name


def table_of_items(rows: pd.DataFrame, book: Path) -> str:
    """Return a paper's items as a table: what is printed, and where it stands."""
    lines = []
    for item, parts in rows.groupby("item", sort=False):
        cells = []
        for row in parts.to_dict("records"):
            if row["place"]:
                cells.append(link_to_place(row["place"], book))
            if row["reason"]:
                cells.append(escape(row["reason"]))
        lines.append(_table_row(escape(item), "; ".join(cells)))
    return _table(["printed", "in this book"], lines)


def table_of_claims(rows: pd.DataFrame, book: Path) -> str:
    """Return a paper's sentences as a table: each with its verdict, which is a link."""
    lines = []
    for row in rows.to_dict("records"):
        page, _, label = row["place"].partition("#")
        anchor = f"#{label}" if _has_run(page, book) else ""
        link = f'<a href="{page}.html{anchor}">{escape(row["verdict"])}</a>'
        lines.append(_table_row(escape(row["item"]), link))
    return _table(["section and sentence", "our verdict"], lines)


def _table_row(*cells: str) -> str:
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _table(titles: list[str], lines: list[str]) -> str:
    heads = "".join(f'<th scope="col">{title}</th>' for title in titles)
    return (
        '<div class="pst-scrollable-table-container"><table class="table">'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


class PaperItemsDirective(SphinxDirective):
    """List what a paper prints, and below it the paper's sentences."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return both tables."""
        book = Path(self.env.srcdir)
        for name in ("items.csv", "claims.csv"):
            self.env.note_dependency(str(published.TABLES_FOLDER / name))
        paper = self.arguments[0]
        numbered = printed_items.numbered_items()
        claims = printed_items.claim_items()
        html = table_of_items(numbered[numbered["paper"] == paper], book)
        html += table_of_claims(claims[claims["paper"] == paper], book)
        return [nodes.raw("", html, format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("paper-items", PaperItemsDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
