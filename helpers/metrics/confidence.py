"""Does a model know when it is right? Confidence in an answer beside its being right.

Statistics of arrays of shape (..., n, 2): the confidence in [0, 1] and whether the
answer is right, 1 or 0. They reduce the last two axes.
"""

import numpy as np

N_BINS = 10


def brier_score(values: np.ndarray) -> np.ndarray:
    """Return the mean squared distance of confidence from being right (Brier 1950).

    Returns
    -------
    ndarray
        In [0, 1]; lower is better, 0.25 for who always says one half.

    Examples
    --------
    >>> round(float(brier_score(np.array([[0.9, 1.0], [0.4, 0.0]]))), 3)
    0.085
    """
    values = np.asarray(values, dtype=float)
    return ((values[..., 0] - values[..., 1]) ** 2).mean(axis=-1)


def expected_calibration_error(values: np.ndarray, n_bins: int = N_BINS) -> np.ndarray:
    r"""Return how far confidence is from the share that is right, on average.

    Answers are sorted by confidence and cut into groups of equal size (Nguyen and
    O'Connor 2015), so that no group is empty:
    :math:`\sum_b \frac{n_b}{n} |\bar c_b - \bar r_b|`. Chance alone makes it larger
    than 0 where groups are small.

    Returns
    -------
    ndarray
        In [0, 1]; lower is better.

    Examples
    --------
    Two groups: .2 and .4, none right; .8 and 1, both right.

    >>> rows = np.array([[0.2, 0], [0.4, 0], [0.8, 1], [1.0, 1]])
    >>> round(float(expected_calibration_error(rows, n_bins=2)), 3)
    0.2
    """
    gaps, shares = _gaps_and_shares(np.asarray(values, dtype=float), n_bins)
    return (np.abs(gaps) * shares).sum(axis=-1)


def _gaps_and_shares(values: np.ndarray, n_bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Return of each group confidence less share right, and its share of answers."""
    ordered = _with_ties_averaged(sorted_by_confidence(values))
    n = ordered.shape[-2]
    edges = np.linspace(0, n, min(n_bins, n) + 1).round().astype(int)
    sizes = np.diff(edges)
    sums = np.add.reduceat(ordered, edges[:-1], axis=-2)
    gaps = (sums[..., 0] - sums[..., 1]) / sizes
    return gaps, sizes / n


def _with_ties_averaged(ordered: np.ndarray) -> np.ndarray:
    """Return ordered rows in which those of one confidence have its share right.

    Where groups are cut within them, it does not matter who came first.
    """
    confidence = ordered[..., 0]
    last = _last_places_of_levels(confidence)
    before = confidence.shape[-1] - _last_places_of_levels(confidence[..., ::-1])
    before = before[..., ::-1]
    sums = np.cumsum(ordered[..., 1], axis=-1)
    sums = np.concatenate([np.zeros_like(sums[..., :1]), sums], axis=-1)
    n_right = np.take_along_axis(sums, last, axis=-1)
    n_right = n_right - np.take_along_axis(sums, before, axis=-1)
    return np.stack([confidence, n_right / (last - before)], axis=-1)


def _last_places_of_levels(ordered: np.ndarray) -> np.ndarray:
    """Return for each of some ordered numbers the last place, from 1, of its equals."""
    n = ordered.shape[-1]
    is_last = np.ones(ordered.shape, dtype=bool)
    is_last[..., :-1] = ordered[..., 1:] != ordered[..., :-1]
    last = np.where(is_last, np.arange(1, n + 1), n + 1)
    return np.minimum.accumulate(last[..., ::-1], axis=-1)[..., ::-1]


def sorted_by_confidence(values: np.ndarray) -> np.ndarray:
    """Return rows from the least to the greatest confidence; ties keep their order."""
    order = np.argsort(values[..., 0], axis=-1, kind="stable")
    return np.take_along_axis(values, order[..., None], axis=-2)


def area_under_risk_coverage(values: np.ndarray) -> np.ndarray:
    r"""Return the mean share of wrong answers over all coverages (El-Yaniv 2010).

    If only the most confident answers are given, coverage is the share that is given
    and risk the share of these that is wrong. Answers of one confidence are given
    together; each counts with the risk at its level.

    Returns
    -------
    ndarray
        In [0, 1]; lower is better. Confidence that says nothing gives the share wrong.

    Examples
    --------
    The surest answer is right, the next wrong: risks of 0 and one half.

    >>> float(area_under_risk_coverage(np.array([[0.9, 1.0], [0.4, 0.0]])))
    0.25
    """
    values = np.asarray(values, dtype=float)
    ordered = sorted_by_confidence(-values)
    confidence = -ordered[..., 0]
    wrong = 1 + ordered[..., 1]
    rank = np.arange(1, ordered.shape[-2] + 1)
    last = _last_places_of_levels(confidence)
    risk = np.cumsum(wrong, axis=-1) / rank
    return np.take_along_axis(risk, last - 1, axis=-1).mean(axis=-1)
