"""What each model did with each fact, read from the files of finished runs."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import runs
from helpers.runs.comparison.measures import BASIC, of
from helpers.metrics import accuracy, anchors, monitor
from helpers.metrics import knowledge_base as kb


def read(chapter: str, folder: str | Path) -> pd.DataFrame:
    """Return one row a fact (or question) of a run, with the columns of the chapter's measures."""
    path = Path(folder) / "run.json"
    finished = path.stat().st_mtime_ns if path.is_file() else 0
    return _read(chapter, str(folder), finished).copy()


@lru_cache(maxsize=64)
def _read(chapter: str, folder: str, finished: int) -> pd.DataFrame:
    """Read a run once, unless it has run again: several tables of a page ask for it."""
    readers = {
        "monitor": _monitor,
        "knowledge_base": _responses,
        "latent_knowledge": _latent,
        "multiplicity": _choices,
    }
    table = readers[chapter](folder, runs.manifest(folder)["parameters"])
    return table.set_index("item").sort_index()


def _monitor(folder: str, given: dict[str, Any]) -> pd.DataFrame:
    """Return MONITOR's two sums over the facts that count, coverage, accuracy in two ways."""
    answers, rule = runs.answers(folder), given["match"]
    column = anchors.column_of(given["anchor_mode"])
    known = anchors.known_facts(answers, rule=rule)
    scores = monitor.fact_scores(answers, known, column, given["alphas"])
    marks = accuracy.by_fact(accuracy.mark_texts(answers, rule=rule))
    asked = [name for name in marks.columns[2:] if name != "right"]
    marks = marks.assign(average=marks[asked].mean(axis=1)).rename(columns={"frame0": "base"})
    counting = scores[["deviation", "anchor"]].where(scores["counted"])
    scores = scores[["item", "relation"]].join(counting)
    scores["coverage"] = counting["anchor"].notna().astype(float)
    return scores.merge(marks[["item", "base", "average"]], on="item")


def _responses(folder: str, given: dict[str, Any]) -> pd.DataFrame:
    """Return the responses in the prompt setting of the close-ups, laid out as numbers."""
    said = runs.answers(folder)
    said = said[said["variant"] == given["setting"]]
    numbers = pd.DataFrame(kb.indicators(said), said.index, BASIC)
    return numbers.assign(item=said["item"], relation=said["stratum"])


def _latent(folder: str, given: dict[str, Any]) -> pd.DataFrame:
    """Return whether the true object came first, and its share of the probability."""
    rows = runs.metrics(folder)
    return _spread(rows[rows["level"] == "fact"], "latent_knowledge")


def _choices(folder: str, given: dict[str, Any]) -> pd.DataFrame:
    """Return the scores of each question under the variation of the close-ups."""
    table = runs.metrics(folder)
    kind = table.query("level == 'run' and measure == 'accuracy'")["kind"].iloc[0]
    rows = table[(table["level"] == "item") & (table["kind"] == kind)]
    rows = _spread(rows, "multiplicity")
    return rows.assign(relation="all")  # as in the chapter: questions are drawn from all alike


def _spread(rows: pd.DataFrame, chapter: str) -> pd.DataFrame:
    """Turn one row a fact and measure into one row a fact, with a column for every measure."""
    wide = rows.pivot_table(index=["item", "relation"], columns="measure", values="estimate")
    wide = wide.reindex(columns=[measure.name for measure in of(chapter)])
    return wide.reset_index().rename_axis(columns=None)
