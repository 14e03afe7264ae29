"""Let the book be rendered as one page too, which is then printed.

One extension that registers nodes for ``singlehtml`` hides those of all that know
``html`` alone.
"""

from sphinx.application import Sphinx

SINGLE_PAGE_BUILDER = "singlehtml"
MANY_PAGES_BUILDER = "html"


def share_node_visitors(app: Sphinx) -> None:
    """Write the nodes of one page as those of many."""
    known = app.registry.translation_handlers
    known[SINGLE_PAGE_BUILDER] = {
        **known.get(MANY_PAGES_BUILDER, {}),
        **known.get(SINGLE_PAGE_BUILDER, {}),
    }


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, for when all extensions have told what they know."""
    app.connect("builder-inited", share_node_visitors, priority=1)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
