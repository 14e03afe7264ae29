"""Read the exercises of a chapter, and their solutions, from the directives in its notebook."""

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import jinja2
import nbformat
import numpy as np
import yaml
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.directives import MarkupError, parse_directive_text
from myst_parser.parsers.mdit import create_md_parser
from sphinx_exercise.directive import ExerciseDirective, SolutionDirective

from helpers import UserError

KINDS = ("code", "on paper", "to be argued")
DIRECTIVES = {"{exercise}": ExerciseDirective, "{solution}": SolutionDirective}
NOTEBOOKS = Path(__file__).parents[3] / "notebooks"
CHECKER = NOTEBOOKS / "analysis" / "hidden_tests.py"
DRAWN = NOTEBOOKS / "hidden" / "paper.yaml"  # a book without the course has none
PAPER = yaml.safe_load(DRAWN.read_text(encoding="utf-8")) if DRAWN.is_file() else {}
WORDS = "*In words, 1 point:*"  # before the question in words of an exercise in code
_HEAD = re.compile(
    r"\*Difficulty (\d+) of 3, (\d+) minutes(?:, ([^*]+?))?\.\*\s*", flags=re.ASCII | re.IGNORECASE
)
_MARKDOWN = create_md_parser(MdParserConfig(enable_extensions={"colon_fence"}), RendererHTML)


@dataclass(frozen=True)
class Exercise:
    """One exercise with its solution; its code is "" unless the kind is code."""

    chapter: str
    label: str  # unique
    title: str
    difficulty: int  # from 1 to 3
    minutes: int  # that a reader is expected to need
    kind: str  # of KINDS
    text: str  # what is asked, in Markdown
    test: str  # the code that checks it
    solution: str  # the code that solves it
    draw: str  # the code that draws inputs for the hidden test
    notes: str  # what the solution says
    seed: int = 0  # of the hidden test's draws

    @property
    def words(self) -> str:
        """Return the question in words that follows the function; "" if there is none."""
        return self.text.partition(WORDS)[2].strip()

    @property
    def points(self) -> int:
        """Return what it is worth: its difficulty, and a point for the question in words."""
        return self.difficulty + bool(self.words)

    def functions(self) -> list[ast.FunctionDef]:
        """Return the functions to be written: those of the solution that the test names."""
        solution, test = _parsed(self.solution, self.label), _parsed(self.test, self.label)
        asked = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
        defined = [node for node in solution.body if isinstance(node, ast.FunctionDef)]
        functions = [node for node in defined if node.name in asked]
        if not functions:
            raise UserError(
                f"The solution of {self.label} defines no function that its test calls."
            )
        return functions

    def parts(self) -> list[tuple[str, str, str]]:
        """Return name, visible and hidden test of each function that is to be written."""
        functions = {function.name for function in self.functions()}
        body = _parsed(self.test, self.label).body
        used = [functions & {n.id for n in ast.walk(s) if isinstance(n, ast.Name)} for s in body]
        return [
            (
                name,
                "".join(
                    f"{ast.get_source_segment(self.test, statement)}\n"
                    for statement, names in zip(body, used)
                    if not names or name in names
                )
                if len(functions) > 1
                else self.test,
                self.hidden(name),
            )
            for name in sorted(functions)
        ]

    def hidden(self, *only: str) -> str:
        """Return the hidden test: the functions agree with the solution on drawn inputs."""
        names = ", ".join(only or [function.name for function in self.functions()])
        solution = textwrap.indent(self.solution.rstrip(), "    ")
        return (
            f"from notebooks.analysis.hidden_tests import compare\n\n{self.draw}\n\n"
            f"def _solution():\n{solution}\n\n    return [{names}]\n\n\n"
            f"compare([{names}], _solution(), {_name(self.label)}, seed={self.seed})\n"
        )


def read(path: Path) -> list[Exercise]:
    """Return the exercises of a chapter in order."""
    cells = nbformat.read(path, as_version=4).cells
    found = [
        part
        for cell in cells
        if cell.cell_type == "markdown" and "{exercise}" in cell.source
        for part in _directives(cell.source, path.stem)
    ]
    solutions = {title: body for name, title, _, body in found if name == "{solution}"}
    beside = path.parent / "hidden" / f"{path.stem}.py"
    draws = beside.read_text(encoding="utf-8") if beside.is_file() else ""
    return [
        _exercise(path.stem, title, label, body, solutions, draws)
        for name, title, label, body in found
        if name == "{exercise}"
    ]


def drawn(exercise: Exercise, seed: int | None) -> Exercise:
    """Return an exercise with the draws of a seed, and with other numbers if it is on paper."""
    given = PAPER.get(exercise.label) if seed is not None else None
    if given is None:
        return replace(exercise, seed=seed or 0)
    number = int(np.random.default_rng(seed).integers(1, len(given["draws"])))
    return replace(exercise, seed=seed, **filled(exercise.label, number))


def filled(label: str, number: int) -> dict[str, str]:
    """Return text and notes of an exercise on paper with the numbers of one of its draws."""
    brackets = ("[%", "%]", "[[", "]]")
    environment = jinja2.Environment(*brackets, undefined=jinja2.StrictUndefined)
    given = PAPER[label]
    return {
        part: environment.from_string(given[part]).render(given["draws"][number])
        for part in ("text", "notes")
    }


def install_cell(path: Path) -> str:
    """Return the code of a chapter's cell that fetches the project where it is missing."""
    cells = nbformat.read(path, as_version=4).cells
    return next((c.source for c in cells if "install" in c.metadata.get("tags", [])), "")


def checker() -> str:
    """Return the code of `check`, for notebooks that stand alone."""
    code = CHECKER.read_text(encoding="utf-8")
    kept = ("TOLERANCE", "SHOWN", "check", "_shown", "agree")
    parts = []
    for node in ast.parse(code).body:
        name = node.targets[0].id if isinstance(node, ast.Assign) else getattr(node, "name", "")
        if name in kept or isinstance(node, ast.ImportFrom | ast.Import):
            parts.append(ast.get_source_segment(code, node))
    return "\n".join(parts) + "\n"


def _directives(markdown: str, chapter: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, argument, label and body of the exercises and solutions in Markdown."""
    for token in _MARKDOWN.parse(markdown):
        name, _, first = token.info.partition(" ")
        if token.type not in ("fence", "colon_fence") or name not in DIRECTIVES:
            continue
        try:
            parsed = parse_directive_text(DIRECTIVES[name], first.strip(), token.content)
        except MarkupError as error:
            raise UserError(f"In {chapter}, {name} {first}: {error}.") from error
        label = parsed.options.get("label", "")
        yield name, " ".join(parsed.arguments), label, "\n".join(parsed.body).strip()


def _exercise(
    chapter: str, title: str, label: str, body: str, solutions: dict[str, str], drawn: str
) -> Exercise:
    """Put an exercise and its solution together."""
    where = f'The exercise "{title}" of the chapter {chapter}'
    if not label:
        raise UserError(f"{where} has no label: begin it with a line such as :label: ex-name.")
    if label not in solutions:
        raise UserError(f"{where} has no solution: add a directive {{solution}} {label}.")
    head = _HEAD.match(body)
    kind = (head[3] or "on paper") if head else ""
    if kind not in KINDS:
        raise UserError(
            f"{where} has to begin with a line such as *Difficulty 2 of 3, 10 minutes, code.*, "
            f"in which the last word is one of: {', '.join(KINDS)}."
        )
    text, tests = without_code(body[head.end() :])
    notes, codes = without_code(solutions[label])
    wanted = 1 if kind == "code" else 0
    if len(tests) != wanted or len(codes) != wanted:
        raise UserError(
            f"{where} is {kind} and needs {wanted} python block as its test and {wanted} in its "
            f"solution; it has {len(tests)} and {len(codes)}."
        )
    test, solution = "".join(tests), "".join(codes)
    level, minutes = int(head[1]), int(head[2])
    draw = _draw(drawn, label, chapter) if kind == "code" else ""
    return Exercise(chapter, label, title, level, minutes, kind, text, test, solution, draw, notes)


def _draw(drawn: str, label: str, chapter: str) -> str:
    """Return the function that draws for an exercise, behind the imports of its file."""
    body = _parsed(drawn, f"notebooks/hidden/{chapter}.py").body
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name == _name(label):
            parts = [imports(body), ast.get_source_segment(drawn, node)]
            return "\n\n\n".join(part for part in parts if part) + "\n"
    raise UserError(
        f"{label} has no hidden test: write a function {_name(label)}(random) in "
        f"notebooks/hidden/{chapter}.py that draws arguments for what is to be written."
    )


def imports(body: Iterable[ast.stmt]) -> str:
    """Return the imports among statements, as code."""
    found = (node for node in body if isinstance(node, ast.Import | ast.ImportFrom))
    return "\n".join(map(ast.unparse, found))


def _parsed(code: str, where: str) -> ast.Module:
    """Return the statements of a piece of code."""
    try:
        return ast.parse(code)
    except SyntaxError as error:
        raise UserError(f"{where} is not Python: {error.msg}, {error.text}.") from error


def _name(label: str) -> str:
    """Return the name of the function that draws for an exercise."""
    return label.replace("-", "_")


def without_code(markdown: str) -> tuple[str, list[str]]:
    r"""Take the blocks of Python out of Markdown.

    >>> fence = "`" * 3
    >>> without_code(f"Add.\n\n{fence}python\nassert f(1) == 2\n{fence}\nThat is all.")
    ('Add.\n\nThat is all.', ['assert f(1) == 2\n'])
    """
    lines = markdown.split("\n")
    fences = [token for token in _MARKDOWN.parse(markdown) if token.type == "fence"]
    blocks = [token for token in fences if token.info.strip() == "python"]
    for token in reversed(blocks):
        begin, end = token.map
        del lines[begin:end]
    return "\n".join(lines).strip(), [token.content for token in blocks]


def title_of(markdown: str) -> str:
    r"""Return the first heading of a text.

    >>> title_of("(atlas)=\n# Models whose training text is known\n\nText.")
    'Models whose training text is known'
    """
    tokens = iter(_MARKDOWN.parse(markdown))
    return next((next(tokens).content for token in tokens if token.type == "heading_open"), "")


def words(markdown: str) -> int:
    r"""Count the words of a text, what is in fences left out.

    >>> words("# Two words\n\n- and two\n")
    4
    """
    tokens = _MARKDOWN.parse(markdown)
    return sum(len(token.content.split()) for token in tokens if token.type == "inline")


def plain(markdown: str, where: str) -> str:
    """Write Markdown for a notebook outside the book, where roles mean nothing.

    >>> plain("Each {term}`frame`, as {ref}`said above <atlas>`.", "x")
    'Each frame, as said above.'
    """
    for token in _MARKDOWN.parse(markdown):
        for child in token.children or ():
            if child.type != "myst_role":
                continue
            words = _in_words(child.meta["name"], child.content, where)
            markdown = markdown.replace(f"{{{child.meta['name']}}}`{child.content}`", words)
    return markdown


def _in_words(role: str, content: str, where: str) -> str:
    """Return what stands for a role: its title, or its term."""
    title = re.fullmatch(r"(.+?)\s*<[^<>]+>", content, flags=re.DOTALL)
    if title:
        return title[1]
    if role == "term":
        return content
    raise UserError(
        f"{where} has the role {{{role}}}, which a notebook outside the book cannot show: say it "
        f"in words, or give a title, as in {{{role}}}`words <target>`."
    )
