"""A paired difference of documents that come in clusters, such as passages."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar

from helpers import UserError
from helpers.stats.paired import paired_difference
from helpers.stats.resampling import CONFIDENCE_LEVEL, RELATIVE_ROUNDING

FEWEST_CLUSTERS = 40  # with fewer, an interval by clusters may be too narrow


class ClusteredDifference(NamedTuple):
    """A paired difference with its interval, and what the interval was made from.

    ``error`` is the standard error, ``freedom`` the degrees of freedom of Student's t.
    """

    estimate: float
    low: float
    high: float
    p: float
    n: int
    error: float
    freedom: int


def clustered_difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    clusters: npt.ArrayLike | None = None,
) -> ClusteredDifference:
    """Compare two models on the same documents by Student's t: first minus second.

    Parameters
    ----------
    first, second : array_like, shape (n,)
        A number of each document, such as 1 where the answer is right; row i of both is
        the same document.
    clusters : array_like, shape (n,), optional
        Labels of documents that belong together. The standard error is then the
        cluster-robust one of a regression on a constant, and t has as many degrees of
        freedom as there are clusters, less one.

    Returns
    -------
    ClusteredDifference
        Bounds and p are not numbers for fewer than two documents or clusters. Where all
        documents differ alike they are those of
        :func:`helpers.stats.paired_difference`, which knows shares.

    Raises
    ------
    UserError
        If the lengths differ.

    Examples
    --------
    >>> difference = clustered_difference([1, 1, 1, 0], [0, 0, 1, 0])
    >>> [round(value, 3) for value in difference]
    [0.5, -0.419, 1.419, 0.182, 4, 0.289, 3]
    >>> passages = ["a", "a", "b", "b"]
    >>> by_passage = clustered_difference([1, 1, 1, 0], [0, 0, 1, 0], passages)
    >>> by_passage.estimate, by_passage.freedom
    (0.5, 1)
    """
    differences = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    n = len(differences)
    labels = np.arange(n)
    if clusters is not None:
        labels, _ = pd.factorize(np.asarray(clusters))
    if len(labels) != n:
        raise UserError(f"There are {len(labels)} clusters for {n} documents.")
    freedom = len(np.unique(labels)) - 1
    if freedom < 1:
        estimate = float(differences.mean()) if n else np.nan
        return ClusteredDifference(estimate, np.nan, np.nan, np.nan, n, np.nan, freedom)
    regression = OLS(differences, np.ones(n))
    if clusters is None:
        fit = regression.fit()
    else:
        fit = regression.fit(
            cov_type="cluster", cov_kwds={"groups": labels}, use_t=True
        )
    error = float(fit.bse[0])
    if error <= RELATIVE_ROUNDING:
        alike = paired_difference(first, second)
        return ClusteredDifference(*alike, error=0.0, freedom=freedom)
    low, high = fit.conf_int(1 - CONFIDENCE_LEVEL)[0]
    return ClusteredDifference(
        estimate=float(differences.mean()),
        low=float(low),
        high=float(high),
        p=float(fit.pvalues[0]),
        n=n,
        error=error,
        freedom=freedom,
    )


def exact_mcnemar_p_value(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return the exact p-value of McNemar's test (1947) for zeros and ones in pairs.

    It goes by the pairs that differ alone, and is stricter than Student's t where these
    are few.

    >>> exact_mcnemar_p_value([1, 1, 1, 1, 0], [0, 0, 0, 1, 0])
    0.25
    """
    is_first = np.asarray(first, dtype=bool)
    is_second = np.asarray(second, dtype=bool)
    only_first = int((is_first & ~is_second).sum())
    only_second = int((is_second & ~is_first).sum())
    alike = int((is_first == is_second).sum())
    table = [[alike, only_first], [only_second, 0]]
    return float(mcnemar(table, exact=True).pvalue)
