"""Make the course: notebooks for students, instructors and grading systems, and quizzes."""

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2
import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book.tools import render
from book.tools.course import assignments, checks, downloads, exercises, quiz, weeks
from book.tools.course.assignments import NOTEBOOK_METADATA, points_text
from book.tools.course.checks import stub_code
from book.tools.course.exercises import (
    COURSE_TEXTS,
    Exercise,
    first_heading,
    plain_markdown,
)
from book.tools.jobs import TEMPLATES
from helpers import UserError

COURSE_FOLDER = Path("build") / "course"

README_TEMPLATE = Path(__file__).with_name("readme.md.jinja")
AUDIENCES = ("student", "instructor")


def make_course(
    folder: Path = COURSE_FOLDER, templates: Path = TEMPLATES, seed: int | None = None
) -> str:
    """Check all exercises, write the course, and return a sentence that says what was done."""
    began = time.perf_counter()
    chapters = {}
    for name in render.chapter_names():
        path = templates / f"{name}.ipynb"
        chapters[path] = [
            exercises.exercise_with_draws(one, seed)
            for one in exercises.read_exercises(path)
        ]
        for exercise in chapters[path]:
            if exercise.kind == "code":
                checks.check_exercise(exercise)
    found = [exercise for several in chapters.values() for exercise in several]
    write_course_files(chapters, folder, seed)
    code = sum(exercise.kind == "code" for exercise in found)
    return (
        f"{folder}: {len(found)} exercises of {len(chapters)} chapters; {code} stubs fail and "
        f"{code} solutions pass visible and hidden tests ({time.perf_counter() - began:.1f} s)."
    )


def write_course_files(
    chapters: Mapping[Path, Sequence[Exercise]], folder: Path, seed: int | None = None
) -> list[Path]:
    """Write sets and quizzes, by chapter, and assignments, one a week; return the files."""
    planned = weeks.plan_weeks(
        [exercise for found in chapters.values() for exercise in found]
    )
    files: dict[Path, str | bytes] = {}
    for path in chapters:
        asked = path.parent / "quiz" / f"{path.stem}.yaml"
        if asked.is_file():
            title = first_heading(nbformat.read(path, as_version=4).cells[0].source)
            made = quiz.quiz_files(asked, title, seed)
            files |= {folder / "quiz" / name: content for name, content in made.items()}
    for week in planned:
        name = f"{week.name}.ipynb"
        sources = {
            folder
            / "nbgrader"
            / "source"
            / week.name
            / name: assignments.nbgrader_notebook(week),
            folder / "otter" / name: assignments.otter_notebook(week),
        }
        tables = [
            table for table in downloads.EXERCISE_TABLES if table.name in str(sources)
        ]
        files |= {
            folder / "nbgrader" / "source" / week.name / t.name: t.read_bytes()
            for t in tables
        }
        files |= {path: nbformat.writes(made) + "\n" for path, made in sources.items()}
    for place in (*(folder / audience for audience in AUDIENCES), folder / "otter"):
        files |= {
            place / table.name: table.read_bytes()
            for table in downloads.EXERCISE_TABLES
        }
    for page in ("syllabus", "project"):  # labels are for the book alone
        text = (render.BOOK_FOLDER / f"{page}.md").read_text(encoding="utf-8")
        files[folder / "weeks" / f"{page}.md"] = plain_markdown(
            re.sub(r"^\(.*\)=\n", "", text, flags=re.M), page
        )
    given = [(week.name, week.exercises, week.minutes) for week in planned]
    for system in ("nbgrader", "otter"):
        files[folder / system / "README.md"] = readme_text(
            system, folder / system, given
        )
    listed = [
        (
            f"[{path.stem}]({path.name})",
            found,
            sum(exercise.minutes for exercise in found),
        )
        for path, found in chapters.items()
    ]
    for audience in AUDIENCES:
        for path, found in chapters.items():
            sheet = exercise_notebook(path, found, audience)
            files[folder / audience / path.name] = (
                nbformat.writes(sheet, version=4) + "\n"
            )
        files[folder / audience / "README.md"] = readme_text(
            audience, folder / audience, listed
        )
    try:
        for file, text in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        downloads.write_week_downloads(folder / "weeks", planned)
        downloads.write_grading_package(folder / "grading.zip")
    except OSError as error:
        raise UserError(
            f"The course cannot be written to {folder} ({error.strerror}): "
            "free it, or give another folder with --folder."
        ) from error
    return list(files)


def exercise_notebook(
    path: Path, found: Sequence[Exercise], audience: str
) -> NotebookNode:
    """Return the notebook of one chapter's exercises."""
    cells = nbformat.read(path, as_version=4).cells
    words = " ".join(COURSE_TEXTS["introduction"][audience].split())
    opening = f"# Exercises: {first_heading(cells[0].source)}\n\n{words}"
    made = [new_markdown_cell(opening, id="title")]
    if source := exercises.install_cell_code(path):
        made.append(new_code_cell(source, id="install"))
    made.append(new_code_cell(exercises.checker_code().rstrip(), id="check"))
    for exercise in found:
        made += _cells(exercise, audience)
    return new_notebook(cells=made, metadata=NOTEBOOK_METADATA)


def _cells(exercise: Exercise, audience: str) -> list[NotebookNode]:
    """Return the cells of one exercise."""
    name, told = exercise.label, f"Difficulty {exercise.difficulty} of 3"
    head = (
        f"## {exercise.title}\n\n*{told}, {exercise.minutes} minutes, {exercise.kind}.*"
    )
    cells = [
        new_markdown_cell(f"{head}\n\n{plain_markdown(exercise.text, name)}", id=name)
    ]
    solved = audience == "instructor"
    if exercise.kind == "code":
        code = exercise.solution if solved else stub_code(exercise)
        cells += [
            new_code_cell(code.rstrip("\n"), id=f"{name}-function"),
            new_code_cell(exercise.test.rstrip("\n"), id=f"{name}-test"),
        ]
    if solved:
        notes = f"**Notes ({points_text(exercise)}).** {plain_markdown(exercise.notes, name)}"
        cells.append(new_markdown_cell(notes, id=f"{name}-notes"))
    elif exercise.kind != "code" or exercise.words:
        cells.append(new_markdown_cell("*Your answer:*", id=f"{name}-answer"))
    return cells


def readme_text(
    kind: str, folder: Path, rows: Sequence[tuple[str, Sequence[Exercise], float]]
) -> str:
    """Return the page on what lies in a folder, with a row for each notebook, and its use."""
    told = [
        (
            name,
            len(found),
            sum(exercise.kind == "code" for exercise in found),
            round(minutes),
            sum(exercise.points for exercise in found),
        )
        for name, found, minutes in rows
    ]
    words = " ".join(
        COURSE_TEXTS["introduction"]
        .get(kind, "")
        .replace("chapter of this name", "chapters")
        .split()
    )
    template = jinja2.Template(
        README_TEMPLATE.read_text(encoding="utf-8"), keep_trailing_newline=True
    )
    return template.render(kind=kind, folder=folder, rows=told, introduction=words)
