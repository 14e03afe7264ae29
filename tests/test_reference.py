"""The reference covers what chapters call, and nothing else that the package has."""

import ast
import inspect
import json
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED_BY_CHAPTERS = {"notebooks.kit.plots", "notebooks.kit.published"}
APART = {"atlas"}  # of a chapter of its own
# What one chapter alone calls, to say what it found or to lay out its tables.
OWN = re.compile(r"helpers\.(atlas|.*findings|runs\.(comparison|panel))")
FEW = 2  # arguments that a sentence can explain


@pytest.fixture(scope="module")
def api():
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    try:
        import api
    finally:
        sys.path.pop(0)
    return api


def listed() -> set[str]:
    """Return the packages that the pages of the reference name."""
    pages = (page.read_text() for page in (ROOT / "book" / "api").glob("*.md"))
    found = re.findall(r"^```\{api\} (.+)$", "\n".join(pages), flags=re.MULTILINE)
    return set(" ".join(found).split())


def called() -> set[str]:
    """Return the full names of the package's functions that the chapters call."""
    found = set()
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n".join(
            "".join(c["source"]) for c in cells if c["cell_type"] == "code"
        )
        tree, names = list(ast.walk(ast.parse(code))), {}
        for node in tree:
            if isinstance(node, ast.ImportFrom) and node.module.startswith("helpers"):
                names |= {
                    a.asname or a.name: f"{node.module}.{a.name}" for a in node.names
                }
        chains = [
            ast.unparse(node).split(".")
            for node in tree
            if isinstance(node, ast.Attribute)
        ]
        found |= set(names.values())
        found |= {
            f"{names[first]}.{name}" for first, name, *_ in chains if first in names
        }
    return found


def thing(name: str) -> object:
    """Return what a full name stands for; None for a module or a mere value."""
    module, _, last = name.rpartition(".")
    try:
        return getattr(import_module(module), last, None)
    except ImportError:
        return None


def test_every_package_is_in_the_reference():
    here = {path.parent.name for path in (ROOT / "helpers").glob("*/__init__.py")}
    package = {f"helpers.{name}" for name in here - APART}
    assert listed() == package | SHARED_BY_CHAPTERS


def test_what_the_chapters_call_is_documented_in_full(api):
    there = {
        f"{module}.{name}"
        for package in listed()
        for module, names in api.documented_names(package).items()
        for name in names
    }
    exported = [
        name for name in called() if name.count(".") == 2
    ]  # by a package's __init__
    functions = [each for each in map(thing, exported) if inspect.isfunction(each)]
    many = [each for each in functions if len(inspect.signature(each).parameters) > FEW]
    wanted = {f"{each.__module__}.{each.__name__}" for each in many}
    wanted = {
        name for name in wanted if name.startswith("helpers.") and not OWN.match(name)
    }
    assert len(wanted) > 10
    assert wanted - there == set()
