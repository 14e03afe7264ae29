"""How far two models know the same: facts that both know, accuracies that go together.

Source: Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", section 4.2.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers.errors import UserError


def subsumption_rate(small: npt.ArrayLike, large: npt.ArrayLike) -> float:
    r"""Compute the share of what one model knows that another knows too.

    .. math:: \eta(\theta_1 \mid \theta_2, F) =
        \frac{|\delta(\theta_1, F) \cap \delta(\theta_2, F)|}{|\delta(\theta_1, F)|}

    Parameters
    ----------
    small, large : array_like of bool, shape (n,)
        Whether each of n facts is known, the same facts in the same order.

    Returns
    -------
    float
        In [0, 1]; 1: the second model knows all that the first knows. Not a number where the first
        knows nothing.

    Raises
    ------
    UserError
        If the two differ in length.

    Notes
    -----
    Section 4.2.2 of the paper. As a rule of thumb, were the knowledge of the two independent, the
    rate would be the second model's accuracy.

    Examples
    --------
    >>> subsumption_rate([True, True, False], [True, False, True])
    0.5
    """
    known, too = np.asarray(small, dtype=bool), np.asarray(large, dtype=bool)
    if known.shape != too.shape:
        raise UserError(
            f"A subsumption rate needs the same facts of both models, not {known.size} and "
            f"{too.size}."
        )
    return float((known & too).sum() / known.sum()) if known.any() else float("nan")


def overlap(values: np.ndarray) -> np.ndarray:
    """Compute the subsumption rate of two columns of 0 and 1: a statistic for the bootstrap.

    Parameters
    ----------
    values : ndarray, shape (..., n, 2)
        Whether the first and the second model know each fact.

    Returns
    -------
    ndarray, shape (...)

    Examples
    --------
    >>> float(overlap(np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])))
    0.5
    """
    known = values[..., 0].sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (values[..., 0] * values[..., 1]).sum(axis=-1) / known


def model_correlations(table: pd.DataFrame) -> pd.DataFrame:
    """Correlate models by their accuracies over relations.

    Parameters
    ----------
    table : DataFrame
        One row a relation, one column a model; not a number where a relation was not asked.

    Returns
    -------
    DataFrame
        Pearson's r of each pair of columns, in [-1, 1].

    Notes
    -----
    Figure 14 of the paper.

    Examples
    --------
    >>> table = pd.DataFrame({"a": [0.1, 0.5, 0.9], "b": [0.2, 0.4, 0.6], "c": [0.9, 0.5, 0.1]})
    >>> model_correlations(table).round(2).values.tolist()
    [[1.0, 1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    return table.corr(method="pearson")


def family_correlations(correlations: pd.DataFrame, families: Mapping[str, str]) -> pd.DataFrame:
    """Average the correlations of models within and between families.

    Parameters
    ----------
    correlations : DataFrame
        From :func:`model_correlations`.
    families : mapping
        Model to family.

    Returns
    -------
    DataFrame
        Families by families; a model's correlation with itself is left out, so a family of one has
        no number on the diagonal.

    Raises
    ------
    UserError
        If a model has no family.

    Notes
    -----
    Figure 6 of the paper.

    Examples
    --------
    >>> values = [[1, 0.8, 0.2], [0.8, 1, 0.4], [0.2, 0.4, 1]]
    >>> table = pd.DataFrame(values, index=list("abc"), columns=list("abc"))
    >>> family_correlations(table, {"a": "x", "b": "x", "c": "y"}).round(2).values.tolist()
    [[0.8, 0.3], [0.3, nan]]
    """
    missing = [model for model in correlations.columns if model not in families]
    if missing:
        raise UserError(f"Name the family of {', '.join(missing)}.")
    off = correlations.where(~np.eye(len(correlations), dtype=bool))
    names = list(dict.fromkeys(families[model] for model in off.columns))
    groups = [[model for model in off.columns if families[model] == name] for name in names]
    blocks = [[off.loc[rows, columns].to_numpy() for columns in groups] for rows in groups]
    means = [[_mean_of_numbers(block) for block in row] for row in blocks]
    return pd.DataFrame(means, names, names)


def _mean_of_numbers(values: np.ndarray) -> float:
    """Average what is a number; none if nothing is."""
    there = values[~np.isnan(values)]
    return float(there.mean()) if there.size else float("nan")
