"""Read the settings of a chapter: the parameters that it declares and the values given to them."""

import ast
import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from helpers import UserError

FIXED = {"model": "MODEL= or --model", "run_dir": "--runs", "runs_dir": "--runs"}
YES_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
# The least value of a number, where it is not 0: fewer resamples give no interval.
LEAST = {"n_bootstrap": 20, "n_variations": 2, "n_options": 2, "n_list": 2} | dict.fromkeys(
    ("n_frames", "n_grid", "n_seen", "n_unseen", "n_examples", "n_choices", "n_seeds", "n_close"), 1
)
KINDS = {bool: "yes or no", int: "a whole number", float: "a number"}


def declared(template: Path) -> dict[str, Any]:
    """Return the parameters that a chapter declares, with their defaults.

    They are the assignments of the cell tagged ``parameters``. (``papermill.inspect_notebook``
    tells them too, but drops a parameter whose comment holds a quotation mark.)
    """
    import nbformat

    if not template.is_file():
        known = ", ".join(sorted(path.stem for path in template.parent.glob("*.ipynb")))
        raise UserError(f"There is no chapter '{template.stem}': choose from {known or 'none'}.")
    cells = nbformat.read(template, as_version=4).cells
    source = next((c.source for c in cells if "parameters" in c.metadata.get("tags", [])), "")
    found = {}
    for line in ast.parse(source).body:
        target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
        if isinstance(target, ast.Name) and line.value is not None:
            default = compile(ast.Expression(line.value), str(template), "eval")
            found[target.id] = eval(default, {"__builtins__": {}})  # 1 / 3 is no literal
    return found


def parse(name: str, text: str, default: Any) -> Any:
    """Return the value that ``text`` gives to a parameter, in the type of the parameter's default.

    Lists are written with commas, with or without square brackets.

    >>> parse("n_facts", "30", 100), parse("attribution", "no", True)
    (30, False)
    >>> parse("relations", "P17,P36", ()), parse("alphas", "[1, 0, 0]", [0.3, 0.3, 0.4])
    (['P17', 'P36'], [1.0, 0.0, 0.0])
    """
    if isinstance(default, list | tuple):
        words = [word.strip().strip("'\"") for word in text.strip("[]() ").split(",")]
        first = default[0] if default else ""
        return [parse(name, word, first) for word in words if word]
    kind = type(default)
    try:
        return YES_NO[text.lower()] if kind is bool else kind(text)
    except (KeyError, ValueError) as error:
        raise UserError(
            f"The parameter {name} takes {KINDS.get(kind, kind.__name__)}, "
            f"as in {name}={default}, and '{text}' is none."
        ) from error


def read(template: Path, words: Iterable[str]) -> dict[str, Any]:
    """Return the parameters that words like ``n_facts=30`` set, checked against the template."""
    free = {name: value for name, value in declared(template).items() if name not in FIXED}
    return take(words, free, f"The chapter {template.stem} has")


def fitting(template: Path, words: Iterable[str]) -> list[str]:
    """Return the words among ``name=value`` that are not for other chapters alone."""
    known = declared(template)
    return [word for word in words if "=" not in word or word.partition("=")[0] in known]


def take(words: Iterable[str], free: dict[str, Any], taker: str) -> dict[str, Any]:
    """Return what words like ``n_facts=30`` set, in the types of the defaults in `free`."""
    given = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise UserError(f"'{word}' sets nothing: write name=value, as in n_facts=30.")
        if name in FIXED:
            raise UserError(f"The parameter {name} is set with {FIXED[name]}, not by '{word}'.")
        if name not in free:
            near = difflib.get_close_matches(name, free, n=1)
            hint = f"did you mean {near[0]}? The" if near else "the"
            raise UserError(
                f"{taker} no parameter '{name}': {hint} declared ones are {', '.join(free)}."
            )
        given[name] = parse(name, text, free[name])
        if isinstance(free[name], int) and given[name] < LEAST.get(name, 0):
            least = LEAST.get(name, 0)
            raise UserError(f"The parameter {name} is {given[name]}: give {least} or more.")
    return given
