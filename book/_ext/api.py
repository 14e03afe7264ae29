"""The directive ``api``: what chapters and users call, with its docstring, by module.

A function or class is called from outside if its docstring has sections (Parameters,
Returns, ...).
"""

import inspect
import pkgutil
import re
from importlib import import_module
from types import ModuleType
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

DOCSTRING_SECTIONS = re.compile(
    r"^ *(Parameters|Returns|Attributes)\n *-+$", re.MULTILINE
)


class ApiDirective(SphinxDirective):
    """List what is documented of the packages named in the argument."""

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
        lines.append("```")
        part = nodes.container()
        self.state.nested_parse(StringList(lines, "api"), self.content_offset, part)
        return part.children


def documented_names(package: str) -> dict[str, dict[str, str]]:
    """Return the kind, function or class, of what is documented, by module and name."""
    names_by_module = {}
    for module_name in [package, *_module_names(package)]:
        module = import_module(module_name)
        kinds = {}
        for name, member in vars(module).items():
            if _is_documented(member, module):
                kinds[name] = "class" if inspect.isclass(member) else "function"
        if kinds:
            names_by_module[module.__name__] = kinds
    return names_by_module


def _is_documented(member: Any, module: ModuleType) -> bool:
    """Return whether a module defines a public member whose docstring has sections."""
    plain = inspect.unwrap(member) if callable(member) else member  # below a cache
    if not (inspect.isclass(member) or inspect.isfunction(plain)):
        return False
    if member.__module__ != module.__name__ or member.__name__.startswith("_"):
        return False
    return bool(DOCSTRING_SECTIONS.search(member.__doc__ or ""))


def _module_names(package: str) -> list[str]:
    """Return the full names of a package's public modules, its own name left out."""
    folders = getattr(import_module(package), "__path__", [])
    names = []
    for module in pkgutil.iter_modules(folders):
        if module.name.startswith("_"):
            continue
        name = f"{package}.{module.name}"
        names.append(name)
        if module.ispkg:
            names += _module_names(name)
    return names


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("api", ApiDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
