"""Hidden tests catch wrong solutions: some that the visible test lets through, and all mutants."""

import re
import signal
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from book.tools import render
from book.tools.course import checks, exercises
from book.tools.jobs import TEMPLATES
from notebooks.kit import hidden_tests
from tests.tools.course.memorised_solutions import memorised_solution
from tests.tools.course.mutants import mutant_solutions

_READ = yaml.safe_load(
    Path(__file__).with_name("wrong.yaml").read_text(encoding="utf-8")
)
SAME, WRONG = _READ["same"], _READ["wrong"]
RIGHT_SOLUTIONS = re.findall(  # written in another way
    r"^## (\S+)\n\n```python\n(.*?)^```",
    Path(__file__).with_name("right.md").read_text(encoding="utf-8"),
    flags=re.MULTILINE | re.DOTALL,
)


def in_code(chapter):
    found = exercises.read_exercises(TEMPLATES / f"{chapter}.ipynb")
    return [exercise for exercise in found if exercise.kind == "code"]


@pytest.fixture
def fails():
    """Return a function that tells whether code fails a test in so many seconds of a processor."""

    def stop(*words):
        raise TimeoutError

    def run(code, test, label, seconds):
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
        try:
            return checks.solution_failure(code, test, label) is not None
        except TimeoutError:
            return True
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    before = signal.signal(signal.SIGVTALRM, stop)
    yield run
    signal.signal(signal.SIGVTALRM, before)


CODED = {one.label: one for name in render.chapter_names() for one in in_code(name)}


@pytest.mark.parametrize(("label", "old", "new"), WRONG)
def test_a_wrong_solution_fails(label, old, new):
    exercise = CODED[label]
    assert old in exercise.solution
    wrong = exercise.solution.replace(old, new)
    failures = [
        checks.solution_failure(wrong, test, label)
        for test in (exercise.test, exercise.hidden())
    ]
    failure = next(filter(None, failures))
    assert isinstance(failure, AssertionError)
    assert "expected:" in str(failure)


@pytest.mark.parametrize(("label", "code"), RIGHT_SOLUTIONS)
def test_another_right_solution_passes(label, code):
    assert checks.solution_failure(code, CODED[label].test, label) is None
    assert checks.solution_failure(code, CODED[label].hidden(), label) is None


@pytest.mark.parametrize("chapter", render.chapter_names())
def test_the_visible_tests_own_values_do_not_pass(chapter):
    for exercise in in_code(chapter):
        code = memorised_solution(exercise)
        assert checks.solution_failure(code, exercise.test, exercise.label) is None
        assert (
            checks.solution_failure(code, exercise.hidden(), exercise.label) is not None
        )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chapter", render.chapter_names())
def test_no_mutant_of_a_solution_passes(chapter, fails):
    for exercise in in_code(chapter):
        label, counts, left = exercise.label, [0, 0], set()
        began = time.process_time()
        for test in (exercise.test, exercise.hidden()):
            assert checks.solution_failure(exercise.solution, test, label) is None
        enough = 0.3 + 4 * (
            time.process_time() - began
        )  # what takes longer goes on for ever
        for what, code in mutant_solutions(exercise.solution):
            if fails(code, exercise.test, label, enough):
                counts[0] += 1
            elif fails(code, exercise.hidden(), label, enough):
                counts[1] += 1
            else:
                left.add(what)
        print(
            f"{label}: {counts[0]} caught by the visible test, {counts[1]} by the hidden one"
        )
        assert sum(counts) > len(left)
        assert left == set(SAME.get(label, ())), label


@pytest.mark.parametrize(
    ("found", "right", "same"),
    [
        (1.95e-5, 0.0, True),
        (10_001, 10_000, False),  # whole numbers are counts
        (None, 0.5, False),
        (0.5, None, False),
        (pd.Series({"a": 0.5}), {"a": 0.5}, True),
        (pd.Series({"a": 0.5}), {"a": 0.5, "b": 1.0}, False),
        (np.array([0.1, 0.2]), [0.1, 0.2], True),
        ([0.2, 0.1], [0.1, 0.2], False),
        ([("b", "a")], [("a", "b")], False),
        (([0.1], [0.2]), [[0.1], [0.2]], True),
        (np.True_, True, True),
    ],
)
def test_results_agree(found, right, same):
    assert hidden_tests.results_agree(found, right) is same


def test_inputs_are_a_functions_own():
    """One that changes its argument does not spoil the solution's."""
    with pytest.raises(AssertionError, match=r"pop\(\[1, 2\]\) returns 2; expected: 1"):
        hidden_tests.check_against_solutions(
            [_pop], [lambda values: values[0]], lambda random: [[1, 2]]
        )


def _pop(values):
    return values.pop()


def test_a_chapter_without_inputs_is_refused(chapter):
    path = chapter()
    (path.parent / "hidden" / "made_up.py").unlink()
    with pytest.raises(
        exercises.UserError, match=r"ex_code_1\(random\) in .*made_up.py"
    ):
        exercises.read_exercises(path)
    (path.parent / "hidden" / "made_up.py").write_text("def ex_code_1(random) return 1")
    with pytest.raises(exercises.UserError, match=r"made_up\.py is not Python"):
        exercises.read_exercises(path)
