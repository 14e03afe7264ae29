"""Finished runs side by side: their figures, those that were asked alike, and fact by fact."""

import json
import math
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from helpers import runs
from helpers.runs import environment
from notebooks.analysis import beside


def overall(chapter: str, folder: str | Path | None = None, relation: str = "all") -> pd.DataFrame:
    """Return the figures of every finished run of a chapter, over all facts or of one relation.

    One row a run: ``model, dataset, n_parameters, why`` (in what it differs from what the paper
    asked, "" if in nothing), then each measure, with its bounds as ``<measure>_low, _high``.
    """
    rows = []
    for found in runs.load(folder).query("chapter == @chapter").itertuples():
        row = {"model": found.model, "dataset": found.dataset}
        row["n_parameters"] = found.manifest["model"].get("n_parameters")
        table = runs.metrics(found.folder).query("level in ('run', 'relation')")
        parts = table.loc[table["level"] == "relation", "relation"].nunique()
        row["why"] = beside.why(chapter, found.manifest, parts if relation == "all" else None)
        here = table[table["relation"] == relation]
        if here.empty and found.parameters.get("setting") == relation:
            here = table[table["relation"] == "all"]  # measured in this setting alone
        for measure in here.itertuples():
            row[measure.measure] = measure.estimate
            row |= {f"{measure.measure}_{end}": getattr(measure, end) for end in ("low", "high")}
        rows.append(row)
    return pd.DataFrame(rows, columns=None if rows else ["model", "dataset", "n_parameters", "why"])


def alike(run: runs.Run, names: Iterable[str], folder: str | Path | None = None) -> pd.DataFrame:
    """Return a chapter's other finished runs that have the named parameters in common with one.

    Rows of ``helpers.runs.load``.
    """
    table, names = runs.load(folder), list(names)
    wanted = json.loads(
        json.dumps([run.parameters[name] for name in names], default=environment.plain)
    )
    same = table["parameters"].map(lambda given: [given.get(name) for name in names] == wanted)
    other = table["folder"].map(Path) != run.folder
    chosen = (table["chapter"] == run.chapter) & other & same.astype(bool)
    return table[chosen].reset_index(drop=True)


def by_fact(
    chapter: str, dataset: str, measure: str, folder: str | Path | None = None
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return a measure of each fact, a column for each model that has a finished run, and sizes.

    Index ``item``; not a number where a run did not ask a fact. A size that a server did not tell
    is infinite.
    """
    columns, sizes = {}, {}
    for found in (
        runs.load(folder).query("chapter == @chapter and dataset == @dataset").itertuples()
    ):
        name = found.model.rstrip("/").rpartition("/")[2]
        columns[name] = beside.facts(chapter, found.folder)[measure]
        sizes[name] = found.manifest["model"].get("n_parameters") or math.inf
    return pd.DataFrame(columns).rename_axis("item"), sizes
