"""Names say what comes back, and nothing is hidden that a reader has to know."""

import ast
import json
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CODE = ("helpers", "notebooks", "book", "bench")
# Participles, prepositions, numerals and verbs without an object.
FORBIDDEN = set(
    Path(__file__).with_name("forbidden_names.txt").read_text("utf-8").split()
)
# Names that others know the package by.
DOCUMENTED = {
    "helpers/runs/store.py: start",
    "helpers/models/language_model.py: Served",
}
# Members of the protocol of a study: their module says of what.
PROTOCOL = {"ask", "facts", "verdict", "summary", "check", "right", "halves", "printed"}
STUDIES = {"monitor", "knowledge_base", "latent_knowledge", "multiplicity"}
ONCE_A_FOLDER = {"__init__", "__main__", "conftest", *STUDIES}


def modules(*folders):
    """Yield the modules below folders: path, and syntax tree."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "_build" not in path.parts:
                tree = ast.parse(path.read_text(encoding="utf-8"))
                yield path.relative_to(ROOT), tree


def definitions(tree):
    """Yield the public functions and classes of a module."""
    for node in tree.body:
        named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if named and not node.name.startswith("_"):
            yield node


def test_public_names_say_what_comes_back():
    riddles = []
    for path, tree in modules(*CODE):
        of_a_study = path.parts[:2] == ("helpers", "studies")
        for node in definitions(tree):
            place = f"{path.as_posix()}: {node.name}"
            if node.name not in FORBIDDEN or place in DOCUMENTED:
                continue
            if not (of_a_study and node.name in PROTOCOL):
                riddles.append(place)
    assert riddles == []


def test_a_file_name_occurs_once():
    names = Counter()
    for path, _ in modules(*CODE):
        if path.stem not in ONCE_A_FOLDER and "hidden" not in path.parts:
            names[path.stem] += 1
    assert [name for name, times in names.items() if times > 1] == []


def test_found_is_no_name_for_a_result():
    times = 0
    for path, _ in modules(*CODE):
        source = (ROOT / path).read_text(encoding="utf-8")
        times += len(re.findall(r"^\s*found = ", source, flags=re.MULTILINE))
    assert times < 60


@pytest.mark.parametrize("pattern", [r"unittest\.mock", r"\.attrs\b", r"fmt: skip"])
def test_what_is_not_done(pattern):
    """Nothing is patched by test tools, hung on a table, or kept from the formatter."""
    places = []
    for path, _ in modules(*CODE):
        if re.search(pattern, (ROOT / path).read_text(encoding="utf-8")):
            places.append(path.as_posix())
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code" and re.search(
                pattern, "".join(cell["source"])
            ):
                places.append(path.name)
    assert places == []


def signature(node):
    """Return a function's parameters with their defaults, as text."""
    if isinstance(node, ast.ClassDef):
        return "class"
    arguments = ast.unparse(node.args)
    return f"({arguments})"


def public_names():
    """Return a line for each public function and class of the package."""
    lines = []
    for path, tree in modules("helpers"):
        module = ".".join(path.with_suffix("").parts)
        lines += [f"{module}.{n.name} {signature(n)}" for n in definitions(tree)]
    return lines


def test_public_names_and_signatures_are_known():
    """Who changes one sees it here: ``python -m tests.test_names`` writes the list anew."""
    known = Path(__file__).with_name("public_names.txt")
    assert known.read_text(encoding="utf-8").splitlines() == public_names()


if __name__ == "__main__":
    text = "\n".join(public_names()) + "\n"
    Path(__file__).with_name("public_names.txt").write_text(text, encoding="utf-8")
