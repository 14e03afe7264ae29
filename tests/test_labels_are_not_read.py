"""What a prompt is, its columns say: one module alone reads ``variant``, a label for people."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

READER = "helpers/prompts/labels.py"
FOLDERS = ("helpers", "notebooks", "book", "bench")
# Of a column: what compares, matches or splits its text.
READING = {
    *("str", "isin", "eq", "ne", "map", "replace", "apply", "unique"),
    *("startswith", "endswith", "split", "rsplit", "partition", "rstrip", "lstrip"),
    *("removeprefix", "removesuffix"),
}
QUERIES = re.compile(r"\bvariant(\.str\b| *(==|!=|in\b|not in\b))")
BLOCK = re.compile(r"```\{?(?:python|code-cell)[^\n]*\n(.*?)```", re.DOTALL)


def is_label(node: ast.AST) -> bool:
    """Say whether an expression is a label, or a column of labels."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value == "variant"
    return isinstance(node, ast.Attribute) and node.attr == "variant"


def readings(code: str) -> Iterator[str]:
    """Yield the lines in which a label is compared, matched or split."""
    lines = code.split("\n")
    for node in ast.walk(ast.parse(code)):
        compared = isinstance(node, ast.Compare) and any(
            map(is_label, [node.left, *node.comparators])
        )
        matched = (
            isinstance(node, ast.Attribute)
            and node.attr in READING
            and is_label(node.value)
        )
        queried = isinstance(node, ast.Constant) and QUERIES.search(str(node.value))
        if compared or matched or queried:
            yield lines[node.lineno - 1].strip()


def sources(root: Path) -> Iterator[tuple[str, str]]:
    """Yield all code with its place: modules, cells of notebooks, and blocks of pages."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            place = path.relative_to(root).as_posix()
            if "_build" in place or "/chapters/" in place or place == READER:
                continue
            if path.suffix == ".py":
                yield place, path.read_text(encoding="utf-8")
            elif path.suffix == ".ipynb":
                cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
                for cell in cells:
                    if cell["cell_type"] == "code":
                        yield place, "".join(cell["source"])
            elif path.suffix == ".md":
                for block in BLOCK.findall(path.read_text(encoding="utf-8")):
                    yield place, block


def test_one_module_alone_reads_labels(root):
    found, places = [], set()
    for place, code in sources(root):
        places.add(place)
        try:
            found += [f"{place}: {line}" for line in readings(code)]
        except SyntaxError:  # a part of a program, or a line for a shell in a cell
            found += [
                f"{place}: {line}" for line in code.split("\n") if '"variant"' in line
            ]
    assert not found
    expected = {"helpers/studies/monitor.py", "notebooks/monitor.ipynb"}
    assert (
        expected | {"book/python.md", "bench/plugins/knowledge_measures.py"} <= places
    )


@pytest.mark.parametrize(
    "code",
    [
        'answers[answers["variant"] == "frame0"]',
        'answers["variant"].str.startswith("wrong")',
        'answers["variant"].isin(["right"])',
        "row.variant.split()",
        "answers.query(\"variant == 'ic'\")",
        'answers.query("kind == 1 and variant.str.len() > 1")',
        'if prompt["variant"] != "right": pass',
    ],
)
def test_a_label_that_is_read_is_seen(code):
    assert list(readings(code))


@pytest.mark.parametrize(
    "code",
    ['answers.groupby(["item", "variant"])', 'print(answers[["variant", "prompt"]])'],
)
def test_a_label_may_be_a_key_and_be_shown(code):
    assert not list(readings(code))
