"""How far two models know the same facts.

Source: Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", section
4.2.
"""

import numpy as np
import numpy.typing as npt

from helpers import UserError


def subsumption_rate(small: npt.ArrayLike, large: npt.ArrayLike) -> float:
    r"""Compute the share of what one model knows that another knows, too (4.2.2).

    .. math:: \eta(\theta_1 \mid \theta_2, F) =
        \frac{|\delta(\theta_1, F) \cap \delta(\theta_2, F)|}{|\delta(\theta_1, F)|}

    >>> subsumption_rate([True, True, False], [True, False, True])
    0.5
    """
    known = np.asarray(small, dtype=bool)
    known_to_large = np.asarray(large, dtype=bool)
    if known.shape != known_to_large.shape:
        raise UserError(
            "A subsumption rate needs the same facts of both models, "
            f"not {known.size} and {known_to_large.size}."
        )
    both = np.column_stack([known, known_to_large]).astype(float)
    return float(subsumption_statistic(both))


def subsumption_statistic(values: np.ndarray) -> np.ndarray:
    """Compute the subsumption rate of two columns of 0 and 1, for a bootstrap."""
    known = values[..., 0].sum(axis=-1)
    known_to_both = (values[..., 0] * values[..., 1]).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return known_to_both / known
