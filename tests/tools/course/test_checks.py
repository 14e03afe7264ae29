"""Tests of the checks: what a solution, a test and a stub must do."""

from dataclasses import replace

import pytest

from book.tools.course import checks, exercises
from helpers import UserError


@pytest.fixture
def sound_exercises(chapter):
    return exercises.read(chapter())


@pytest.fixture
def one(sound_exercises):
    return sound_exercises[1]


def test_the_stub_keeps_imports_signature_and_docstring(one):
    assert checks.stub(one) == (
        'import math\n\n\ndef more(x):\n    """Add one."""\n    raise NotImplementedError\n'
    )


def test_the_stub_keeps_annotations_defaults_and_long_docstrings(one):
    head = 'def more(x: int, y=1) -> int:\n    """Add one.\n\n    Or two.\n    """\n'
    made = checks.stub(replace(one, solution=f"{head}    return 2\n"))
    assert made == f"{head}    raise NotImplementedError\n"


def test_the_title_serves_where_there_is_no_docstring(one):
    made = checks.stub(replace(one, solution="def more(x): return 2\n", title="How many?"))
    assert made == 'def more(x):\n    """How many."""\n    raise NotImplementedError\n'


def test_the_stub_gives_no_constant_away(one):
    solution = "import re\nANSWER = 2\nimport math\ndef more(x):\n    return ANSWER\n"
    assert "ANSWER" not in checks.stub(replace(one, solution=solution))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"solution": "def more(x):\n    'Add.'\n    return x\n"},
            "fails its test: AssertionError",
        ),
        ({"test": "assert 1 == 2\n"}, "fails its test"),
        ({"test": "assert callable(more)\n"}, "does not call the function"),
        ({"test": "try:\n    more(1)\nexcept Exception:\n    pass\n"}, "or hides its error"),
        ({"test": "more(1)\n"}, "passes with a function that does nothing"),
        (
            {"solution": "def other(x):\n    return x\n", "test": "assert 1\n"},
            "defines no function",
        ),
        ({"solution": "def more(x) return x\n"}, "fails its test: SyntaxError"),
        ({"solution": "import nothing_of_that_name\n"}, "ModuleNotFoundError"),
    ],
)
def test_what_keeps_no_promise_is_refused(one, changes, message):
    with pytest.raises(UserError, match=message):
        checks.try_out(replace(one, **changes))


def test_each_exercise_runs_in_names_of_its_own(one):
    assert checks.run("x = 1", "assert x == 1", "first") is None
    assert isinstance(checks.run("y = 1", "assert x == 1", "second"), NameError)
