"""Load a folder of ``_static`` in the pages that need it, and in no others.

jupyter-book would load every script and style of ``_static`` in every page.
"""

from collections.abc import Iterable
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config


def register_page_assets(
    app: Sphinx, folder: str, tag: str, names: Iterable[str], **script: str
) -> None:
    """Load a folder's styles, and scripts with attributes, where a page has a tag."""

    def other_files(files: list[Any]) -> list[Any]:
        return [file for file in files if not str(file).startswith(f"{folder}/")]

    def keep_out_of_all_pages(app: Sphinx, config: Config) -> None:
        config.html_js_files = other_files(config.html_js_files)
        config.html_css_files = other_files(config.html_css_files)

    def add_to_page(
        app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
    ) -> None:
        if tag in context.get("body", ""):
            for name in names:
                if name.endswith(".css"):
                    app.add_css_file(f"{folder}/{name}")
                else:
                    app.add_js_file(f"{folder}/{name}", **script)

    app.connect("config-inited", keep_out_of_all_pages)
    app.connect("html-page-context", add_to_page)
