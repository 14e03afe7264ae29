"""What pages show of facts and chapters: a fact in several states or studies, a chapter's figure.

``front-fact`` shows a fact in several states and ``one-fact`` one put through the four
studies, as ``live_model.json`` has them. ``chapter-figure`` shows a figure of an executed
chapter by its name; where it has none, nothing.
"""

import base64
import hashlib
import json
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book.tools import live_model
from helpers import UserError
from helpers.studies import STUDIES

STILLS_FOLDER = "_build/live"  # seen from the book's folder
FIGURE_NAME_BY_CELL = {
    "answer-shown": "answer"
}  # the figure that opens a chapter, by a name of its own


class FrontFactDirective(SphinxDirective):
    """A fact, asked in several states."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the form."""
        try:
            case = live_model.stored_answer("front", self.arguments[0])
        except UserError as error:
            raise self.error(str(error)) from error
        return [nodes.raw("", live_model.fact_form_html(case), format="html")]


class OneFactDirective(SphinxDirective):
    """A fact of the atlas, asked in the way of each study."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return what each study shows, what came of it, and its verdict."""
        try:
            readings = live_model.stored_answer("fact", self.arguments[0])
        except UserError as error:
            raise self.error(str(error)) from error
        return [
            nodes.raw(
                "",
                "".join(study_reading_html(**each) for each in readings),
                format="html",
            )
        ]


def study_reading_html(
    study: str, prompts: list[str], result: str, known: bool | None
) -> str:
    """Return what a study asked of a fact, what came of it, and whether it calls the fact known."""
    called = {True: "✓ called known", False: "✗ not called known", None: "? undefined"}
    shown = "".join(f"<li><code>{escape(text)}</code></li>" for text in prompts)
    title = f"<strong>{escape(STUDIES[study].TITLE)}</strong>"
    return (
        f'<div class="one-fact"><p><a href="chapters/{study}.html">{title}</a> '
        f'<span class="one-fact-{str(known).lower()}">{called[known]}</span></p>'
        f"<ul>{shown}</ul><p>{escape(result)}</p></div>"
    )


class ChapterFigureDirective(SphinxDirective):
    """A figure of a chapter, or its ``answer``, with the text below it as its caption."""

    required_arguments = 2
    has_content = True
    option_spec: ClassVar = {"alt": directives.unchanged, "width": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return the figure, or nothing."""
        chapter, name = self.arguments
        path = Path(self.env.srcdir) / "chapters" / f"{chapter}.ipynb"
        self.env.note_dependency(str(path))
        pages = [
            path,
            path.with_stem(f"{chapter}_appendix"),
        ]  # parted by book.tools.arrange
        found = next(
            filter(
                None,
                (
                    figure_image_and_alt_text(page, name)
                    for page in pages
                    if page.is_file()
                ),
            ),
            None,
        )
        if found is None:
            return []
        data, alt = found
        caption = nodes.caption()
        caption += self.parse_inline("\n".join(self.content))[0]
        shown = stored_image_node(
            self, data, **{"alt": alt, "width": "100%"} | self.options
        )
        return [nodes.figure("", shown, caption)]


def stored_image_node(
    directive: SphinxDirective, data: bytes, **options: str
) -> nodes.image:
    """Store a picture beside the book, and return what shows it."""
    file = (
        Path(directive.env.srcdir)
        / STILLS_FOLDER
        / f"{hashlib.sha256(data).hexdigest()[:16]}.png"
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return nodes.image(uri=f"/{STILLS_FOLDER}/{file.name}", **options)


def figure_image_and_alt_text(path: Path, name: str) -> tuple[bytes, str] | None:
    """Return the image of a figure of an executed chapter and its alternative text."""
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        render = cell["metadata"].get("mystnb", {})
        if name in (
            render.get("figure", {}).get("name"),
            FIGURE_NAME_BY_CELL.get(cell.get("id")),
        ):
            for output in cell.get("outputs", []):
                if "image/png" in output.get("data", {}):
                    image = base64.b64decode(output["data"]["image/png"])
                    return image, render.get("image", {}).get("alt", "")
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("front-fact", FrontFactDirective)
    app.add_directive("one-fact", OneFactDirective)
    app.add_directive("chapter-figure", ChapterFigureDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
