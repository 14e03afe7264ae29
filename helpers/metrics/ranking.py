"""Many choices of one fact as a row of probabilities, the true one last.

A *matrix* has one row a fact and one column a choice, the true object last; it holds probabilities
in any unit, normalised or not, and not a number where a fact has fewer choices.

Source: Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", section 2.2 and
Appendix C.1.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from helpers import UserError
from helpers.metrics.anchors import require

KEYS = ["item", "relation", "variant"]


def choice_matrix(answers: pd.DataFrame) -> pd.DataFrame:
    r"""Lay the choices of each fact side by side, each with its log-probability.

    .. math:: \log P_\theta(y \mid \sigma) = \sum_{i=1}^{|y|} \log P_\theta(y^{(i)} \mid
        y^{(1)}, \dots, y^{(i-1)}, \sigma)

    Notes
    -----
    Equation 2 of the paper.

    >>> answers = pd.DataFrame({"item": "a", "relation": "P17", "variant": "ic", "option": [0, 1],
    ...                         "correct": [True, False], "logprobs": [[-1.0, -0.5], [-2.0]]})
    >>> choice_matrix(answers).to_numpy().tolist()
    [[-2.0, -1.5]]
    """
    require(answers, (*KEYS, "option", "correct", "logprobs"))
    table = answers[[*KEYS, "option"]].reset_index(drop=True)
    table["correct"] = answers["correct"].to_numpy(dtype=bool)
    table["logprob"] = [float(np.sum(values)) for values in answers["logprobs"]]
    table["group"] = table.groupby(KEYS, sort=False).ngroup()
    right = table.groupby("group")["correct"].sum()
    if (right != 1).any():
        group, number = next((g, n) for g, n in right.items() if n != 1)
        bad = table.loc[table["group"] == group, KEYS].iloc[0]
        raise UserError(
            f"Fact {bad['item']} has {number} correct choices in {bad['variant']}: give one."
        )
    table = table.sort_values(["group", "correct", "option"], kind="stable")
    place = table.groupby("group").cumcount(ascending=False).to_numpy()
    made = np.full((len(right), place.max(initial=0) + 1), np.nan)
    made[table["group"], made.shape[1] - 1 - place] = table["logprob"]
    index = pd.MultiIndex.from_frame(table.drop_duplicates("group")[KEYS])
    return pd.DataFrame(made, index=index)


def normalised(matrix: npt.ArrayLike) -> np.ndarray:
    """Divide each fact's probabilities by their sum over its choices.

    Notes
    -----
    Appendix C.1 of the paper.

    >>> normalised([[0.5, 1.5], [np.nan, 0.2]]).tolist()
    [[0.25, 0.75], [nan, 1.0]]
    """
    table = checked(matrix)
    with np.errstate(invalid="ignore"):
        return table / np.nansum(table, axis=1, keepdims=True)


def probabilities(logs: pd.DataFrame) -> np.ndarray:
    """Return the normalised probabilities of a matrix of log-probabilities.

    The largest of each row is taken off first, so that objects of many tokens do not vanish.

    >>> probabilities(pd.DataFrame([[-1000.0, -1000.0]])).tolist()
    [[0.5, 0.5]]
    """
    table = logs.to_numpy(dtype=float)
    return normalised(np.exp(table - np.nanmax(table, axis=1, keepdims=True)))


def shares(answers: pd.DataFrame) -> pd.Series:
    """Return the normalised probability of each choice, row by row of the answers.

    Parameters
    ----------
    answers : DataFrame
        As for :func:`choice_matrix`.

    Returns
    -------
    Series
        On the index of the answers; the shares of one item and variant sum to 1.

    Examples
    --------
    >>> answers = pd.DataFrame({"item": "a", "relation": "P17", "variant": "ic",
    ...                         "logprobs": [[np.log(0.1)], [np.log(0.3)]]})
    >>> shares(answers).round(2).tolist()
    [0.25, 0.75]
    """
    require(answers, (*KEYS, "logprobs"))
    logs = answers["logprobs"].map(np.sum).astype(float)
    groups = [answers[key] for key in KEYS]
    scaled = np.exp(logs - logs.groupby(groups).transform("max"))
    return scaled / scaled.groupby(groups).transform("sum")


def hits(matrix: npt.ArrayLike) -> np.ndarray:
    """Tell for each fact whether its true choice, the last, is likelier than every other.

    A tie for the first place counts as wrong.

    Notes
    -----
    Equation 3 of the paper.

    >>> hits([[0.1, 0.3], [0.3, 0.3], [0.4, 0.3]]).tolist()
    [True, False, False]
    """
    table = checked(matrix)
    others = np.where(np.isnan(table[:, :-1]), -np.inf, table[:, :-1])
    return table[:, -1] > others.max(axis=1, initial=-np.inf)


def checked(matrix: npt.ArrayLike) -> np.ndarray:
    """Return a checked table of choice probabilities, the true choice last."""
    table = np.asarray(matrix, dtype=float)
    if table.ndim != 2 or table.shape[1] < 1:
        raise UserError(
            f"A matrix of choices has a row a fact and a column a choice, not the shape "
            f"{table.shape}."
        )
    if np.isnan(table[:, -1]).any():
        raise UserError("The last column holds the true choice; a fact lacks it.")
    if (table < 0).any():
        raise UserError("Probabilities are at least 0; take exponentials of log-probabilities.")
    return table
