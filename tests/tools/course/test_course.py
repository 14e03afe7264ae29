"""Tests of the course: both sets of notebooks, their READMEs, and the command."""

import re
from pathlib import Path

import nbformat
import pytest

from book.tools import __main__ as commands
from book.tools import render
from book.tools.course import checks, course_files, exercises, weeks

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = ROOT / "notebooks"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder of the course, made from the real chapters.

    What the command checks of each exercise, test_exercises.py and test_hidden.py check
    alone.
    """
    folder = tmp_path_factory.mktemp("course")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "check_exercise", lambda exercise: None)
        assert commands.main(["course", "--folder", str(folder)]) == 0
    return folder


def read(path):
    return nbformat.read(path, as_version=4)


def sources(notebook, ending):
    return [cell.source for cell in notebook.cells if cell.id.endswith(ending)]


def test_a_notebook_for_each_chapter_and_an_assignment_for_each_week(made):
    found = {
        name: exercises.read_exercises(NOTEBOOKS / f"{name}.ipynb")
        for name in render.chapter_names()
    }
    chapters = {f"{name}.ipynb" for name in found}
    names = [f"week-{number}" for number in range(1, weeks.NUMBER_OF_WEEKS + 1)]
    for folder, there in {
        "student": chapters,
        "instructor": chapters,
        "otter": {f"{name}.ipynb" for name in names},
    }.items():
        listed = {path.name for path in (made / folder).iterdir()}
        assert listed == there | {"README.md", "smollm2.csv"}
    source = made / "nbgrader" / "source"
    assert sorted(path.name for path in source.iterdir()) == names
    assert all((source / name / f"{name}.ipynb").is_file() for name in names)
    every = [one for several in found.values() for one in several]
    for system in ("nbgrader", "otter"):
        page = (made / system / "README.md").read_text(encoding="utf-8")
        rows = [
            row.split("|")[2:6]
            for row in page.splitlines()
            if row.startswith("| week-")
        ]
        totals = [sum(int(cell) for cell in column) for column in zip(*rows)]
        assert totals[0] == len(every)
        assert totals[1] == sum(one.kind == "code" for one in every)
        assert totals[3] == sum(one.points for one in every)
    page = (made / "instructor" / "README.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in row.split("|")]
        for row in re.findall(r"^\| \[.*", page, re.M)
    ]
    for row, several in zip(rows, found.values(), strict=True):
        code = sum(one.kind == "code" for one in several)
        assert [int(cell) for cell in row[2:5]] == [
            len(several),
            code,
            sum(e.minutes for e in several),
        ]
    endings = (".md", "-answers.md", "-moodle.xml", "-qti12.zip", "-qti21.zip")
    quizzes = {
        f"{p.stem}{e}" for p in (NOTEBOOKS / "quiz").glob("*.yaml") for e in endings
    }
    assert {path.name for path in (made / "quiz").iterdir()} == quizzes


@pytest.mark.parametrize("chapter", render.chapter_names())
def test_the_cells_do_what_the_chapter_promises(made, chapter):
    """In the order of the notebook, in one namespace, as a student's kernel would."""
    student, instructor = (
        read(made / s / f"{chapter}.ipynb") for s in ("student", "instructor")
    )
    for notebook in (student, instructor):
        nbformat.validate(notebook)
        assert not [c for c in notebook.cells if c.cell_type == "code" and c.outputs]
        assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    text, functions = (
        "\n".join(c.source for c in student.cells),
        sources(student, "-function"),
    )
    for exercise in exercises.read_exercises(NOTEBOOKS / f"{chapter}.ipynb"):
        assert exercise.notes.splitlines()[0] not in text
        if exercise.kind == "code":
            last = exercise.solution.strip().splitlines()[-1].strip()
            assert last not in "\n".join(sources(student, f"{exercise.label}-function"))
    names = {}
    for cell in instructor.cells:
        if cell.cell_type == "code" and cell.id != "install":
            exec(compile(cell.source, cell.id, "exec"), names)
    for function, test in zip(functions, sources(student, "-test"), strict=True):
        exec(function, names)
        with pytest.raises(NotImplementedError):
            exec(test, names)


@pytest.mark.slow
def test_making_it_again_changes_no_byte(made, tmp_path):
    assert commands.main(["course", "--folder", str(tmp_path / "again")]) == 0
    for path in made.rglob("*.ipynb"):
        again = tmp_path / "again" / path.relative_to(made)
        assert again.read_bytes() == path.read_bytes()


def test_the_chapters_cell_that_installs_comes_first_and_roles_are_words(chapter):
    path = chapter(install=True)
    made = course_files.exercise_notebook(
        path, exercises.read_exercises(path), "instructor"
    )
    first = next(cell for cell in made.cells if cell.cell_type == "code")
    assert (first.id, first.source) == ("install", "%pip install something")
    assert made.cells[0].source.startswith("# Exercises: Is it so?")
    text = "\n".join(cell.source for cell in made.cells)
    assert "adds one to a number." in text
    assert "{term}" not in text
    assert "**Notes (2 points).** One more is added." in text


def test_a_mistake_ends_in_one_sentence_before_anything_is_written(
    chapter, sound, tmp_path, monkeypatch, capsys
):
    chapter(sound.replace("+ 1\n", "+ 2\n", 1))
    monkeypatch.setattr(render, "chapter_names", lambda: ["made_up"])
    words = ["--folder", str(tmp_path / "out"), "--templates", str(tmp_path)]
    assert commands.main(["course", *words]) == 2
    assert not (tmp_path / "out").exists()
    assert capsys.readouterr().err.count("\n") == 1
