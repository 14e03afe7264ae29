"""Make the course: notebooks for students, instructors and graders, and quizzes."""

import itertools
import re
import time
from collections.abc import Iterable, Mapping, Sequence
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
from book.tools.course.weeks import Week
from book.tools.jobs import TEMPLATES
from helpers import UserError

COURSE_FOLDER = Path("build") / "course"

README_TEMPLATE = Path(__file__).with_name("readme.md.jinja")
AUDIENCES = ("student", "instructor")
LABEL_LINE = re.compile(r"^\(.*\)=\n", flags=re.MULTILINE)


def make_course(
    folder: Path = COURSE_FOLDER, templates: Path = TEMPLATES, seed: int | None = None
) -> str:
    """Check all exercises, write the course, and return a sentence on what was done."""
    started = time.perf_counter()
    chapters = {}
    n_exercises = 0
    n_code = 0
    for name in render.chapter_names():
        path = templates / f"{name}.ipynb"
        chapters[path] = []
        for exercise in exercises.read_exercises(path):
            exercise = exercises.exercise_with_draws(exercise, seed)
            chapters[path].append(exercise)
            n_exercises += 1
        for exercise in chapters[path]:
            if exercise.kind == "code":
                checks.check_exercise(exercise)
                n_code += 1
    write_course_files(chapters, folder, seed)
    seconds = time.perf_counter() - started
    return (
        f"{folder}: {n_exercises} exercises of {len(chapters)} chapters; "
        f"{n_code} stubs fail and {n_code} solutions pass visible and hidden tests "
        f"({seconds:.1f} s)."
    )


def write_course_files(
    chapters: Mapping[Path, Sequence[Exercise]], folder: Path, seed: int | None = None
) -> list[Path]:
    """Write sets and quizzes by chapter, and assignments by week; return the files."""
    all_exercises = list(itertools.chain.from_iterable(chapters.values()))
    planned = weeks.plan_weeks(all_exercises)
    files = {
        **_quiz_files(chapters, folder / "quiz", seed),
        **_assignment_files(planned, folder),
        **_course_pages(folder / "weeks"),
        **_chapter_files(chapters, folder),
    }
    try:
        for file, content in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        downloads.write_week_downloads(folder / "weeks", planned)
        downloads.write_grading_package(folder / "grading.zip")
    except OSError as error:
        raise UserError(
            f"The course cannot be written to {folder} ({error.strerror}): "
            "free it, or give another folder with --folder."
        ) from error
    return list(files)


def _quiz_files(
    chapters: Iterable[Path], folder: Path, seed: int | None
) -> dict[Path, bytes]:
    """Return the files of the quizzes of those chapters that have one."""
    files = {}
    for path in chapters:
        items = path.parent / "quiz" / f"{path.stem}.yaml"
        if items.is_file():
            first_cell = nbformat.read(path, as_version=4).cells[0]
            title = first_heading(first_cell.source)
            for name, content in quiz.quiz_files(items, title, seed).items():
                files[folder / name] = content
    return files


def _assignment_files(planned: Sequence[Week], folder: Path) -> dict[Path, bytes]:
    """Return the weeks' assignments for nbgrader and for Otter-Grader."""
    files = {}
    tables = {table.name: table.read_bytes() for table in downloads.EXERCISE_TABLES}
    for week in planned:
        source = folder / "nbgrader" / "source" / week.name
        notebook = _notebook_bytes(assignments.nbgrader_notebook(week))
        files[source / f"{week.name}.ipynb"] = notebook
        otter_notebook = _notebook_bytes(assignments.otter_notebook(week))
        files[folder / "otter" / f"{week.name}.ipynb"] = otter_notebook
        for name, content in tables.items():
            if name.encode() in notebook + otter_notebook:
                files[source / name] = content
    for name, content in tables.items():
        files[folder / "otter" / name] = content
    rows = [(week.name, week.exercises, week.minutes) for week in planned]
    for system in ("nbgrader", "otter"):
        readme = readme_text(system, folder / system, rows)
        files[folder / system / "README.md"] = readme.encode("utf-8")
    return files


def _course_pages(folder: Path) -> dict[Path, bytes]:
    """Return pages of the book on the course, without what the book alone can show."""
    files = {}
    for page in ("syllabus", "project"):
        text = (render.BOOK_FOLDER / f"{page}.md").read_text(encoding="utf-8")
        text = LABEL_LINE.sub("", text)
        files[folder / f"{page}.md"] = plain_markdown(text, page).encode("utf-8")
    return files


def _chapter_files(
    chapters: Mapping[Path, Sequence[Exercise]], folder: Path
) -> dict[Path, bytes]:
    """Return the chapters' exercises for students and for instructors."""
    files = {}
    rows = []
    for path, chapter_exercises in chapters.items():
        minutes = sum(exercise.minutes for exercise in chapter_exercises)
        rows.append((f"[{path.stem}]({path.name})", chapter_exercises, minutes))
    for audience in AUDIENCES:
        for table in downloads.EXERCISE_TABLES:
            files[folder / audience / table.name] = table.read_bytes()
        for path, chapter_exercises in chapters.items():
            notebook = exercise_notebook(path, chapter_exercises, audience)
            files[folder / audience / path.name] = _notebook_bytes(notebook)
        readme = readme_text(audience, folder / audience, rows)
        files[folder / audience / "README.md"] = readme.encode("utf-8")
    return files


def _notebook_bytes(notebook: NotebookNode) -> bytes:
    return f"{nbformat.writes(notebook, version=4)}\n".encode()


def exercise_notebook(
    path: Path, chapter_exercises: Sequence[Exercise], audience: str
) -> NotebookNode:
    """Return the notebook of one chapter's exercises."""
    first_cell = nbformat.read(path, as_version=4).cells[0]
    words = " ".join(COURSE_TEXTS["introduction"][audience].split())
    opening = f"# Exercises: {first_heading(first_cell.source)}\n\n{words}"
    cells = [new_markdown_cell(opening, id="title")]
    install_code = exercises.install_cell_code(path)
    if install_code:
        cells.append(new_code_cell(install_code, id="install"))
    cells.append(new_code_cell(exercises.checker_code().rstrip(), id="check"))
    for exercise in chapter_exercises:
        cells += _exercise_cells(exercise, audience)
    return new_notebook(cells=cells, metadata=NOTEBOOK_METADATA)


def _exercise_cells(exercise: Exercise, audience: str) -> list[NotebookNode]:
    """Return the cells of one exercise."""
    name = exercise.label
    head = (
        f"## {exercise.title}\n\n*Difficulty {exercise.difficulty} of 3, "
        f"{exercise.minutes} minutes, {exercise.kind}.*"
    )
    text = plain_markdown(exercise.text, name)
    cells = [new_markdown_cell(f"{head}\n\n{text}", id=name)]
    solved = audience == "instructor"
    if exercise.kind == "code":
        code = exercise.solution if solved else stub_code(exercise)
        cells.append(new_code_cell(code.rstrip("\n"), id=f"{name}-function"))
        cells.append(new_code_cell(exercise.test.rstrip("\n"), id=f"{name}-test"))
    if solved:
        notes = plain_markdown(exercise.notes, name)
        notes = f"**Notes ({points_text(exercise)}).** {notes}"
        cells.append(new_markdown_cell(notes, id=f"{name}-notes"))
    elif exercise.kind != "code" or exercise.words:
        cells.append(new_markdown_cell("*Your answer:*", id=f"{name}-answer"))
    return cells


def readme_text(
    kind: str, folder: Path, rows: Sequence[tuple[str, Sequence[Exercise], float]]
) -> str:
    """Return the page on what lies in a folder and its use, a row a notebook."""
    table = []
    for name, row_exercises, minutes in rows:
        n_code = sum(exercise.kind == "code" for exercise in row_exercises)
        points = sum(exercise.points for exercise in row_exercises)
        table.append((name, len(row_exercises), n_code, round(minutes), points))
    words = COURSE_TEXTS["introduction"].get(kind, "")
    words = words.replace("chapter of this name", "chapters")
    template = jinja2.Template(
        README_TEMPLATE.read_text(encoding="utf-8"), keep_trailing_newline=True
    )
    return template.render(
        kind=kind, folder=folder, rows=table, introduction=" ".join(words.split())
    )
