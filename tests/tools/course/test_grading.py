"""The assignments in nbgrader and Otter-Grader: what four students get.

Both are in the environment of `make test-grading`; GRADING_PYTHON names another
interpreter.
"""

import csv
import json
import os
import sys
from pathlib import Path

import nbformat
import pytest

from book.tools import __main__ as commands
from book.tools import render
from book.tools.course import exercises, weeks
from book.tools.jobs import TEMPLATES
from tests.program_calls import run_program
from tests.tools.course.memorised_solutions import memorised_solution
from tests.tools.course.test_hidden import RIGHT_SOLUTIONS

ROOT = Path(__file__).resolve().parents[3]
BUILT = ROOT / "build" / "grading" / "bin" / "python"
PYTHON = os.environ.get("GRADING_PYTHON") or (
    str(BUILT) if BUILT.exists() else sys.executable
)
SUBMISSIONS = ("solved", "other", "empty", "wrong", "half")

pytestmark = pytest.mark.slow


def command(module, *words, at):
    """Run a command of the grading environment, and return what it said."""
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    found = {
        "PYTHONPATH": os.pathsep.join(path),
        "PATH": f"{Path(PYTHON).parent}{os.pathsep}{os.environ['PATH']}",
    }
    done = run_program(PYTHON, "-m", module, *words, cwd=at, env=os.environ | found)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def week():
    """Return the week in which kappa is asked for."""
    found = [
        e
        for name in render.chapter_names()
        for e in exercises.read_exercises(TEMPLATES / f"{name}.ipynb")
    ]
    (chosen,) = (
        week
        for week in weeks.plan_weeks(found)
        if "ex-calibration-kappa" in [exercise.label for exercise in week.exercises]
    )
    return chosen


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Return the folder of the course, where both systems are installed."""
    if run_program(PYTHON, "-c", "import nbgrader, otter", code=None).returncode:
        pytest.skip("neither nbgrader nor Otter-Grader here: make test-grading")
    folder = tmp_path_factory.mktemp("course")
    assert commands.main(["course", "--folder", str(folder)]) == 0
    return folder


def coded(week):
    return [exercise for exercise in week.exercises if exercise.kind == "code"]


def handed_in(released, week, kind):
    """Return what a student hands in: the notebook that was given out, filled in."""
    notebook = nbformat.read(released, as_version=4)
    for number, exercise in enumerate(coded(week)):
        head = f"def {exercise.functions()[0].name}("
        (cell,) = (
            c for c in notebook.cells if c.cell_type == "code" and head in c.source
        )
        if kind == "solved" or (kind == "half" and number % 2 == 0):
            cell.source = exercise.solution
        elif kind == "other":
            cell.source = dict(RIGHT_SOLUTIONS).get(exercise.label, exercise.solution)
        elif kind == "wrong":
            cell.source = memorised_solution(exercise)
    return notebook


def expected(week, kind):
    """Return the points of what is in code."""
    points = [exercise.difficulty for exercise in coded(week)]
    return {"solved": sum(points), "other": sum(points), "half": sum(points[::2])}.get(
        kind, 0
    )


def leaks(released, week):
    """Return the exercises of which what is given out holds a solution, notes or hidden tests."""
    text = released.read_text(encoding="utf-8")
    parts = {
        exercise.label: (
            exercise.draw or exercise.notes,
            exercise.solution or exercise.notes,
        )
        for exercise in week.exercises
    }
    lines = {
        label: [part.strip().splitlines()[-1] for part in found]
        for label, found in parts.items()
    }
    return [
        label
        for label, found in lines.items()
        if any(json.dumps(line)[1:-1] in text for line in found)
    ]


def test_nbgrader_gives_the_marks(course, week):
    folder, name = course / "nbgrader", f"{week.name}.ipynb"
    command("nbgrader", "generate_assignment", week.name, "--create", at=folder)
    released = folder / "release" / week.name / name
    assert not leaks(released, week)
    for kind in SUBMISSIONS:
        place = folder / "submitted" / kind / week.name
        place.mkdir(parents=True)
        nbformat.write(handed_in(released, week, kind), place / name)
    command("nbgrader", "autograde", week.name, "--create", at=folder)
    command("nbgrader", "export", at=folder)
    rows = list(csv.DictReader((folder / "grades.csv").open(encoding="utf-8")))
    marks = {row["student_id"]: float(row["score"]) for row in rows}
    print(f"nbgrader, of {expected(week, 'solved')} points in code: {marks}")
    assert marks == {kind: expected(week, kind) for kind in SUBMISSIONS}
    assert {float(row["max_score"]) for row in rows} == {week.points}


def test_otter_gives_the_marks(course, week, tmp_path):
    command("otter", "assign", f"{week.name}.ipynb", "build", at=course / "otter")
    built = course / "otter" / "build"
    released = built / "student" / f"{week.name}.ipynb"
    assert not leaks(released, week)
    (archive,) = (built / "autograder").glob("*.zip")
    marks, most = {}, set()
    for kind in SUBMISSIONS:
        place = tmp_path / kind
        place.mkdir()
        nbformat.write(handed_in(released, week, kind), place / f"{week.name}.ipynb")
        words = ("-a", archive, "-o", place, place / f"{week.name}.ipynb")
        command("otter", "run", *words, at=place)
        results = json.loads((place / "results.json").read_text(encoding="utf-8"))
        visible = next(
            test for test in results["tests"] if test["name"] == "Public Tests"
        )
        assert (visible["status"] == "passed") is (kind in ("solved", "other", "wrong"))
        questions = [test for test in results["tests"] if test.get("score") is not None]
        marks[kind] = sum(test["score"] for test in questions)
        most.add(sum(test["max_score"] for test in questions))
    print(f"Otter, of {expected(week, 'solved')} points in code: {marks}, {most}")
    assert marks == {kind: expected(week, kind) for kind in SUBMISSIONS}
