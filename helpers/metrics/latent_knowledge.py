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

FACT_KEYS = ["item", "relation", "variant"]
# What a prompt is, if the answers tell it.
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
    >>> answers = pd.DataFrame({"item": "a", "relation": "P17", "variant": "ic", "option": [0, 1],
    ...                         "correct": [False, True], "logprobs": [[np.log(0.1)],
    ...                         [np.log(0.3)]], "choice": ["Peru", "Chad"]})
    >>> fact_scores(answers).iloc[:, 3:].round(3).values.tolist()
    [[1.0, 0.75, 0.75, 0.5, 'Chad']]
    """
    logs = choice_log_probabilities(answers)
    shares = choice_probabilities(logs)
    made = logs.index.to_frame(index=False)
    made["right"] = is_true_choice_first(shares).astype(float)
    made["mass"], made["top"] = shares[:, -1], np.nanmax(shares, axis=1)
    made["chance"] = 1 / (~np.isnan(shares)).sum(axis=1)
    if "choice" in answers:
        sums = answers["logprobs"].map(np.sum)
        best = sums.reset_index(drop=True).groupby(
            [answers[key].to_numpy() for key in FACT_KEYS]
        )
        said = answers["choice"].to_numpy()[best.idxmax()]
        said = pd.Series(said, index=best.idxmax().index, name="said").rename_axis(
            FACT_KEYS
        )
        made = made.merge(said.reset_index(), on=FACT_KEYS, how="left")
    told = [name for name in TOLD if name in answers]
    if told:
        prompts = answers.drop_duplicates(FACT_KEYS)[[*FACT_KEYS, *told]]
        made = made.merge(prompts, on=FACT_KEYS, how="left")
    return made


def choice_log_probabilities(answers: pd.DataFrame) -> pd.DataFrame:
    """Return a matrix of the choices' log-probabilities, summed over tokens (equation 2)."""
    check_columns(answers, (*FACT_KEYS, "option", "correct", "logprobs"), "answers")
    table = answers[[*FACT_KEYS, "option"]].reset_index(drop=True)
    table["correct"] = answers["correct"].to_numpy(dtype=bool)
    table["logprob"] = [float(np.sum(values)) for values in answers["logprobs"]]
    table["group"] = table.groupby(FACT_KEYS, sort=False).ngroup()
    right = table.groupby("group")["correct"].sum()
    if (right != 1).any():
        group, number = next((g, n) for g, n in right.items() if n != 1)
        bad = table.loc[table["group"] == group, FACT_KEYS].iloc[0]
        raise UserError(
            f"Fact {bad['item']} has {number} correct choices in {bad['variant']}: give one."
        )
    table = table.sort_values(["group", "correct", "option"], kind="stable")
    place = table.groupby("group").cumcount(ascending=False).to_numpy()
    made = np.full((len(right), place.max(initial=0) + 1), np.nan)
    made[table["group"], made.shape[1] - 1 - place] = table["logprob"]
    index = pd.MultiIndex.from_frame(table.drop_duplicates("group")[FACT_KEYS])
    return pd.DataFrame(made, index=index)


def choice_probabilities(logs: pd.DataFrame) -> np.ndarray:
    """Return a matrix of log-probabilities as probabilities that sum to 1 in each row (C.1)."""
    table = logs.to_numpy(dtype=float)
    lacking = np.isnan(table)
    return np.where(lacking, np.nan, softmax(np.where(lacking, -np.inf, table), axis=1))


def is_true_choice_first(matrix: np.ndarray) -> np.ndarray:
    """Tell of each row whether the true choice is above every other (equation 3); a tie is lost."""
    others = np.where(np.isnan(matrix[:, :-1]), -np.inf, matrix[:, :-1])
    return matrix[:, -1] > others.max(axis=1, initial=-np.inf)
