"""Finished runs side by side, fact by fact."""

import math
from pathlib import Path

import pandas as pd

from helpers import runs
from notebooks.analysis import beside


def by_fact(
    chapter: str, dataset: str, measure: str, folder: str | Path | None = None
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return a measure of each fact, one column for each model that has a finished run."""
    columns, sizes = {}, {}
    for found in (
        runs.load(folder).query("chapter == @chapter and dataset == @dataset").itertuples()
    ):
        name = found.model.rstrip("/").rpartition("/")[2]
        columns[name] = beside.facts(chapter, found.folder)[measure]
        sizes[name] = found.manifest["model"].get("n_parameters") or math.inf
    return pd.DataFrame(columns).rename_axis("item"), sizes
