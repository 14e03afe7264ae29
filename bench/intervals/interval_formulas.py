"""Intervals of a mean, and comparisons of two models, as six tools make them.

Every function takes scores of many simulated samples at once, one row a sample. Those
of other tools are their formulas written out; ``own_functions.csv`` says that they give
what the tools' own functions give.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.stats

from helpers import stats
from helpers.stats.clusters import clustered_difference

Scores = np.ndarray  # a row a sample, a column an item; or one sample
Labels = np.ndarray | None  # the cluster of each item, numbered from 0
LEVEL = 0.95
NORMAL_REACH = 1.96  # what readers multiply a printed standard error by
BOOTSTRAP_TESTS = 10_000  # resamples of HELM


class Bounds(NamedTuple):
    """The lower and the upper bounds of intervals, one a sample."""

    low: np.ndarray
    high: np.ndarray


class Comparison(NamedTuple):
    """Whether two models are called different, and how wide the intervals are."""

    is_called: np.ndarray
    width: np.ndarray


def standard_error(scores: Scores) -> np.ndarray:
    """Return that of a mean of independent scores: sample deviation by root n.

    lm-evaluation-harness 0.4.13, ``lm_eval/api/metrics.py``, lines 337 to 343;
    lighteval 0.13.0, ``metrics/utils/stderr.py``, lines 43 to 49; Inspect 0.3.285,
    ``scorer/_metrics/std.py``, lines 158 to 161.
    """
    return scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])


def clustered_error(scores: Scores, clusters: np.ndarray) -> np.ndarray:
    """Return Inspect's standard error by clusters (the same file, lines 86 to 118)."""
    n_clusters = clusters.max() + 1
    deviations = scores - scores.mean(axis=1, keepdims=True)
    sums = deviations @ np.eye(n_clusters)[clusters]
    variance = (sums**2).sum(axis=1) * n_clusters / (n_clusters - 1)
    return np.sqrt(variance) / scores.shape[1]


def around_mean(scores: Scores, reach: np.ndarray) -> Bounds:
    """Return the mean less and plus a reach."""
    means = scores.mean(axis=1)
    return Bounds(means - reach, means + reach)


def normal_interval(scores: Scores, clusters: Labels) -> Bounds:
    """Return the mean and 1.96 standard errors, which know no clusters."""
    return around_mean(scores, NORMAL_REACH * standard_error(scores))


def inspect_error(scores: Scores, clusters: Labels) -> np.ndarray:
    """Return Inspect's standard error, by clusters where there are any."""
    if clusters is None:
        return standard_error(scores)
    return clustered_error(scores, clusters)


def inspect_normal_interval(scores: Scores, clusters: Labels) -> Bounds:
    """Return the mean and 1.96 of Inspect's ``stderr``, with its clusters."""
    return around_mean(scores, NORMAL_REACH * inspect_error(scores, clusters))


def degrees_of_freedom(scores: Scores, clusters: Labels) -> int:
    """Return items or clusters less one."""
    if clusters is None:
        return scores.shape[1] - 1
    return int(clusters.max())


def inspect_t_interval(scores: Scores, clusters: Labels) -> Bounds:
    """Return Inspect's ``ci``, by Student's t (lines 172 to 251)."""
    freedom = degrees_of_freedom(scores, clusters)
    quantile = scipy.stats.t.ppf((1 + LEVEL) / 2, freedom)
    return around_mean(scores, quantile * inspect_error(scores, clusters))


def inspect_wilson_interval(scores: Scores, clusters: Labels) -> Bounds:
    """Return Inspect's ``ci_wilson`` (lines 262 to 391), by effective n in clusters."""
    share = scores.mean(axis=1)
    n = np.full(len(scores), float(scores.shape[1]))
    critical = scipy.stats.norm.ppf((1 + LEVEL) / 2)
    if clusters is not None:
        variance = clustered_error(scores, clusters) ** 2
        binomial = share * (1 - share)
        is_known = (binomial > 0) & (variance > 0)
        effective = np.divide(binomial, variance, out=n.copy(), where=is_known)
        n = np.minimum(n, effective)
        critical = scipy.stats.t.ppf((1 + LEVEL) / 2, clusters.max())
    squared = critical**2
    denominator = 1 + squared / n
    centre = share + squared / (2 * n)
    centre /= denominator
    variance_of_share = share * (1 - share) / n
    spread = np.sqrt(variance_of_share + squared / (4 * n**2))
    reach = critical * spread / denominator
    low = np.maximum(centre - reach, 0)
    high = np.minimum(centre + reach, 1)
    return Bounds(low, high)


def bounds_of_each(results: list) -> Bounds:
    """Return the bounds of single intervals as columns."""
    low = []
    high = []
    for result in results:
        low.append(result.low)
        high.append(result.high)
    return Bounds(np.array(low), np.array(high))


def our_wilson_interval(scores: Scores, clusters: Labels) -> Bounds:
    """Return `helpers.stats.wilson_interval`; an item counts by its share."""
    sums = scores.sum(axis=1)
    n = scores.shape[1]
    return bounds_of_each([stats.wilson_interval(total, n) for total in sums])


def our_bootstrap_interval(scores: Scores, clusters: Labels) -> Bounds:
    """Return `helpers.stats.bootstrap`, within clusters as the chapters do."""
    intervals = []
    for seed, sample in enumerate(scores):
        interval = stats.bootstrap(sample, strata=clusters, seed=seed)
        intervals.append(interval)
    return bounds_of_each(intervals)


def our_clustered_interval(scores: Scores, clusters: Labels) -> Bounds:
    """Return `clustered_difference` of scores from nothing: Student's t by clusters."""
    zeros = np.zeros(scores.shape[1])
    intervals = []
    for sample in scores:
        interval = clustered_difference(sample, zeros, clusters)
        intervals.append(interval)
    return bounds_of_each(intervals)


def excludes_zero(bounds: Bounds) -> Comparison:
    """Call two models different where the interval of the difference leaves out 0."""
    is_above = bounds.low > 0
    is_below = bounds.high < 0
    is_called = is_above | is_below
    return Comparison(is_called, bounds.high - bounds.low)


def independent_errors(first: Scores, second: Scores, clusters: Labels) -> Comparison:
    """Compare by two standard errors as if each model had items of its own.

    The z test of lm-evaluation-harness's ``scripts/model_comparator.py``, lines 25 to
    33 (commit 4e7e0d4), which is there for one model with two programs.
    """
    error = np.hypot(standard_error(first), standard_error(second))
    return excludes_zero(around_mean(first - second, NORMAL_REACH * error))


def inspect_overlap(first: Scores, second: Scores, clusters: Labels) -> Comparison:
    """Compare by whether two of Inspect's ``ci`` overlap (see its lines 182 to 185)."""
    of_first = inspect_t_interval(first, clusters)
    of_second = inspect_t_interval(second, clusters)
    first_is_above = of_first.low > of_second.high
    second_is_above = of_second.low > of_first.high
    is_called = first_is_above | second_is_above
    return Comparison(is_called, np.full(len(first), np.nan))


def helm_p_value(
    better: Scores, worse: Scores, generator: np.random.Generator
) -> float:
    """Return HELM's p-value of one sample (0.5.16).

    ``benchmark/metrics/summarization_metrics.py``, lines 388 to 395. Where pairs come
    more than once, resamples are drawn as counts of each, which are distributed alike.
    """
    n = len(better)
    pairs, counts = np.unique([better, worse], axis=1, return_counts=True)
    if len(counts) < n:
        drawn = generator.multinomial(n, counts / n, size=BOOTSTRAP_TESTS)
        means = drawn @ pairs.T / n
    else:
        rows = generator.integers(n, size=(BOOTSTRAP_TESTS, n))
        of_better = better[rows].mean(axis=1)
        of_worse = worse[rows].mean(axis=1)
        means = np.column_stack([of_better, of_worse])
    # As in HELM: where a resample equals twice the gap, rounding decides.
    gap = better.mean() - worse.mean()
    return float((means[:, 0] - means[:, 1] > 2 * gap).mean())


def helm_paired_bootstrap(
    first: Scores, second: Scores, clusters: Labels
) -> Comparison:
    """Compare the model with the better mean with the other, at p < .05.

    Two equal means are never called different here, though p is 0 for equal answers.
    """
    is_called = np.zeros(len(first), dtype=bool)
    for seed, (one, other) in enumerate(zip(first, second, strict=True)):
        gap = one.mean() - other.mean()
        better, worse = (one, other) if gap > 0 else (other, one)
        p = helm_p_value(better, worse, np.random.default_rng(seed))
        is_called[seed] = gap != 0 and p < 1 - LEVEL
    return Comparison(is_called, np.full(len(first), np.nan))


def our_paired_difference(
    first: Scores, second: Scores, clusters: Labels
) -> Comparison:
    """Compare by `helpers.stats.paired_difference`, within clusters."""
    results = []
    for seed, (one, other) in enumerate(zip(first, second, strict=True)):
        result = stats.paired_difference(one, other, strata=clusters, seed=seed)
        results.append(result)
    return excludes_zero(bounds_of_each(results))


def our_clustered_difference(
    first: Scores, second: Scores, clusters: Labels
) -> Comparison:
    """Compare by `clustered_difference`: Student's t, by clusters if there are any."""
    results = []
    for one, other in zip(first, second, strict=True):
        result = clustered_difference(one, other, clusters)
        results.append(result)
    return excludes_zero(bounds_of_each(results))


# Names as the results have them; the page's tables take their columns from here.
MEANS: dict[str, Callable[..., Bounds]] = {
    "stderr": normal_interval,
    "Inspect stderr": inspect_normal_interval,
    "Inspect ci": inspect_t_interval,
    "Inspect ci_wilson": inspect_wilson_interval,
    "our Wilson": our_wilson_interval,
    "our bootstrap": our_bootstrap_interval,
}
# Without clusters this is Inspect's ``ci``.
MEANS_OF_CLUSTERS = MEANS | {"our t": our_clustered_interval}
DIFFERENCES: dict[str, Callable[..., Comparison]] = {
    "two stderr": independent_errors,
    "Inspect ci, overlap": inspect_overlap,
    "HELM paired bootstrap": helm_paired_bootstrap,
    "our paired bootstrap": our_paired_difference,
    "our t": our_clustered_difference,
}
