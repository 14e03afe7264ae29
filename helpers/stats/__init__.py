"""Intervals, paired differences and correlations for facts that cluster in relations.

Every bootstrap draws facts with replacement within their strata (relations), so the mix of
relations stays as it is, and takes its bounds by one rule: percentiles of the resamples at a level
expanded for few facts, moved by the resamples' bias only where `centred` is given, never clipped.

Modules, one job each: ``resampling`` (bootstrap) and its ``percentiles``, ``groups`` (tables of
intervals), ``paired``, ``correlations``, ``leave_out``, ``shares``,
``kinds`` (how captions name an interval) and ``results`` (what they return).
"""

from helpers.stats.correlations import correlation, fisher, pearson
from helpers.stats.groups import intervals
from helpers.stats.kinds import named
from helpers.stats.leave_out import without_each
from helpers.stats.paired import mcnemar, paired_difference
from helpers.stats.percentiles import bounds
from helpers.stats.resampling import Statistic, bootstrap, mean, replicates
from helpers.stats.results import Correlation, Difference, Interval, Mcnemar
from helpers.stats.shares import wilson

__all__ = [
    "Correlation",
    "Difference",
    "Interval",
    "Mcnemar",
    "Statistic",
    "bootstrap",
    "bounds",
    "correlation",
    "fisher",
    "intervals",
    "mcnemar",
    "mean",
    "named",
    "paired_difference",
    "pearson",
    "replicates",
    "wilson",
    "without_each",
]
