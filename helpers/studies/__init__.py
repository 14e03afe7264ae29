"""The four studies, one module each: ask, facts, measures, verdict, summary.

A module holds ``ask`` (facts to answers), ``facts`` (answers to one row a fact),
``MEASURES``, ``verdict`` and ``summary``. `STUDIES` is the only registry: chapters,
panel, comparison, calibration and the command line go through it, and
`register_study` adds to it.
"""

import re

from helpers import UserError
from helpers.studies import knowledge_base, latent_knowledge, monitor, multiplicity
from helpers.studies.measures import (
    FIRM_THRESHOLD,
    Measure,
    Run,
    Study,
    check_firm,
    default_settings,
    mean_measure,
    measurable,
    member,
    settings_for_function,
)
from helpers.studies.model_comparison import compare_models

STUDIES: dict[str, Study] = {
    "monitor": monitor,
    "knowledge_base": knowledge_base,
    "latent_knowledge": latent_knowledge,
    "multiplicity": multiplicity,
}
STUDIES_OF_BOOK = tuple(STUDIES)
NEEDED_MEMBERS = ("TITLE", "MEASURES", "ask", "facts", "verdict", "summary")

__all__ = [
    "FIRM_THRESHOLD",
    "STUDIES",
    "Measure",
    "Run",
    "Study",
    "check_firm",
    "compare_models",
    "default_settings",
    "mean_measure",
    "measurable",
    "measure_named",
    "member",
    "register_study",
    "settings_for_function",
]


def measure_named(name: str) -> Measure:
    """Return the measure of a name, of whichever study.

    >>> measure_named("MONITOR").heading
    'MONITOR ↓'
    """
    for study in STUDIES.values():
        for measure in study.MEASURES:
            if measure.name == name:
                return measure
    raise KeyError(name)


def register_study(name: str, study: Study) -> None:
    """Add a study of your own, for this session, to those that all commands know.

    Parameters
    ----------
    name : str
        In small letters, digits and underscores; one that you have registered before is
        replaced.
    study : Study
        A module, or whatever else has the members that `Study` names.

    Raises
    ------
    UserError
        If the name is a bundled study's or cannot be a folder's, or a member is
        missing.
    """
    if name in STUDIES_OF_BOOK or not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name):
        raise UserError(
            f"{name!r} cannot name a study of your own: give small letters, digits and "
            f"underscores, and none of {', '.join(STUDIES_OF_BOOK)}."
        )
    missing = [member for member in NEEDED_MEMBERS if not hasattr(study, member)]
    if missing:
        raise UserError(
            f"The study {name} lacks {', '.join(missing)}: write what is missing, as "
            "helpers.studies.measures.Study describes it."
        )
    STUDIES[name] = study
