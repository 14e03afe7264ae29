"""Read the exercises of a chapter, with solutions, from directives in its notebook.

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
PAPER_DRAWS_FILE = NOTEBOOKS_FOLDER / "hidden" / "paper.yaml"
PAPER_EXERCISES = {}  # a book without the course has none
if PAPER_DRAWS_FILE.is_file():
    PAPER_EXERCISES = yaml.safe_load(PAPER_DRAWS_FILE.read_text(encoding="utf-8"))
# Before the question in words of an exercise in code.
QUESTION_IN_WORDS_MARK = "*In words, 1 point:*"
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
    kind: str  # of EXERCISE_KINDS
    text: str  # what is asked, in Markdown
    test: str  # the code that checks it
    solution: str  # the code that solves it
    draw: str  # the code that draws inputs for the hidden test
    notes: str  # what the solution says
    seed: int = 0  # of the hidden test's draws

    @property
    def words(self) -> str:
        """Return the question in words after the function; "" if there is none."""
        return self.text.partition(QUESTION_IN_WORDS_MARK)[2].strip()

    @property
    def points(self) -> int:
        """Return its difficulty, and a point more if it has a question in words."""
        return self.difficulty + bool(self.words)

    def functions(self) -> list[ast.FunctionDef]:
        """Return the functions to write: those of the solution that the test names."""
        solution = _parsed(self.solution, self.label)
        names_in_test = _names_in(_parsed(self.test, self.label))
        functions = []
        for node in solution.body:
            if isinstance(node, ast.FunctionDef) and node.name in names_in_test:
                functions.append(node)
        if not functions:
            raise exercise_error("functions", label=self.label)
        return functions

    def parts(self) -> list[tuple[str, str, str]]:
        """Return name, visible and hidden test of each function to be written."""
        names = {function.name for function in self.functions()}
        parts = []
        for name in sorted(names):
            visible = self.test
            if len(names) > 1:
                visible = self._test_of(name, names)
            parts.append((name, visible, self.hidden(name)))
        return parts

    def _test_of(self, function: str, functions: set[str]) -> str:
        """Return the test without statements that are about other functions alone."""
        lines = []
        for statement in _parsed(self.test, self.label).body:
            used = functions & _names_in(statement)
            if not used or function in used:
                lines.append(f"{ast.get_source_segment(self.test, statement)}\n")
        return "".join(lines)

    def hidden(self, *only: str) -> str:
        """Return the hidden test: functions agree with the solution on drawn inputs."""
        names = ", ".join(only or [function.name for function in self.functions()])
        solution = textwrap.indent(self.solution.rstrip(), "    ")
        draw = _draw_name(self.label)
        return (
            "from notebooks.kit.hidden_tests import check_against_solutions\n\n"
            f"{self.draw}\n\n"
            f"def _solution():\n{solution}\n\n    return [{names}]\n\n\n"
            f"check_against_solutions([{names}], _solution(), {draw}, "
            f"seed={self.seed})\n"
        )


def _names_in(tree: ast.AST) -> set[str]:
    """Return the names that code uses."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def exercise_error(name: str, /, **details: object) -> UserError:
    """Return what is to be raised where an exercise does not keep a promise."""
    return UserError(COURSE_TEXTS["faults"][name].format(**details))


def read_exercises(path: Path) -> list[Exercise]:
    """Return the exercises of a chapter in order."""
    chapter = path.stem
    parts = []  # title, label and body of each exercise
    solutions = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown" and "{exercise}" in cell.source:
            for name, title, label, body in _directives(cell.source, chapter):
                if name == "{solution}":
                    solutions[title] = body
                else:
                    parts.append((title, label, body))
    draws_file = path.parent / "hidden" / f"{chapter}.py"
    draws = draws_file.read_text(encoding="utf-8") if draws_file.is_file() else ""
    return [
        _exercise(chapter, title, label, body, solutions, draws)
        for title, label, body in parts
    ]


def exercise_with_draws(exercise: Exercise, seed: int | None) -> Exercise:
    """Return an exercise with a seed's draws, or other numbers if it is on paper."""
    if seed is None:
        return replace(exercise, seed=0)
    if exercise.label not in PAPER_EXERCISES:
        return replace(exercise, seed=seed)
    draws = PAPER_EXERCISES[exercise.label]["draws"]
    number = int(np.random.default_rng(seed).integers(1, len(draws)))
    return replace(exercise, seed=seed, **paper_exercise_texts(exercise.label, number))


def paper_exercise_texts(label: str, number: int) -> dict[str, str]:
    """Return text and notes of an exercise on paper, with the numbers of a draw."""
    brackets = ("[%", "%]", "[[", "]]")
    environment = jinja2.Environment(*brackets, undefined=jinja2.StrictUndefined)
    exercise = PAPER_EXERCISES[label]
    numbers = exercise["draws"][number]
    texts = {}
    for part in ("text", "notes"):
        texts[part] = environment.from_string(exercise[part]).render(numbers)
    return texts


def install_cell_code(path: Path) -> str:
    """Return the code of the chapter's cell that installs the project."""
    for cell in nbformat.read(path, as_version=4).cells:
        if "install" in cell.metadata.get("tags", []):
            return cell.source
    return ""


def checker_code() -> str:
    """Return the code of `check`, for notebooks that stand alone."""
    code = CHECKER_FILE.read_text(encoding="utf-8")
    parts = []
    for node in ast.parse(code).body[1:]:  # without the docstring
        if _defined_name(node) not in USED_BY_HIDDEN_TESTS:
            parts.append(ast.get_source_segment(code, node))
    return "\n".join(parts) + "\n"


def _defined_name(node: ast.stmt) -> str:
    """Return the name that a statement gives to a constant, function or class."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return getattr(node, "name", "")


def _directives(markdown: str, chapter: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, argument, label and body of exercises and solutions in Markdown."""
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
    draws: str,
) -> Exercise:
    """Put an exercise and its solution together."""
    where = f'The exercise "{title}" of the chapter {chapter}'
    if not label:
        raise exercise_error("label", where=where)
    if label not in solutions:
        raise exercise_error("solution", where=where, label=label)
    head = _HEAD.match(body)
    kind = ""
    if head:
        kind = head[3] or "on paper"
    if kind not in EXERCISE_KINDS:
        raise exercise_error("head", where=where, kinds=", ".join(EXERCISE_KINDS))
    text, tests = text_and_code_blocks(body[head.end() :])
    notes, codes = text_and_code_blocks(solutions[label])
    wanted = 1 if kind == "code" else 0
    if len(tests) != wanted or len(codes) != wanted:
        raise exercise_error(
            "blocks",
            where=where,
            kind=kind,
            wanted=wanted,
            tests=len(tests),
            solutions=len(codes),
        )
    return Exercise(
        chapter=chapter,
        label=label,
        title=title,
        difficulty=int(head[1]),
        minutes=int(head[2]),
        kind=kind,
        text=text,
        test="".join(tests),
        solution="".join(codes),
        draw=_draw_code(draws, label, chapter) if kind == "code" else "",
        notes=notes,
    )


def _draw_code(draws: str, label: str, chapter: str) -> str:
    """Return the function that draws for an exercise, after imports of its file."""
    name = _draw_name(label)
    body = _parsed(draws, f"notebooks/hidden/{chapter}.py").body
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            imports = import_code(body)
            code = f"{ast.get_source_segment(draws, node)}\n"
            return f"{imports}\n\n\n{code}" if imports else code
    raise exercise_error("draw", label=label, name=name, chapter=chapter)


def import_code(body: Iterable[ast.stmt]) -> str:
    """Return the imports among statements, as code."""
    imports = []
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.append(ast.unparse(node))
    return "\n".join(imports)


def _parsed(code: str, where: str) -> ast.Module:
    """Return the statements of a piece of code."""
    try:
        return ast.parse(code)
    except SyntaxError as error:
        raise exercise_error("python", where=where, error=error) from error


def _draw_name(label: str) -> str:
    """Return the name of the function that draws for an exercise."""
    return label.replace("-", "_")


def text_and_code_blocks(markdown: str) -> tuple[str, list[str]]:
    r"""Take the blocks of Python out of Markdown.

    >>> fence = "`" * 3
    >>> block = f"{fence}python\nassert f(1) == 2\n{fence}"
    >>> text_and_code_blocks(f"Add.\n\n{block}\nThat is all.")
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
    tokens = _MARKDOWN.parse(markdown)
    for number, token in enumerate(tokens):
        if token.type == "heading_open":
            return tokens[number + 1].content
    return ""


def count_words(markdown: str) -> int:
    r"""Count the words of a text, what is in fences left out.

    >>> count_words("# Two words\n\n- and two\n")
    4
    """
    count = 0
    for token in _MARKDOWN.parse(markdown):
        if token.type == "inline":
            count += len(token.content.split())
    return count


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
            shown = title[1] if title else content
            markdown = markdown.replace(f"{{{role}}}`{content}`", shown)
    return markdown
