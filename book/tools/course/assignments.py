"""Write a week's exercises: for students to download, or for a grader to give out and mark."""

import ast
import textwrap
from collections.abc import Callable, Iterator

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
BODY_PLACEHOLDER = (
    "SOLUTION"  # what is put in the place of a function's body, and then replaced
)
MARKING_HEADING = "*For marking.*"


def student_notebook(week: Week) -> NotebookNode:
    """Return a week's exercises with neither solutions nor hidden tests."""

    def cells(exercise: Exercise) -> Iterator[NotebookNode]:
        yield new_markdown_cell(exercise_markdown(exercise))
        if exercise.kind == "code":
            yield new_code_cell(stub_code(exercise).rstrip())
            yield new_code_cell(exercise.test.rstrip())
        if exercise.kind != "code" or exercise.words:
            yield new_markdown_cell("*Your answer:*")

    return _notebook(week, cells)


def nbgrader_notebook(week: Week) -> NotebookNode:
    """Return a week's assignment as nbgrader's source notebook."""

    def cells(exercise: Exercise) -> Iterator[NotebookNode]:
        name = exercise.label
        yield _marked(new_markdown_cell(exercise_markdown(exercise)), name, locked=True)
        if exercise.kind == "code":
            code = marked_solution_code(
                exercise, "### BEGIN SOLUTION", "### END SOLUTION"
            )
            yield _marked(new_code_cell(code), f"{name}-function", solution=True)
            parts = exercise.parts()
            for function, visible, hidden in parts:
                hidden = f"### BEGIN HIDDEN TESTS\n{hidden}### END HIDDEN TESTS"
                test = f"{name}-{function}-test" if len(parts) > 1 else f"{name}-test"
                cell, points = (
                    new_code_cell(f"{visible}{hidden}"),
                    exercise.difficulty / len(parts),
                )
                yield _marked(cell, test, points=points, locked=True)
        if exercise.kind != "code" or exercise.words:
            answer = f"### BEGIN SOLUTION\n{solution_notes(exercise)}\n### END SOLUTION"
            worth = 1 if exercise.words else exercise.difficulty
            yield _marked(
                new_markdown_cell(answer), f"{name}-answer", worth, solution=True
            )

    made = _notebook(week, cells)
    (check,) = (cell for cell in made.cells if cell.source == checker_code().rstrip())
    _marked(check, "check", locked=True)
    return made


def _marked(
    cell: NotebookNode, name: str, points: float = 0, **kinds: bool
) -> NotebookNode:
    """Give a cell what nbgrader has to know of it."""
    flags = {
        "locked": False,
        "solution": False,
        "task": False,
        "grade": points > 0,
    } | kinds
    worth = {"points": points} if points else {}
    cell.metadata["nbgrader"] = {
        "schema_version": 3,
        "grade_id": name,
        **flags,
        **worth,
    }
    return cell


def otter_notebook(week: Week) -> NotebookNode:
    """Return a week's assignment as Otter Assign's source notebook."""
    config = {
        "name": week.name,
        "export_cell": {"pdf": False},
        "requirements": [f"git+{url}"] if (url := render.repository_url()) else [],
        "files": ["smollm2.csv"]
        if any("smollm2.csv" in e.text for e in week.exercises)
        else [],
    }

    def cells(exercise: Exercise) -> Iterator[NotebookNode]:
        code = exercise.kind == "code"
        name = exercise.label
        question = {"name": name, "points": exercise.difficulty}
        parts = exercise.parts() if code else []
        if len(parts) < 2:  # all or nothing; several functions earn points one by one
            question |= {"all_or_nothing": True} if code else {"manual": True}
        yield _raw("BEGIN QUESTION", question)
        yield new_markdown_cell(exercise_markdown(exercise))
        told = new_markdown_cell(solution_notes(exercise))
        if code:
            written = new_code_cell(
                marked_solution_code(exercise, "# BEGIN SOLUTION", "# END SOLUTION")
            )
            yield from _between("SOLUTION", written)
            config = f"points: {exercise.difficulty / len(parts)}\nhidden: true"
            config = f'""" # BEGIN TEST CONFIG\n{config}\n""" # END TEST CONFIG'
            head = config if len(parts) > 1 else "# HIDDEN"
            tests = (
                test
                for _, visible, hidden in parts
                for test in (visible, f"{head}\n{hidden}")
            )
            yield from _between(
                "TESTS", *(new_code_cell(test.rstrip()) for test in tests)
            )
        else:
            yield from _between("SOLUTION", told)
        yield _raw("END QUESTION")
        if exercise.words:
            yield _raw(
                "BEGIN QUESTION", {"name": f"{name}-words", "points": 1, "manual": True}
            )
            yield new_markdown_cell("*Your answer in words:*")
            yield from _between("SOLUTION", told)
            yield _raw("END QUESTION")

    made = _notebook(week, cells)
    made.cells.insert(0, _raw("ASSIGNMENT CONFIG", config))
    return _numbered(made)


def _raw(words: str, settings: dict[str, object] | None = None) -> NotebookNode:
    """Return one of the raw cells between which Otter Assign finds the parts of a question."""
    text = yaml.safe_dump(settings, sort_keys=False) if settings else ""
    return new_raw_cell(f"# {words}\n{text}".rstrip())


def _between(what: str, *cells: NotebookNode) -> list[NotebookNode]:
    return [_raw(f"BEGIN {what}"), *cells, _raw(f"END {what}")]


def _notebook(
    week: Week, cells: Callable[[Exercise], Iterator[NotebookNode]]
) -> NotebookNode:
    """Return a notebook with a title, the installing cell, and the cells of each exercise."""
    templates = [TEMPLATES / f"{name}.ipynb" for name in render.chapter_names()]
    asked = dict.fromkeys(exercise.chapter for exercise in week.exercises)
    titles = [
        f"- {first_heading(nbformat.read(path, as_version=4).cells[0].source)}"
        for path in templates
        if path.stem in asked
    ]
    about = f"Exercises worth {week.points} points, on these chapters of"
    opening = f"# Week {week.number}\n\n{about} *What Language Models Know*:\n\n"
    opening += "\n".join(titles)
    made = [new_markdown_cell(opening)]
    if any("helpers" in exercise.text + exercise.test for exercise in week.exercises):
        path = (
            install_cell_code(templates[0])
            .partition("\nfrom ")[0]
            .replace('".."', '"../.."')
        )
        made.append(
            new_code_cell(path)
        )  # a zip has the parts of the package that it needs
    made.append(new_code_cell(checker_code().rstrip()))
    made += [cell for exercise in week.exercises for cell in cells(exercise)]
    return _numbered(new_notebook(cells=made, metadata=NOTEBOOK_METADATA))


def _numbered(notebook: NotebookNode) -> NotebookNode:
    """Name cells by their place, so that the same exercises make the same file."""
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
    return notebook


def exercise_markdown(exercise: Exercise) -> str:
    """Return what is asked, in Markdown."""
    head = f"*{points_text(exercise)}, {exercise.minutes} minutes, {exercise.kind}.*"
    return f"## {exercise.title}\n\n{head}\n\n{plain_markdown(exercise.text, exercise.label)}"


def points_text(exercise: Exercise) -> str:
    """Say what an exercise is worth."""
    return f"{exercise.points} point{'s' if exercise.points > 1 else ''}"


def solution_notes(exercise: Exercise) -> str:
    """Return the solution in words, with what earns a point."""
    text = plain_markdown(exercise.notes, exercise.label)
    return (
        text
        if MARKING_HEADING in text
        else f"{text}\n\n{MARKING_HEADING} {COURSE_TEXTS['rubric'][exercise.kind]}"
    )


def marked_solution_code(exercise: Exercise, begin: str, end: str) -> str:
    """Return the solution, with marks around all that a student has to write."""
    code, asked = exercise.solution, exercise.functions()
    names = {function.name for function in asked}
    beside = [
        ast.get_source_segment(code, node)
        for node in ast.parse(code).body
        if not isinstance(node, ast.Import | ast.ImportFrom)
        and getattr(node, "name", None) not in names
    ]
    made = stub_code(exercise, BODY_PLACEHOLDER)
    for function in asked:
        written = "\n".join([begin, *beside, _body(code, function), end])
        made = made.replace(
            f"    {BODY_PLACEHOLDER}\n", textwrap.indent(written, "    ") + "\n", 1
        )
    return made.rstrip()


def _body(code: str, function: ast.FunctionDef) -> str:
    """Return the text of a function's body, its comments too, without the docstring."""
    first = function.body[1 if ast.get_docstring(function) else 0]
    lines = code.splitlines()[first.lineno - 1 : function.end_lineno]
    lines[0] = lines[0][first.col_offset :].rjust(len(lines[0]))
    return textwrap.dedent("\n".join(lines))
