"""Belief or chance: how answers to one question scatter over equivalent prompts.

A table of choices has one row an item and one column a prompt variation; a cell is the
number of the option that the model chose. Answers that change are *ambiguous*; where
two randomly drawn variations agree often enough, the item is *prompt-agnostic*, else
*prompt-sensitive*.

Source: Ganesh, Shokri and Farnadi 2026, "Rethinking Hallucinations: Correctness,
Consistency, and Prompt Multiplicity", in its earlier version for a workshop, "On the
Role of Prompt Multiplicity in LLM Hallucination Evaluation", whose equations 1 to 4,
sections and tables are cited here; self-consistency after Cooper et al. 2024. That
version names no threshold tau; ours is 0.75.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import comb

from helpers import UserError

TAU = 0.75
CLASSES = ("factuality", "error", "randomness")
CELLS = ("agnostic correct", "agnostic wrong", "sensitive correct", "sensitive wrong")
NO_MAJORITY = -1
# Rule to column of item scores.
CORRECT_BY_COLUMNS = {"majority": "majority_right", "default": "default"}
_ROUNDING = 1e-12  # a self-consistency may be less than tau by this


def option_counts(choices: npt.ArrayLike) -> np.ndarray:
    """Count how often each option was chosen for each item."""
    table = np.asarray(choices)
    if table.ndim != 2:
        raise UserError("Choices need one row an item and one column a variation.")
    if table.shape[1] < 2:
        raise UserError(
            f"Multiplicity needs at least 2 prompt variations, not {table.shape[1]}: "
            "with one there is nothing to compare."
        )
    is_option = np.isfinite(table) & (table == np.floor(table)) & (table >= 0)
    if not is_option.all():
        raise UserError(
            "A choice is the number of an option, from 0; some cells are not that."
        )
    options = np.arange(int(table.max(initial=0)) + 1)
    return (table[:, :, None] == options).sum(axis=1)


def is_ambiguous(choices: npt.ArrayLike) -> np.ndarray:
    r"""Say for each item whether any two variations disagree (Eq. 1).

    .. math:: \max_{i, j} \mathbb{1}[y^i_k \ne y^j_k]

    The mean is Ambiguity-M. It can only grow with the number of variations; see
    :func:`rarefied_ambiguity`.

    >>> is_ambiguous([[0, 0, 1], [2, 2, 2]]).tolist()
    [True, False]
    """
    return (option_counts(choices) > 0).sum(axis=1) > 1


def is_binary_ambiguous(choices: npt.ArrayLike, correct: npt.ArrayLike) -> np.ndarray:
    """Say for each item whether some variations are right and others wrong.

    The mean is Ambiguity-B: at most Ambiguity-M, and the same where items have two
    options.

    >>> is_binary_ambiguous([[0, 0, 1], [0, 2, 2]], [0, 1]).tolist()
    [True, False]
    """
    return is_ambiguous(_is_correct(choices, correct).astype(int))


def self_consistency(choices: npt.ArrayLike, replacement: bool = False) -> np.ndarray:
    r"""Compute the probability that two random variations give the same answer (Eq. 4).

    With :math:`m_o` the number of the r variations that choose option o,

    .. math:: SC = \sum_o \frac{m_o (m_o - 1)}{r (r - 1)}
              \quad\text{or, with replacement,}\quad \sum_o \frac{m_o^2}{r^2} .

    The paper does not say whether the same variation may be drawn twice, which always
    agrees with itself; without replacement the estimate does not depend on r.

    >>> self_consistency([[0, 0, 1]]).round(6).tolist()
    [0.333333]
    >>> self_consistency([[0, 0, 1]], replacement=True).round(6).tolist()
    [0.555556]
    """
    counts = option_counts(choices).astype(float)
    r = np.shape(choices)[1]
    if replacement:
        return (counts**2).sum(axis=1) / r**2
    return (counts * (counts - 1)).sum(axis=1) / (r * (r - 1))


def majority_option(choices: npt.ArrayLike) -> np.ndarray:
    """Return the option chosen most often for each item, ``NO_MAJORITY`` in a tie.

    A tie counts as wrong; for tau above 1/2 it is always prompt-sensitive.

    >>> majority_option([[0, 1, 1], [2, 0, 1]]).tolist()
    [1, -1]
    """
    counts = option_counts(choices)
    most = counts.max(axis=1, keepdims=True)
    alone = (counts == most).sum(axis=1) == 1
    return np.where(alone, counts.argmax(axis=1), NO_MAJORITY)


def is_judged_correct(
    choices: npt.ArrayLike, correct: npt.ArrayLike, correct_by: str = "majority"
) -> np.ndarray:
    """Say for each item whether it is right, by majority or at the default prompt."""
    check_correct_by(correct_by)
    answer = majority_option(choices)
    if correct_by == "default":
        answer = np.asarray(choices)[:, 0]
    return _is_correct(answer[:, None], correct)[:, 0]


def answer_entropy(choices: npt.ArrayLike) -> np.ndarray:
    """Compute the entropy of each item's answers over prompts, in bits.

    Section 4.4, after Zhao; lower is steadier.

    >>> answer_entropy([[0, 0, 1, 1], [0, 1, 2, 3], [2, 2, 2, 2]]).tolist()
    [1.0, 2.0, 0.0]
    """
    shares = option_counts(choices) / np.shape(choices)[1]
    bits = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy = -(shares * bits).sum(axis=1)
    return entropy + 0  # 0 in place of -0


def rarefied_ambiguity(choices: npt.ArrayLike, r: int) -> np.ndarray:
    r"""Compute each item's chance to be ambiguous under r random ones of R variations.

    .. math:: 1 - \sum_o \binom{m_o}{r} \Big/ \binom{R}{r}

    Ambiguity grows with the number of variations; runs compare at the same r. At r = R
    it is :func:`is_ambiguous`, at r = 2 it is 1 - SC without replacement.

    >>> rarefied_ambiguity([[0, 0, 1]], 2).round(6).tolist()
    [0.666667]
    """
    counts = option_counts(choices)
    variations = np.shape(choices)[1]
    if not 1 <= r <= variations:
        raise UserError(
            f"r must lie between 1 and the {variations} variations there are, not {r}."
        )
    return 1 - comb(counts, r).sum(axis=1) / comb(variations, r)


def taxonomy_classes(
    choices: npt.ArrayLike,
    correct: npt.ArrayLike,
    tau: float = TAU,
    replacement: bool = False,
    correct_by: str = "majority",
) -> np.ndarray:
    """Sort items into prompt-agnostic factuality, prompt-agnostic error and randomness.

    Prompt-agnostic is what has SC >= tau (Eq. 3); its majority answer, or that of the
    default prompt, says whether it is factuality or error. All else is randomness,
    right or wrong (Eq. 2).

    >>> taxonomy_classes([[0, 0, 0], [1, 1, 1], [0, 0, 1]], [0, 0, 0]).tolist()
    ['factuality', 'error', 'randomness']
    """
    check_tau(tau)
    steady = self_consistency(choices, replacement) >= tau - _ROUNDING
    right = is_judged_correct(choices, correct, correct_by)
    return np.where(steady, np.where(right, "factuality", "error"), "randomness")


def check_tau(tau: float) -> float:
    """Return tau, or say that it is no number between 0 and 1."""
    if not 0 <= tau <= 1:
        raise UserError(f"tau is a self-consistency, between 0 and 1, not {tau}.")
    return tau


def check_correct_by(correct_by: str) -> str:
    """Return the rule for a right answer, or say that there is no such rule."""
    if correct_by not in CORRECT_BY_COLUMNS:
        rules = " or ".join(CORRECT_BY_COLUMNS)
        raise UserError(
            f"correct_by is {rules}, not {correct_by!r}: choose one of the two."
        )
    return correct_by


def classes_over_tau(
    scores: pd.DataFrame, taus: Sequence[float], correct_by: str = "majority"
) -> pd.DataFrame:
    """Repeat the taxonomy for many thresholds: one row a tau and item, for curves."""
    tables = []
    for tau in taus:
        check_tau(tau)
        steady = scores["self_consistency"] >= tau - _ROUNDING
        column = CORRECT_BY_COLUMNS[check_correct_by(correct_by)]
        right = scores[column].astype(bool)
        classes = scores[["item"]].assign(
            tau=tau,
            factuality=steady & right,
            error=steady & ~right,
            randomness=~steady,
        )
        tables.append(classes)
    classes_of_all = pd.concat(tables, ignore_index=True)
    return classes_of_all.astype(dict.fromkeys(CLASSES, int))


def _is_correct(choices: npt.ArrayLike, correct: npt.ArrayLike) -> np.ndarray:
    """Return a table of bool: is the choice the correct option."""
    table = np.asarray(choices)
    correct = np.asarray(correct)
    if table.ndim != 2 or len(correct) != len(table):
        raise UserError(
            f"{len(table)} items need as many correct options, not {len(correct)}."
        )
    return table == correct[:, None]
