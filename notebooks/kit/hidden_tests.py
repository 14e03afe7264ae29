"""Check a student's function on a table of cases, and on drawn inputs as hidden tests do."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd

DRAWN_INPUTS = 40
RELATIVE_TOLERANCE = (
    1e-4  # relative above 1, so that 1.96 passes for the normal distribution's 1.959964
)
SHOWN_CHARACTERS = 300  # characters of an input or a result


def check(
    function: Callable[..., Any],
    cases: Sequence[tuple[Sequence[Any], Any]],
    slip: str = "",
) -> None:
    """Fail at the first input on which a function does not return what is expected.

    >>> check(abs, [([-2], 2)])
    >>> check(abs, [([-2], -2)], "the sign is lost")
    Traceback (most recent call last):
    AssertionError: abs(-2) returns 2; expected: -2. A usual slip: the sign is lost.
    """
    for arguments, expected in cases:
        call = f"{function.__name__}({_shown(', '.join(map(repr, arguments)))})"
        wanted = f"expected: {_shown(repr(expected))}."
        wanted += f" A usual slip: {slip}." if slip else ""
        try:
            found = function(*deepcopy(list(arguments)))
        except NotImplementedError:  # still to be written
            raise
        except Exception as error:
            raised = f"{call} raises {type(error).__name__}: {error}; {wanted}"
            raise AssertionError(raised) from error
        if not results_agree(found, expected):
            raise AssertionError(f"{call} returns {_shown(repr(found))}; {wanted}")


def _shown(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]} ..."


def check_against_solutions(
    written: Sequence[Callable[..., Any]],
    solutions: Sequence[Callable[..., Any]],
    draw: Callable[[np.random.Generator], Sequence[Any]],
    seed: int = 0,
) -> None:
    """Check functions against their solutions on inputs drawn with a course's seed.

    >>> check_against_solutions([abs], [lambda x: max(x, -x)], lambda random: [int(random.integers(-5, 5))])
    """
    for number in range(seed * DRAWN_INPUTS, (seed + 1) * DRAWN_INPUTS):
        drawn = draw(np.random.default_rng(number))
        for function, solution in zip(written, solutions):
            check(function, [(drawn, solution(*deepcopy(drawn)))])


def results_agree(found: Any, right: Any) -> bool:
    """Tell whether two results are the same: integers exactly, pairs of names in any order.

    >>> results_agree((1.0, 2), [1.00001, 2]), results_agree([("b", "c"), ("a", "b")], [("a", "b"), ("b", "c")])
    (True, True)
    >>> results_agree(3, 4), results_agree(None, 0.0), results_agree({"a": 1}, {"b": 1}), results_agree(None, [1])
    (False, False, False, False)
    """
    try:
        if isinstance(right, Mapping | pd.Series):
            found, right = dict(found), dict(right)
            return found.keys() == right.keys() and all(
                results_agree(found[k], right[k]) for k in right
            )
        if isinstance(right, Sequence | np.ndarray) and not isinstance(right, str):
            found, right = list(found), list(right)
            if any(isinstance(one, tuple) for one in right):
                return sorted(map(tuple, found)) == sorted(right)
            return len(found) == len(right) and all(map(results_agree, found, right))
        if isinstance(right, float | np.floating):
            return bool(
                abs(float(found) - right) <= RELATIVE_TOLERANCE * max(1, abs(right))
            )
        return bool(found == right)
    except (TypeError, ValueError):  # a result of another type
        return False
