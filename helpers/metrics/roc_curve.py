"""How well a score tells two groups apart: the area under the ROC curve."""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm, rankdata


def area_under_roc_curve(values: np.ndarray) -> np.ndarray:
    r"""Compute the area under the ROC curve: the chance that a positive outscores a negative.

    .. math:: \frac{\sum_{i: +} \mathrm{rank}_i - n_+ (n_+ + 1) / 2}{n_+ \, n_-}

    Scores and labels (1, 0; not a number: the row counts nowhere) are an array (..., n,
    2). Ties count one half; not a number where a group is empty. A bootstrap takes its
    :func:`newcombe_bounds_of_area`.

    >>> float(area_under_roc_curve(np.array([[3.0, 1], [1.0, 0], [3.0, 0]])))
    0.75
    """
    values = np.asarray(values, dtype=float)
    score, label = values[..., 0], values[..., 1]
    if np.isnan(label).any():  # ranked behind all others, where they change no rank
        score = np.where(np.isnan(label), np.inf, rankdata(score, axis=-1))
    positive = label > 0
    n_positive = positive.sum(axis=-1)
    pairs = n_positive * (label <= 0).sum(axis=-1)
    above = (rankdata(score, axis=-1) * positive).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(
            pairs > 0, (above - n_positive * (n_positive + 1) / 2) / pairs, np.nan
        )


def newcombe_bounds_of_area(
    areas: np.ndarray, draws: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return the bounds of areas, or of means of areas, of the same facts: Newcombe's, at least.

    Percentiles of resamples are too narrow near 1, where few facts are out of order: of
    thirty facts they cover 0.97 in 78 % of samples instead of 95 %. The score interval
    holds all
    :math:`\theta` with

    .. math:: |A - \theta| \le z \sqrt{c \, V(\theta)}, \quad
       V(\theta) = \frac{\theta (1 - \theta)}{n_+ n_-} \left( 1 + \frac{n_+ + n_- - 2}{2}
       \Big( \frac{1 - \theta}{2 - \theta} + \frac{\theta}{1 + \theta} \Big) \right)

    (Newcombe 2006, Statistics in Medicine 25, method 5). His :math:`c` is 1; here it is
    the variance of the resamples over :math:`V(A)` if that is more, for groups that
    spread unlike. It covers in 93 % of samples or more, in up to 99 % where scores are
    normal.

    >>> low, high = newcombe_bounds_of_area(np.array(1.0), np.ones(9), np.array([[2.0, 1], [1.0, 0]]))
    >>> round(float(low), 3), float(high)  # one pair in order is one trial, as for Wilson
    (0.207, 1.0)
    """
    n, m = int((values[..., -1] > 0).sum()), int((values[..., -1] <= 0).sum())
    if not n or not m:
        return np.full_like(areas, np.nan), np.full_like(areas, np.nan)
    z = norm.ppf(0.975)

    def variance(area: np.ndarray | float) -> np.ndarray | float:
        spread = (1 - area) / (2 - area) + area / (1 + area)
        return area * (1 - area) * (1 + ((n + m) / 2 - 1) * spread) / (n * m)

    def lower(area: float, wider: float) -> float:
        if not area > 0:
            return area  # 0 or not a number

        def gap(bound: float) -> float:
            return area - bound - z * np.sqrt(wider * variance(bound))

        return brentq(gap, 0, area * (1 - 1e-9))

    areas = np.clip(areas, 0, 1)  # a mean of ones may be rounded to more
    with np.errstate(invalid="ignore", divide="ignore"):
        numbers = np.where(np.isnan(areas), 0.0, draws)
        wider = np.nanvar(numbers, axis=0) / variance(areas)
        wider = np.fmax(1, np.where(np.isfinite(wider), wider, 1))
        low = np.vectorize(lower, otypes=[float])(areas, wider)
        high = 1 - np.vectorize(lower, otypes=[float])(
            1 - areas, wider
        )  # V(1 - A) is V(A)
    return low, high


area_under_roc_curve.bounds = newcombe_bounds_of_area
