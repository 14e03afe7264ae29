"""The papers' sentences, each beside what their own tables say.

``claims.csv`` holds the sentences, word for word as our copies of the papers have them: ``claim,
paper, section, quotation, rests_on, verdict, severity``. The last is ours, of contradicted ones:
what a reader would conclude ("substance"), some cases of many ("exceptions"), or how something is
described. A claim is also the name of a function in the
module of its paper, which works the verdict out anew from the transcribed tables. Where only a
figure shows what a sentence says there is no such function, and the tables cannot decide.
"""

from functools import cache
from types import ModuleType

import pandas as pd

from helpers.published import FOLDER
from helpers.published import load as published
from tests.published.recomputed.check import Load
from tests.published.judges import knowledge_base, latent_knowledge, monitor, multiplicity
from tests.published.judges.reading import UNDECIDABLE, VERDICTS, Reading

PAPERS: dict[str, ModuleType] = {
    "MONITOR": monitor,
    "knowledge bases": knowledge_base,
    "IC-LKE": latent_knowledge,
    "multiplicity": multiplicity,
}


def stated() -> pd.DataFrame:
    """Read the sentences as they are stored.

    >>> list(stated())
    ['claim', 'paper', 'section', 'quotation', 'rests_on', 'verdict', 'severity']
    """
    return pd.read_csv(FOLDER / "claims.csv", dtype=str, keep_default_na=False)


def read(paper: str, claim: str, rests_on: str, load: Load = published) -> Reading:
    """Judge one sentence by the tables.

    >>> read("MONITOR", "strong_interference", "Table 3").verdict
    'contradicted'
    """
    judge = getattr(PAPERS[paper], claim, None)
    if judge is None:
        return Reading(UNDECIDABLE, f"Shown in {rests_on} alone; no table prints the numbers.")
    return judge(load)


def audit() -> pd.DataFrame:
    """Judge every sentence anew.

    >>> audit()["verdict"].isin(VERDICTS).all()
    np.True_
    """
    table, once = stated(), cache(published)
    found = [read(row.paper, row.claim, row.rests_on, once) for row in table.itertuples()]
    table["says"] = [each.says for each in found]
    table["verdict"] = [each.verdict for each in found]
    columns = ["claim", "paper", "section", "quotation", "rests_on", "says", "verdict", "severity"]
    return table[columns]


def counts(audited: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts on each paper's sentences.

    >>> table = pd.DataFrame({"paper": ["MONITOR"] * 2, "verdict": ["partly", "supported"]})
    >>> counts(table).loc["MONITOR"].tolist()
    [1, 1, 0, 0, 2]
    """
    table = pd.crosstab(audited["paper"], audited["verdict"])
    table = table.reindex(index=audited["paper"].unique(), columns=list(VERDICTS), fill_value=0)
    return table.rename_axis(index="paper", columns=None).assign(sentences=table.sum(axis=1))
