"""Let the book be rendered as one page too, which is then printed.

Sphinx looks up how a node is written by the builder's name first, here ``singlehtml``, and by its
format only if nothing at all is known under that name. One extension that registers its nodes for
``singlehtml`` thus hides those of all others, which know ``html`` alone.
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
