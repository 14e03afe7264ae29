"""What pages show of facts and chapters: facts in states or studies, and figures.

``front-fact`` shows a fact in several states and ``one-fact`` one put through the four
studies, as ``live_model.json`` has them. ``chapter-figure`` shows a figure of an
executed chapter by its name; where it has none, nothing.
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
# The figure that opens a chapter has a name of its own.
FIGURE_NAME_BY_CELL = {"answer-shown": "answer"}
VERDICTS = {True: "✓ called known", False: "✗ not called known", None: "? undefined"}


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
        html = "".join(study_reading_html(**reading) for reading in readings)
        return [nodes.raw("", html, format="html")]


def study_reading_html(
    study: str, prompts: list[str], result: str, known: bool | None
) -> str:
    """Return what a study asked of a fact, what came of it, and its verdict."""
    shown = "".join(f"<li><code>{escape(text)}</code></li>" for text in prompts)
    title = f"<strong>{escape(STUDIES[study].TITLE)}</strong>"
    return (
        f'<div class="one-fact"><p><a href="chapters/{study}.html">{title}</a> '
        f'<span class="one-fact-{str(known).lower()}">{VERDICTS[known]}</span></p>'
        f"<ul>{shown}</ul><p>{escape(result)}</p></div>"
    )


class ChapterFigureDirective(SphinxDirective):
    """A figure of a chapter, or its ``answer``; the text below it is its caption."""

    required_arguments = 2
    has_content = True
    option_spec: ClassVar = {"alt": directives.unchanged, "width": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return the figure, or nothing."""
        chapter, name = self.arguments
        page = Path(self.env.srcdir) / "chapters" / f"{chapter}.ipynb"
        self.env.note_dependency(str(page))
        figure = None
        if page.is_file():
            figure = figure_image_and_alt_text(page, name)
        appendix = page.with_stem(f"{chapter}_appendix")  # by book.tools.arrange
        if figure is None and appendix.is_file():
            figure = figure_image_and_alt_text(appendix, name)
        if figure is None:
            return []
        data, alt = figure
        caption = nodes.caption()
        caption += self.parse_inline("\n".join(self.content))[0]
        options = {"alt": alt, "width": "100%"} | self.options
        image = stored_image_node(self, data, **options)
        return [nodes.figure("", image, caption)]


def stored_image_node(
    directive: SphinxDirective, data: bytes, **options: str
) -> nodes.image:
    """Store a picture beside the book, and return what shows it."""
    digest = hashlib.sha256(data).hexdigest()
    file = Path(directive.env.srcdir) / STILLS_FOLDER / f"{digest[:16]}.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return nodes.image(uri=f"/{STILLS_FOLDER}/{file.name}", **options)


def figure_image_and_alt_text(path: Path, name: str) -> tuple[bytes, str] | None:
    """Return the image of a figure of an executed chapter and its alternative text."""
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        about = cell["metadata"].get("mystnb", {})
        own_name = about.get("figure", {}).get("name")
        if name not in (own_name, FIGURE_NAME_BY_CELL.get(cell.get("id"))):
            continue
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                image = base64.b64decode(output["data"]["image/png"])
                return image, about.get("image", {}).get("alt", "")
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("front-fact", FrontFactDirective)
    app.add_directive("one-fact", OneFactDirective)
    app.add_directive("chapter-figure", ChapterFigureDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
