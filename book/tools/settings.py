"""Read the settings of a chapter: the parameters that it declares and the values given to them."""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat

from helpers import UserError
from helpers.cli import FIXED, read_settings


def declared(template: Path) -> dict[str, Any]:
    """Return the parameters that a chapter declares, with their defaults."""
    # `papermill.inspect_notebook` drops a parameter whose comment holds a quotation
    # mark.
    if not template.is_file():
        known = ", ".join(sorted(path.stem for path in template.parent.glob("*.ipynb")))
        raise UserError(
            f"There is no chapter '{template.stem}': choose from {known or 'none'}."
        )
    cells = nbformat.read(template, as_version=4).cells
    source = next(
        (c.source for c in cells if "parameters" in c.metadata.get("tags", [])), ""
    )
    found = {}
    for line in ast.parse(source).body:
        target = (
            line.targets[0]
            if isinstance(line, ast.Assign)
            else getattr(line, "target", None)
        )
        if isinstance(target, ast.Name) and line.value is not None:
            default = compile(ast.Expression(line.value), str(template), "eval")
            found[target.id] = eval(
                default, {"__builtins__": {}}
            )  # 1 / 3 is no literal
    return found


def free(template: Path) -> dict[str, Any]:
    """Return the parameters that a user may set, with their defaults."""
    return {
        name: value for name, value in declared(template).items() if name not in FIXED
    }


def read(template: Path, words: Iterable[str]) -> dict[str, Any]:
    """Return the parameters that words like ``n_facts=30`` set, checked against the template."""
    return read_settings(words, free(template), f"The chapter {template.stem} has")


def fitting(template: Path, words: Iterable[str]) -> list[str]:
    """Return the words among ``name=value`` that are not for other chapters alone."""
    known = declared(template)
    return [
        word for word in words if "=" not in word or word.partition("=")[0] in known
    ]
