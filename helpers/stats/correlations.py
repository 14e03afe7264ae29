"""Correlations with the interval of Fisher's transformation, and without each group in turn."""

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.stats

from helpers import UserError
from helpers.stats.resampling import CONFIDENCE_LEVEL, RELATIVE_ROUNDING
from helpers.stats.results import Correlation

FEWEST_MODELS = 6  # fewer give no correlation: it would be one of chance or of a family


def correlation(
    x: npt.ArrayLike, y: npt.ArrayLike, method: str = "pearson"
) -> Correlation:
    """Correlate two columns, with the 95 % interval of Fisher's transformation.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Pairs with a number missing are left out.
    method : {"pearson", "spearman"}
        For ranks the standard error is Bonett and Wright's (2000), sqrt((1 + r²/2) / (n
        - 3)).

    Returns
    -------
    Correlation
        r in [-1, 1]; not a number for fewer than two pairs or a column that is constant
        but for rounding, bounds not numbers for fewer than four pairs.

    Raises
    ------
    UserError
        For another method or columns of different lengths.

    Examples
    --------
    >>> found = correlation([1, 2, 3, 4], [2, 1, 4, 3])
    >>> round(found.r, 3), round(found.low, 3), round(found.high, 3), round(found.p, 3), found.n
    (0.6, -0.853, 0.99, 0.4, 4)
    """
    if method not in ("pearson", "spearman"):
        raise UserError(
            f'The method of a correlation is pearson or spearman, not "{method}".'
        )
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if x.shape != y.shape:
        raise UserError(
            f"A correlation needs pairs, not {x.size} and {y.size} numbers."
        )
    there = ~(np.isnan(x) | np.isnan(y))
    x, y, n = x[there], y[there], int(there.sum())
    nothing = float("nan")
    if n < 2 or _flat(x) or _flat(y):
        return Correlation(nothing, nothing, nothing, nothing, n)
    r, p = getattr(scipy.stats, f"{method}r")(x, y)
    r = float(np.clip(r, -1, 1))
    if n < 4:
        return Correlation(r, nothing, nothing, float(p), n)
    if abs(r) == 1:
        return Correlation(r, r, r, float(p), n)
    return Correlation(r, *fisher_interval(r, n, method), float(p), n)


def correlation_over_models(x: npt.ArrayLike, y: npt.ArrayLike) -> Correlation:
    """Correlate two figures over models, one pair each, if at least ``FEWEST_MODELS`` have both."""
    found = correlation(x, y)
    return (
        found if found.n >= FEWEST_MODELS else Correlation(*[float("nan")] * 4, found.n)
    )


def fisher_interval(r: float, n: int, method: str = "pearson") -> tuple[float, float]:
    """Return the interval tanh(artanh(r) ± z s) of a correlation of which only r and n are known.

    Fisher 1921, with s² = 1 / (n - 3); for ranks see :func:`correlation`.

    >>> [round(end, 3) for end in fisher_interval(0.5, 7)]  # artanh(0.5) = 0.549 and s = 0.5
    [-0.406, 0.91]
    """
    if not -1 < r < 1 or n < 4:
        raise UserError(
            f"An interval needs r between -1 and 1 and n of 4 or more, not {r}, {n}."
        )
    spread = (1 + r**2 / 2 if method == "spearman" else 1) / (n - 3)
    reach = scipy.stats.norm.ppf((1 + CONFIDENCE_LEVEL) / 2) * np.sqrt(spread)
    low, high = np.tanh(np.arctanh(r) + np.array([-reach, reach]))
    return float(low), float(high)


def correlations_without_each_group(
    x: npt.ArrayLike, y: npt.ArrayLike, groups: npt.ArrayLike, method: str = "pearson"
) -> pd.DataFrame:
    """Correlate two columns without each group in turn: one family can make or break it.

    >>> x, y = [1, 1, 2, 2, 9], [1, 2, 1, 2, 9]
    >>> correlations_without_each_group(x, y, ["a", "a", "a", "a", "b"]).round(2).values.tolist()
    [['a', nan, 1], ['b', 0.0, 4]]
    """
    x, y, labels = np.asarray(x, float), np.asarray(y, float), np.asarray(groups)
    if labels.shape != x.shape:
        raise UserError(
            f"There are {labels.size} groups for {x.size} pairs; give one each."
        )
    rows = []
    for group in pd.unique(labels):
        left = correlation(x[labels != group], y[labels != group], method)
        rows.append((group, left.r, left.n))
    return pd.DataFrame(rows, columns=["without", "r", "n"])


def pearson_correlation(rows: np.ndarray) -> np.ndarray:
    """Correlate two columns: a statistic for :func:`helpers.stats.bootstrap`.

    >>> round(float(pearson_correlation(np.array([[1.0, 2], [2, 1], [3, 4], [4, 3]]))), 3)
    0.6
    """
    away = rows - rows.mean(axis=-2, keepdims=True)
    sums = (away**2).sum(axis=-2)
    below = np.sqrt(sums.prod(axis=-1))
    both = away.prod(axis=-1).sum(axis=-1)
    flat = _flat(rows, axis=-2).any(axis=-1)
    return np.where(flat, np.nan, both / np.where(flat, 1.0, below))


def _flat(values: np.ndarray, axis: int = 0) -> np.ndarray:
    """Whether numbers are alike but for rounding: their correlation would be the rounding's."""
    return np.ptp(values, axis=axis) <= RELATIVE_ROUNDING * np.abs(values).max(
        axis=axis
    )
