"""Check a student's function on a table of cases, and on drawn inputs."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd

DRAWN_INPUTS = 40
# Relative above 1, so that 1.96 passes for the normal distribution's 1.959964.
RELATIVE_TOLERANCE = 1e-4
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
        expectation = f"expected: {_shown(repr(expected))}."
        if slip:
            expectation += f" A usual slip: {slip}."
        try:
            result = function(*deepcopy(list(arguments)))
        except NotImplementedError:  # still to be written
            raise
        except Exception as error:
            problem = f"raises {type(error).__name__}: {error}"
            raise AssertionError(f"{call} {problem}; {expectation}") from error
        if not results_agree(result, expected):
            problem = f"returns {_shown(repr(result))}"
            raise AssertionError(f"{call} {problem}; {expectation}")


def _shown(text: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return f"{text[:SHOWN_CHARACTERS]} ..."


def check_against_solutions(
    written: Sequence[Callable[..., Any]],
    solutions: Sequence[Callable[..., Any]],
    draw: Callable[[np.random.Generator], Sequence[Any]],
    seed: int = 0,
) -> None:
    """Check functions against their solutions on inputs drawn with a course's seed.

    >>> def draw(random):
    ...     return [int(random.integers(-5, 5))]
    >>> check_against_solutions([abs], [lambda x: max(x, -x)], draw)
    """
    for number in range(seed * DRAWN_INPUTS, (seed + 1) * DRAWN_INPUTS):
        arguments = draw(np.random.default_rng(number))
        for function, solution in zip(written, solutions, strict=True):
            expected = solution(*deepcopy(arguments))
            check(function, [(arguments, expected)])


def results_agree(result: Any, right: Any) -> bool:
    """Tell whether two results are the same: integers exactly, pairs in any order.

    >>> results_agree((1.0, 2), [1.00001, 2])
    True
    >>> results_agree([("b", "c"), ("a", "b")], [("a", "b"), ("b", "c")])
    True
    >>> results_agree(3, 4), results_agree(None, 0.0), results_agree(None, [1])
    (False, False, False)
    >>> results_agree({"a": 1}, {"b": 1})
    False
    """
    try:
        if isinstance(right, Mapping | pd.Series):
            results = dict(result)
            expected = dict(right)
            if results.keys() != expected.keys():
                return False
            return all(results_agree(results[key], expected[key]) for key in expected)
        if isinstance(right, Sequence | np.ndarray) and not isinstance(right, str):
            results = list(result)
            expected = list(right)
            if any(isinstance(member, tuple) for member in expected):
                return sorted(map(tuple, results)) == sorted(expected)
            if len(results) != len(expected):
                return False
            return all(map(results_agree, results, expected))
        if isinstance(right, float | np.floating):
            tolerance = RELATIVE_TOLERANCE * max(1, abs(right))
            return bool(abs(float(result) - right) <= tolerance)
        return bool(result == right)
    except (TypeError, ValueError):  # a result of another type
        return False
