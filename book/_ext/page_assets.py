"""Load what lies in a folder of ``_static`` in the pages that need it, and in no others.

jupyter-book would load every script and style of ``_static`` in every page.
"""

from collections.abc import Iterable
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config


def register_page_assets(
    app: Sphinx, folder: str, tag: str, names: Iterable[str], **script: str
) -> None:
    """Load scripts and styles of a folder, with the scripts' settings, where a page has a tag."""

    def keep_apart(app: Sphinx, config: Config) -> None:
        for kind in ("html_js_files", "html_css_files"):
            kept = [
                file
                for file in getattr(config, kind)
                if not str(file).startswith(f"{folder}/")
            ]
            setattr(config, kind, kept)

    def add(
        app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
    ) -> None:
        if tag in context.get("body", ""):
            for name in names:
                if name.endswith(".css"):
                    app.add_css_file(f"{folder}/{name}")
                else:
                    app.add_js_file(f"{folder}/{name}", **script)

    app.connect("config-inited", keep_apart)
    app.connect("html-page-context", add)
