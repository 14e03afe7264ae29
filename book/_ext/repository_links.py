"""Where the repository is: a chapter's buttons (Colab, Binder, edit), and its clone.

Buttons lead to templates in ``notebooks/``: the book renders executed copies, which the
repository does not keep. Where the settings name no repository there are no buttons,
and nothing is cloned.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import SphinxDirective

COPIES_FOLDER = "book/chapters/"
TEMPLATES_FOLDER = "notebooks/"


def redirect_buttons_to_templates(buttons: list[dict[str, Any]]) -> None:
    """Rewrite, in place, every address among the buttons and their menus."""
    for button in buttons:
        if "url" in button:
            button["url"] = button["url"].replace(COPIES_FOLDER, TEMPLATES_FOLDER)
        redirect_buttons_to_templates(button.get("buttons", []))


def remove_repository_buttons(app: Sphinx, config: Config) -> None:
    """Leave out buttons, and text on them (``only:: repository``), if there is none."""
    if config.html_theme_options.get("repository_url"):
        app.tags.add("repository")
    else:
        config.html_theme_options.pop("launch_buttons", None)


def redirect_buttons_of_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Have a page's buttons lead to templates."""
    redirect_buttons_to_templates(context.get("header_buttons", []))


class GetTheBookDirective(SphinxDirective):
    """How a reader comes by the folder of the book."""

    def run(self) -> list[nodes.Node]:
        """Return the commands that clone it, or what to do where no address is set."""
        url = self.config.html_theme_options.get("repository_url")
        if not url:
            text = "Open a terminal in the folder of the book."
            return [nodes.paragraph(text, text)]
        text = (
            f"git clone {url} what-language-models-know\ncd what-language-models-know"
        )
        return [nodes.literal_block(text, text, language="bash")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, to run after the theme has made its buttons."""
    app.add_directive("get-the-book", GetTheBookDirective)
    app.connect("config-inited", remove_repository_buttons)
    app.connect("html-page-context", redirect_buttons_of_page, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
