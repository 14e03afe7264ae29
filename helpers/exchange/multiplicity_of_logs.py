"""Prompt multiplicity in logs of other tools: several prompts of one model."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.exchange import logs
from helpers.metrics import choices, matching, multiplicity
from helpers.studies.measures import mean_measure, summary_of_measures
from helpers.studies.multiplicity import MEASURES as STUDY_MEASURES
from helpers.studies.multiplicity import majority_texts

TITLE = "multiplicity"
_rate = partial(mean_measure, counts="questions")
MEASURES_BY_NAME = {measure.name: measure for measure in STUDY_MEASURES}
CELL_MEASURES = [_rate(cell, cell, None) for cell in multiplicity.CELLS]
MEASURES = (
    MEASURES_BY_NAME["accuracy"],
    _rate("ambiguous", "ambiguity", False),
    _rate("ambiguous_binary", "ambiguity, right or wrong", False),
    MEASURES_BY_NAME["self_consistency"],
    *CELL_MEASURES,
)


def from_logs(
    paths: Sequence[str | Path],
    *,
    rule: str = "sum",
    metric: str = "",
    tau: float = multiplicity.TAU,
    replacement: bool = False,
    correct_by: str = "majority",
) -> logs.Joined:
    """Compute multiplicity from logs of other tools, without a model."""
    log = logs.read_logs(paths, rule, metric)
    return scored_log(log, tau, replacement, correct_by)


def scored_log(
    log: logs.Joined,
    tau: float = multiplicity.TAU,
    replacement: bool = False,
    correct_by: str = "majority",
) -> logs.Joined:
    """Return logs of several prompts with what multiplicity says of each document."""
    answers = log.table
    if log.kind == "texts":
        answers = _with_numbers(answers)
    chosen = answers.assign(logprob=0.0)
    table = choices.item_scores(chosen, tau, replacement, correct_by)
    table = table.drop(columns=["logprob", "confidence"])
    table["said"] = majority_texts(table, chosen)
    table["stratum"] = "all"
    table["cell"] = choices.multiplicity_cells(table, correct_by)
    for name in multiplicity.CELLS:
        table[name] = (table["cell"] == name).astype(float)
    prompts = answers["variation"].nunique()
    return log._replace(table=table, n_prompts=prompts, asked=f"{prompts} prompts")


def summary_of_logs(
    log: logs.Joined, n_resamples: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Sum up what :func:`from_logs` returns, each measure with its interval."""
    return summary_of_measures(MEASURES, log.table, n_resamples, seed)


def measures_of_logs(log: logs.Joined) -> dict[str, float]:
    """Return the means of what :func:`from_logs` returns, as the command has them."""
    columns = {
        "accuracy": "accuracy",
        "ambiguous": "ambiguity",
        "ambiguous_binary": "ambiguity_binary",
        "self_consistency": "self_consistency",
    }
    means = log.table[list(columns)].mean().rename(columns)
    return {"items": len(log.table), "prompts": log.n_prompts} | means.to_dict()


def _with_numbers(answers: pd.DataFrame) -> pd.DataFrame:
    """Return generated answers numbered by text, from 1; all marked as right are 0."""
    texts = answers["text"].map(matching.normalise_text).mask(answers["right"], "")
    numbers = texts.groupby(answers["item"]).transform(_numbers_by_text)
    options = np.where(answers["right"], 0, numbers + 1)
    return answers.assign(option=options, answer=0)


def _numbers_by_text(texts: pd.Series) -> np.ndarray:
    """Return a number for each text, from 0 in the order in which they come."""
    numbers, _ = pd.factorize(texts)
    return numbers
