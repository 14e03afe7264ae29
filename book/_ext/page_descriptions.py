"""What a page tells of itself where it is shared, and the byline of the front page."""

import subprocess
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parents[2]
PREVIEW_PICTURE = "_static/front_page.png"
SHORTEST_DESCRIPTION = 41  # characters
LONGEST_DESCRIPTION = 200  # characters, but for the dots


def add_page_description(
    app: Sphinx, page: str, _: str, context: dict[str, Any], tree: nodes.Node
) -> None:
    """Add the description and the picture of a page to its head."""
    description = escape(_description(tree, app.config.html_title))
    # Without a base, an address within the book.
    picture = "../" * page.count("/") + PREVIEW_PICTURE
    if app.config.html_baseurl:
        picture = urljoin(app.config.html_baseurl, PREVIEW_PICTURE)
    open_graph = {
        # Markup of its own, escaped by Sphinx.
        "title": context.get("title") or app.config.html_title,
        "description": description,
        "image": picture,
        "type": "article",
    }
    tags = f'<meta name="description" content="{description}">\n'
    for key, value in open_graph.items():
        tags += f'<meta property="og:{key}" content="{value}">\n'
    context["metatags"] = context.get("metatags", "") + tags


def _description(tree: nodes.Node | None, title: str) -> str:
    """Return the first paragraph that is long enough, cut; else the book's title."""
    text = title
    if tree:
        for paragraph in tree.findall(nodes.paragraph):
            words = " ".join(paragraph.astext().split())
            if not paragraph["classes"] and len(words) >= SHORTEST_DESCRIPTION:
                text = words
                break
    if len(text) > LONGEST_DESCRIPTION:
        text = text[:LONGEST_DESCRIPTION].rsplit(" ", 1)[0] + " …"
    return text


class BylineDirective(SphinxDirective):
    """Authors, version and date of the book."""

    def run(self) -> list[nodes.Node]:
        """Return them in a line."""
        cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
        git = ["git", "-C", str(ROOT), "log", "-1", "--format=%cs"]
        log = subprocess.run(git, capture_output=True, text=True, check=False)
        date = log.stdout.strip()
        authors = []
        for author in cited["authors"]:
            authors.append(author.get("name") or author["family-names"])
        parts = [", ".join(authors), f"version {cited['version']}", date]
        line = " · ".join(part for part in parts if part)
        return [nodes.paragraph(line, line, classes=["byline"])]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("byline", BylineDirective)
    app.connect("html-page-context", add_page_description)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
