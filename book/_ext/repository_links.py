"""Where the repository is: buttons of a chapter (Colab, Binder, edit), and the line that clones it.

Buttons lead to templates in ``notebooks/``: the book renders executed copies, which the
repository does not keep. Where the settings name no repository there are no buttons,
and nothing is cloned.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import SphinxDirective

COPIES_FOLDER, TEMPLATES_FOLDER = "book/chapters/", "notebooks/"


def redirect_buttons_to_templates(buttons: list[dict[str, Any]]) -> None:
    """Rewrite, in place, every address among the buttons and their menus."""
    for button in buttons:
        if "url" in button:
            button["url"] = button["url"].replace(COPIES_FOLDER, TEMPLATES_FOLDER)
        redirect_buttons_to_templates(button.get("buttons", []))


def remove_repository_buttons(app: Sphinx, config: Config) -> None:
    """Leave out buttons that open notebooks, and text on them (``only:: repository``), if none."""
    if config.html_theme_options.get("repository_url"):
        return app.tags.add("repository")
    config.html_theme_options.pop("launch_buttons", None)


class GetTheBookDirective(SphinxDirective):
    """How a reader comes by the folder of the book."""

    def run(self) -> list[nodes.Node]:
        """Return the commands that clone it, or what to do where no address is set."""
        if not (url := self.config.html_theme_options.get("repository_url")):
            told = "Open a terminal in the folder of the book."
            return [nodes.paragraph(told, told)]
        text = (
            f"git clone {url} what-language-models-know\ncd what-language-models-know"
        )
        return [nodes.literal_block(text, text, language="bash")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, to run after the theme has made its buttons."""
    app.add_directive("get-the-book", GetTheBookDirective)
    app.connect("config-inited", remove_repository_buttons)
    app.connect(
        "html-page-context",
        lambda app, page, template, context, doctree: redirect_buttons_to_templates(
            context.get("header_buttons", [])
        ),
        priority=900,
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
