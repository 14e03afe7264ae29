"""The directive ``api``: the docstrings of all public modules of a package, one after another.

A module that is added to the package later is on the page at the next build.
"""

import pkgutil
from importlib.util import find_spec

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Api(SphinxDirective):
    """List modules, or packages with all of their modules, by the names in the argument."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the documented modules."""
        lines = ["```{eval-rst}"]
        for name in self.arguments[0].split():
            for module in [name, *_modules(name)]:
                lines += [f".. rubric:: {module}", "   :heading-level: 3", ""]
                lines += [f".. automodule:: {module}", "   :members:", "   :ignore-module-all:", ""]
        part = nodes.container()
        self.state.nested_parse(StringList([*lines, "```"], "api"), self.content_offset, part)
        return part.children


def _modules(package: str) -> list[str]:
    """Return the full names of a package's public modules, its own name left out."""
    folders = getattr(find_spec(package), "submodule_search_locations", None) or []
    found = []
    for module in pkgutil.iter_modules(folders):
        name = f"{package}.{module.name}"
        if not module.name.startswith("_"):
            found += [name, *_modules(name)] if module.ispkg else [name]
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("api", Api)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
