"""What a model ranks first among many objects: the measure IC-LKE.

*Answers* have one row a choice, with ``item, relation, variant, option, correct,
logprobs``. A *matrix* has one row a fact and one column a choice, the true object last,
and not a number where a fact has fewer choices.

Source: Wu et al. 2025, "Towards Reliable Latent Knowledge Estimation in LLMs", section
2.2 and Appendix C.1. How far models know the same facts:
:mod:`helpers.metrics.subsumption`.
"""

import numpy as np
import pandas as pd
from scipy.special import softmax

from helpers import UserError, check_columns
from helpers.metrics.choices import ROUNDING

FACT_KEYS = ["item", "relation", "variant"]
# Columns that say what a prompt is; answers may lack them.
TOLD = ["way", "template", "examples", "draw", "separator"]


def fact_scores(answers: pd.DataFrame) -> pd.DataFrame:
    """Reduce the choices of each fact to one row.

    Parameters
    ----------
    answers : DataFrame
        Columns ``item, relation, variant, option, correct, logprobs`` and, for `said`,
        ``choice``. Rows of one fact and `variant` are one prompt's.

    Returns
    -------
    DataFrame
        ``item, relation, variant``; ``right`` (float, 0 or 1: is the true choice the
        likeliest, alone), whose mean is the accuracy of equation 4; ``mass``
        (normalised probability of the true choice) and ``top`` (of the likeliest);
        ``chance`` (1 over the number of choices); ``said``, the likeliest choice; and
        what answers tell of the prompt, ``way, template, examples, draw, separator``.

    Examples
    --------
    >>> answers = pd.DataFrame({"item": "a", "relation": "P17", "variant": "ic",
    ...     "option": [0, 1], "correct": [False, True], "choice": ["Peru", "Chad"],
    ...     "logprobs": [[np.log(0.1)], [np.log(0.3)]]})
    >>> scores = fact_scores(answers)
    >>> scores[["right", "mass", "top", "chance", "said"]].round(3).values.tolist()
    [[1.0, 0.75, 0.75, 0.5, 'Chad']]
    """
    logs = choice_log_probabilities(answers)
    probabilities = choice_probabilities(logs)
    scores = logs.index.to_frame(index=False)
    scores["right"] = is_true_choice_first(probabilities).astype(float)
    scores["mass"] = probabilities[:, -1]
    scores["top"] = np.nanmax(probabilities, axis=1)
    scores["chance"] = 1 / (~np.isnan(probabilities)).sum(axis=1)
    if "choice" in answers:
        likeliest = _likeliest_choices(answers)
        scores = scores.merge(likeliest, on=FACT_KEYS, how="left")
    prompt_columns = [name for name in TOLD if name in answers]
    if prompt_columns:
        prompts = answers.drop_duplicates(FACT_KEYS)[[*FACT_KEYS, *prompt_columns]]
        scores = scores.merge(prompts, on=FACT_KEYS, how="left")
    return scores


def _likeliest_choices(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the likeliest choice of each fact, by summed log-probability: ``said``.

    Where several are, it is none.
    """
    choices = answers[[*FACT_KEYS, "choice"]].reset_index(drop=True)
    choices["logprob"] = answers["logprobs"].map(np.sum).to_numpy()
    best = choices.groupby(FACT_KEYS)["logprob"].transform("max")
    likeliest = choices.loc[
        choices["logprob"] > best - ROUNDING, [*FACT_KEYS, "choice"]
    ]
    alone = likeliest.drop_duplicates(FACT_KEYS, keep=False)
    return alone.rename(columns={"choice": "said"})


def choice_log_probabilities(answers: pd.DataFrame) -> pd.DataFrame:
    """Return a matrix of log-probabilities, summed over tokens (equation 2)."""
    check_columns(answers, (*FACT_KEYS, "option", "correct", "logprobs"), "answers")
    table = answers[[*FACT_KEYS, "option"]].reset_index(drop=True)
    table["correct"] = answers["correct"].to_numpy(dtype=bool)
    table["logprob"] = [float(np.sum(values)) for values in answers["logprobs"]]
    table["group"] = table.groupby(FACT_KEYS, sort=False).ngroup()
    n_correct = table.groupby("group")["correct"].sum()
    ill_keyed = n_correct[n_correct != 1]
    if len(ill_keyed):
        fact = table[table["group"] == ill_keyed.index[0]].iloc[0]
        raise UserError(
            f"Fact {fact['item']} has {ill_keyed.iloc[0]} correct choices in "
            f"{fact['variant']}: give one."
        )
    table = table.sort_values(["group", "correct", "option"], kind="stable")
    # Rows of the matrix end with the true choice, so places are counted from the end.
    place = table.groupby("group").cumcount(ascending=False).to_numpy()
    n_columns = place.max(initial=0) + 1
    matrix = np.full((len(n_correct), n_columns), np.nan)
    matrix[table["group"], n_columns - 1 - place] = table["logprob"]
    index = pd.MultiIndex.from_frame(table.drop_duplicates("group")[FACT_KEYS])
    return pd.DataFrame(matrix, index=index)


def choice_probabilities(logs: pd.DataFrame) -> np.ndarray:
    """Normalise a matrix of log-probabilities: each row sums to 1 (C.1)."""
    matrix = logs.to_numpy(dtype=float)
    lacking = np.isnan(matrix)
    probabilities = softmax(np.where(lacking, -np.inf, matrix), axis=1)
    return np.where(lacking, np.nan, probabilities)


def is_true_choice_first(matrix: np.ndarray) -> np.ndarray:
    """Say of each row whether the true choice is above every other (equation 3).

    A tie is lost.
    """
    others = matrix[:, :-1]
    others = np.where(np.isnan(others), -np.inf, others)
    return matrix[:, -1] > others.max(axis=1, initial=-np.inf)
