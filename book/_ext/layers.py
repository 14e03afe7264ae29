"""The directive ``layers``: the packages as boxes, drawn from the imports' contract."""

import ast
import configparser
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

# Above the core: what keeps runs and is called from a terminal.
PACKAGES_ABOVE_CORE = ("cli", "exchange", "runs")


def package_purposes(root: Path) -> dict[str, str]:
    """Return the packages from the top to the bottom, with what each is for."""
    config = configparser.ConfigParser()
    config.read_string((root / ".importlinter").read_text(encoding="utf-8"))
    names = config["importlinter:contract:layers"]["layers"].split()
    purposes = {}
    for name in names:
        file = root / "helpers" / name / "__init__.py"
        if not file.is_file():
            file = root / "helpers" / f"{name}.py"
        purposes[name] = _purpose(file)
    return purposes


def layers_html(packages: dict[str, str]) -> str:
    """Return the packages as boxes, one above the other."""
    boxes = []
    for name, purpose in packages.items():
        attribute = " class=outside" if name in PACKAGES_ABOVE_CORE else ""
        text = f"<code>{escape(name)}</code> {escape(purpose)}"
        boxes.append(f"<li{attribute}>{text}</li>")
    return f'<ul class="layers">{"".join(boxes)}</ul>'


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
    """Return the first line of a module's docstring."""
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    first_line = docstring.split("\n")[0]
    return first_line.rstrip(".").replace("``", "")
