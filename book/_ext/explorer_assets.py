"""Load the explorer of published models in the pages that hold one."""

import page_assets
from sphinx.application import Sphinx

EXPLORER_FOLDER = "explorer"
EXPLORER_TAG = '<div class="explorer"'
EXPLORER_FILES = ("explorer.css", "explorer.js")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx; the script waits until the page is read."""
    page_assets.register_page_assets(
        app, EXPLORER_FOLDER, EXPLORER_TAG, EXPLORER_FILES, loading_method="defer"
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
