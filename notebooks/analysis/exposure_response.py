"""How verdicts change with exposure: curves, slopes, and facts that all call known."""

import numpy as np
import pandas as pd

from helpers import stats
from helpers.stats import dose_response, group_averages
from helpers.stats.within_groups import sums_by_group
from notebooks.analysis.exposure_levels import (
    ATLAS_LEVELS,
    SHOWN_OR_NEVER,
    ExposureLevels,
)
from notebooks.analysis.method_comparison import (
    ESTIMATE_COLUMNS,
    NO_ESTIMATE,
    with_wilson_intervals,
)

SLOPE_LABEL = "log odds a doubling"


def known_share_by_exposure(table: pd.DataFrame, by: str, **draw: int) -> pd.DataFrame:
    """Average verdicts by level of exposure, one curve for each name in a column."""
    parts = []
    for name, rows in table.groupby(by, sort=False):
        rows = rows.sort_values("level", kind="stable")
        averages = group_averages(rows, ["known"], "level", **draw)
        parts.append(averages.rename(columns={"level": "exposures"}).assign(model=name))
    if not parts:
        return pd.DataFrame(
            columns=["exposures", "measure", *ESTIMATE_COLUMNS, "model"]
        )
    return pd.concat(parts, ignore_index=True)


def dose_response_fits(
    plain: pd.DataFrame, levels: ExposureLevels = ATLAS_LEVELS
) -> pd.DataFrame:
    """Fit the logistic curves of every model and method."""
    rows = []
    for (model, method), facts in plain.groupby(["model", "method"], sort=False):
        marks = facts["known"], facts["exposures"], facts["relation"]
        slope = dose_response.dose_response_slope(*marks)
        never_shown = facts.loc[facts[SHOWN_OR_NEVER] == 0, "known"]
        fits = {
            SLOPE_LABEL: (*slope[:3], slope.n),
            "odds ratio": (*np.exp(slope[:3]), slope.n),
            "half are known after": dose_response.exposures_of_half_known(*marks),
            levels.alarm: share_with_wilson_interval(never_shown),
        }
        for measure, estimate in fits.items():
            rows.append((model, method, measure, *estimate))
    columns = ["model", "method", "measure", *ESTIMATE_COLUMNS]
    return pd.DataFrame(rows, columns=columns)


def weakest_and_strongest_row(
    table: pd.DataFrame,
) -> tuple[list[float], pd.Series | None, pd.Series | None]:
    """Return what decides whether all rows are above 0, its row, and the largest row.

    It is the one nearest to 0 where all are above, or below; else the least certain.
    """
    rows = table.dropna(subset=["low", "high"])
    if rows.empty:
        return [*NO_ESTIMATE, 0], None, None
    if (rows["high"] < 0).all():
        place = rows["estimate"].idxmax()
    elif (rows["low"] > 0).all():
        place = rows["estimate"].idxmin()
    else:
        place = rows["low"].idxmin()
    weakest = rows.loc[place]
    strongest = rows.loc[rows["estimate"].idxmax()]
    return weakest[ESTIMATE_COLUMNS].astype(float).tolist(), weakest, strongest


def shares_by_number_of_methods(
    shown: pd.DataFrame,
    group: pd.Series,
    levels: ExposureLevels = ATLAS_LEVELS,
    **draw: int,
) -> pd.DataFrame:
    """Return by how many of the methods facts are called known, group by group.

    `shown` has a verdict of 0 or 1 a fact (rows), model and method (columns).
    """
    number = shown.T.groupby(level="model").sum().T
    group = group.loc[number.index]
    n_methods = shown.columns.get_level_values("method").nunique()
    rows = []
    for name in levels.groups:
        in_group = number[group == name]
        for count in range(n_methods + 1):
            share_of_models = (in_group == count).mean(axis=1)
            interval = stats.bootstrap(share_of_models, **draw)
            rows.append((name, f"by {count}", *interval))
    columns = ["read", "measure", *ESTIMATE_COLUMNS]
    return with_wilson_intervals(pd.DataFrame(rows, columns=columns))


def excess_share_known_to_all(
    known: pd.DataFrame, relation: pd.Series, **draw: int
) -> tuple[stats.Interval, dict[str, str]]:
    """Return the share of facts that all methods call known, less chance's, in words.

    Chance's is the product of the methods' shares among the facts of a relation, since
    all methods call more facts of an easy relation known; both are means over models.
    """
    if known.empty:
        return stats.Interval(*NO_ESTIMATE, 0), {"all": "", "chance": ""}
    sizes = known.columns.get_level_values("model").value_counts(sort=False).to_numpy()
    ends_of_models = np.cumsum(sizes)[:-1]

    def shares(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        relations = values[..., -1]
        sizes_of_relations = sums_by_group(np.ones(relations.shape), relations)
        n = relations.shape[-1]
        of_all = []
        by_chance = []
        for verdicts in np.split(values[..., :-1], ends_of_models, axis=-1):
            of_all.append(verdicts.all(axis=-1).mean(axis=-1))
            products = sizes_of_relations / n
            for place in range(verdicts.shape[-1]):
                known_facts = sums_by_group(verdicts[..., place], relations)
                share = known_facts / np.maximum(sizes_of_relations, 1)
                products = products * share
            by_chance.append(products.sum(axis=-1))
        return np.mean(of_all, axis=0), np.mean(by_chance, axis=0)

    def excess(values: np.ndarray) -> np.ndarray:
        return np.subtract(*shares(values))

    relations, _ = pd.factorize(relation.loc[known.index])
    values = np.column_stack([known.to_numpy(dtype=float), relations])
    of_all, by_chance = shares(values)
    words = {"all": f"{100 * of_all:.1f}", "chance": f"{100 * by_chance:.1f}"}
    return stats.bootstrap(values, excess, relations, **draw), words


def verdicts_on_false_statements(misled: pd.DataFrame) -> pd.DataFrame:
    """Return what the methods say of facts that the text also states falsely."""
    more = misled["false_exposures"] - misled["exposures"]
    lessons = ["false more often", "true more often"]
    lesson = np.select([more > 0, more < 0], lessons, "both as often")
    misled = misled.assign(lesson=lesson)
    verdicts = {
        "known": "the truth is called known",
        "misled": "the false object is named",
    }
    rows = []
    for (name, method), part in misled.groupby(["lesson", "method"], sort=False):
        for column, verdict in verdicts.items():
            if part[column].notna().all():
                interval = share_with_wilson_interval(part[column])
                rows.append((name, method, verdict, *interval))
    columns = ["lesson", "method", "verdict", *ESTIMATE_COLUMNS]
    return pd.DataFrame(rows, columns=columns)


def share_with_wilson_interval(marks: pd.Series) -> stats.Interval:
    """Return the mean of zeros and ones with Wilson's interval."""
    return stats.wilson_interval(int(marks.sum()), len(marks))
