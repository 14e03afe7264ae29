"""How well a score tells two groups apart: the ROC curve and the area under it."""

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import rankdata


def area(values: np.ndarray) -> np.ndarray:
    r"""Compute the area under the ROC curve: the chance that a positive outscores a negative.

    .. math:: \frac{\sum_{i: +} \mathrm{rank}_i - n_+ (n_+ + 1) / 2}{n_+ \, n_-}

    Scores and labels (1, 0; not a number: the row counts nowhere) are an array (..., n, 2). Ties
    count one half; not a number where a group is empty.

    >>> float(area(np.array([[3.0, 1], [1.0, 0], [3.0, 0]])))
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
        return np.where(pairs > 0, (above - n_positive * (n_positive + 1) / 2) / pairs, np.nan)


def roc(score: npt.ArrayLike, positive: npt.ArrayLike) -> pd.DataFrame:
    """Return the ROC curve of a score, one row a distinct score; empty if a group is.

    >>> roc([3, 1, 2], [True, False, False]).values.tolist()
    [[0.0, 0.0], [0.0, 1.0], [0.5, 1.0], [1.0, 1.0]]
    """
    score, positive = np.asarray(score, dtype=float), np.asarray(positive, dtype=bool)
    columns = ["false_positive_rate", "true_positive_rate"]
    if positive.all() or not positive.any():
        return pd.DataFrame(columns=columns, dtype=float)
    from sklearn.metrics import roc_curve  # half a second to import

    # The curve depends on ranks alone; scikit-learn refuses infinite scores.
    alarms, hits, _ = roc_curve(positive, rankdata(score), drop_intermediate=False)
    return pd.DataFrame(np.column_stack([alarms, hits]), columns=columns)
