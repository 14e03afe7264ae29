"""Let pages refer to parts of a chapter that this book lacks, as it has not run.

A reference to what the chapter's template has becomes plain text; other unknown labels
are errors. MyST resolves its own links, ``[text](label)``, and asks nobody about a
label that is missing: those that chapters define are turned into Sphinx's before it
does.
"""

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

TEMPLATES_FOLDER = Path(__file__).resolve().parent.parent.parent / "notebooks"
LABEL_DEFINITION = re.compile(
    r"^\((\S+)\)=|^:label: (\S+)|^`+\{exercise\}.*\n:label: (\S+)", re.MULTILINE
)


def template_labels(templates: Path = TEMPLATES_FOLDER) -> set[str]:
    """Return every label that the chapters' templates define."""
    labels: set[str] = set()
    for path in templates.glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            for definition in LABEL_DEFINITION.finditer("".join(cell["source"])):
                labels.add(definition[definition.lastindex])
            figure = cell["metadata"].get("mystnb", {}).get("figure", {})
            if "name" in figure:
                labels.add(figure["name"])
    return labels


def text_for_missing_reference(
    app: Sphinx, env: Any, node: nodes.Element, content: nodes.Node
) -> nodes.Node | None:
    """Return what is shown for a reference that leads nowhere in this book."""
    if node.get("reftarget", "").lower() not in app.config.chapter_labels:
        return None
    if node.get("refexplicit") and node["reftype"] != "numref":
        return nodes.inline("", content.astext())
    return nodes.inline("", "(not in this book)")


class ChapterLinks(SphinxPostTransform):
    """Have Sphinx resolve the links of MyST to parts of chapters."""

    default_priority = 8  # MyST's own has 9

    def run(self, **kwargs: Any) -> None:
        """Turn each such link into a reference with a text of its own."""
        for node in self.document.findall(addnodes.pending_xref):
            label = node.get("reftarget", "").lower()
            known = label in self.config.chapter_labels
            if node["reftype"] == "myst" and node["refdomain"] != "doc" and known:
                node["reftype"] = "ref"
                node["refdomain"] = "std"
                node["reftarget"] = label


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    labels = {label.lower() for label in template_labels()}
    app.add_config_value("chapter_labels", labels, "env")
    app.add_post_transform(ChapterLinks)
    app.connect("missing-reference", text_for_missing_reference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
