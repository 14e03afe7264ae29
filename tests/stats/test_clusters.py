"""Differences by clusters: by hand, against scipy and statsmodels, and in simulations."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar

from helpers import UserError
from helpers.stats import clusters

MARKS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60)


@given(MARKS)
def test_without_clusters_it_is_the_paired_t_test(pairs):
    first, second = np.array(pairs, dtype=float).T
    difference = clusters.clustered_difference(first, second)
    assert difference.estimate == pytest.approx(first.mean() - second.mean())
    assert difference.n == len(pairs)
    if np.ptp(first - second) == 0:
        return
    test = scipy.stats.ttest_rel(first, second)
    bounds = test.confidence_interval()
    assert difference[1:3] == pytest.approx([bounds.low, bounds.high])
    assert difference.p == pytest.approx(test.pvalue)
    assert difference.freedom == test.df


def test_clusters_of_one_size_are_a_t_test_of_their_means():
    """By hand: means .5, 0, 1 of three clusters; their t has two degrees of freedom."""
    first = [1, 0, 0, 0, 1, 1]
    labels = ["a", "a", "b", "b", "c", "c"]
    difference = clusters.clustered_difference(first, [0] * 6, labels)
    test = scipy.stats.ttest_1samp([0.5, 0, 1], 0)
    assert difference.estimate == pytest.approx(0.5)
    assert difference.error == pytest.approx(0.5 / 3**0.5)
    assert difference.freedom == 2
    assert difference.p == pytest.approx(test.pvalue)
    assert difference.low == pytest.approx(test.confidence_interval().low)


@given(MARKS)
def test_mcnemar_is_that_of_statsmodels_and_a_binomial_test(pairs):
    first, second = np.array(pairs).T
    table = np.zeros((2, 2))
    for one, other in pairs:
        table[int(one), int(other)] += 1
    p = clusters.exact_mcnemar_p_value(first, second)
    assert p == pytest.approx(mcnemar(table, exact=True).pvalue)
    n_differing = int(table[0, 1] + table[1, 0])
    if n_differing:
        expected = scipy.stats.binomtest(int(table[1, 0]), n_differing).pvalue
        assert p == pytest.approx(expected)
    else:
        assert p == 1


def test_pairs_that_all_differ_alike_have_newcombes_interval():
    alike = clusters.clustered_difference([1.0] * 30, [1.0] * 30)
    assert (alike.estimate, alike.p, alike.error) == (0, 1, 0)
    assert -0.2 < alike.low < 0 < alike.high < 0.2
    few = clusters.clustered_difference([1.0] * 5, [0.0] * 5)
    assert few.estimate == 1
    assert np.isnan(few[1:4]).all()


def test_too_few_documents_or_clusters_have_no_interval():
    for difference in (
        clusters.clustered_difference([1.0], [0.0]),
        clusters.clustered_difference([1.0, 0.0], [0.0, 0.0], ["a", "a"]),
    ):
        assert difference.estimate == pytest.approx(1 / difference.n)
        assert np.isnan(difference[1:4]).all()
    assert np.isnan(clusters.clustered_difference([], []).estimate)
    with pytest.raises(UserError, match="There are 1 clusters for 2 documents"):
        clusters.clustered_difference([1, 0], [0, 0], ["a"])


def equal_models(generator, n, size, icc):
    """Draw marks of two models, equally good, whose marks go together in clusters.

    Each model's marks have the correlation `icc` within a cluster: with this chance a
    document has its cluster's mark, and else its own.
    """
    marks = []
    shared = np.sqrt(icc)
    of_cluster = np.arange(n) // size
    for _ in range(2):
        own = generator.random(n) < 0.6
        cluster_mark = (generator.random(n // size) < 0.6)[of_cluster]
        is_shared = generator.random(n) < shared
        marks.append(np.where(is_shared, cluster_mark, own).astype(float))
    return marks, of_cluster


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 300])
@pytest.mark.parametrize("icc", [0.0, 0.5])
def test_zero_is_excluded_in_one_of_twenty_pairs_of_equal_models(n, icc):
    generator = np.random.default_rng([n, int(10 * icc)])
    n_pairs = 2000
    n_excluded = 0
    for _ in range(n_pairs):
        (first, second), labels = equal_models(generator, n, 6, icc)
        difference = clusters.clustered_difference(
            first, second, labels if icc else None
        )
        n_excluded += not difference.low <= 0 <= difference.high
    assert 0.03 <= n_excluded / n_pairs <= 0.07
