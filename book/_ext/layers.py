"""The directive ``layers``: a picture of the package, drawn from the contract of its imports.

Names and order come from ``.importlinter``, which the linter checks against the code; what a
package is for is the first sentence of its docstring.
"""

import ast
import configparser
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

WIDTH, ROW, GAP = 720, 34, 6
# Above the core: what keeps runs, makes the bundled models, and is called from a terminal.
OUTSIDE = ("cli", "atlas", "runs")
SVG = """<svg viewBox="0 0 {width} {height}" role="img" aria-label="{label}" class="layers"
style="max-width: {width}px; width: 100%" xmlns="http://www.w3.org/2000/svg">{boxes}</svg>"""
BOX = """<g><rect x="1" y="{y}" width="{w}" height="{h}" rx="5" fill="currentColor"
fill-opacity="{shade}" stroke="currentColor" stroke-opacity="0.4"/><text x="14" y="{t}"
font-family="monospace" font-weight="bold" font-size="15" fill="currentColor">{name}</text><text
x="150" y="{t}" font-size="14" fill="currentColor">{what}</text></g>"""


def layers(root: Path) -> dict[str, str]:
    """Return the packages from the top to the bottom, with what each is for."""
    config = configparser.ConfigParser()
    config.read_string((root / ".importlinter").read_text(encoding="utf-8"))
    names = config["importlinter:contract:layers"]["layers"].split()
    places = {name: root / "helpers" / name for name in names}
    files = {
        name: (place / "__init__.py", place.with_suffix(".py")) for name, place in places.items()
    }
    return {name: _purpose(next(filter(Path.is_file, each))) for name, each in files.items()}


def picture(packages: dict[str, str]) -> str:
    """Return the packages as boxes, one above the other."""
    boxes = [
        BOX.format(
            y=1 + place * (ROW + GAP),
            w=WIDTH - 2,
            h=ROW,
            t=1 + place * (ROW + GAP) + 22,
            shade=0.03 if name in OUTSIDE else 0.12,
            name=escape(name),
            what=escape(what),
        )
        for place, (name, what) in enumerate(packages.items())
    ]
    height = len(boxes) * (ROW + GAP)
    label = "Layers from top to bottom: " + ", ".join(packages)
    return SVG.format(width=WIDTH, height=height, label=escape(label), boxes="".join(boxes))


class Layers(SphinxDirective):
    """Draw the package's layers."""

    def run(self) -> list[nodes.Node]:
        """Return the picture, and its words for pages without pictures."""
        root = Path(self.env.srcdir).parent
        self.env.note_dependency(str(root / ".importlinter"))
        packages = layers(root)
        return [nodes.raw("", picture(packages), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("layers", Layers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _purpose(file: Path) -> str:
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.split("\n")[0].rstrip(".")
