"""Intervals, paired differences and correlations for facts in relations.

Every bootstrap draws facts with replacement within their strata (relations), so the mix
of relations stays as it is, and takes its bounds by one rule: percentiles of the
resamples at a level expanded for few facts, moved by the resamples' bias only where
`centred` is given, never clipped.
"""

from helpers.stats.correlations import (
    FEWEST_MODELS,
    correlation,
    fisher,
    over_models,
    pearson,
    without_each,
)
from helpers.stats.group_intervals import averages, estimate, intervals
from helpers.stats.paired import holm, paired_difference
from helpers.stats.ranks import (
    Grouped,
    RankTest,
    bootstrap_groups,
    partial_spearman,
    rank_test,
    spearman,
)
from helpers.stats.resampling import (
    Statistic,
    bootstrap,
    bounds,
    mean,
    replicates,
    wilson,
)
from helpers.stats.results import Correlation, Difference, Interval, named

VERSION = (
    "4"  # of the intervals: raise it where the same facts and seed give other bounds
)

__all__ = [
    "FEWEST_MODELS",
    "VERSION",
    "Correlation",
    "Difference",
    "Grouped",
    "Interval",
    "RankTest",
    "Statistic",
    "averages",
    "bootstrap",
    "bootstrap_groups",
    "bounds",
    "correlation",
    "estimate",
    "fisher",
    "holm",
    "intervals",
    "mean",
    "named",
    "over_models",
    "paired_difference",
    "partial_spearman",
    "pearson",
    "rank_test",
    "replicates",
    "spearman",
    "wilson",
    "without_each",
]
