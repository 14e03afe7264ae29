"""What a page tells of itself: to those who share a link to it, and on the front page to all."""

import subprocess
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT, PREVIEW_PICTURE, LONGEST_DESCRIPTION = (
    Path(__file__).resolve().parents[2],
    "_static/front_page.png",
    200,
)


def add_page_description(
    app: Sphinx, page: str, _: str, context: dict[str, Any], tree: nodes.Node
) -> None:
    """Add the description and the picture of a page to its head."""
    every = tree.findall(nodes.paragraph) if tree else ()
    texts = (" ".join(one.astext().split()) for one in every if not one["classes"])
    text = next((one for one in texts if len(one) > 40), app.config.html_title)
    if len(text) > LONGEST_DESCRIPTION:
        text = text[:LONGEST_DESCRIPTION].rsplit(" ", 1)[0] + " …"
    base = app.config.html_baseurl  # without it an address within the book
    title = (
        context.get("title") or app.config.html_title
    )  # markup of its own, escaped by Sphinx
    picture = (
        urljoin(base, PREVIEW_PICTURE)
        if base
        else "../" * page.count("/") + PREVIEW_PICTURE
    )
    told = {
        "title": title,
        "description": escape(text),
        "image": picture,
        "type": "article",
    }
    tags = "".join(
        f'<meta property="og:{key}" content="{told[key]}">\n' for key in told
    )
    about = f'<meta name="description" content="{told["description"]}">\n'
    context["metatags"] = context.get("metatags", "") + about + tags


class BylineDirective(SphinxDirective):
    """Authors, version and date of the book."""

    def run(self) -> list[nodes.Node]:
        """Return them in a line."""
        cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
        git = ["git", "-C", str(ROOT), "log", "-1", "--format=%cs"]
        date = subprocess.run(
            git, capture_output=True, text=True, check=False
        ).stdout.strip()
        names = ", ".join(
            one.get("name") or one["family-names"] for one in cited["authors"]
        )
        line = " · ".join(filter(None, [names, f"version {cited['version']}", date]))
        return [nodes.paragraph(line, line, classes=["byline"])]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("byline", BylineDirective)
    app.connect("html-page-context", add_page_description)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
