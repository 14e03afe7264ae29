"""A chapter that is made up: what is read of its exercises, what is promised, and assignments."""

from dataclasses import replace

import nbformat
import pytest
import yaml

from book.tools.course import assignments, checks, exercises
from book.tools.course.weeks import Week
from helpers import UserError


def test_reads_all_parts_of_an_exercise(chapter):
    hand, first, _, why = exercises.read_exercises(chapter())
    assert (hand.kind, hand.title, hand.label) == ("on paper", "By hand", "ex-hand")
    assert (first.difficulty, first.minutes, first.kind) == (2, 10, "code")
    assert first.text == "Write `more(x)`. It adds one to a {term}`number`."
    assert first.test == "assert more(1) == 2\n"
    assert first.solution.startswith("import math")
    assert "# not so simple" in first.solution
    assert first.notes == "One more is added."
    assert (why.kind, why.test, why.solution, why.notes) == (
        "to be argued",
        "",
        "",
        "Because.",
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (":label: ex-why\n", "", '"Why\\?" .* has no label'),
        ("{solution} ex-why", "{solution} ex-which", "has no solution"),
        (
            "*Difficulty 3 of 3, 15 minutes, to be argued.*",
            "",
            "has to begin with a line",
        ),
        (
            "15 minutes, to be argued",
            "15 minutes, to be sung",
            "has to begin with a line",
        ),
        ("```python\nassert more(1) == 2\n```\n", "", "has 0 and 1"),
        ("Because.", "```python\nx = 1\n```", "has 0 and 1"),
        (":label: ex-why", ":lable: ex-why", "has no label"),
    ],
)
def test_a_broken_exercise_ends_in_a_sentence(chapter, sound, old, new, message):
    assert old in sound
    with pytest.raises(UserError, match=message):
        exercises.read_exercises(chapter(sound.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("a {term}`frame` and {term}`frames <frame>`", "a frame and frames"),
        ("`{term}` is a role, $x$ is not", "`{term}` is a role, $x$ is not"),
        ("see {doc}`the data <../data>`", "see the data"),
    ],
)
def test_roles_become_words(markdown, shown):
    assert exercises.plain_markdown(markdown, "x") == shown


@pytest.mark.parametrize(
    "role",
    ["{cite:t}`wang2024monitor`", "{ref}`atlas`", "{doc}`../data`", "{eq}`eq-pfd`"],
)
def test_a_role_without_words_is_refused(role):
    with pytest.raises(UserError, match="ex-here has the role"):
        exercises.plain_markdown(f"As in {role}.", "ex-here")


@pytest.fixture
def one(chapter):
    return exercises.read_exercises(chapter())[1]


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
    assert checks.stub_code(changed) == f"{head}    raise NotImplementedError\n"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"solution": "def more(x):\n    'Add.'\n    return x\n"},
            "fails its test: AssertionError",
        ),
        ({"test": "assert 1 == 2\n"}, "fails its test"),
        ({"test": "assert callable(more)\n"}, "does not call the function"),
        (
            {"test": "try:\n    more(1)\nexcept Exception:\n    pass\n"},
            "or hides its error",
        ),
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
        checks.check_exercise(replace(one, **changes))


def test_each_exercise_runs_in_names_of_its_own(one):
    assert checks.solution_failure("x = 1", "assert x == 1", "first") is None
    assert isinstance(
        checks.solution_failure("y = 1", "assert x == 1", "second"), NameError
    )


MARKS = ("### BEGIN SOLUTION", "### END SOLUTION")


@pytest.fixture
def week(chapter):
    found = exercises.read_exercises(chapter())
    return Week(3, [found[0], found[1], found[3]], ["made_up"], 30)


def test_what_helps_a_solution_moves_into_it(week):
    code = assignments.marked_solution_code(week.exercises[1], *MARKS)
    head, _, rest = code.partition(MARKS[0])
    assert head == 'import math\n\n\ndef more(x):\n    """Add one."""\n    '
    assert "    def half(x):\n        return x / 2\n" in rest
    assert "# not so simple" not in head
    assert checks.solution_failure(code, week.exercises[1].test, "x") is None
    assert checks.solution_failure(code, week.exercises[1].hidden(), "x") is None


def test_nbgrader_knows_what_each_cell_is(week):
    made = assignments.nbgrader_notebook(week)
    nbformat.validate(made)
    cells = {cell.metadata.nbgrader.grade_id: cell for cell in made.cells[2:]}
    kinds = {name: cell.metadata.nbgrader for name, cell in cells.items()}
    points = {name: kind.points for name, kind in kinds.items() if kind.grade}
    assert points == {"ex-hand-answer": 1, "ex-code-1-test": 2, "ex-why-answer": 3}
    assert sum(points.values()) == week.points
    assert [name for name, kind in kinds.items() if kind.solution] == [
        "ex-hand-answer",
        "ex-code-1-function",
        "ex-why-answer",
    ]
    visible, _, hidden = cells["ex-code-1-test"].source.partition(
        "### BEGIN HIDDEN TESTS\n"
    )
    assert visible == week.exercises[1].test
    assert hidden == week.exercises[1].hidden() + "### END HIDDEN TESTS"
    for name, kind in (("ex-hand", "on paper"), ("ex-why", "to be argued")):
        answer = cells[f"{name}-answer"].source
        assert answer.startswith(MARKS[0])
        assert answer.endswith(MARKS[1])
        assert exercises.COURSE_TEXTS["rubric"][kind] in answer


def test_otter_finds_the_parts_of_each_question(week):
    made = assignments.otter_notebook(week)
    nbformat.validate(made)
    raw = [cell.source for cell in made.cells if cell.cell_type == "raw"]
    assert [source.partition("\n")[0] for source in raw] == [
        "# ASSIGNMENT CONFIG",
        *("# BEGIN QUESTION", "# BEGIN SOLUTION", "# END SOLUTION", "# END QUESTION"),
        *("# BEGIN QUESTION", "# BEGIN SOLUTION", "# END SOLUTION"),
        *("# BEGIN TESTS", "# END TESTS", "# END QUESTION"),
        *("# BEGIN QUESTION", "# BEGIN SOLUTION", "# END SOLUTION", "# END QUESTION"),
    ]
    asked = [
        yaml.safe_load(source)
        for source in raw
        if source.startswith("# BEGIN QUESTION")
    ]
    assert asked == [
        {"name": "ex-hand", "points": 1, "manual": True},
        {"name": "ex-code-1", "points": 2, "all_or_nothing": True},
        {"name": "ex-why", "points": 3, "manual": True},
    ]
    hidden = [
        cell.source for cell in made.cells if cell.source.startswith("# HIDDEN\n")
    ]
    assert hidden == [f"# HIDDEN\n{week.exercises[1].hidden()}".rstrip()]
