"""Tests of the course: both sets of notebooks, their READMEs, and the command."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from book.tools import __main__ as commands
from book.tools import render
from book.tools.course import exercises, sheets, weeks

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = ROOT / "notebooks"
SET = ("student", "instructor")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return the folder of the course, made from the real chapters."""
    folder = tmp_path_factory.mktemp("course")
    assert commands.main(["course", "--folder", str(folder)]) == 0
    return folder


def read(path):
    return nbformat.read(path, as_version=4)


def sources(notebook, ending):
    return [cell.source for cell in notebook.cells if cell.id.endswith(ending)]


def test_a_notebook_for_each_chapter_in_each_set(made):
    for audience in SET:
        names = {path.name for path in (made / audience).iterdir()}
        assert names == {"README.md", "smollm2.csv"} | {
            f"{name}.ipynb" for name in render.chapters()
        }


def test_an_assignment_for_each_week_in_each_system(made):
    names = [f"week-{number}" for number in range(1, weeks.WEEKS + 1)]
    source = made / "nbgrader" / "source"
    assert sorted(path.name for path in source.iterdir()) == names
    assert all((source / name / f"{name}.ipynb").is_file() for name in names)
    assert {path.name for path in (made / "otter").iterdir()} == {
        "README.md",
        "smollm2.csv",
        *(f"{name}.ipynb" for name in names),
    }
    for system in ("nbgrader", "otter"):
        page = (made / system / "README.md").read_text(encoding="utf-8")
        rows = [row.split("|")[2:6] for row in page.splitlines() if row.startswith("| week-")]
        totals = [sum(int(cell) for cell in column) for column in zip(*rows)]
        found = [e for n in render.chapters() for e in exercises.read(NOTEBOOKS / f"{n}.ipynb")]
        assert totals[0] == len(found)
        assert totals[1] == sum(one.kind == "code" for one in found)
        assert totals[3] == sum(one.points for one in found)


def test_a_quiz_on_two_pages_and_as_a_package(made):
    quizzes = [path.stem for path in (NOTEBOOKS / "quiz").glob("*.yaml")]
    endings = (".md", "-answers.md", "-moodle.xml", "-qti12.zip", "-qti21.zip")
    names = {f"{name}{ending}" for name in quizzes for ending in endings}
    assert {path.name for path in (made / "quiz").iterdir()} == names
    title = (made / "quiz" / "monitor.md").read_text(encoding="utf-8").splitlines()[0]
    assert title == "# Quiz: Is a known fact stable?"


@pytest.mark.parametrize("chapter", render.chapters())
def test_notebooks_are_valid_and_without_outputs(made, chapter):
    for audience in SET:
        notebook = read(made / audience / f"{chapter}.ipynb")
        nbformat.validate(notebook)
        assert not [c for c in notebook.cells if c.cell_type == "code" and c.outputs]
        assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


@pytest.mark.parametrize("chapter", render.chapters())
def test_students_see_no_solution_and_no_notes(made, chapter):
    student = read(made / "student" / f"{chapter}.ipynb")
    text = "\n".join(cell.source for cell in student.cells)
    for exercise in exercises.read(NOTEBOOKS / f"{chapter}.ipynb"):
        assert exercise.notes.splitlines()[0] not in text
        if exercise.kind == "code":
            last = exercise.solution.strip().splitlines()[-1].strip()
            assert last not in "\n".join(sources(student, f"{exercise.label}-function"))
    unwritten = sources(student, "-function")
    assert len(unwritten) == len(sources(student, "-test"))
    assert all("raise NotImplementedError" in source for source in unwritten)


@pytest.mark.parametrize("chapter", render.chapters())
def test_the_cells_do_what_the_chapter_promises(made, chapter):
    """In the order of the notebook, in one namespace, as a student's kernel would."""
    names = {}
    for cell in read(made / "instructor" / f"{chapter}.ipynb").cells:
        if cell.cell_type == "code" and cell.id != "install":
            exec(compile(cell.source, cell.id, "exec"), names)
    student = read(made / "student" / f"{chapter}.ipynb")
    for function, test in zip(sources(student, "-function"), sources(student, "-test")):
        exec(function, names)
        with pytest.raises(NotImplementedError):
            exec(test, names)


def test_a_notebook_runs_in_a_kernel_up_to_the_first_stub(made):
    student = read(made / "student" / "multiplicity.ipynb")
    student.cells = [cell for cell in student.cells if cell.id != "install"]
    done = NotebookClient(
        student,
        kernel_name="python3",
        allow_errors=True,
        timeout=120,
        resources={"metadata": {"path": str(ROOT)}},
    ).execute()
    failed = [c for c in done.cells if c.cell_type == "code" and c.outputs]
    assert [c.id for c in failed] == [c.id for c in done.cells if c.id.endswith("-test")]
    assert {c.outputs[0].ename for c in failed} == {"NotImplementedError"}


def test_the_readme_adds_up(made):
    rows = (made / "instructor" / "README.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in row.split("|")] for row in rows if row.startswith("| [")]
    assert len(rows) == len(render.chapters())
    for row in rows:
        found = exercises.read(NOTEBOOKS / f"{row[1][1:].partition(']')[0]}.ipynb")
        code = sum(exercise.kind == "code" for exercise in found)
        minutes = sum(exercise.minutes for exercise in found)
        assert [int(cell) for cell in row[2:5]] == [len(found), code, minutes]


@pytest.mark.slow
def test_making_it_again_changes_no_byte(made, tmp_path):
    assert commands.main(["course", "--folder", str(tmp_path / "again")]) == 0
    for path in made.rglob("*.ipynb"):
        again = tmp_path / "again" / path.relative_to(made)
        assert again.read_bytes() == path.read_bytes()


def test_the_chapters_cell_that_installs_comes_first(chapter):
    path = chapter(install=True)
    made = sheets.notebook(path, exercises.read(path), "student")
    first = next(cell for cell in made.cells if cell.cell_type == "code")
    assert (first.id, first.source) == ("install", "%pip install something")
    assert made.cells[0].source.startswith("# Exercises: Is it so?")


def test_roles_are_words_in_the_notebooks(chapter):
    path = chapter()
    made = sheets.notebook(path, exercises.read(path), "instructor")
    text = "\n".join(cell.source for cell in made.cells)
    assert "adds one to a number." in text
    assert "{term}" not in text
    assert "**Notes (2 points).** One more is added." in text


def test_a_bad_solution_stops_the_command_before_it_writes(chapter, sound, tmp_path, monkeypatch):
    chapter(sound.replace("+ 1\n", "+ 2\n", 1))
    monkeypatch.setattr(render, "chapters", lambda: ["made_up"])
    words = ["--folder", str(tmp_path / "out"), "--templates", str(tmp_path)]
    assert commands.main(["course", *words]) == 2
    assert not (tmp_path / "out").exists()


def test_a_mistake_ends_in_one_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert commands.main(["course", "--folder", str(tmp_path / "file")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: The course cannot be written to")
    assert said.count("\n") == 1
