"""The numbers of the calibration chapter as its sentences write them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers import datasets
from notebooks.analysis.calibration_verdicts import ASKED_ONCE
from notebooks.analysis.exposure_levels import ExposureLevels
from notebooks.analysis.method_comparison import (
    EQUIVALENCE_MARGIN,
    lead_over_closest_rival,
    mean_estimate_of_method,
    method_name_in_sentence,
)
from notebooks.kit.plots import result_tables

BOUND_COLUMNS = ["estimate", "low", "high"]


def sentence_on_facts_asked(
    levels: ExposureLevels,
    dataset: str,
    n_plain: int,
    n_misled: int,
    models: Sequence[str],
) -> str:
    """Say how many facts were asked, and what is known of their exposure."""
    asked = f"{n_plain} facts were asked by every method"
    if levels.note:
        return f"{asked}. {levels.note}"
    if dataset == "atlas":
        return (
            f"{asked}; in {n_misled} more the text also states something false "
            f"({number_of_models_in_words(models)})."
        )
    sentence = (
        f"{asked}. Exposure here is a count that comes with the data set {dataset}: "
        "how often the searched corpus contains a fact. It is no record of what a "
        "model read: a corpus can name subject and object without stating the fact, "
        "and state it in words that the search missed."
    )
    facts = datasets.load(dataset)
    n_without_count = len(facts)
    if "exposure" in facts:
        n_without_count = int(facts["exposure"].isna().sum())
    if n_without_count:
        sentence += (
            f" {n_without_count} of the {len(facts)} facts have no count "
            "and are left out."
        )
    return sentence


def number_of_models_in_words(models: Sequence[str]) -> str:
    """Write of how many models something is a mean."""
    if len(models) > 1:
        return f"mean of {len(models)} models"
    return f"{len(models)} model"


def comparison_in_words(lead: Sequence[float]) -> str:
    """Say how asking once compares with measures that it is not clearly behind.

    "No worse" is by `EQUIVALENCE_MARGIN`.

    >>> comparison_in_words([0.03, 0.02, 0.04])
    'better than'
    >>> comparison_in_words([0.01, -0.01, 0.03])
    'no worse (margin 0.02) than'
    """
    if lead[1] > 0:
        return "better than"
    return f"no worse (margin {EQUIVALENCE_MARGIN}) than"


def mean_estimate_in_words(
    comparison: pd.DataFrame, name: str, digits: int = 2, scale: float = 1
) -> str:
    """Write a method's figure, on average over models, with its interval."""
    estimate, low, high, _ = mean_estimate_of_method(comparison, name)
    return result_tables.interval(estimate, low, high, digits=digits, scale=scale)


def mean_number_in_words(comparison: pd.DataFrame, name: str) -> str:
    """Write a method's figure, on average over models, without its interval."""
    estimate, *_ = mean_estimate_of_method(comparison, name)
    return f"{estimate:.2f}"


def lead_of_asking_once(
    comparison: pd.DataFrame,
) -> tuple[list[float], str, dict[str, str]]:
    """Return asking once's lead that decides, over which measure, and the words.

    `comparison` has asking once as its leader.
    """
    lead, rival = lead_over_closest_rival(comparison)
    words = {
        "once": mean_number_in_words(comparison, ASKED_ONCE),
        "best": mean_number_in_words(comparison, rival),
        "rival": method_name_in_sentence(rival),
    }
    return lead, rival, words


def odds_ratios_in_words(
    row: pd.Series | None, most: pd.Series | None
) -> dict[str, str]:
    """Write the odds ratios of two slopes, and whose they are."""
    if row is None or most is None:
        return dict.fromkeys(("factor", "who", "most", "top"), "")
    return {
        "factor": _odds_ratio_in_words(row),
        "who": f"{row['method']}, {row['model']}",
        "most": _odds_ratio_in_words(most),
        "top": f"{most['method']}, {most['model']}",
    }


def _odds_ratio_in_words(slope: pd.Series) -> str:
    """Write the odds ratio of a slope with its interval."""
    odds_ratio = np.exp(slope[BOUND_COLUMNS].astype(float))
    return result_tables.interval(*odds_ratio, digits=2)


def method_pairs_in_words(
    row: pd.Series | None, most: pd.Series | None
) -> dict[str, str]:
    """Name the pairs that agree least and most, and how far the latter do."""
    if row is None or most is None:
        return {"pair": "", "top": "", "most": ""}
    return {
        "pair": f"{row['first']} and {row['second']}",
        "top": f"{most['first']} and {most['second']}",
        "most": result_tables.interval(*most[BOUND_COLUMNS], digits=2),
    }
