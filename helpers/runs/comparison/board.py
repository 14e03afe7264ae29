"""Models beside each other: every measure with its interval, and paired differences."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import combinations

import numpy as np
import pandas as pd

from helpers import stats
from helpers.runs.comparison import facts
from helpers.studies import STUDIES, Measure

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
    return _numbers(rows, ["model", "measure", *stats.Interval._fields])


def value(table: pd.DataFrame, measure: Measure) -> float:
    """Compute a measure of one model's facts; not a number if none counts for it.

    >>> from helpers.studies import measure_named
    >>> value(pd.DataFrame({"right": [1.0, 0.0, np.nan]}), measure_named("right"))
    0.5
    """
    part = table[list(measure.columns)].dropna()
    return float(measure.statistic(part.to_numpy())) if len(part) else float("nan")


def difference(
    first: pd.DataFrame,
    second: pd.DataFrame,
    measure: Measure,
    n_resamples: int = 1000,
    seed: int = 0,
) -> stats.Difference:
    """Compare two models in one measure on the facts that count for both: first minus second.

    Both are resampled together. A fact that counts for one alone (MONITOR asks each model for an
    anchor of its own) is left out, so the two estimates may differ from those of the standings.

    >>> from helpers.studies import measure_named
    >>> one = pd.DataFrame({"relation": "P17", "right": [1.0, 1.0, 0.0]}, index=list("abc"))
    >>> two = pd.DataFrame({"relation": "P17", "right": [0.0, 1.0, np.nan]}, index=list("abc"))
    >>> found = difference(one, two, measure_named("right"), n_resamples=50)
    >>> found.estimate, found.n
    (0.5, 2)
    """
    columns = list(measure.columns)
    left, right = (table.dropna(subset=columns) for table in (first, second))
    both = left.index.intersection(right.index).sort_values()
    if both.empty:
        return stats.Difference(*[float("nan")] * 4, 0)
    left, right = left.loc[both], right.loc[both]
    return stats.paired_difference(
        left[columns],
        right[columns],
        measure.statistic,
        left["relation"],
        n_resamples,
        seed,
    )


def differences(
    models: Mapping[str, pd.DataFrame],
    measures: Iterable[Measure],
    pairs: Sequence[tuple[str, str]] | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare pairs of models in all measures, each on the facts that count for both.

    >>> from helpers.studies import measure_named
    >>> new = pd.DataFrame({"relation": "P17", "right": [1.0, 1.0]}, index=list("ab"))
    >>> models = {"old": new.assign(right=0.0), "new": new}
    >>> found = differences(models, [measure_named("right")], n_resamples=50)
    >>> found[["first", "second", "estimate", "better"]].values.tolist()
    [['new', 'old', 1.0, 'new']]
    """
    chosen = [(b, a) for a, b in combinations(models, 2)] if pairs is None else pairs
    measures = list(measures)
    rows = []
    for first, second in chosen:
        for measure in measures:
            found = difference(models[first], models[second], measure, n_resamples, seed)
            row = {"first": first, "second": second, "measure": measure.name} | found._asdict()
            rows.append(row | {"better": _better(row, measure)})
    return _numbers(rows, ["first", "second", "measure", *stats.Difference._fields, "better"])


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


def _numbers(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> pd.DataFrame:
    """Lay out rows as a table whose figures are numbers, also where there is no row."""
    table = pd.DataFrame(rows, columns=list(columns))
    figures = [name for name in stats.Difference._fields[:-1] if name in table]
    return table.astype({**dict.fromkeys(figures, float), "n": int})


def _better(row: Mapping[str, float | str], measure: Measure) -> str:
    """Return the label of the better model if the interval leaves out 0."""
    if measure.higher is None or not (row["low"] > 0 or row["high"] < 0):
        return ""
    return str(row["first"] if (row["low"] > 0) == measure.higher else row["second"])
