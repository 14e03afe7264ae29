"""What each model did with each fact, read from the files of finished runs."""

from functools import lru_cache
from pathlib import Path

import pandas as pd

from helpers import datasets, runs
from helpers.runs.panel import reading
from helpers.studies import STUDIES, fitting
from helpers.studies.comparison import by_item


def read(chapter: str, folder: str | Path) -> pd.DataFrame:
    """Return one row a fact (or question) of a run, with the columns of the study's measures.

    Index ``item``; ``relation`` is the stratum of the bootstrap.
    """
    path = Path(folder) / "run.json"
    finished = path.stat().st_mtime_ns if path.is_file() else 0
    return _read(chapter, str(folder), finished).copy()


def panel(chapter: str, folder: str | Path) -> pd.DataFrame:
    """Return the same of the panel's facts, which a run may have been asked besides its own."""
    study, told = STUDIES[chapter], runs.manifest(folder)["panel"]
    return by_item(study.facts(reading.answers(folder), **fitting(study.facts, told["settings"])))


def named(answers: pd.DataFrame) -> pd.DataFrame:
    """Name each item of a run by relation, subject and object, or else by its question.

    >>> rows = {"item": ["P36-1"], "relation": ["P36"], "subject": ["Peru"], "object": ["Lima"]}
    >>> named(pd.DataFrame(rows)).loc["P36-1"].tolist()
    ['capital', 'Peru', 'Lima']
    """
    rows = answers.drop_duplicates("item").set_index("item")
    if "subject" not in rows:
        return rows[["question" if "question" in rows else "prompt"]]
    labels = datasets.relations("atlas").set_index("relation")["label"]
    return rows[["relation", "subject", "object"]].replace({"relation": labels.to_dict()})


@lru_cache(maxsize=64)
def _read(chapter: str, folder: str, finished: int) -> pd.DataFrame:
    """Read a run once, unless it has run again: several tables of a page ask for it."""
    study, given = STUDIES[chapter], runs.parameters(runs.manifest(folder))
    found = study.facts(runs.answers(folder), **fitting(study.facts, given))
    return by_item(found)
