"""The main findings of every chapter of the book, as their runs computed them, on one page."""

import json
import re
from html import escape
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def of_chapter(path: Path, most: int) -> tuple[str, str]:
    """Return an executed chapter's title, and its first findings as HTML ("" if it has none)."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = notebook["cells"]
    given = notebook["metadata"].get("papermill", {}).get("parameters", {})
    who = escape(given.get("model", "").rstrip("/").rpartition("/")[2])
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    (title, *_) = re.findall(r"^# (.+)$", text, flags=re.MULTILINE)
    shown = ("".join(out.get("data", {}).get("text/html", "")) for out in _outputs(cells))
    opening = next((part for part in shown if 'class="finding' in part), "")
    found = re.findall(r'<(?:li|p) class="finding.*?</(?:li|p)>', opening)[:most]
    found = [re.sub("^<p|p>$", lambda tag: tag[0].replace("p", "li"), one) for one in found]
    items = "".join(_naming(one, who) for one in found)
    return title, f'<ul class="findings">{items}</ul>' if items else ""


class MainFindings(SphinxDirective):
    """List them under links to their chapters: all in the order of the contents, or those named."""

    option_spec: ClassVar = {"chapters": directives.unchanged, "most": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        """Return the list."""
        book, found = Path(self.env.srcdir), []
        toc = (book / "_toc.yml").read_text(encoding="utf-8")
        listed = re.findall(r"file: (chapters/\w+)", toc)
        if "chapters" in self.options:
            named = [f"chapters/{name}" for name in re.findall(r"\w+", self.options["chapters"])]
            listed = [name for name in named if name in listed]
        for name in listed:
            path = book / f"{name}.ipynb"
            self.env.note_dependency(str(path))
            title, findings = of_chapter(path, self.options.get("most", 3))
            if findings:
                found += self.parse_text_to_nodes(f"**[{title}]({name}.ipynb)**")
                found.append(nodes.raw("", findings, format="html"))
        return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("main-findings", MainFindings)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _naming(finding: str, who: str) -> str:
    """Name the model that a finding is about, which on its chapter's page is known."""
    if not who or who in finding:
        return finding
    named, count = re.subn(r"\b[Tt]he model\b", lambda _: who, finding)
    return named if count else finding.replace(">", f">{who}: ", 1)


def _outputs(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the outputs of all cells, in order."""
    return [out for cell in cells for out in cell.get("outputs", [])]
