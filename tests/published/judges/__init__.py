"""The verdicts on the papers' sentences, worked out anew from the transcribed tables.

A claim of ``claims.csv`` is also the name of a function in the module of its paper.
Where only a figure shows what a sentence says there is no such function, and the tables
cannot decide.
"""

from types import ModuleType

from notebooks.kit import published
from tests.published.judges import (
    knowledge_base,
    latent_knowledge,
    monitor,
    multiplicity,
)
from tests.published.judges.judgement import UNDECIDABLE, Reading
from tests.published.table_checks import Load

PAPERS: dict[str, ModuleType] = {
    "MONITOR": monitor,
    "knowledge bases": knowledge_base,
    "IC-LKE": latent_knowledge,
    "multiplicity": multiplicity,
}


def read(paper: str, claim: str, rests_on: str, load: Load = published.load) -> Reading:
    """Judge one sentence by the tables."""
    judge = getattr(PAPERS[paper], claim, None)
    return (
        judge(load) if judge else Reading(UNDECIDABLE, [f"Shown in {rests_on} alone;"])
    )
