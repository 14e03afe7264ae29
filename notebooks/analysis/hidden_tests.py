"""Compare a student's functions with the solution's on drawn inputs: what hidden tests call."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import pandas as pd

DRAWS = 40
TOLERANCE = 1e-4  # relative above 1, so that 1.96 passes for the normal distribution's 1.959964


def compare(
    written: Sequence[Callable[..., Any]],
    solutions: Sequence[Callable[..., Any]],
    draw: Callable[[np.random.Generator], Sequence[Any]],
) -> None:
    """Fail unless functions return what their solutions return.

    >>> compare([abs], [lambda x: max(x, -x)], lambda random: [int(random.integers(-5, 5))])
    >>> compare([abs], [lambda x: x], lambda random: [-2])
    Traceback (most recent call last):
    AssertionError: abs(-2) is 2, not -2
    """
    for seed in range(DRAWS):
        drawn = draw(np.random.default_rng(seed))
        for function, solution in zip(written, solutions):
            found, right = function(*deepcopy(drawn)), solution(*deepcopy(drawn))
            words = (
                f"{function.__name__}({', '.join(map(repr, drawn))}) is {found!r}, not {right!r}"
            )
            assert agree(found, right), words


def agree(found: Any, right: Any) -> bool:
    """Tell whether two results are the same: integers exactly, pairs of names in any order.

    >>> agree((1.0, 2), [1.00001, 2]), agree([("b", "c"), ("a", "b")], [("a", "b"), ("b", "c")])
    (True, True)
    >>> agree(3, 4), agree(None, 0.0), agree({"a": 1}, {"b": 1})
    (False, False, False)
    """
    if isinstance(right, Mapping | pd.Series):
        found, right = dict(found), dict(right)
        return found.keys() == right.keys() and all(agree(found[key], right[key]) for key in right)
    if isinstance(right, Sequence | np.ndarray) and not isinstance(right, str):
        found, right = list(found), list(right)
        if any(isinstance(one, tuple) for one in right):
            return sorted(found) == sorted(right)
        return len(found) == len(right) and all(map(agree, found, right))
    if isinstance(right, float | np.floating):
        return found is not None and bool(abs(found - right) <= TOLERANCE * max(1, abs(right)))
    return bool(found == right)
