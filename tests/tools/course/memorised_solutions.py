"""Write functions that return a visible test's own values, and know nothing else."""

import base64
import pickle

from notebooks.kit.hidden_tests import check

MEMORY_TEMPLATE = """import base64, pickle

{name}_values = pickle.loads(base64.b64decode({values!r}))


def {name}(*args, **kwargs):
    return {name}_values.get(repr((args, kwargs)), next(iter({name}_values.values())))
"""


def memorised_solution(exercise):
    """Return code that passes an exercise's visible test from memory."""
    names = {}
    exec(exercise.solution, names)
    values = {function.name: {} for function in exercise.functions()}
    for name, seen in values.items():
        names[name] = _recorded(names[name], seen)
    exec(exercise.test, names | {"check": check})
    return "\n\n".join(
        MEMORY_TEMPLATE.format(
            name=name, values=base64.b64encode(pickle.dumps(seen)).decode()
        )
        for name, seen in values.items()
    )


def _recorded(function, seen):
    def call(*args, **kwargs):
        key = repr((args, kwargs))
        seen[key] = function(*args, **kwargs)
        return seen[key]

    call.__name__ = function.__name__
    return call
