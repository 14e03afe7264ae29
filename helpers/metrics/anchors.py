"""Anchors: the probabilities of the true object's tokens in each prompt of MONITOR.

Source: Wang et al. 2024, "Assessing the Reliability of Large Language Model Knowledge",
section 4.
"""

import numpy as np
import pandas as pd

from helpers import UserError, check_columns
from helpers.metrics.accuracy import mark_texts

ANCHOR_COLUMNS = {"teacher_forced": "logprobs", "free_running": "anchor_logprobs"}
# Contexts of the paper's prompts, and with the control, in none of its numbers.
PAPER = ("right", "none", "wrong")
COMPARED = (*PAPER, "unrelated")


def anchor_probabilities(
    answers: pd.DataFrame, column: str = "logprobs"
) -> pd.DataFrame:
    """Keep the rows that MONITOR compares, with ``p``, the object's token probabilities."""
    check_columns(
        answers, ("item", "relation", "variant", "context", column), "answers"
    )
    table = answers[answers["context"].isin(COMPARED)]
    logs = [np.asarray(values, dtype=float) for values in table[column]]
    for item, values in zip(table["item"], logs):
        if np.isnan(values).any() or (values > 1e-4).any():
            raise UserError(
                f"An answer for fact {item} holds {values.max():.3g} in {column}; natural "
                "log-probabilities are at most 0."
            )
    # Rounding may put a log-probability just above 0.
    table = table.assign(p=[np.exp(np.minimum(values, 0.0)) for values in logs])
    return table.assign(
        probability=[p.mean() if p.size else np.nan for p in table["p"]]
    )


def anchor_column(mode: str) -> str:
    """Return the column of answers that holds the anchors of a mode, as ``logprobs``."""
    if mode not in ANCHOR_COLUMNS:
        raise UserError(
            f'There is no anchor mode "{mode}"; use {" or ".join(ANCHOR_COLUMNS)}.'
        )
    return ANCHOR_COLUMNS[mode]


def known_facts(
    texts: pd.DataFrame, rule: str = "exact_match", counts: str = "base"
) -> pd.Series:
    """Say of each fact whether its anchor is valid: answered after the answer, or ever."""
    contexts = {"base": ("right",), "any": PAPER}
    if counts not in contexts:
        raise ValueError(f'"{counts}" is none of {", ".join(contexts)}')
    check_columns(texts, ("item", "context", "text", "object"), "texts")
    marked = mark_texts(texts[texts["context"].isin(contexts[counts])], rule)
    return (
        marked.groupby("item", sort=False)["right"].any().astype(bool).rename("known")
    )
