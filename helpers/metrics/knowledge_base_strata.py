"""Intervals of the knowledge-base measures: strata, and effects over pairs."""

from collections.abc import Iterable, Mapping

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
    pairs: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]], measures: Iterable[str]
) -> pd.DataFrame:
    """Average differences of paired models: tuned less base, larger less smaller ...

    Models of one family share their text, so a family counts once, with the mean of its
    pairs (``pretrained``, of the first table). Intervals are Student's over families,
    and ``n`` is the number of families.

    >>> base = pd.DataFrame({"pretrained": ["A", "A", "B"], "UR": [0.0, 0.0, 0.0]})
    >>> tuned = pd.DataFrame({"pretrained": ["A", "A", "B"], "UR": [0.2, 0.4, 0.5]})
    >>> effects = paired_effects({"tuned": (base, tuned)}, ["UR"])
    >>> effects[["estimate", "n"]].values[0].round(2).tolist()
    [0.4, 2.0]
    """
    rows = []
    for name, (first, second) in pairs.items():
        family = first["pretrained"].to_numpy()
        for measure in measures:
            values = second[measure].to_numpy() - first[measure].to_numpy()
            differences = pd.Series(values, dtype=float).dropna()
            of_families = differences.groupby(family[differences.index]).mean()
            interval = stats.student_interval(of_families)
            rounded = interval._replace(estimate=round(float(interval.estimate), 12))
            label = f"{name} ({len(of_families)} families)"
            rows.append({"effect": label, "measure": measure} | rounded._asdict())
    return pd.DataFrame(rows)
