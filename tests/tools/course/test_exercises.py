"""Tests of the exercises of every chapter: their number and kinds, each solution and each stub."""

import re
from pathlib import Path

import pytest

from book.tools import render
from book.tools.course import checks, exercises, weeks

ROOT = Path(__file__).resolve().parents[3]
CHAPTERS = {
    name: exercises.read(ROOT / "notebooks" / f"{name}.ipynb") for name in render.chapters()
}
ALL = [exercise for several in CHAPTERS.values() for exercise in several]
CODE = [exercise for exercise in ALL if exercise.kind == "code"]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_has_four_to_six_exercises_of_both_kinds(chapter):
    kinds = [exercise.kind for exercise in CHAPTERS[chapter]]
    assert 4 <= len(kinds) <= 6
    assert kinds.count("code") >= 2
    assert kinds.count("to be argued") >= 1
    text = (ROOT / "notebooks" / f"{chapter}.ipynb").read_text(encoding="utf-8")
    assert len(kinds) == text.count("{exercise}") == text.count("{solution}")


@pytest.mark.parametrize("exercise", ALL, ids=lambda one: one.label)
def test_an_exercise_says_how_hard_and_how_long_it_is(exercise):
    assert [one.label for one in ALL].count(exercise.label) == 1
    assert exercise.difficulty in (1, 2, 3)
    assert 1 <= exercise.minutes <= 60
    assert min(len(exercise.text), len(exercise.notes)) > 80
    assert exercise.title


@pytest.mark.parametrize("week", weeks.plan(ALL), ids=lambda week: week.name)
def test_a_week_asks_for_functions_of_different_names(week):
    coded = [exercise for exercise in week.exercises if exercise.kind == "code"]
    names = [function.name for exercise in coded for function in exercise.functions()]
    assert len(set(names)) == len(names), "a grader tests the last of them"


@pytest.mark.parametrize("exercise", CODE, ids=lambda one: one.label)
def test_the_solution_passes_and_the_stub_fails(exercise):
    checks.try_out(exercise)
    signature = re.search(r"def (\w+\([^)]*\))", checks.stub(exercise))[1]
    assert f"`{signature}`" in exercise.text
    code = exercise.solution + exercise.test
    assert not re.search(r"models\.load|helpers\.models|import (torch|probing)|weights", code)
    assert max(map(len, code.splitlines())) <= 88
    assert len(exercise.solution.splitlines()) <= 25
