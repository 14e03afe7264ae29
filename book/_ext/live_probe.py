"""The directive ``live-probe``: a place in which the reader asks a bundled model, in the page.

It names cases of ``live_model.json``, and writes the figure of the first, which stays without
scripts.
"""

from pathlib import Path

import apart
import facts_shown
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book.tools import live_model
from helpers import UserError

FOLDER = "live"  # within _static
FILES = (
    "live.css",
    "client.js",
    "prompts.js",
    "page.js",
)  # of the page; others are in the bundle
TAG, USED = '<div class="live-probe"', "live-probe"


class LiveProbe(SphinxDirective):
    """A place in which the reader asks the model."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the opening tag, the figure and the closing tag."""
        try:
            cases = [
                live_model.answered("case", name) for name in self.arguments[0].split()
            ]
        except UserError as error:
            raise self.error(str(error)) from error
        still, drawn = cases[0], live_model.bars(cases[0]["bars"])
        self.env.metadata[self.env.docname][USED] = "yes"
        image = facts_shown.image(self, drawn, alt=still["alt"], width="60%")
        figure = nodes.figure("", image, nodes.caption("", still["caption"]))
        tags = [
            nodes.raw("", text, format="html")
            for text in (live_model.opening(cases), "</div>")
        ]
        return [tags[0], figure, tags[1]]


def write_bundle(app: Sphinx, error: Exception | None) -> None:
    """Put the bundle beside the scripts of the rendered book, if any page asks for it."""
    used = any(USED in about for about in app.env.metadata.values())
    if used and error is None and app.builder.format == "html":
        made = live_model.bundle()
        folder = Path(app.outdir) / "_static" / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        (folder / made.name).write_text(made.text, encoding="ascii")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("live-probe", LiveProbe)
    apart.load(app, FOLDER, TAG, FILES)
    app.connect("build-finished", write_bundle)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
