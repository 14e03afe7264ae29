"""Anchors: the probabilities of the true object's tokens in each prompt of MONITOR.

Source: Wang et al. 2024, "Assessing the Reliability of Large Language Model Knowledge",
section 4.
"""

import numpy as np
import pandas as pd

from helpers import UserError, check_columns
from helpers.metrics.accuracy import mark_texts

ANCHOR_COLUMNS = {"teacher_forced": "logprobs", "free_running": "anchor_logprobs"}
# Contexts of the paper's prompts; and our controls, which are in none of its numbers.
PAPER = ("right", "none", "wrong")
CONTROLS = ("unrelated", "noun")
COMPARED = (*PAPER, *CONTROLS)


def anchor_probabilities(
    answers: pd.DataFrame, column: str = "logprobs"
) -> pd.DataFrame:
    """Keep the rows that MONITOR compares, with the object's token probabilities.

    These are ``p``, arrays; ``probability`` is their mean.
    """
    needed = ("item", "relation", "variant", "context", column)
    check_columns(answers, needed, "answers")
    compared = answers[answers["context"].isin(COMPARED)]
    probabilities = []
    means = []
    for item, logprobs in zip(compared["item"], compared[column], strict=True):
        logs = np.asarray(logprobs, dtype=float)
        if np.isnan(logs).any() or (logs > 1e-4).any():
            raise UserError(
                f"An answer for fact {item} holds {logs.max():.3g} in {column}; "
                "natural log-probabilities are at most 0."
            )
        # Rounding may put a log-probability just above 0.
        p = np.exp(np.minimum(logs, 0.0))
        probabilities.append(p)
        means.append(p.mean() if p.size else np.nan)
    return compared.assign(p=probabilities, probability=means)


def anchor_column(mode: str) -> str:
    """Return the column of answers that holds the anchors of a mode."""
    if mode not in ANCHOR_COLUMNS:
        raise UserError(
            f'There is no anchor mode "{mode}"; use {" or ".join(ANCHOR_COLUMNS)}.'
        )
    return ANCHOR_COLUMNS[mode]


def known_facts(
    texts: pd.DataFrame, rule: str = "exact_match", counts: str = "base"
) -> pd.Series:
    """Say of each fact whether its anchor is valid: it is answered rightly.

    After the answer itself (``counts="base"``), or in any prompt of the paper
    (``"any"``).
    """
    contexts = {"base": ("right",), "any": PAPER}
    if counts not in contexts:
        raise ValueError(f'"{counts}" is none of {", ".join(contexts)}')
    check_columns(texts, ("item", "context", "text", "object"), "texts")
    counted = texts[texts["context"].isin(contexts[counts])]
    by_fact = mark_texts(counted, rule).groupby("item", sort=False)["right"]
    return by_fact.any().astype(bool).rename("known")
