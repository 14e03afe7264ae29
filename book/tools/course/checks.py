"""Hold the exercises to their promises: every solution passes its test, every stub fails it."""

import ast
from collections import Counter
from collections.abc import Sequence

from book.tools.course.exercises import Exercise, imports
from helpers import UserError

NUMBER = range(4, 7)  # exercises a chapter
NOTHING = "return None"
TO_WRITE = "raise NotImplementedError"


def check(exercises: Sequence[Exercise], chapter: str) -> None:
    """Check the exercises of one chapter: how many, of which kinds, and each one in code."""
    kinds = Counter(exercise.kind for exercise in exercises)
    if len(exercises) not in NUMBER or kinds["code"] < 2 or not kinds["to be argued"]:
        raise UserError(
            f"The chapter {chapter} needs {NUMBER[0]} to {NUMBER[-1]} exercises, two or more of "
            f"them in code and one or more to be argued; it has {len(exercises)}, {kinds['code']} "
            f"and {kinds['to be argued']}."
        )
    for exercise in exercises:
        if exercise.difficulty not in (1, 2, 3) or not 1 <= exercise.minutes <= 60:
            raise UserError(
                f"{exercise.label} needs a difficulty from 1 to 3 and 1 to 60 minutes, not "
                f"{exercise.difficulty} and {exercise.minutes}."
            )
        if exercise.kind == "code":
            try_out(exercise)


def check_labels(exercises: Sequence[Exercise]) -> None:
    """Refuse two exercises of one label, since the book and the notebooks name them by it."""
    label, times = Counter(exercise.label for exercise in exercises).most_common(1)[0]
    if times > 1:
        raise UserError(f"There are {times} exercises with the label {label}: rename all but one.")


def check_names(exercises: Sequence[Exercise]) -> None:
    """Refuse functions of one name in one assignment: a grader tests the last of them."""
    coded = [exercise for exercise in exercises if exercise.kind == "code"]
    names = Counter(function.name for exercise in coded for function in exercise.functions())
    for name, times in names.items():
        if times > 1:
            raise UserError(f"{times} exercises of one week ask for a function {name}: rename one.")


def try_out(exercise: Exercise) -> None:
    """Run an exercise's test on its solution, on its stub, and on a function that does nothing."""
    for kind in ("", "hidden "):
        test = exercise.hidden() if kind else exercise.test
        failure = run(exercise.solution, test, exercise.label)
        if failure is not None:
            said = f"{type(failure).__name__} {failure}"
            raise UserError(f"The solution of {exercise.label} fails its {kind}test: {said}")
    if not isinstance(run(stub(exercise), exercise.test, exercise.label), NotImplementedError):
        raise UserError(
            f"The test of {exercise.label} does not call the function that is to be written, or "
            "hides its error: let it assert on what the function returns."
        )
    if run(stub(exercise, NOTHING), exercise.test, exercise.label) is None:
        raise UserError(
            f"The test of {exercise.label} passes with a function that does nothing: let it "
            "assert on what the function returns."
        )


def run(solution: str, test: str, label: str) -> Exception | None:
    """Run a solution and its test in names of their own; return what they raise.

    >>> run("def f(x): return x + 1", "assert f(1) == 2", "ex")
    >>> run("def f(x): return x", "assert f(1) == 2", "ex")
    AssertionError()
    """
    names = {"__name__": label}
    try:
        exec(compile(solution, f"{label}, solution", "exec"), names)
        exec(compile(test, f"{label}, test", "exec"), names)
    except Exception as error:
        return error
    return None


def stub(exercise: Exercise, body: str = TO_WRITE) -> str:
    """Return what a student begins with: imports, signatures and docstrings of the solution.

    Only the functions that the test names are left; what helps them is for the student to find.
    The title serves a function that has no docstring.
    """
    functions = [_emptied(node, body, exercise.title) for node in exercise.functions()]
    parts = [imports(ast.parse(exercise.solution).body), *functions]
    return "\n\n\n".join(part for part in parts if part) + "\n"


def _emptied(node: ast.FunctionDef, body: str, title: str) -> str:
    """Return a function with its docstring, or the title, and another body."""
    words = ast.get_docstring(node, clean=False) or f"{title.rstrip('.?!')}."
    node.body = [ast.Expr(ast.Constant(words)), *ast.parse(body).body]
    return ast.unparse(node)
