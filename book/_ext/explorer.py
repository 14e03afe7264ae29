"""Load the explorer of published models in the pages that hold one, and in no others.

The libraries that draw it lie in ``_extra/vega``; its script fetches them when it comes near.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

FOLDER = "explorer"  # within _static; jupyter-book would load all scripts of _static in every page
TAG = '<div class="explorer"'


def keep_apart(app: Sphinx, config: Config) -> None:
    """Take its script and style off the list of those that every page loads."""
    for name in ("html_js_files", "html_css_files"):
        kept = [file for file in getattr(config, name) if not str(file).startswith(f"{FOLDER}/")]
        setattr(config, name, kept)


def add_files(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.Node | None
) -> None:
    """Load them in the pages that have an explorer, the script after the page is read."""
    if TAG in context.get("body", ""):
        app.add_css_file(f"{FOLDER}/explorer.css")
        app.add_js_file(f"{FOLDER}/explorer.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", keep_apart)
    app.connect("html-page-context", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
