"""Every kind of interval beside an implementation of its own, and one number of draws."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from book.tools import chapters, parameters
from helpers import stats
from helpers.metrics import monitor
from notebooks.analysis import calibration
from notebooks.atlas import records

LABELS = np.repeat(["P17", "P36", "P37"], [12, 20, 9])
DRAWS = 20_000


def written_out(table, figure):
    """Draw within relations, one draw after the other, and expand as Hesterberg 2015 does."""
    generator = np.random.default_rng(99)
    rows = [np.flatnonzero(label == LABELS) for label in np.unique(LABELS)]
    figures = [
        figure(table[np.concatenate([generator.choice(r, len(r)) for r in rows])])
        for _ in range(DRAWS)
    ]
    free = len(table) - len(rows)
    reach = scipy.stats.t.ppf(0.975, free) * np.sqrt(len(table) / free)
    return np.quantile(figures, scipy.stats.norm.cdf([-reach, reach]))


def near(found, expected):
    """Assert that two sets of random draws give the same interval."""
    room = 0.03 * (expected[1] - expected[0])
    np.testing.assert_allclose([found.low, found.high], expected, atol=room)


@pytest.fixture(scope="module")
def pairs():
    generator = np.random.default_rng(3)
    bottom = generator.uniform(0.3, 1, len(LABELS))
    return np.column_stack([bottom * generator.beta(2, 3, len(LABELS)), bottom])


@pytest.mark.parametrize(
    ("ours", "figure"),
    [
        (
            lambda p: stats.bootstrap(p, monitor.ratio_of_sums, LABELS, DRAWS),
            lambda r: r[:, 0].sum() / r[:, 1].sum(),
        ),
        (
            lambda p: stats.paired_difference(*p.T, strata=LABELS, n_resamples=DRAWS),
            lambda r: (r[:, 0] - r[:, 1]).mean(),
        ),
    ],
    ids=["ratio of sums", "paired difference"],
)
def test_a_bootstrap_within_strata(pairs, ours, figure):
    near(ours(pairs), written_out(pairs, figure))


def test_an_interval_moved_for_bias():
    table = np.random.default_rng(5).normal(
        size=(41, 4)
    )  # the largest of four rates alike

    def largest(rows):
        return rows.mean(axis=-2).max(axis=-1)

    plain = stats.bootstrap(table, largest, LABELS, DRAWS)
    moved = stats.bootstrap(table, largest, LABELS, DRAWS, centred=True)
    low, high = written_out(table, largest)
    bias = stats.bootstrap_replicates(
        table, largest, LABELS, DRAWS, seed=8
    ).mean() - largest(table)
    assert bias > 0.02
    near(plain, (low, high))
    near(moved, (low - bias, high - bias))


def test_a_deviation_moved_for_bias_is_not_below_zero():
    marks = np.random.default_rng(0).random((6, 3)) < 0.5
    found = stats.bootstrap(
        marks, lambda rows: rows.mean(axis=-2).std(axis=-1), centred=True
    )
    draws = stats.bootstrap_replicates(
        marks, lambda rows: rows.mean(axis=-2).std(axis=-1)
    )
    assert np.quantile(draws, 0.02) - draws.mean() + found.estimate < 0
    assert found.low == 0 < found.high


def test_a_contest_of_methods_follows_the_same_rule(pairs):
    items = pd.Index(range(len(pairs)))
    wide = pd.DataFrame(
        pairs, items, pd.MultiIndex.from_tuples([("m", "x"), ("m", "y")])
    )
    strata = pd.Series(LABELS, items)
    found = calibration.compare_methods(
        wide, strata.eq("P17"), lambda v: v[..., 0].mean(-1), strata
    )
    rows = found[found["model"] == "m"].set_index("method")
    alone = stats.bootstrap(pairs[:, 0], strata=LABELS)
    assert rows.loc["x", ["low", "high"]].tolist() == pytest.approx(
        alone[1:3], abs=1e-12
    )
    behind = stats.paired_difference(pairs[:, 1], pairs[:, 0], strata=LABELS)
    ends = rows.loc["x", ["behind_low", "behind_high"]].tolist()
    assert ends == pytest.approx(behind[1:3], abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second"), [((56, 70), (48, 80)), ((9, 10), (3, 10))]
)
def test_shares_and_their_differences(first, second):
    one, two = stats.wilson_interval(*first), stats.wilson_interval(*second)
    assert one[1:3] == pytest.approx(proportion_confint(*first, method="wilson"))
    expected = confint_proportions_2indep(*first, *second, method="newcomb")
    assert records.difference_of_shares(one, two)[1:3] == pytest.approx(expected)


def test_all_chapters_draw_as_often():
    draws = {
        path.stem: parameters.declared_parameters(path)["n_bootstrap"]
        for path in chapters.TEMPLATES.glob("*.ipynb")
    }
    assert len(draws) == 9
    assert set(draws.values()) == {1000}, draws
