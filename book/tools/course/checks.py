"""Hold the exercises to their promises: every solution passes its test, every stub fails it."""

import ast

from book.tools.course.exercises import Exercise, exercise_error, import_code

EMPTY_BODY = "return None"
STUB_BODY = "raise NotImplementedError"


def check_exercise(exercise: Exercise) -> None:
    """Run an exercise's test on its solution, on its stub, and on a function that does nothing."""
    for kind in ("", "hidden "):
        test = exercise.hidden() if kind else exercise.test
        failure = solution_failure(exercise.solution, test, exercise.label)
        if failure is not None:
            said = f"{type(failure).__name__} {failure}"
            raise exercise_error("test", label=exercise.label, kind=kind, error=said)
    if not isinstance(
        solution_failure(stub_code(exercise), exercise.test, exercise.label),
        NotImplementedError,
    ):
        raise exercise_error("uncalled", label=exercise.label)
    if (
        solution_failure(stub_code(exercise, EMPTY_BODY), exercise.test, exercise.label)
        is None
    ):
        raise exercise_error("idle", label=exercise.label)


def solution_failure(solution: str, test: str, label: str) -> Exception | None:
    """Run a solution and its test in names of their own; return what they raise."""
    from notebooks.kit.hidden_tests import (
        check,  # rendering pages needs no chapter's code
    )

    names = {"__name__": label, "check": check}
    try:
        exec(compile(solution, f"{label}, solution", "exec"), names)
        exec(compile(test, f"{label}, test", "exec"), names)
    except Exception as error:
        return error
    return None


def stub_code(exercise: Exercise, body: str = STUB_BODY) -> str:
    """Return what a student begins with: imports, signatures and docstrings of the solution."""
    functions = [_emptied(node, body, exercise.title) for node in exercise.functions()]
    parts = [import_code(ast.parse(exercise.solution).body), *functions]
    return "\n\n\n".join(part for part in parts if part) + "\n"


def _emptied(node: ast.FunctionDef, body: str, title: str) -> str:
    """Return a function with its docstring, or the title, and another body."""
    words = ast.get_docstring(node, clean=False) or f"{title.rstrip('.?!')}."
    node.body = [ast.Expr(ast.Constant(words)), *ast.parse(body).body]
    return ast.unparse(node)
