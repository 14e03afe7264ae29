"""Ask the panel's facts as a run's study asks, with the settings of the run."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from helpers import UserError, datasets, probing, runs
from helpers.datasets.knowledge_questions import FEWEST
from helpers.models import LanguageModel
from helpers.prompts import lists
from helpers.runs.panel import panel_answers
from helpers.studies import STUDIES, fitting, settings
from helpers.studies.measures import SAMPLE

STOOD_IN = (
    160  # facts at most where a frequency stands in for exposure: such models are slow
)
VERSION = 4  # of these ways of asking: raise it with every change that changes answers


def ask(
    run: runs.Run, lm: LanguageModel, chosen: Mapping[str, Any] | None = None
) -> dict[str, Any] | None:
    """Ask the panel as the run's study asks, and save the answers in the run's folder."""
    given, study = run.parameters, STUDIES[run.chapter]
    if given["n_panel"] < 0:
        raise UserError(
            f"n_panel is {given['n_panel']}: give a number of facts, or 0 for none."
        )
    truth = datasets.truth(given["dataset"], lm.name)
    if not given["n_panel"] or truth is None:
        return None
    n = min(given["n_panel"], STOOD_IN) if "stand_in" in truth else given["n_panel"]
    # The panel is the same whichever relations the chapter takes.
    used = given | getattr(study, "FOR_VERDICT", {}) | {"relations": (), "left_out": ()}
    chosen = dict(chosen or {})
    with probing.metered(lm) as work:
        facts = panel(given["dataset"], n, given["seed"])
        if facts.empty:
            return None
        put = used | chosen | {"cache": run.cache}
        if hasattr(study, "choose") and not chosen:
            chosen = study.choose(lm, facts, **fitting(study.choose, put))
            put |= chosen
        answers = study.ask(lm, facts, **fitting(study.ask, put))
    kept = {
        name: used[name]
        for name in settings(study)
        if name in used and name not in SAMPLE
    }
    kept |= {"prompt_format": lm.prompt_format, "seed": given["seed"]}
    about = {"settings": kept, "version": VERSION, **work}
    about |= chosen
    return panel_answers.save(run.folder, answers, about)


def panel(dataset: str, n: int, seed: int) -> pd.DataFrame:
    """Return the panel of a data set; of one's own, of the facts that IC-LKE tests, by subject."""
    if dataset == "atlas":
        return datasets.panel(n, seed)
    facts = datasets.load(dataset, seed=seed)
    try:
        roles = lists.split(lists.divisible(facts, seed)[0], seed=seed)
    except UserError:  # no relation can be divided: IC-LKE says so in its chapter
        return facts.head(0)
    tested = facts["fact"].isin(roles.loc[roles["role"] == "test", "fact"])
    once = ~facts.duplicated(["relation", "subject"])
    return datasets.panel(
        min(n, max(0, int(once.sum()) - FEWEST)), seed, facts[tested & once]
    )
