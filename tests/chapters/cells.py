"""Execute a chapter's cells without a kernel: what each printed, showed and drew."""

import ast
import contextlib
import io
from dataclasses import dataclass, field
from typing import Any

import nbformat
from matplotlib import pyplot as plt

from book.tools import settings
from tests.chapters import notebooks


@dataclass
class Executed:
    """What the cells left: their names, and by cell what they printed and how often they drew."""

    space: dict[str, Any]
    printed: dict[str, str] = field(default_factory=dict)
    drawn: dict[str, int] = field(default_factory=dict)


def execute(chapter: str, words: list[str], **fixed: str) -> Executed:
    """Execute all cells of a chapter; render all that it shows.

    Parameters
    ----------
    chapter : str
        The notebook's name.
    words : list of str
        Parameters, as ``name=value``.
    **fixed : str
        Parameters that no words set, such as ``runs_dir``.
    """
    template = notebooks.template(chapter)
    found = Executed({"display": _rendered})
    given = settings.read(template, words) | fixed
    for cell in nbformat.read(template, 4).cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type != "code":
            continue
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            _run(cell.source, found.space)
        found.space |= given if "parameters" in tags else {}
        found.printed[cell.id], found.drawn[cell.id] = (
            said.getvalue(),
            len(plt.get_fignums()) or "HTML object" in said.getvalue(),
        )
        for number in plt.get_fignums():
            plt.figure(number).savefig(io.BytesIO())
        plt.close("all")
    return found


def _run(source: str, space: dict[str, Any]) -> None:
    """Execute a cell's source, and show the value of its last expression as Jupyter does."""
    lines = ast.parse(source).body
    last = lines.pop() if lines and isinstance(lines[-1], ast.Expr) else None
    exec(compile(ast.Module(lines, []), "cell", "exec"), space)
    if last is not None:
        _rendered(eval(compile(ast.Expression(last.value), "cell", "eval"), space))


def _rendered(*shown: object) -> None:
    """Render tables as the page does."""
    for each in shown:
        if hasattr(each, "_repr_html_"):
            each._repr_html_()
