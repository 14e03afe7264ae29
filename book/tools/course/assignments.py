"""Write a week's exercises: for students to download, or for a grader to mark."""

import ast
import textwrap
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import nbformat
import yaml
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from book.tools import render
from book.tools.course.checks import stub_code
from book.tools.course.exercises import (
    COURSE_TEXTS,
    Exercise,
    checker_code,
    first_heading,
    install_cell_code,
    plain_markdown,
)
from book.tools.course.weeks import Week
from book.tools.jobs import TEMPLATES

NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# Put in the place of a function's body, and then replaced.
BODY_PLACEHOLDER = "SOLUTION"
MARKING_HEADING = "*For marking.*"


def student_notebook(week: Week) -> NotebookNode:
    """Return a week's exercises with neither solutions nor hidden tests."""
    return _week_notebook(week, _student_cells)


def _student_cells(exercise: Exercise) -> Iterator[NotebookNode]:
    yield new_markdown_cell(exercise_markdown(exercise))
    if exercise.kind == "code":
        yield new_code_cell(stub_code(exercise).rstrip())
        yield new_code_cell(exercise.test.rstrip())
    if exercise.kind != "code" or exercise.words:
        yield new_markdown_cell("*Your answer:*")


def nbgrader_notebook(week: Week) -> NotebookNode:
    """Return a week's assignment as nbgrader's source notebook."""
    notebook = _week_notebook(week, _nbgrader_cells)
    checker = checker_code().rstrip()
    (checker_cell,) = (cell for cell in notebook.cells if cell.source == checker)
    _mark_for_nbgrader(checker_cell, "check", locked=True)
    return notebook


def _nbgrader_cells(exercise: Exercise) -> Iterator[NotebookNode]:
    name = exercise.label
    text = new_markdown_cell(exercise_markdown(exercise))
    yield _mark_for_nbgrader(text, name, locked=True)
    if exercise.kind == "code":
        code = marked_solution_code(exercise, "### BEGIN SOLUTION", "### END SOLUTION")
        yield _mark_for_nbgrader(new_code_cell(code), f"{name}-function", solution=True)
        parts = exercise.parts()
        points = exercise.difficulty / len(parts)
        for function, visible, hidden in parts:
            hidden = f"### BEGIN HIDDEN TESTS\n{hidden}### END HIDDEN TESTS"
            test_name = f"{name}-{function}-test" if len(parts) > 1 else f"{name}-test"
            cell = new_code_cell(f"{visible}{hidden}")
            yield _mark_for_nbgrader(cell, test_name, points, locked=True)
    if exercise.kind != "code" or exercise.words:
        answer = f"### BEGIN SOLUTION\n{solution_notes(exercise)}\n### END SOLUTION"
        points = 1 if exercise.words else exercise.difficulty
        cell = new_markdown_cell(answer)
        yield _mark_for_nbgrader(cell, f"{name}-answer", points, solution=True)


def _mark_for_nbgrader(
    cell: NotebookNode,
    name: str,
    points: float = 0,
    *,
    locked: bool = False,
    solution: bool = False,
) -> NotebookNode:
    """Give a cell what nbgrader has to know of it, and return it."""
    metadata = {
        "schema_version": 3,
        "grade_id": name,
        "locked": locked,
        "solution": solution,
        "task": False,
        "grade": points > 0,
    }
    if points:
        metadata["points"] = points
    cell.metadata["nbgrader"] = metadata
    return cell


def otter_notebook(week: Week) -> NotebookNode:
    """Return a week's assignment as Otter Assign's source notebook."""
    config: dict[str, object] = {"name": week.name, "export_cell": {"pdf": False}}
    url = render.repository_url()
    config["requirements"] = [f"git+{url}"] if url else []
    reads_table = any("smollm2.csv" in exercise.text for exercise in week.exercises)
    config["files"] = ["smollm2.csv"] if reads_table else []
    notebook = _week_notebook(week, _otter_cells)
    notebook.cells.insert(0, _raw_cell("ASSIGNMENT CONFIG", config))
    return _with_numbered_ids(notebook)


def _otter_cells(exercise: Exercise) -> Iterator[NotebookNode]:
    question: dict[str, object] = {
        "name": exercise.label,
        "points": exercise.difficulty,
    }
    if exercise.kind != "code":
        question["manual"] = True
    elif len(exercise.parts()) == 1:  # several functions earn points one by one
        question["all_or_nothing"] = True
    yield _raw_cell("BEGIN QUESTION", question)
    yield new_markdown_cell(exercise_markdown(exercise))
    notes = new_markdown_cell(solution_notes(exercise))
    if exercise.kind == "code":
        code = marked_solution_code(exercise, "# BEGIN SOLUTION", "# END SOLUTION")
        yield from _between("SOLUTION", [new_code_cell(code)])
        yield from _between("TESTS", _otter_tests(exercise))
    else:
        yield from _between("SOLUTION", [notes])
    yield _raw_cell("END QUESTION")
    if exercise.words:
        in_words = {"name": f"{exercise.label}-words", "points": 1, "manual": True}
        yield _raw_cell("BEGIN QUESTION", in_words)
        yield new_markdown_cell("*Your answer in words:*")
        yield from _between("SOLUTION", [notes])
        yield _raw_cell("END QUESTION")


def _otter_tests(exercise: Exercise) -> list[NotebookNode]:
    """Return the visible and the hidden test of each function of an exercise."""
    parts = exercise.parts()
    head = "# HIDDEN"
    if len(parts) > 1:
        config = f"points: {exercise.difficulty / len(parts)}\nhidden: true"
        head = f'""" # BEGIN TEST CONFIG\n{config}\n""" # END TEST CONFIG'
    cells = []
    for _, visible, hidden in parts:
        cells.append(new_code_cell(visible.rstrip()))
        cells.append(new_code_cell(f"{head}\n{hidden}".rstrip()))
    return cells


def _raw_cell(words: str, settings: dict[str, object] | None = None) -> NotebookNode:
    """Return a raw cell, between which Otter Assign finds the parts of a question."""
    text = yaml.safe_dump(settings, sort_keys=False) if settings else ""
    return new_raw_cell(f"# {words}\n{text}".rstrip())


def _between(part: str, cells: Iterable[NotebookNode]) -> list[NotebookNode]:
    return [_raw_cell(f"BEGIN {part}"), *cells, _raw_cell(f"END {part}")]


def _week_notebook(
    week: Week, exercise_cells: Callable[[Exercise], Iterator[NotebookNode]]
) -> NotebookNode:
    """Return a notebook with a title, the installing cell, and all exercises' cells."""
    templates = [TEMPLATES / f"{name}.ipynb" for name in render.chapter_names()]
    cells = [new_markdown_cell(_week_opening(week, templates))]
    if any("helpers" in exercise.text + exercise.test for exercise in week.exercises):
        path, _, _ = install_cell_code(templates[0]).partition("\nfrom ")
        # A zip has the parts of the package that it needs.
        cells.append(new_code_cell(path.replace('".."', '"../.."')))
    cells.append(new_code_cell(checker_code().rstrip()))
    for exercise in week.exercises:
        cells += exercise_cells(exercise)
    return _with_numbered_ids(new_notebook(cells=cells, metadata=NOTEBOOK_METADATA))


def _week_opening(week: Week, templates: Iterable[Path]) -> str:
    """Return a week's title, with the chapters that its exercises are on."""
    chapters = {exercise.chapter for exercise in week.exercises}
    titles = []
    for path in templates:
        if path.stem in chapters:
            first_cell = nbformat.read(path, as_version=4).cells[0]
            titles.append(f"- {first_heading(first_cell.source)}")
    about = f"Exercises worth {week.points} points, on these chapters of"
    opening = f"# Week {week.number}\n\n{about} *What Language Models Know*:\n\n"
    return opening + "\n".join(titles)


def _with_numbered_ids(notebook: NotebookNode) -> NotebookNode:
    """Name cells by their place, so that the same exercises make the same file."""
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
    return notebook


def exercise_markdown(exercise: Exercise) -> str:
    """Return what is asked, in Markdown."""
    head = f"*{points_text(exercise)}, {exercise.minutes} minutes, {exercise.kind}.*"
    text = plain_markdown(exercise.text, exercise.label)
    return f"## {exercise.title}\n\n{head}\n\n{text}"


def points_text(exercise: Exercise) -> str:
    """Say what an exercise is worth."""
    unit = "points" if exercise.points > 1 else "point"
    return f"{exercise.points} {unit}"


def solution_notes(exercise: Exercise) -> str:
    """Return the solution in words, with what earns a point."""
    text = plain_markdown(exercise.notes, exercise.label)
    if MARKING_HEADING in text:
        return text
    return f"{text}\n\n{MARKING_HEADING} {COURSE_TEXTS['rubric'][exercise.kind]}"


def marked_solution_code(exercise: Exercise, begin: str, end: str) -> str:
    """Return the solution, with marks around all that a student has to write."""
    solution = exercise.solution
    functions = exercise.functions()
    names = {function.name for function in functions}
    auxiliary = []  # what helps a solution moves into it
    for node in ast.parse(solution).body:
        imports = isinstance(node, ast.Import | ast.ImportFrom)
        if not imports and getattr(node, "name", None) not in names:
            auxiliary.append(ast.get_source_segment(solution, node))
    code = stub_code(exercise, BODY_PLACEHOLDER)
    for function in functions:
        lines = [begin, *auxiliary, _body_text(solution, function), end]
        body = textwrap.indent("\n".join(lines), "    ")
        code = code.replace(f"    {BODY_PLACEHOLDER}\n", f"{body}\n", 1)
    return code.rstrip()


def _body_text(code: str, function: ast.FunctionDef) -> str:
    """Return the text of a function's body, its comments too, without the docstring."""
    body = function.body
    if ast.get_docstring(function):
        body = body[1:]
    first = body[0]
    lines = code.splitlines()[first.lineno - 1 : function.end_lineno]
    lines[0] = lines[0][first.col_offset :].rjust(len(lines[0]))
    return textwrap.dedent("\n".join(lines))
