"""Models beside each other: every measure with its interval, and paired differences."""

from collections.abc import Iterable, Mapping
from functools import reduce

import numpy as np
import pandas as pd

from helpers import stats
from helpers.runs.comparison import facts
from helpers.studies import STUDIES, Measure
from helpers.studies.comparison import differences, numbers

Tables = Mapping[str, Mapping[str, pd.DataFrame]]


def tables(grouped: pd.DataFrame) -> dict[str, dict[str, pd.DataFrame]]:
    """Read the facts of all runs that may be compared."""
    size = grouped["manifest"].map(lambda told: told["model"].get("n_parameters") or np.inf)
    rows = grouped.assign(size=size).query("group == 0").sort_values(["size", "label"])
    found = {name: rows[rows["chapter"] == name] for name in STUDIES}
    return {
        name: {row.label: facts.read(name, row.folder) for row in part.itertuples()}
        for name, part in found.items()
        if len(part)
    }


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
            found = stats.bootstrap(
                part[list(measure.columns)],
                measure.statistic,
                part["relation"],
                n_resamples,
                seed,
            )
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
    found: Tables, n_resamples: int = 1000, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the standings and the differences of all chapters, with a column ``chapter``."""
    standing, gaps = [], []
    for chapter, models in found.items() or [("", {})]:
        draw = {"n_resamples": n_resamples, "seed": seed}
        measures = STUDIES[chapter].MEASURES if chapter else ()
        standing.append(standings(models, measures, **draw).assign(chapter=chapter))
        gaps.append(differences(models, measures, **draw).assign(chapter=chapter))
    return pd.concat(standing, ignore_index=True), pd.concat(gaps, ignore_index=True)
