"""Models beside each other: every measure with its interval, and paired differences."""

from collections.abc import Container, Iterable, Mapping
from functools import reduce
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import stats
from helpers.runs.comparison import facts
from helpers.runs.panel.reading import FILE
from helpers.studies import STUDIES, Measure
from helpers.studies.comparison import differences, numbers

Tables = Mapping[str, Mapping[str, pd.DataFrame]]


def tables(grouped: pd.DataFrame) -> dict[str, dict[str, pd.DataFrame]]:
    """Read the facts of all runs that may be compared."""
    return {
        name: {row.label: facts.read(name, row.folder) for row in part.itertuples()}
        for name, part in _chapters(grouped).items()
    }


def panels(grouped: pd.DataFrame) -> dict[str, dict[str, pd.DataFrame]]:
    """Read the panel's facts, chapter by chapter, where all runs were asked the same panel alike.

    A chapter is left out if one of its runs was not asked the panel, as of a model of which it is
    not known what it read.
    """
    found = {}
    for name, part in _chapters(grouped).items():
        told = [manifest.get("panel") or {} for manifest in part["manifest"]]
        there = [(Path(folder) / FILE).is_file() for folder in part["folder"]]
        kinds = {(entry.get("n_facts"), entry.get("version")) for entry in told}
        if all(told) and all(there) and len(kinds) == 1:
            found[name] = {row.label: facts.panel(name, row.folder) for row in part.itertuples()}
    return found


def _chapters(grouped: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the runs of each chapter that may be compared, the smallest model first."""
    size = grouped["manifest"].map(lambda told: told["model"].get("n_parameters") or np.inf)
    rows = grouped.assign(size=size).query("group == 0").sort_values(["size", "label"])
    found = {name: rows[rows["chapter"] == name] for name in STUDIES}
    return {name: part for name, part in found.items() if len(part)}


def shared(models: Mapping[str, pd.DataFrame]) -> pd.Index:
    """Return the items that every model was asked.

    >>> rows = {name: pd.DataFrame(index=list(items)) for name, items in (("m", "ab"), ("n", "b"))}
    >>> list(shared(rows))
    ['b']
    """
    indexes = [table.index for table in models.values()] or [pd.Index([], dtype=object)]
    return reduce(pd.Index.intersection, indexes).sort_values()


def standings(
    models: Mapping[str, pd.DataFrame],
    measures: Iterable[Measure],
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Compute measures of each model on the facts that all were asked.

    >>> from helpers.studies import measure_named
    >>> rows = pd.DataFrame({"relation": "P17", "right": [1.0, 0.0, 0.0, 1.0]}, index=list("abcd"))
    >>> found = standings({"m": rows, "n": rows.head(2)}, [measure_named("right")], n_resamples=50)
    >>> found[["model", "estimate", "n"]].values.tolist()
    [['m', 0.5, 2], ['n', 0.5, 2]]
    """
    both, measures = shared(models), list(measures)
    rows = []
    for label, table in models.items():
        for measure in measures:
            part = table.loc[both].dropna(subset=list(measure.columns))
            found = stats.estimate(
                part[list(measure.columns)],
                measure.statistic,
                part["relation"],
                n_resamples,
                seed,
            )
            found = found._replace(n=measure.n(part))
            rows.append({"model": label, "measure": measure.name} | found._asdict())
    return numbers(rows, ["model", "measure", *stats.Interval._fields])


def value(table: pd.DataFrame, measure: Measure) -> float:
    """Compute a measure of one model's facts; not a number if none counts for it.

    >>> from helpers.studies import measure_named
    >>> value(pd.DataFrame({"right": [1.0, 0.0, np.nan]}), measure_named("right"))
    0.5
    """
    part = table[list(measure.columns)].dropna()
    return float(measure.statistic(part.to_numpy())) if len(part) else float("nan")


def everything(
    found: Tables, n_resamples: int = 1000, seed: int = 0, only: Container[str] = ()
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the standings and the differences of all chapters, with a column ``chapter``.

    In all measures, or in `only` some.
    """
    standing, gaps = [], []
    for chapter, models in found.items() or [("", {})]:
        draw = {"n_resamples": n_resamples, "seed": seed}
        measures = STUDIES[chapter].MEASURES if chapter else ()
        measures = [measure for measure in measures if not only or measure.name in only]
        standing.append(standings(models, measures, **draw).assign(chapter=chapter))
        gaps.append(differences(models, measures, **draw).assign(chapter=chapter))
    return pd.concat(standing, ignore_index=True), pd.concat(gaps, ignore_index=True)


def replaced(own: pd.DataFrame, panel: pd.DataFrame) -> pd.DataFrame:
    """Return a chapter's standings or differences, with the panel's where a measure has them.

    A column ``facts_of`` says whose facts each row is on.

    >>> own = pd.DataFrame({"measure": ["UR", "NCR"], "n": [90, 90]})
    >>> replaced(own, pd.DataFrame({"measure": ["NCR"], "n": [600]})).values.tolist()
    [['UR', 90, 'chapter'], ['NCR', 600, 'panel']]
    """
    kept = own.assign(facts_of="chapter")
    if panel.empty:
        return kept
    kept = kept[~kept["measure"].isin(panel["measure"])]
    return pd.concat([kept, panel.assign(facts_of="panel")], ignore_index=True)


def said(panels: Tables) -> str:
    """Say which main measures are on the panel.

    >>> print(said({"monitor": {"m": pd.DataFrame(index=["a", "b"])}}))
    On the panel, 2 facts that all models were asked: the main measure of MONITOR.
    """
    if not panels:
        return "Not all models were asked the panel: all measures are on the chapters' own facts."
    n = max(len(table) for models in panels.values() for table in models.values())
    names = ", ".join(STUDIES[chapter].TITLE for chapter in panels)
    return f"On the panel, {n} facts that all models were asked: the main measure of {names}."
