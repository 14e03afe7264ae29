"""What the statistics return: estimates with their intervals, as named tuples."""

from typing import NamedTuple

import numpy as np


class Interval(NamedTuple):
    """An estimate with the bounds of its interval and the number of facts."""

    estimate: float | np.ndarray
    low: float | np.ndarray
    high: float | np.ndarray
    n: int


class Difference(NamedTuple):
    """A paired difference with its interval, two-sided p-value and number of pairs."""

    estimate: float
    low: float
    high: float
    p: float
    n: int


class Mcnemar(NamedTuple):
    """How often each of two alone is right, the exact two-sided p-value and the number of pairs."""

    first_only: int
    second_only: int
    p: float
    n: int


class Correlation(NamedTuple):
    """A correlation with its interval, two-sided p-value and number of pairs."""

    r: float
    low: float
    high: float
    p: float
    n: int
