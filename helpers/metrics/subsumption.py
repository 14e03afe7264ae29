"""How far two models know the same: facts that both know, accuracies that go together.

Source: Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", section 4.2.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers import UserError


def subsumption_rate(small: npt.ArrayLike, large: npt.ArrayLike) -> float:
    r"""Compute the share of what one model knows that another knows too.

    .. math:: \eta(\theta_1 \mid \theta_2, F) =
        \frac{|\delta(\theta_1, F) \cap \delta(\theta_2, F)|}{|\delta(\theta_1, F)|}

    Notes
    -----
    Section 4.2.2 of the paper. Were the knowledge of the two independent, the rate would be near
    the second model's accuracy; it can be lower, down to :func:`least_rate`.

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


def least_rate(small: float, large: float) -> float:
    r"""Compute the least subsumption rate that two accuracies allow.

    .. math:: \frac{\max(0, a + b - 1)}{a}

    Parameters
    ----------
    small, large : float
        The accuracies a and b of the two models, in [0, 1].

    Returns
    -------
    float
        In [0, 1]; not a number where the first model knows nothing.

    Examples
    --------
    Of ten facts the first model knows eight and the second five, so that three are known to both:

    >>> round(least_rate(0.8, 0.5), 3)
    0.375
    """
    return max(0.0, small + large - 1) / small if small > 0 else float("nan")


def beyond_chance(values: np.ndarray) -> np.ndarray:
    r"""Compute how far the subsumption rate exceeds that of knowledge unrelated within relations.

    .. math:: \eta - \frac{\sum_r n_r a_r b_r}{\sum_r n_r a_r}

    Models that agree on which relations are easy share more than their accuracies suggest; what is
    taken off here is the rate that chance gives to the accuracies a and b in each relation.

    Both know one and the same of two facts, where chance would have them share half of one:

    >>> float(beyond_chance(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])))
    0.5
    """
    first, second, relation = np.moveaxis(values, -1, 0)
    shared = np.zeros(values.shape[:-2])
    for code in np.unique(relation):
        here = relation == code
        shared += (first * here).sum(-1) * (second * here).sum(-1) / np.maximum(here.sum(-1), 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return overlap(values) - shared / first.sum(-1)


def model_correlations(table: pd.DataFrame) -> pd.DataFrame:
    """Correlate models by their accuracies over relations.

    Notes
    -----
    Figure 14 of the paper.

    >>> table = pd.DataFrame({"a": [0.1, 0.5, 0.9], "b": [0.2, 0.4, 0.6], "c": [0.9, 0.5, 0.1]})
    >>> model_correlations(table).round(2).values.tolist()
    [[1.0, 1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
    """
    return table.corr(method="pearson")


def family_correlations(correlations: pd.DataFrame, families: Mapping[str, str]) -> pd.DataFrame:
    """Average the correlations of models within and between families.

    Notes
    -----
    Figure 6 of the paper.

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
