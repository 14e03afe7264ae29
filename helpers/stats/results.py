"""What the statistics return: named tuples, and how captions name an interval."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from helpers import UserError

INTERVAL_KINDS = {
    "bootstrap": "bootstrap over facts within relations",
    "questions": "bootstrap over questions within their strata",
    "exposure": "bootstrap over facts within relations and groups of exposure",
    "models": "bootstrap over models",
    "families": "bootstrap over families of models",
    "wilson": "Wilson's, of one share",
    "newcombe": "Newcombe's, of the difference of two shares",
    "fisher": "Fisher's, of one correlation",
    "clustered": "of a logistic regression, errors clustered by relation",
}
# The kinds that have a number of draws.
KINDS_WITH_DRAWS = ("bootstrap", "questions", "exposure", "models", "families")

NumberOrArray = float | np.ndarray


class Interval(NamedTuple):
    """An estimate with the bounds of its interval and the number of facts."""

    estimate: NumberOrArray
    low: NumberOrArray
    high: NumberOrArray
    n: float  # whole but where repeated trials count in part


class Difference(NamedTuple):
    """A paired difference with its interval, two-sided p-value and number of pairs."""

    estimate: float
    low: float
    high: float
    p: float
    n: int


class Correlation(NamedTuple):
    """A correlation with its interval, two-sided p-value and number of pairs."""

    r: float
    low: float
    high: float
    p: float
    n: int


def interval_caption(kind: str, n_resamples: int = 0) -> str:
    """Name a kind of interval (of `INTERVAL_KINDS`) as captions do, with its draws.

    >>> interval_caption("bootstrap", 1000)
    '95 % intervals: bootstrap over facts within relations, 1,000 draws.'
    """
    has_draws = n_resamples > 0
    if kind not in INTERVAL_KINDS or (kind in KINDS_WITH_DRAWS) != has_draws:
        raise UserError(
            f"There is no interval {kind!r} of {n_resamples} draws; "
            f"see {list(INTERVAL_KINDS)}."
        )
    if n_resamples:
        return f"95 % intervals: {INTERVAL_KINDS[kind]}, {n_resamples:,} draws."
    return f"95 % intervals: {INTERVAL_KINDS[kind]}."


def interval(
    estimate: float,
    low: float | None = None,
    high: float | None = None,
    digits: int = 3,
    scale: float = 1.0,
) -> str:
    """Write an estimate with its interval, as in ``0.412 [0.391, 0.433]``.

    >>> interval(0.5, 0.25, 0.75, digits=1, scale=100)
    '50.0 [25.0, 75.0]'
    >>> interval(-0.0001, -0.25, 0.25, digits=1)
    '0.0 [-0.2, 0.2]'
    >>> interval(float("nan"), 0, 1)
    'undefined'
    """
    if pd.isna(estimate):
        return "undefined"
    text = f"{estimate * scale:z.{digits}f}"  # z writes -0.0 as 0.0
    if low is None or high is None or pd.isna(low) or pd.isna(high):
        return text
    return f"{text} [{low * scale:z.{digits}f}, {high * scale:z.{digits}f}]"
