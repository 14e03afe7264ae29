"""Does a correlation hang on one group? Leave each out in turn."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers import UserError
from helpers.stats.correlations import correlation


def without_each(
    x: npt.ArrayLike, y: npt.ArrayLike, groups: npt.ArrayLike, method: str = "pearson"
) -> pd.DataFrame:
    """Correlate two columns without each group in turn.

    Models of one family resemble each other, so that one family can make or break a correlation
    over models, and the interval, which takes models as independent, does not tell.

    One point makes the correlation of four that have none:

    >>> x, y = [1, 1, 2, 2, 9], [1, 2, 1, 2, 9]
    >>> without_each(x, y, ["a", "a", "a", "a", "b"]).round(2).values.tolist()
    [['a', nan, 1], ['b', 0.0, 4]]
    """
    x, y, labels = np.asarray(x, float), np.asarray(y, float), np.asarray(groups)
    if labels.shape != x.shape:
        raise UserError(f"There are {labels.size} groups for {x.size} pairs; give one each.")
    rows = []
    for group in pd.unique(labels):
        left = correlation(x[labels != group], y[labels != group], method)
        rows.append((group, left.r, left.n))
    return pd.DataFrame(rows, columns=["without", "r", "n"])
