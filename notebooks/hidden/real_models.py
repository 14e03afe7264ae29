"""Inputs on which hidden tests compare a student's function with the solution."""

from itertools import permutations

import numpy as np
import pandas as pd


def ex_real_exact(random):
    """Draw two rankings of two to six models of which rounding breaks no tie."""
    while True:
        n = int(random.integers(2, 7))
        a, b = (random.permutation(range(1, n + 1)).tolist() for _ in "ab")
        whole = n * (n**2 - 1)
        far = [
            6 * sum((x - y) ** 2 for x, y in zip(a, c, strict=True))
            for c in permutations(b)
        ]
        exact = sum(abs(whole - d) >= abs(whole - far[0]) for d in far)
        if exact == sum(abs(1 - d / whole) >= abs(1 - far[0] / whole) for d in far):
            return [a, b]


def ex_real_partial(random):
    """Draw the correlations of three columns, so that they can be together."""
    r = np.corrcoef(random.normal(size=(3, 8)))
    return [r[0, 1], r[0, 2], r[1, 2]]


def ex_real_draws(random):
    """Draw a number of families."""
    return [int(random.integers(1, 9))]


def ex_real_smollm2(random):
    """Draw a table of facts in which some rare and some frequent names are known."""
    n = int(random.integers(6, 12))
    often = sorted(random.integers(0, 30, n).tolist())
    known = [1.0, *random.integers(0, 2, n - 2).tolist(), 1.0]
    wrong = random.integers(0, 3, n) / 2
    facts = pd.DataFrame(
        {"occurrences": [0, *(o + 1 for o in often[1:])], "none": known, "wrong": wrong}
    )
    return [facts.sample(frac=1, random_state=int(random.integers(99))), "wrong"]
