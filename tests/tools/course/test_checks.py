"""Tests of the checks: what a solution, a test and a stub must do."""

from dataclasses import replace

import pytest

from book.tools.course import checks, exercises
from helpers import UserError


@pytest.fixture
def one(chapter):
    return exercises.read(chapter())[1]


LONG = 'def more(x: int, y=1) -> int:\n    """Add one.\n\n    Or two.\n    """\n'
MORE = 'def more(x):\n    """Add one."""\n'


@pytest.mark.parametrize(
    ("solution", "head"),
    [
        (None, f"import math\n\n\n{MORE}"),
        (f"{LONG}    return 2\n", LONG),  # annotations, defaults, and a docstring of paragraphs
        ("def more(x): return 2\n", 'def more(x):\n    """How many."""\n'),  # else its title
        (f"import re\nANSWER = 2\nimport math\n{MORE}    return ANSWER\n",
         f"import re\nimport math\n\n\n{MORE}"),
    ],
)  # fmt: skip
def test_the_stub_keeps_imports_signature_and_docstring(one, solution, head):
    changed = replace(one, solution=solution or one.solution, title="How many?")
    assert checks.stub(changed) == f"{head}    raise NotImplementedError\n"


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
