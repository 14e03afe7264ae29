"""Point the buttons of a chapter (Colab, Binder, edit) at its template in ``notebooks/``.

The book renders executed copies in ``book/chapters/``, which the repository does not keep.
"""

from typing import Any

from sphinx.application import Sphinx

COPIES, TEMPLATES = "book/chapters/", "notebooks/"


def redirect(buttons: list[dict[str, Any]]) -> None:
    """Rewrite, in place, every address among the buttons and their menus."""
    for button in buttons:
        if "url" in button:
            button["url"] = button["url"].replace(COPIES, TEMPLATES)
        redirect(button.get("buttons", []))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, to run after the theme has made its buttons."""
    app.connect(
        "html-page-context",
        lambda app, page, template, context, doctree: redirect(context.get("header_buttons", [])),
        priority=900,
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
