"""How dense code is: ``python -m tests.density [FOLDER ...]``.

A line that nests three thoughts is short and hard to change, so lines are not counted.
Counted are tokens of code (docstrings and comments are none; an f-string is one), after
formatting at 88 columns without magic trailing commas, and how many expressions nest:
comprehensions, conditional expressions, walrus operators and lambdas.
"""

import ast
import io
import subprocess
import sys
import tokenize
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
NESTING = (
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.IfExp,
    ast.NamedExpr,
    ast.Lambda,
)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
FORMAT = (
    *("format", "--isolated", "--line-length", "88"),
    *("--config", "format.skip-magic-trailing-comma=true", "-"),
)
# From Python 3.12 an f-string is several tokens, between a first and a last one.
F_BEGINS = getattr(tokenize, "FSTRING_START", None)
F_ENDS = getattr(tokenize, "FSTRING_END", None)


class Density(NamedTuple):
    """Counts of a folder's code; those per line are of lines that hold code."""

    tokens: int
    lines: int
    statements: int
    nested: int

    @property
    def tokens_a_line(self) -> float:
        return self.tokens / self.lines

    @property
    def tokens_a_statement(self) -> float:
        return self.tokens / self.statements

    @property
    def nested_in_100_lines(self) -> float:
        return 100 * self.nested / self.lines


def density_of_text(text: str) -> Density:
    """Return the counts of a module's source, formatted as it is.

    >>> density_of_text('x = [y for y in "ab"]  # why')
    Density(tokens=9, lines=1, statements=1, nested=1)
    """
    tree = ast.parse(text)
    docstrings = _docstrings(tree)
    documented: set[int] = set()
    for docstring in docstrings:
        documented.update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    tokens, depth = 0, 0
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in NO_CODE or token.start[0] in documented:
            continue
        lines.update(range(token.start[0], token.end[0] + 1))
        if token.type == F_ENDS:
            depth -= 1
            continue
        if depth == 0:
            tokens += 1
        if token.type == F_BEGINS:
            depth += 1
    nodes = list(ast.walk(tree))
    statements = sum(isinstance(node, ast.stmt) for node in nodes) - len(docstrings)
    nested = sum(isinstance(node, NESTING) for node in nodes)
    return Density(tokens, len(lines), statements, nested)


def density_of_folders(folders: Iterable[str], without: str = "") -> Density:
    """Return the counts of all modules below folders; those below another are left out."""
    total = Density(0, 0, 0, 0)
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            place = path.relative_to(ROOT)
            if "_build" in place.parts:
                continue
            if without and place.is_relative_to(without):
                continue
            counts = density_of_text(_formatted(path))
            total = Density(*(a + b for a, b in zip(total, counts, strict=True)))
    return total


def _docstrings(tree: ast.Module) -> list[ast.Expr]:
    """Return the docstrings of a module, as statements."""
    docstrings = []
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            docstrings.append(node.body[0])
    return docstrings


def _formatted(path: Path) -> str:
    """Return a module's source as the formatter writes it."""
    command = [sys.executable, "-m", "ruff", *FORMAT]
    source = path.read_text(encoding="utf-8")
    done = subprocess.run(
        command, input=source, capture_output=True, text=True, check=True
    )
    return done.stdout


def main(folders: list[str]) -> None:
    """Print a row a folder."""
    print(f"{'folder':34}{'tokens':>9}{'a line':>8}{'a statement':>13}{'nested':>8}")
    for folder in folders or ["helpers", "notebooks", "book", "bench", "tests"]:
        counts = density_of_folders([folder])
        print(
            f"{folder:34}{counts.tokens:9,}{counts.tokens_a_line:8.1f}"
            f"{counts.tokens_a_statement:13.1f}{counts.nested_in_100_lines:8.1f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
