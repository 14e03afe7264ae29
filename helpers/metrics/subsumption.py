"""How far two models know the same facts.

Source: Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", section
4.2.
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
    return float(subsumption_statistic(np.column_stack([known, too]).astype(float)))


def subsumption_statistic(values: np.ndarray) -> np.ndarray:
    """Compute the subsumption rate of two columns of 0 and 1: a statistic for the bootstrap."""
    known = values[..., 0].sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (values[..., 0] * values[..., 1]).sum(axis=-1) / known
