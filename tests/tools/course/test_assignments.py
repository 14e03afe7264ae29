"""Tests of the assignments' cells; test_grading.py has the graders read them."""

import nbformat
import pytest
import yaml

from book.tools.course import assignments, checks, exercises
from book.tools.course.weeks import Week

MARKS = ("### BEGIN SOLUTION", "### END SOLUTION")


@pytest.fixture
def week(chapter):
    found = exercises.read(chapter())
    return Week(3, [found[0], found[1], found[3]], ["made_up"], 30)


def test_what_helps_a_solution_moves_into_it(week):
    code = assignments.solution(week.exercises[1], *MARKS)
    head, _, rest = code.partition(MARKS[0])
    assert head == 'import math\n\n\ndef more(x):\n    """Add one."""\n    '
    assert "    def half(x):\n        return x / 2\n" in rest
    assert "# not so simple" not in head
    assert checks.run(code, week.exercises[1].test, "x") is None
    assert checks.run(code, week.exercises[1].hidden(), "x") is None


def test_nbgrader_knows_what_each_cell_is(week):
    made = assignments.nbgrader(week)
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
    visible, _, hidden = cells["ex-code-1-test"].source.partition("### BEGIN HIDDEN TESTS\n")
    assert visible == week.exercises[1].test
    assert hidden == week.exercises[1].hidden() + "### END HIDDEN TESTS"
    for name, kind in (("ex-hand", "on paper"), ("ex-why", "to be argued")):
        answer = cells[f"{name}-answer"].source
        assert answer.startswith(MARKS[0])
        assert answer.endswith(MARKS[1])
        assert assignments.RUBRIC[kind] in answer


def test_otter_finds_the_parts_of_each_question(week):
    made = assignments.otter(week)
    nbformat.validate(made)
    raw = [cell.source for cell in made.cells if cell.cell_type == "raw"]
    assert [source.partition("\n")[0] for source in raw] == [
        "# ASSIGNMENT CONFIG",
        *("# BEGIN QUESTION", "# BEGIN SOLUTION", "# END SOLUTION", "# END QUESTION"),
        *("# BEGIN QUESTION", "# BEGIN SOLUTION", "# END SOLUTION"),
        *("# BEGIN TESTS", "# END TESTS", "# END QUESTION"),
        *("# BEGIN QUESTION", "# BEGIN SOLUTION", "# END SOLUTION", "# END QUESTION"),
    ]
    asked = [yaml.safe_load(source) for source in raw if source.startswith("# BEGIN QUESTION")]
    assert asked == [
        {"name": "ex-hand", "points": 1, "manual": True},
        {"name": "ex-code-1", "points": 2, "all_or_nothing": True},
        {"name": "ex-why", "points": 3, "manual": True},
    ]
    hidden = [cell.source for cell in made.cells if cell.source.startswith("# HIDDEN\n")]
    assert hidden == [f"# HIDDEN\n{week.exercises[1].hidden()}".rstrip()]
