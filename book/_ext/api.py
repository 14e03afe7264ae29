"""The directive ``api``: what chapters and users call, with its docstring, module by module.

A function or class is called from outside if its docstring has sections (Parameters,
Returns, ...).
"""

import inspect
import pkgutil
import re
from importlib import import_module
from types import ModuleType

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

DOCSTRING_SECTIONS = re.compile(
    r"^ *(Parameters|Returns|Attributes)\n *-+$", re.MULTILINE
)


class ApiDirective(SphinxDirective):
    """List what is documented of packages with all of their modules, named in the argument."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the documented functions and classes."""
        lines = ["```{eval-rst}"]
        for package in self.arguments[0].split():
            for module, names in documented_names(package).items():
                lines += [f".. rubric:: {module}", "   :heading-level: 3", ""]
                lines += [f".. automodule:: {module}", "   :no-members:", ""]
                for name, kind in names.items():
                    lines += [f".. auto{kind}:: {module}.{name}", ""]
        part = nodes.container()
        self.state.nested_parse(
            StringList([*lines, "```"], "api"), self.content_offset, part
        )
        return part.children


def documented_names(package: str) -> dict[str, dict[str, str]]:
    """Return module to name to kind (function or class) of what has a docstring with sections."""
    found = {}
    for module in map(import_module, [package, *_modules(package)]):
        own = {
            name: _kind(each)
            for name, each in vars(module).items()
            if _own(each, module)
        }
        if own:
            found[module.__name__] = own
    return found


def _own(thing: object, module: ModuleType) -> bool:
    """Return whether a module defines something public whose docstring has sections."""
    plain = inspect.unwrap(thing) if callable(thing) else thing  # below a cache
    if not (inspect.isclass(thing) or inspect.isfunction(plain)):
        return False
    here = thing.__module__ == module.__name__ and not thing.__name__.startswith("_")
    return here and bool(DOCSTRING_SECTIONS.search(thing.__doc__ or ""))


def _kind(thing: object) -> str:
    return "class" if inspect.isclass(thing) else "function"


def _modules(package: str) -> list[str]:
    """Return the full names of a package's public modules, its own name left out."""
    folders = getattr(import_module(package), "__path__", [])
    found = []
    for module in pkgutil.iter_modules(folders):
        name = f"{package}.{module.name}"
        if not module.name.startswith("_"):
            found += [name, *_modules(name)] if module.ispkg else [name]
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("api", ApiDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
