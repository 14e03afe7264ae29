"""The directive ``live-probe``: a place in which the reader asks a bundled model.

It names cases of ``live_model.json``, and writes the figure of the first, which stays
without scripts.
"""

from pathlib import Path

import fact_directives
import page_assets
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book.tools import live_model
from helpers import UserError

LIVE_FOLDER = "live"  # within _static
# Of the page; others are in the bundle.
LIVE_FILES = ("live.css", "client.js", "prompts.js", "page.js")
LIVE_TAG = '<div class="live-probe"'
USES_PROBE_KEY = "live-probe"


class LiveProbeDirective(SphinxDirective):
    """A place in which the reader asks the model."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the opening tag, the figure and the closing tag."""
        names = self.arguments[0].split()
        try:
            cases = [live_model.stored_answer("case", name) for name in names]
        except UserError as error:
            raise self.error(str(error)) from error
        first = cases[0]
        png = live_model.probability_bars_png(first["bars"])
        self.env.metadata[self.env.docname][USES_PROBE_KEY] = "yes"
        image = fact_directives.stored_image_node(
            self, png, alt=first["alt"], width="60%"
        )
        figure = nodes.figure("", image, nodes.caption("", first["caption"]))
        opening = live_model.live_probe_opening_html(cases)
        return [
            nodes.raw("", opening, format="html"),
            figure,
            nodes.raw("", "</div>", format="html"),
        ]


def write_model_bundle(app: Sphinx, error: Exception | None) -> None:
    """Put the bundle beside the scripts of the rendered book, if a page asks for it."""
    used = any(USES_PROBE_KEY in about for about in app.env.metadata.values())
    if used and error is None and app.builder.format == "html":
        bundle = live_model.model_bundle()
        folder = Path(app.outdir) / "_static" / LIVE_FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        (folder / bundle.name).write_text(bundle.text, encoding="ascii")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("live-probe", LiveProbeDirective)
    page_assets.register_page_assets(app, LIVE_FOLDER, LIVE_TAG, LIVE_FILES)
    app.connect("build-finished", write_model_bundle)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
