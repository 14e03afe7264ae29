"""Ask the panel's facts as a run's study asks, with the settings of the run."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from helpers import UserError, datasets, probing, runs
from helpers.datasets.knowledge_questions import FEWEST_ANSWERS
from helpers.models import LanguageModel
from helpers.prompts import lists
from helpers.runs.panel import panel_answers, panel_forms
from helpers.studies import (
    STUDIES,
    default_settings,
    member,
    settings_for_function,
)
from helpers.studies.measures import SAMPLE_SETTINGS

# Where a frequency stands in for exposure, facts at most: such models are slow.
MOST_FACTS_WITH_STAND_IN = 160
# Of these ways of asking: raise it with every change that changes answers.
PANEL_VERSION = 6


def ask_panel(
    run: runs.Run, lm: LanguageModel, chosen: Mapping[str, Any] | None = None
) -> dict[str, Any] | None:
    """Ask the panel as the run's study asks, and save the answers in the run's folder.

    Parameters
    ----------
    run : Run
        Its parameters name the data set and the size of the panel.
    lm : LanguageModel
    chosen : mapping, optional
        Settings that the study has chosen on the model before; by default it chooses
        them here.

    Returns
    -------
    dict or None
        What the run's manifest says of it; None where nothing was asked.
    """
    parameters = run.parameters
    study = STUDIES[run.chapter]
    dataset = parameters["dataset"]
    n_facts = parameters["n_panel"]
    if n_facts < 0:
        raise UserError(f"n_panel is {n_facts}: give a number of facts, or 0 for none.")
    exposure = datasets.fact_exposure(dataset, lm.name)
    if n_facts == 0 or exposure is None:
        return None
    if "stand_in" in exposure:
        n_facts = min(n_facts, MOST_FACTS_WITH_STAND_IN)
    seed = parameters["seed"]
    # The panel is the same whichever relations the chapter takes.
    every_relation = {"relations": (), "left_out": ()}
    settings = {**parameters, **member(study, "FOR_VERDICT"), **every_relation}
    chosen = dict(chosen or {})
    choose = member(study, "settings_chosen_on_model")
    with probing.work_counter(lm) as work:
        facts = panel_of_dataset(dataset, n_facts, seed)
        if facts.empty:
            return None
        settings_to_ask = settings | chosen | {"cache": run.cache}
        if not chosen:
            chosen = choose(lm, facts, **settings_for_function(choose, settings_to_ask))
            settings_to_ask |= chosen
        answers = study.ask(
            lm, facts, **settings_for_function(study.ask, settings_to_ask)
        )
        forms = None
        if member(study, "ASKS_FORMS"):
            forms = panel_forms.ask_forms(lm, facts, dataset, seed, run.cache)
    recorded = {}
    for name in default_settings(study):
        if name in settings and name not in SAMPLE_SETTINGS:
            recorded[name] = settings[name]
    recorded["prompt_format"] = lm.prompt_format
    recorded["seed"] = seed
    about = {"settings": recorded, "version": PANEL_VERSION, **work}
    about |= chosen
    return panel_answers.save_panel_answers(run.folder, answers, about, forms)


def panel_of_dataset(dataset: str, n: int, seed: int) -> pd.DataFrame:
    """Return the panel of a data set.

    Of one's own data it holds facts that IC-LKE tests, each subject once.
    """
    if dataset == "atlas":
        return datasets.panel_facts(n, seed)
    facts = datasets.load(dataset, seed=seed)
    try:
        divisible, _ = lists.divisible_facts_and_notes(facts, seed)
        roles = lists.divide_into_examples_and_tests(divisible, seed=seed)
    except UserError:  # no relation can be divided: IC-LKE says so in its chapter
        return facts.head(0)
    tested = facts["fact"].isin(roles.loc[roles["role"] == "test", "fact"])
    first_of_subject = ~facts.duplicated(["relation", "subject"])
    n_spare = int(first_of_subject.sum()) - FEWEST_ANSWERS
    n = min(n, max(0, n_spare))
    return datasets.panel_facts(n, seed, facts[tested & first_of_subject])
