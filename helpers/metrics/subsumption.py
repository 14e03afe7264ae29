"""How far two models know the same facts.

Source: Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", section 4.2.
"""

import numpy as np
import numpy.typing as npt

from helpers import UserError


def subsumption_rate(small: npt.ArrayLike, large: npt.ArrayLike) -> float:
    r"""Compute the share of what one model knows that another knows too (section 4.2.2).

    .. math:: \eta(\theta_1 \mid \theta_2, F) =
        \frac{|\delta(\theta_1, F) \cap \delta(\theta_2, F)|}{|\delta(\theta_1, F)|}

    >>> subsumption_rate([True, True, False], [True, False, True])
    0.5
    """
    known, too = np.asarray(small, dtype=bool), np.asarray(large, dtype=bool)
    if known.shape != too.shape:
        raise UserError(
            f"A subsumption rate needs the same facts of both models, not {known.size} and "
            f"{too.size}."
        )
    return float(overlap(np.column_stack([known, too]).astype(float)))


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
