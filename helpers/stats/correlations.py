"""Correlations with Fisher's interval, and without each group in turn."""

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
    >>> [round(number, 3) for number in correlation([1, 2, 3, 4], [2, 1, 4, 3])]
    [0.6, -0.853, 0.99, 0.4, 4]
    """
    if method not in ("pearson", "spearman"):
        raise UserError(
            f'The method of a correlation is pearson or spearman, not "{method}".'
        )
    first = np.asarray(x, dtype=float)
    second = np.asarray(y, dtype=float)
    if first.shape != second.shape:
        raise UserError(
            f"A correlation needs pairs, not {first.size} and {second.size} numbers."
        )
    complete = ~(np.isnan(first) | np.isnan(second))
    first = first[complete]
    second = second[complete]
    n = len(first)
    if n < 2 or _is_constant(first) or _is_constant(second):
        return Correlation(np.nan, np.nan, np.nan, np.nan, n)
    if method == "pearson":
        r, p = scipy.stats.pearsonr(first, second)
    else:
        r, p = scipy.stats.spearmanr(first, second)
    r = float(np.clip(r, -1, 1))
    p = float(p)
    if n < 4:
        return Correlation(r, np.nan, np.nan, p, n)
    if abs(r) == 1:
        return Correlation(r, r, r, p, n)
    low, high = fisher_interval(r, n, method)
    return Correlation(r, low, high, p, n)


def correlation_over_models(x: npt.ArrayLike, y: npt.ArrayLike) -> Correlation:
    """Correlate two figures over models, if at least ``FEWEST_MODELS`` have both."""
    over_models = correlation(x, y)
    if over_models.n < FEWEST_MODELS:
        return Correlation(np.nan, np.nan, np.nan, np.nan, over_models.n)
    return over_models


def fisher_interval(r: float, n: int, method: str = "pearson") -> tuple[float, float]:
    """Return the interval tanh(artanh(r) ± z s) of a correlation by its r and n alone.

    Fisher 1921, with s² = 1 / (n - 3); for ranks see :func:`correlation`.

    >>> [round(bound, 3) for bound in fisher_interval(0.5, 7)]  # artanh(r) 0.549, s 0.5
    [-0.406, 0.91]
    """
    if not -1 < r < 1 or n < 4:
        raise UserError(
            f"An interval needs r between -1 and 1 and n of 4 or more, not {r}, {n}."
        )
    widening = 1 + r**2 / 2 if method == "spearman" else 1
    error = np.sqrt(widening / (n - 3))
    reach = scipy.stats.norm.ppf((1 + CONFIDENCE_LEVEL) / 2) * error
    low, high = np.tanh(np.arctanh(r) + np.array([-reach, reach]))
    return float(low), float(high)


def correlations_without_each_group(
    x: npt.ArrayLike, y: npt.ArrayLike, groups: npt.ArrayLike, method: str = "pearson"
) -> pd.DataFrame:
    """Correlate two columns without each group in turn, as one alone may decide it.

    >>> x, y, groups = [1, 1, 2, 2, 9], [1, 2, 1, 2, 9], ["a", "a", "a", "a", "b"]
    >>> correlations_without_each_group(x, y, groups).round(2).values.tolist()
    [['a', nan, 1], ['b', 0.0, 4]]
    """
    x = np.asarray(x, dtype=float)
    y = np.asarray(y, dtype=float)
    labels = np.asarray(groups)
    if labels.shape != x.shape:
        raise UserError(
            f"There are {labels.size} groups for {x.size} pairs; give one each."
        )
    rows = []
    for group in pd.unique(labels):
        others = labels != group
        without = correlation(x[others], y[others], method)
        rows.append((group, without.r, without.n))
    return pd.DataFrame(rows, columns=["without", "r", "n"])


def pearson_correlation(rows: np.ndarray) -> np.ndarray:
    """Correlate two columns: a statistic for :func:`helpers.stats.bootstrap`.

    >>> pairs = np.array([[1.0, 2], [2, 1], [3, 4], [4, 3]])
    >>> round(float(pearson_correlation(pairs)), 3)
    0.6
    """
    deviations = rows - rows.mean(axis=-2, keepdims=True)
    squares = (deviations**2).sum(axis=-2)
    products = deviations.prod(axis=-1).sum(axis=-1)
    scale = np.sqrt(squares.prod(axis=-1))
    constant = _is_constant(rows, axis=-2).any(axis=-1)
    return np.where(constant, np.nan, products / np.where(constant, 1.0, scale))


def _is_constant(values: np.ndarray, axis: int = 0) -> np.ndarray:
    """Say whether numbers are alike but for rounding, which must not correlate."""
    largest = np.abs(values).max(axis=axis)
    return np.ptp(values, axis=axis) <= RELATIVE_ROUNDING * largest
