"""What pages show of facts and chapters: a fact in several states or studies, a chapter's figure.

``front-fact`` takes one line a state, ``label | field=value | ...``, with the fields of
`book.tools.live.Question`. ``one-fact`` puts a fact of the atlas through the four studies.
``chapter-figure`` shows a figure of an executed chapter by its name; where it has none, nothing.
"""

import base64
import hashlib
import json
import sys
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from book.tools import live, one_fact
from helpers import UserError
from helpers.studies import STUDIES

STILLS = "_build/live"  # seen from the book's folder


class FrontFact(SphinxDirective):
    """A fact, asked in the states that the content lists."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the form."""
        try:
            states = [_state(line) for line in self.content if line.strip()]
            return [nodes.raw("", live.front_fact(states), format="html")]
        except UserError as error:
            raise self.error(str(error)) from error


class OneFact(SphinxDirective):
    """A fact of the atlas, asked in the way of each study."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return what each study shows, what came of it, and its verdict."""
        try:
            readings = one_fact.through(self.arguments[0])
        except UserError as error:
            raise self.error(str(error)) from error
        links = {r.study: (STUDIES[r.study].TITLE, f"chapters/{r.study}.html") for r in readings}
        return [nodes.raw("", one_fact.html(readings, links), format="html")]


class ChapterFigure(SphinxDirective):
    """A figure of a chapter, with the text below it as its caption."""

    required_arguments = 2
    has_content = True
    option_spec: ClassVar = {"alt": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return the figure, or nothing."""
        chapter, name = self.arguments
        path = Path(self.env.srcdir) / "chapters" / f"{chapter}.ipynb"
        self.env.note_dependency(str(path))
        found = figure(path, name)
        if found is None:
            return []
        data, alt = found
        file = Path(self.env.srcdir) / STILLS / f"{hashlib.sha256(data).hexdigest()[:16]}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        caption = nodes.caption()
        caption += self.parse_inline("\n".join(self.content))[0]
        alt = self.options.get("alt", alt)
        image = nodes.image(uri=f"/{STILLS}/{file.name}", alt=alt, width="100%")
        return [nodes.figure("", image, caption)]


def figure(path: Path, name: str) -> tuple[bytes, str] | None:
    """Return the image of a figure of an executed chapter and its alternative text."""
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        render = cell["metadata"].get("mystnb", {})
        if render.get("figure", {}).get("name") == name:
            for output in cell.get("outputs", []):
                if "image/png" in output.get("data", {}):
                    image = base64.b64decode(output["data"]["image/png"])
                    return image, render.get("image", {}).get("alt", "")
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("front-fact", FrontFact)
    app.add_directive("one-fact", OneFact)
    app.add_directive("chapter-figure", ChapterFigure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _state(line: str) -> tuple[str, live.Question]:
    label, *fields = (part.strip() for part in line.split("|"))
    return label, live.question(dict(field.split("=", 1) for field in fields))
