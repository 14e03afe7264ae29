"""Point the buttons of a chapter (Colab, Binder, edit) at its template in ``notebooks/``.

The book renders executed copies in ``book/chapters/``, which the repository does not keep. Where
the settings name no repository there are no such buttons.
"""

from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

COPIES, TEMPLATES = "book/chapters/", "notebooks/"


def redirect(buttons: list[dict[str, Any]]) -> None:
    """Rewrite, in place, every address among the buttons and their menus."""
    for button in buttons:
        if "url" in button:
            button["url"] = button["url"].replace(COPIES, TEMPLATES)
        redirect(button.get("buttons", []))


def without_address(app: Sphinx, config: Config) -> None:
    """Leave out the buttons that open notebooks of a repository, if there is none."""
    if not config.html_theme_options.get("repository_url"):
        config.html_theme_options.pop("launch_buttons", None)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, to run after the theme has made its buttons."""
    app.connect("config-inited", without_address)
    app.connect(
        "html-page-context",
        lambda app, page, template, context, doctree: redirect(context.get("header_buttons", [])),
        priority=900,
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
