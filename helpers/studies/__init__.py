"""The four studies, one module each: ask, facts, measures, verdict, summary.

A module holds ``ask`` (facts to answers), ``facts`` (answers to one row a fact),
``MEASURES``, ``verdict`` and ``summary``. `STUDIES` is the only registry: chapters,
panel, comparison, calibration and the command line go through it.
"""

from helpers.studies import knowledge_base, latent_knowledge, monitor, multiplicity
from helpers.studies.measures import (
    FIRM,
    Measure,
    Run,
    Study,
    check_firm,
    fitting,
    measurable,
    member,
    rate,
    settings,
)
from helpers.studies.model_comparison import compare

STUDIES: dict[str, Study] = {
    "monitor": monitor,
    "knowledge_base": knowledge_base,
    "latent_knowledge": latent_knowledge,
    "multiplicity": multiplicity,
}

__all__ = [
    "FIRM",
    "STUDIES",
    "Measure",
    "Run",
    "Study",
    "check_firm",
    "compare",
    "fitting",
    "measurable",
    "measure_named",
    "member",
    "rate",
    "settings",
]


def measure_named(name: str) -> Measure:
    """Return the measure of a name, of whichever study.

    >>> measure_named("MONITOR").heading
    'MONITOR ↓'
    """
    return next(
        m for study in STUDIES.values() for m in study.MEASURES if m.name == name
    )
