"""Ask the panel's facts as a run's study asks, with the settings of the run."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from helpers import UserError, datasets, probing, runs
from helpers.datasets.knowledge_questions import FEWEST_ANSWERS
from helpers.models import LanguageModel
from helpers.prompts import lists
from helpers.runs.panel import panel_answers
from helpers.studies import STUDIES, default_settings, settings_for_function
from helpers.studies.measures import SAMPLE_SETTINGS

MOST_FACTS_WITH_STAND_IN = (
    160  # facts at most where a frequency stands in for exposure: such models are slow
)
PANEL_VERSION = (
    4  # of these ways of asking: raise it with every change that changes answers
)


def ask_panel(
    run: runs.Run, lm: LanguageModel, chosen: Mapping[str, Any] | None = None
) -> dict[str, Any] | None:
    """Ask the panel as the run's study asks, and save the answers in the run's folder."""
    given, study = run.parameters, STUDIES[run.chapter]
    if given["n_panel"] < 0:
        raise UserError(
            f"n_panel is {given['n_panel']}: give a number of facts, or 0 for none."
        )
    truth = datasets.fact_exposure(given["dataset"], lm.name)
    if not given["n_panel"] or truth is None:
        return None
    n = (
        min(given["n_panel"], MOST_FACTS_WITH_STAND_IN)
        if "stand_in" in truth
        else given["n_panel"]
    )
    # The panel is the same whichever relations the chapter takes.
    used = given | getattr(study, "FOR_VERDICT", {}) | {"relations": (), "left_out": ()}
    chosen = dict(chosen or {})
    with probing.work_counter(lm) as work:
        facts = panel_of_dataset(given["dataset"], n, given["seed"])
        if facts.empty:
            return None
        put = used | chosen | {"cache": run.cache}
        if hasattr(study, "settings_chosen_on_model") and not chosen:
            chosen = study.settings_chosen_on_model(lm, facts, **settings_for_function(study.settings_chosen_on_model, put))
            put |= chosen
        answers = study.ask(lm, facts, **settings_for_function(study.ask, put))
    kept = {
        name: used[name]
        for name in default_settings(study)
        if name in used and name not in SAMPLE_SETTINGS
    }
    kept |= {"prompt_format": lm.prompt_format, "seed": given["seed"]}
    about = {"settings": kept, "version": PANEL_VERSION, **work}
    about |= chosen
    return panel_answers.save_panel_answers(run.folder, answers, about)


def panel_of_dataset(dataset: str, n: int, seed: int) -> pd.DataFrame:
    """Return the panel of a data set; of one's own, of the facts that IC-LKE tests, by subject."""
    if dataset == "atlas":
        return datasets.panel_facts(n, seed)
    facts = datasets.load(dataset, seed=seed)
    try:
        roles = lists.divide_into_examples_and_tests(
            lists.divisible_facts_and_notes(facts, seed)[0], seed=seed
        )
    except UserError:  # no relation can be divided: IC-LKE says so in its chapter
        return facts.head(0)
    tested = facts["fact"].isin(roles.loc[roles["role"] == "test", "fact"])
    once = ~facts.duplicated(["relation", "subject"])
    return datasets.panel_facts(
        min(n, max(0, int(once.sum()) - FEWEST_ANSWERS)), seed, facts[tested & once]
    )
