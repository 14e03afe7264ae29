"""Intervals, paired differences and correlations for facts in relations.

Every bootstrap draws facts with replacement within their strata (relations), so the mix
of relations stays as it is, and takes its bounds by one rule: percentiles of the
resamples at a level expanded for few facts, moved by the resamples' bias only where
`centred` is given, never clipped.
"""

from helpers.stats.correlations import (
    FEWEST_MODELS,
    correlation,
    correlation_over_models,
    correlations_without_each_group,
    fisher_interval,
    pearson_correlation,
)
from helpers.stats.group_intervals import (
    estimate_with_interval,
    group_averages,
    intervals_by_group,
)
from helpers.stats.paired import (
    expanded_p_value,
    holm_adjusted_p_values,
    paired_difference,
    simultaneous_level,
)
from helpers.stats.ranks import (
    GroupInterval,
    RankTest,
    bootstrap_over_groups,
    partial_spearman_correlation,
    rank_correlation_test,
    spearman_correlation,
)
from helpers.stats.resampling import (
    Statistic,
    bootstrap,
    bootstrap_replicates,
    interval_bounds,
    mean,
    student_interval,
    wilson_interval,
)
from helpers.stats.results import Correlation, Difference, Interval, interval_caption
from helpers.stats.within_groups import rank_correlation_within_groups

# Raised where the same facts and seed give other bounds.
INTERVALS_VERSION = "4"

__all__ = [
    "FEWEST_MODELS",
    "INTERVALS_VERSION",
    "Correlation",
    "Difference",
    "GroupInterval",
    "Interval",
    "RankTest",
    "Statistic",
    "bootstrap",
    "bootstrap_over_groups",
    "bootstrap_replicates",
    "correlation",
    "correlation_over_models",
    "correlations_without_each_group",
    "estimate_with_interval",
    "expanded_p_value",
    "fisher_interval",
    "group_averages",
    "holm_adjusted_p_values",
    "interval_bounds",
    "interval_caption",
    "intervals_by_group",
    "mean",
    "paired_difference",
    "partial_spearman_correlation",
    "pearson_correlation",
    "rank_correlation_test",
    "rank_correlation_within_groups",
    "simultaneous_level",
    "spearman_correlation",
    "student_interval",
    "wilson_interval",
]
