"""Does a correlation hang on one group? Leave each out in turn."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers.errors import UserError
from helpers.stats.correlations import correlation


def without_each(
    x: npt.ArrayLike, y: npt.ArrayLike, groups: npt.ArrayLike, method: str = "pearson"
) -> pd.DataFrame:
    """Correlate two columns without each group in turn.

    Models of one family resemble each other, so that one family can make or break a correlation
    over models, and the interval, which takes models as independent, does not tell.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Pairs with a number missing are left out.
    groups : array_like, shape (n,)
        The group of each pair, such as a family of models.
    method : {"pearson", "spearman"}

    Returns
    -------
    DataFrame
        ``without, r, n``, in order of appearance; r is not a number where fewer than two pairs or a
        constant column are left.

    Raises
    ------
    UserError
        For another method or columns of different lengths.

    Examples
    --------
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
