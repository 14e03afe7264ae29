"""What a chapter's parameters cell declares, and the settings that a user gives."""

import ast
import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

from helpers import UserError
from helpers.runs import PROJECT_FOLDER
from helpers.settings import FIXED, LEAST, settings_from_words

LEAST_VALUES_FILE = PROJECT_FOLDER / "notebooks" / "analysis" / "parameters.toml"


@cache
def least_values() -> dict[str, int]:
    """Return the least values of whole numbers, of studies and of chapters."""
    of_chapters = tomllib.loads(LEAST_VALUES_FILE.read_text(encoding="utf-8"))
    return LEAST | of_chapters["least"]


def declared_parameters(template: Path) -> dict[str, Any]:
    """Return the parameters that a chapter declares, with their defaults."""
    # `papermill.inspect_notebook` drops those whose comment holds a quotation mark.
    if not template.is_file():
        known = ", ".join(sorted(path.stem for path in template.parent.glob("*.ipynb")))
        raise UserError(
            f"There is no chapter '{template.stem}': choose from {known or 'none'}."
        )
    defaults = {}
    for statement in ast.parse(_parameters_cell(template)).body:
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target = statement.target
        else:
            continue
        if isinstance(target, ast.Name):
            # `ast.literal_eval` would not do: 1 / 3 is no literal.
            code = compile(ast.Expression(statement.value), str(template), "eval")
            defaults[target.id] = eval(code, {"__builtins__": {}})
    return defaults


def _parameters_cell(template: Path) -> str:
    """Return the text of the parameters cell."""
    for cell in nbformat.read(template, as_version=4).cells:
        if "parameters" in cell.metadata.get("tags", []):
            return cell.source
    return ""


def settable_parameters(template: Path) -> dict[str, Any]:
    """Return the parameters that a user may set, with their defaults."""
    defaults = declared_parameters(template)
    return {name: defaults[name] for name in defaults if name not in FIXED}


def settings_of_chapters(
    templates: Sequence[Path], words: Iterable[str]
) -> dict[str, Any]:
    """Return what words such as ``n_facts=30`` set, each typed by a chapter with it."""
    defaults = {template: settable_parameters(template) for template in templates}
    settings = {}
    for word in words:
        name, _, _ = word.partition("=")
        template = _template_with_parameter(name, defaults)
        owner = f"The chapter {template.stem} has"
        settings |= settings_from_words(
            [word], defaults[template], owner, least_values()
        )
    return settings


def _template_with_parameter(
    name: str, defaults: Mapping[Path, Mapping[str, Any]]
) -> Path:
    """Return the first chapter that has a parameter, or one of much the same name."""
    for template, own in defaults.items():
        if name in own:
            return template
    for template, own in defaults.items():
        if difflib.get_close_matches(name, own, n=1):
            return template
    return next(iter(defaults))
