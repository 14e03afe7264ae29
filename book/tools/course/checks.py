"""Check exercises: every solution passes its test, and every stub fails it."""

import ast

from book.tools.course.exercises import Exercise, exercise_error, import_code

EMPTY_BODY = "return None"
STUB_BODY = "raise NotImplementedError"


def check_exercise(exercise: Exercise) -> None:
    """Run an exercise's test on its solution, its stub, and a function that is idle."""
    label = exercise.label
    _check_solution(exercise, exercise.test, "")
    _check_solution(exercise, exercise.hidden(), "hidden ")
    failure = solution_failure(stub_code(exercise), exercise.test, label)
    if not isinstance(failure, NotImplementedError):
        raise exercise_error("uncalled", label=label)
    failure = solution_failure(stub_code(exercise, EMPTY_BODY), exercise.test, label)
    if failure is None:
        raise exercise_error("idle", label=label)


def _check_solution(exercise: Exercise, test: str, kind: str) -> None:
    failure = solution_failure(exercise.solution, test, exercise.label)
    if failure is not None:
        error = f"{type(failure).__name__} {failure}"
        raise exercise_error("test", label=exercise.label, kind=kind, error=error)


def solution_failure(solution: str, test: str, label: str) -> Exception | None:
    """Run a solution and its test in names of their own; return what they raise."""
    # Imported here: rendering pages needs no chapter's code.
    from notebooks.kit.hidden_tests import check

    names = {"__name__": label, "check": check}
    try:
        exec(compile(solution, f"{label}, solution", "exec"), names)
        exec(compile(test, f"{label}, test", "exec"), names)
    except Exception as error:
        return error
    return None


def stub_code(exercise: Exercise, body: str = STUB_BODY) -> str:
    """Return what a student begins with: imports, signatures and docstrings."""
    parts = []
    for node in exercise.functions():
        parts.append(_function_with_body(node, body, exercise.title))
    imports = import_code(ast.parse(exercise.solution).body)
    if imports:
        parts.insert(0, imports)
    return "\n\n\n".join(parts) + "\n"


def _function_with_body(node: ast.FunctionDef, body: str, title: str) -> str:
    """Return a function with its docstring, or the title, and another body."""
    docstring = ast.get_docstring(node, clean=False)
    if not docstring:
        docstring = f"{title.rstrip('.?!')}."
    node.body = [ast.Expr(ast.Constant(docstring)), *ast.parse(body).body]
    return ast.unparse(node)
