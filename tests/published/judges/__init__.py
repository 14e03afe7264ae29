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
from tests.published.judges.judgement import UNDECIDABLE, Judgement
from tests.published.table_checks import TableLoader

PAPERS: dict[str, ModuleType] = {
    "MONITOR": monitor,
    "knowledge bases": knowledge_base,
    "IC-LKE": latent_knowledge,
    "multiplicity": multiplicity,
}


def judge_claim(
    paper: str,
    claim: str,
    rests_on: str,
    load: TableLoader = published.load_published_table,
) -> Judgement:
    """Judge one sentence by the tables."""
    judge = getattr(PAPERS[paper], claim, None)
    return (
        judge(load)
        if judge
        else Judgement(UNDECIDABLE, [f"Shown in {rests_on} alone;"])
    )
