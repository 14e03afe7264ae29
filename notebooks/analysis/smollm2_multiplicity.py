"""Prompt multiplicity of SmolLM2, a model that people use, from its kept answers."""

from typing import Any, NamedTuple

import pandas as pd

from helpers import exchange
from helpers.metrics import choices
from helpers.studies import multiplicity as study
from helpers.studies import settings_for_function
from notebooks.analysis import multiplicity as analysis
from notebooks.analysis.smollm2 import SMOLLM2_ARCHIVE
from notebooks.kit.plots import result_tables

MODEL_NAME = "SmolLM2"


class KeptAnswers(NamedTuple):
    """Answers to one kind of variation, their questions' scores, and how they count."""

    answers: pd.DataFrame
    scores: pd.DataFrame
    classes: dict[str, Any]
    rule: str
    n_prompts: int


def kept_answers() -> KeptAnswers:
    """Read the kept answers of the first kind of variation, with their settings."""
    shared = exchange.read_archive(SMOLLM2_ARCHIVE)
    settings = shared.record["runs"]["multiplicity"]["parameters"]
    answers = shared.answers("multiplicity")
    answers = answers[answers["kind"] == answers["kind"].iloc[0]]
    scores = study.facts(answers, **settings_for_function(study.facts, settings))
    classes = {name: settings[name] for name in ("tau", "replacement", "correct_by")}
    n_prompts = answers["variation"].nunique()
    return KeptAnswers(answers, scores, classes, settings["rule"], n_prompts)


def prompts_beside_draws(kept: KeptAnswers, **draws: int) -> pd.DataFrame:
    """Compare its prompts with as many draws from the default one, in percent.

    Answers that change, of all questions; errors that stay, of those wrong by default.
    """
    scores = kept.scores
    wrong = scores[scores["default"] == 0]
    expected = analysis.expected_ambiguity_of_draws(kept.answers, kept.n_prompts)
    drawn_changed = expected.loc[scores["item"], "ambiguous"]
    steady = analysis.steady_share_of_draws(kept.answers, kept.n_prompts, kept.classes)
    drawn_steady = steady[wrong["item"]]
    rows = []
    for name, table, column, of_draws in (
        ("answers that change", scores, "ambiguous", drawn_changed),
        ("errors that stay", wrong, "error", drawn_steady),
    ):
        difference = analysis.prompts_less_draws(
            table[column], of_draws, table["relation"], **draws
        )
        less = result_tables.interval(*difference[:3], digits=1, scale=100)
        means = analysis.group_means_in_percent(prompts=table[column], draws=of_draws)
        rows.append({MODEL_NAME: name, "n": len(table), **means, "less": less})
    return pd.DataFrame(rows).set_index(MODEL_NAME)


def confidence_in_cells(kept: KeptAnswers, **draws: int) -> pd.DataFrame:
    """Return its mean 1 / perplexity in each cell of Table 2, by both rules."""
    table = analysis.confidence_by_cell(kept.scores, MODEL_NAME, True, **draws)
    return table.head(2)


def areas_by_detector(kept: KeptAnswers, **draws: int) -> pd.DataFrame:
    """Estimate the AUC of entropy and perplexity for randomness and steady errors."""
    chosen = choices.chosen_options(kept.answers, kept.rule)
    halves = choices.scores_on_even_and_odd_prompts(chosen, **kept.classes)
    # What its training text says of a fact is not known.
    lesson = pd.Series("", index=halves["item"].unique())
    return analysis.areas_by_detector(halves, lesson, **draws)
