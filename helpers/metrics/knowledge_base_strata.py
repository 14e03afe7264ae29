"""Intervals of the knowledge-base measures: strata, and effects over pairs."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from helpers import stats


def add_strata(responses: pd.DataFrame) -> pd.DataFrame:
    """Add the bootstrap's strata, seen and unseen apart; small groups are joined.

    Fewer than ten items of a group join their type, fewer than ten of that the rest.
    """
    known = responses["seen"].map({True: ", seen", False: ", unseen"})
    stratum = "rest" + known
    for column in ("type", "group"):
        name = responses[column] + known
        size = responses.groupby(name)["item"].transform("nunique")
        stratum = name.where(size >= 10, stratum)
    return responses.assign(stratum=stratum)


def paired_effects(
    pairs: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]],
    measures: Iterable[str],
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Average differences of paired models: tuned less base, larger less smaller ..."""
    rows = []
    for name, (first, second) in pairs.items():
        for measure in measures:
            both = np.column_stack([first[measure], second[measure]]).astype(float)
            both = both[~np.isnan(both).any(axis=1)]
            difference = stats.paired_difference(
                both[:, 1], both[:, 0], n_resamples=n_resamples, seed=seed
            )
            rounded = difference._replace(estimate=round(difference.estimate, 12))
            pair = {"effect": f"{name} ({len(both)})", "measure": measure}
            rows.append(pair | rounded._asdict())
    return pd.DataFrame(rows)
