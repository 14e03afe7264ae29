"""Means over training runs that were all asked the same facts, both drawn by chance."""

from collections.abc import Hashable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import norm, t

from helpers.stats.resampling import CONFIDENCE_LEVEL

POWER = 0.8  # with which a difference is called detectable


class EstimateOfRun(NamedTuple):
    """A statistic of one run, and how far each fact moves it.

    The squares of ``influence``, a number for each fact, add up to the variance of the
    estimate over draws of facts.
    """

    estimate: float
    influence: pd.Series


class MeanOverRuns(NamedTuple):
    """A mean over runs with its interval, and what it could have shown."""

    estimate: float
    low: float
    high: float
    n: int  # facts
    n_runs: int
    p: float  # of the null, two-sided
    detectable: float  # distance from the null that is found in `POWER` of samples


def mean_of_run(values: pd.Series, strata: npt.ArrayLike) -> EstimateOfRun:
    """Return the mean of one run's values, facts being drawn within strata.

    Parameters
    ----------
    values : Series
        By fact.
    strata : array_like
        Of each fact, such as its relation.

    Examples
    --------
    The mean of each pair has a variance of one fourth, and they are averaged:

    >>> run = mean_of_run(pd.Series([0.0, 1.0, 4.0, 5.0]), ["a", "a", "b", "b"])
    >>> run.estimate, round(float((run.influence**2).sum()), 4)
    (2.5, 0.125)
    """
    labels = pd.Series(np.asarray(strata), index=values.index)
    values = values.astype(float).dropna()
    grouped = values.groupby(labels)
    size = grouped.transform("size")
    centre = grouped.transform("mean").where(size > 1, values.mean())
    correction = np.sqrt(size / (size - 1).where(size > 1, size))
    influence = correction * (values - centre) / len(values)
    return EstimateOfRun(float(values.mean()), influence)


def mean_over_runs(
    runs: Mapping[Hashable, EstimateOfRun],
    other: Mapping[Hashable, EstimateOfRun] | None = None,
    null: float = 0.0,
) -> MeanOverRuns:
    """Return the mean over runs, or of the differences between runs that are paired.

    The runs were asked the same facts, so what one fact adds is averaged over runs
    before it is squared; the variance of a mean over runs is added to that over facts,
    since another training run would give another number. With one run alone the
    interval is over facts, and says nothing of other runs.

    Parameters
    ----------
    runs, other : mapping
        An estimate for each run; `other` under the names of those it is taken from.
    null : float, default 0.0
        What `p` is of.

    Returns
    -------
    MeanOverRuns
        Not numbers where no run is in both; no bounds where nothing varies.

    Examples
    --------
    >>> facts = pd.Series([0.1, 0.3, 0.2, 0.4])
    >>> one = {"start 0": mean_of_run(facts, [0, 0, 0, 0])}
    >>> mean = mean_over_runs(one)
    >>> round(mean.estimate, 3), round(mean.low, 3), round(mean.high, 3)
    (0.25, 0.123, 0.377)
    """
    names = [run for run in runs if other is None or run in other]
    nan = float("nan")
    if not names:
        return MeanOverRuns(nan, nan, nan, 0, 0, nan, nan)
    estimates = []
    influences = []
    for run in names:
        estimate = runs[run].estimate
        influence = runs[run].influence
        if other is not None:
            estimate -= other[run].estimate
            influence = influence.sub(other[run].influence, fill_value=0.0)
        estimates.append(estimate)
        influences.append(influence)
    by_run = pd.concat(influences, axis=1).fillna(0.0)
    by_fact = by_run.mean(axis=1)
    variance = float((by_fact**2).sum())
    degrees = np.inf
    n_runs = len(names)
    if n_runs > 1:
        # What facts and runs do together is part of the variance over runs and of that
        # over facts, where it is taken out.
        apart = by_run.sub(by_fact, axis="index").to_numpy()
        of_both = float((apart**2).sum()) / (n_runs * (n_runs - 1))
        of_runs = float(np.var(estimates, ddof=1)) / n_runs
        variance = max(0.0, variance - of_both) + of_runs
        if of_runs > 0:  # Satterthwaite's, the facts being many
            degrees = (n_runs - 1) * (variance / of_runs) ** 2
    mean = float(np.mean(estimates))
    error = float(np.sqrt(variance))
    if error == 0:
        return MeanOverRuns(mean, nan, nan, len(by_fact), n_runs, nan, nan)
    reach = float(t.ppf((1 + CONFIDENCE_LEVEL) / 2, degrees))
    p = float(2 * t.sf(abs(mean - null) / error, degrees))
    detectable = (reach + float(norm.ppf(POWER))) * error
    low, high = mean - reach * error, mean + reach * error
    return MeanOverRuns(mean, low, high, len(by_fact), n_runs, p, detectable)
