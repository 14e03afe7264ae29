"""Intervals of the knowledge-base measures: strata of the bootstrap, and effects over pairs."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from helpers import stats


def add_strata(responses: pd.DataFrame) -> pd.DataFrame:
    """Add the bootstrap's strata, seen and unseen apart; groups of fewer than ten are joined."""
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
    """Average what separates paired models: tuned and base, larger and smaller, two settings."""
    rows = []
    for name, (first, second) in pairs.items():
        for measure in measures:
            both = np.column_stack([first[measure], second[measure]]).astype(float)
            both = both[~np.isnan(both).any(axis=1)]
            found = stats.paired_difference(
                both[:, 1], both[:, 0], n_resamples=n_resamples, seed=seed
            )
            figures = found._asdict() | {"estimate": round(found.estimate, 12)}
            rows.append(
                {"effect": f"{name} ({len(both)})", "measure": measure} | figures
            )
    return pd.DataFrame(rows)
