"""The directive ``package_purposes``: the packages as boxes, drawn from the contract of its imports."""

import ast
import configparser
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

# Above the core: what keeps runs and is called from a terminal.
PACKAGES_ABOVE_CORE = ("cli", "runs")


def package_purposes(root: Path) -> dict[str, str]:
    """Return the packages from the top to the bottom, with what each is for."""
    config = configparser.ConfigParser()
    config.read_string((root / ".importlinter").read_text(encoding="utf-8"))
    names = config["importlinter:contract:layers"]["layers"].split()
    places = {name: root / "helpers" / name for name in names}
    files = {
        name: (place / "__init__.py", place.with_suffix(".py"))
        for name, place in places.items()
    }
    return {
        name: _purpose(next(filter(Path.is_file, each))) for name, each in files.items()
    }


def layers_html(packages: dict[str, str]) -> str:
    """Return the packages as boxes, one above the other."""
    boxes = "".join(
        f"<li{' class=outside' * (name in PACKAGES_ABOVE_CORE)}><code>{escape(name)}</code> {escape(what)}</li>"
        for name, what in packages.items()
    )
    return f'<ul class="layers">{boxes}</ul>'


class LayersDirective(SphinxDirective):
    """Draw the package's layers."""

    def run(self) -> list[nodes.Node]:
        """Return the boxes."""
        root = Path(self.env.srcdir).parent
        self.env.note_dependency(str(root / ".importlinter"))
        packages = package_purposes(root)
        return [nodes.raw("", layers_html(packages), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("layers", LayersDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _purpose(file: Path) -> str:
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.split("\n")[0].rstrip(".").replace("``", "")
