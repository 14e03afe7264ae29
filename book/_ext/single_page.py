"""Let the book be rendered as one page too, which is then printed.

One extension that registers nodes for ``singlehtml`` hides those of all that know
``html`` alone.
"""

from sphinx.application import Sphinx

ONE, MANY = "singlehtml", "html"


def share(app: Sphinx) -> None:
    """Write the nodes of one page as those of many."""
    known = app.registry.translation_handlers
    known[ONE] = {**known.get(MANY, {}), **known.get(ONE, {})}


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, for when all extensions have told what they know."""
    app.connect("builder-inited", share, priority=1)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
