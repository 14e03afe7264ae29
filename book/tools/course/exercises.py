"""Read the exercises of a chapter, and their solutions, from the directives in its notebook.

An exercise begins with "Difficulty 2 of 3, 10 minutes, code."; one in code ends with a
block of Python, its test. What hidden tests draw is in ``hidden/<chapter>.py``
(``ex-name``: ``ex_name``).
"""

import ast
import re
import textwrap
import tomllib
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

EXERCISE_KINDS = ("code", "on paper", "to be argued")
DIRECTIVES = {"{exercise}": ExerciseDirective, "{solution}": SolutionDirective}
NOTEBOOKS_FOLDER = Path(__file__).parents[3] / "notebooks"
CHECKER_FILE = NOTEBOOKS_FOLDER / "kit" / "hidden_tests.py"
# What of it notebooks for students do without.
USED_BY_HIDDEN_TESTS = ("DRAWN_INPUTS", "check_against_solutions")
PAPER_DRAWS_FILE = (
    NOTEBOOKS_FOLDER / "hidden" / "paper.yaml"
)  # a book without the course has none
PAPER_EXERCISES = (
    yaml.safe_load(PAPER_DRAWS_FILE.read_text(encoding="utf-8"))
    if PAPER_DRAWS_FILE.is_file()
    else {}
)
QUESTION_IN_WORDS_MARK = (
    "*In words, 1 point:*"  # before the question in words of an exercise in code
)
COURSE_TEXTS = tomllib.loads(
    Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
)
_HEAD = re.compile(
    r"\*Difficulty (\d+) of 3, (\d+) minutes(?:, ([^*]+?))?\.\*\s*",
    flags=re.ASCII | re.IGNORECASE,
)
_MARKDOWN = create_md_parser(
    MdParserConfig(enable_extensions={"colon_fence"}), RendererHTML
)


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
        return self.text.partition(QUESTION_IN_WORDS_MARK)[2].strip()

    @property
    def points(self) -> int:
        """Return what it is worth: its difficulty, and a point for the question in words."""
        return self.difficulty + bool(self.words)

    def functions(self) -> list[ast.FunctionDef]:
        """Return the functions to be written: those of the solution that the test names."""
        solution, test = (
            _parsed(self.solution, self.label),
            _parsed(self.test, self.label),
        )
        asked = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
        defined = [node for node in solution.body if isinstance(node, ast.FunctionDef)]
        functions = [node for node in defined if node.name in asked]
        if not functions:
            raise exercise_error("functions", label=self.label)
        return functions

    def parts(self) -> list[tuple[str, str, str]]:
        """Return name, visible and hidden test of each function that is to be written."""
        functions = {function.name for function in self.functions()}
        body = _parsed(self.test, self.label).body
        used = [
            functions & {n.id for n in ast.walk(s) if isinstance(n, ast.Name)}
            for s in body
        ]

        def visible(name: str) -> str:
            kept = [
                part for part, names in zip(body, used) if not names or name in names
            ]
            lines = [f"{ast.get_source_segment(self.test, part)}\n" for part in kept]
            return "".join(lines) if len(functions) > 1 else self.test

        return [(name, visible(name), self.hidden(name)) for name in sorted(functions)]

    def hidden(self, *only: str) -> str:
        """Return the hidden test: the functions agree with the solution on drawn inputs."""
        names = ", ".join(only or [function.name for function in self.functions()])
        solution = textwrap.indent(self.solution.rstrip(), "    ")
        return (
            f"from notebooks.kit.hidden_tests import check_against_solutions\n\n{self.draw}\n\n"
            f"def _solution():\n{solution}\n\n    return [{names}]\n\n\n"
            f"check_against_solutions([{names}], _solution(), {_name(self.label)}, seed={self.seed})\n"
        )


def exercise_error(name: str, /, **told: object) -> UserError:
    """Return what is to be raised where an exercise does not keep a promise."""
    return UserError(COURSE_TEXTS["faults"][name].format(**told))


def read_exercises(path: Path) -> list[Exercise]:
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


def exercise_with_draws(exercise: Exercise, seed: int | None) -> Exercise:
    """Return an exercise with the draws of a seed, and with other numbers if it is on paper."""
    given = PAPER_EXERCISES.get(exercise.label) if seed is not None else None
    if given is None:
        return replace(exercise, seed=seed or 0)
    number = int(np.random.default_rng(seed).integers(1, len(given["draws"])))
    return replace(exercise, seed=seed, **paper_exercise_texts(exercise.label, number))


def paper_exercise_texts(label: str, number: int) -> dict[str, str]:
    """Return text and notes of an exercise on paper with the numbers of one of its draws."""
    brackets = ("[%", "%]", "[[", "]]")
    environment = jinja2.Environment(*brackets, undefined=jinja2.StrictUndefined)
    given = PAPER_EXERCISES[label]
    return {
        part: environment.from_string(given[part]).render(given["draws"][number])
        for part in ("text", "notes")
    }


def install_cell_code(path: Path) -> str:
    """Return the code of a chapter's cell that fetches the project where it is missing."""
    cells = nbformat.read(path, as_version=4).cells
    return next(
        (c.source for c in cells if "install" in c.metadata.get("tags", [])), ""
    )


def checker_code() -> str:
    """Return the code of `check`, for notebooks that stand alone."""
    code = CHECKER_FILE.read_text(encoding="utf-8")
    module_docstring, *statements = ast.parse(code).body
    parts = []
    for node in statements:
        if _defined_name(node) not in USED_BY_HIDDEN_TESTS:
            parts.append(ast.get_source_segment(code, node))
    return "\n".join(parts) + "\n"


def _defined_name(node: ast.stmt) -> str:
    """Return the name that a statement gives to a constant, function or class."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return getattr(node, "name", "")


def _directives(markdown: str, chapter: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, argument, label and body of the exercises and solutions in Markdown."""
    for token in _MARKDOWN.parse(markdown):
        name, _, first = token.info.partition(" ")
        if token.type not in ("fence", "colon_fence") or name not in DIRECTIVES:
            continue
        try:
            parsed = parse_directive_text(
                DIRECTIVES[name], first.strip(), token.content
            )
        except MarkupError as error:
            raise UserError(f"In {chapter}, {name} {first}: {error}.") from error
        label = parsed.options.get("label", "")
        yield name, " ".join(parsed.arguments), label, "\n".join(parsed.body).strip()


def _exercise(
    chapter: str,
    title: str,
    label: str,
    body: str,
    solutions: dict[str, str],
    drawn: str,
) -> Exercise:
    """Put an exercise and its solution together."""
    where = f'The exercise "{title}" of the chapter {chapter}'
    if not label:
        raise exercise_error("label", where=where)
    if label not in solutions:
        raise exercise_error("solution", where=where, label=label)
    head = _HEAD.match(body)
    kind = (head[3] or "on paper") if head else ""
    if kind not in EXERCISE_KINDS:
        raise exercise_error("head", where=where, kinds=", ".join(EXERCISE_KINDS))
    text, tests = text_and_code_blocks(body[head.end() :])
    notes, codes = text_and_code_blocks(solutions[label])
    wanted, blocks = int(kind == "code"), {"tests": len(tests), "solutions": len(codes)}
    if set(blocks.values()) != {wanted}:
        raise exercise_error("blocks", where=where, kind=kind, wanted=wanted, **blocks)
    test, solution = "".join(tests), "".join(codes)
    level, minutes = int(head[1]), int(head[2])
    draw = _draw(drawn, label, chapter) if kind == "code" else ""
    return Exercise(
        chapter, label, title, level, minutes, kind, text, test, solution, draw, notes
    )


def _draw(drawn: str, label: str, chapter: str) -> str:
    """Return the function that draws for an exercise, behind the imports of its file."""
    body = _parsed(drawn, f"notebooks/hidden/{chapter}.py").body
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name == _name(label):
            parts = [import_code(body), ast.get_source_segment(drawn, node)]
            return "\n\n\n".join(part for part in parts if part) + "\n"
    raise exercise_error("draw", label=label, name=_name(label), chapter=chapter)


def import_code(body: Iterable[ast.stmt]) -> str:
    """Return the imports among statements, as code."""
    found = (node for node in body if isinstance(node, ast.Import | ast.ImportFrom))
    return "\n".join(map(ast.unparse, found))


def _parsed(code: str, where: str) -> ast.Module:
    """Return the statements of a piece of code."""
    try:
        return ast.parse(code)
    except SyntaxError as error:
        raise exercise_error("python", where=where, error=error) from error


def _name(label: str) -> str:
    """Return the name of the function that draws for an exercise."""
    return label.replace("-", "_")


def text_and_code_blocks(markdown: str) -> tuple[str, list[str]]:
    r"""Take the blocks of Python out of Markdown.

    >>> fence = "`" * 3
    >>> text_and_code_blocks(f"Add.\n\n{fence}python\nassert f(1) == 2\n{fence}\nThat is all.")
    ('Add.\n\nThat is all.', ['assert f(1) == 2\n'])
    """
    lines = markdown.split("\n")
    fences = [token for token in _MARKDOWN.parse(markdown) if token.type == "fence"]
    blocks = [token for token in fences if token.info.strip() == "python"]
    for token in reversed(blocks):
        begin, end = token.map
        del lines[begin:end]
    return "\n".join(lines).strip(), [token.content for token in blocks]


def first_heading(markdown: str) -> str:
    r"""Return the first heading of a text.

    >>> first_heading("(atlas)=\n# Models whose training text is known\n\nText.")
    'Models whose training text is known'
    """
    tokens = iter(_MARKDOWN.parse(markdown))
    return next(
        (next(tokens).content for token in tokens if token.type == "heading_open"), ""
    )


def count_words(markdown: str) -> int:
    r"""Count the words of a text, what is in fences left out.

    >>> count_words("# Two words\n\n- and two\n")
    4
    """
    tokens = _MARKDOWN.parse(markdown)
    return sum(len(token.content.split()) for token in tokens if token.type == "inline")


def plain_markdown(markdown: str, where: str) -> str:
    """Write Markdown for a notebook outside the book, where roles mean nothing.

    >>> plain_markdown("Each {term}`frame`, as {ref}`said above <atlas>`.", "x")
    'Each frame, as said above.'
    """
    for token in _MARKDOWN.parse(markdown):
        for child in token.children or ():
            if child.type != "myst_role":
                continue
            role, content = child.meta["name"], child.content
            title = re.fullmatch(r"(.+?)\s*<[^<>]+>", content, flags=re.DOTALL)
            if not title and role != "term":
                raise exercise_error("role", where=where, role=role)
            markdown = markdown.replace(
                f"{{{role}}}`{content}`", title[1] if title else content
            )
    return markdown
