"""The four studies, one module each: ask, facts, measures, verdict, summary.

A module holds ``ask`` (facts to answers), ``facts`` (answers to one row a fact),
``MEASURES``, ``verdict`` and ``summary``. `STUDIES` is the only registry: chapters,
panel, comparison, calibration and the command line go through it.
"""

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
