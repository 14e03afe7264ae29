"""Tables of intervals by relation."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError, stats


@pytest.fixture
def table():
    generator = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "relation": ["P17"] * 30 + ["P36"] * 10 + ["P37"],
            "top": generator.random(41),
            "bottom": 1 + generator.random(41),
        }
    )


def test_intervals_by_relation(table, measures):
    found = stats.intervals_by_group(table, measures, n_resamples=200)
    assert len(found) == 2 * (3 + 2)
    rows = found[found["measure"] == "ratio"].set_index("relation")
    by_hand = {
        r: g["top"].sum() / g["bottom"].sum() for r, g in table.groupby("relation")
    }
    for relation, value in by_hand.items():
        assert rows.loc[relation, "estimate"] == pytest.approx(value)
    assert rows.loc["all", "estimate"] == pytest.approx(
        table["top"].sum() / table["bottom"].sum()
    )
    assert rows.loc["mean", "estimate"] == pytest.approx(
        np.mean(list(by_hand.values()))
    )
    assert rows["n"].to_dict() == {
        "P17": 30,
        "P36": 10,
        "P37": 1,
        "all": 41,
        "mean": 41,
    }
    assert np.isnan(rows.loc["P37", "low"])
    inside = rows.drop(index="P37")
    assert (inside["low"] < inside["estimate"]).all()
    assert (inside["estimate"] < inside["high"]).all()


def test_a_relations_interval_depends_on_itself_alone(table, measures):
    whole = stats.intervals_by_group(table, measures, n_resamples=100)
    mixed = stats.intervals_by_group(
        table.sample(frac=1, random_state=2), measures, n_resamples=100
    )
    pd.testing.assert_frame_equal(whole, mixed)
    part = stats.intervals_by_group(
        table[table["relation"] == "P36"], measures, n_resamples=100
    )
    pd.testing.assert_frame_equal(
        part[part["relation"] == "P36"].reset_index(drop=True),
        whole[whole["relation"] == "P36"].reset_index(drop=True),
    )


def test_another_seed_draws_every_relation_anew(table, measures):
    one, other = (
        stats.intervals_by_group(table, measures, n_resamples=50, seed=s)
        for s in (0, 1)
    )
    assert (
        one["low"] != other["low"]
    ).all()  # not a number, for one fact alone, differs too
    assert one["estimate"].equals(other["estimate"])


def test_the_mean_over_relations_of_one_size_is_as_uncertain_as_all_facts():
    """Fifty facts in ten relations leave forty degrees of freedom, not 49, to both."""
    values = np.random.default_rng(6).normal(size=50)
    table = pd.DataFrame({"relation": np.arange(50) // 5, "top": values})
    found = stats.intervals_by_group(
        table, {"top": (["top"], stats.mean)}, n_resamples=4000
    )
    width = (found["high"] - found["low"]).set_axis(found["relation"])
    assert width["mean"] == pytest.approx(width["all"], rel=0.15)


def test_the_mean_leaves_out_relations_without_a_number(table):
    table.loc[table["relation"] == "P36", "top"] = np.nan
    found = stats.intervals_by_group(
        table, {"top": (["top"], stats.mean)}, n_resamples=50
    )
    rows = found.set_index("relation")["estimate"]
    assert np.isnan(rows["P36"])
    assert rows["mean"] == pytest.approx((rows["P17"] + rows["P37"]) / 2)


def test_intervals_of_nothing(table, measures):
    found = stats.intervals_by_group(table.iloc[:0], measures)
    assert found["relation"].tolist() == ["all", "mean"] * 2
    assert found["n"].eq(0).all()
    assert found[["estimate", "low", "high"]].isna().all(axis=None)


def test_strata_within_groups_narrow_intervals():
    hits = np.repeat([0.0, 1.0], 40)
    table = pd.DataFrame(
        {"way": "list", "relation": hits, "hit": [1.0, *hits[1:-1], 0.0]}
    )
    rates = {"rate": (["hit"], stats.mean)}
    loose = stats.intervals_by_group(table, rates, by="way")
    tight = stats.intervals_by_group(table, rates, by="way", strata="relation")
    assert loose["estimate"].eq(0.5).all()
    assert (loose["high"] - loose["low"]).iloc[:2].gt(0.1).all()
    widths = [each["high"] - each["low"] for each in (tight, loose)]
    assert (
        (widths[0] < 0.6 * widths[1]).iloc[:2].all()
    )  # facts of one relation are nearly alike
    with pytest.raises(UserError, match="lacks the column relation"):
        stats.intervals_by_group(
            table.drop(columns="relation"), rates, by="way", strata="relation"
        )


def test_centred_means_do_not_move(table, measures):
    found = stats.intervals_by_group(table, measures, n_resamples=200, centred=True)
    usual = stats.intervals_by_group(table, measures, n_resamples=200)
    width = (usual["high"] - usual["low"]).fillna(1)
    assert ((found["low"] - usual["low"]).abs().fillna(0) < 0.1 * width).all()


ITEMS = pd.DataFrame(
    {
        "kind": ["b", "b", "a", "b"],
        "hit": [1.0, 0.0, 1.0, 1.0],
        "size": [0.5, 1.5, 2.0, 4.0],
    }
)


def test_shares_get_wilsons_interval_and_other_numbers_a_bootstrap():
    found = stats.group_averages(ITEMS, ["hit", "size"], by="kind", seed=3)
    groups = {
        "b": ITEMS.loc[[0, 1, 3], "size"],
        "a": ITEMS.loc[[2], "size"],
    }  # as they appear
    assert found["kind"].tolist() == ["b", "b", "a", "a"]
    for (kind, sizes), hits in zip(groups.items(), (2, 1)):
        share, size = found[found["kind"] == kind].iloc[:, 2:].to_numpy().tolist()
        assert share == pytest.approx(stats.wilson_interval(hits, len(sizes)))
        assert size == pytest.approx(
            stats.bootstrap(sizes, n_resamples=1000, seed=3), nan_ok=True
        )


def test_no_items_have_no_groups_and_undefined_averages():
    found = stats.group_averages(ITEMS[:0], ["hit", "size"], by="kind")
    assert found.empty
    assert list(found) == ["kind", "measure", "estimate", "low", "high", "n"]
    whole = stats.group_averages(ITEMS[:0], ["hit"])
    assert list(whole) == ["measure", "estimate", "low", "high", "n"]
    assert whole["estimate"].isna().all()
    assert whole["n"].tolist() == [0]


@given(st.integers(0, 60), st.integers(0, 60))
def test_wilson_agrees_with_scipy(successes, failures):
    n = successes + failures
    found = stats.wilson_interval(successes, n)
    if n == 0:
        assert math.isnan(found.estimate)
        return
    low, high = scipy.stats.binomtest(successes, n).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
    assert 0 <= found.low <= found.estimate + 1e-12
    assert found.estimate <= found.high + 1e-12 <= 1 + 1e-11


def test_a_share_of_none_or_all_has_wilsons_interval():
    for share in (0.0, 1.0):
        found = stats.estimate_with_interval([share] * 30, strata=[0, 1] * 15)
        assert found == pytest.approx(stats.wilson_interval(30 * share, 30))
    mixed, strata = [1.0, 0.0, 1.0] * 9, [0, 1, 2] * 9
    assert stats.estimate_with_interval(mixed, strata=strata) == stats.bootstrap(
        mixed, strata=strata
    )
    assert math.isnan(stats.estimate_with_interval([0.3] * 30).low)
    assert math.isnan(stats.estimate_with_interval([]).estimate)


def test_tables_of_shares_of_all_have_wilsons_intervals():
    """The mean over groups of 1, 3 and 6 varies as a rate of 9 / (1 + 1/3 + 1/6) = 6 facts does."""
    table = pd.DataFrame({"relation": list("abbbcccccc"), "hit": 1.0})
    found = stats.intervals_by_group(
        table, {"rate": (["hit"], stats.mean)}, n_resamples=20
    )
    rows = found.set_index("relation")
    for name, n in {"a": 1, "b": 3, "c": 6, "all": 10, "mean": 6}.items():
        assert rows.loc[name, ["low", "high"]].tolist() == pytest.approx(
            stats.wilson_interval(n, n)[1:3]
        )
    one = stats.intervals_by_group(
        table.assign(hit=[0.0] + [1.0] * 9), {"rate": (["hit"], stats.mean)}
    )
    rows = one.set_index("relation")
    assert rows.loc["c", ["low", "high"]].tolist() == pytest.approx(
        stats.wilson_interval(6, 6)[1:3]
    )
    assert rows.loc["all", "low"] < 0.9 < rows.loc["all", "high"]


def test_what_cannot_be_is_refused(measures):
    for call, sentence in (
        (
            lambda: stats.intervals_by_group(pd.DataFrame({"relation": []}), measures),
            "columns top, bottom",
        ),
        (
            lambda: stats.group_averages(ITEMS, ["hit", "none"], by="group"),
            "lacks the columns none, gr",
        ),
        (lambda: stats.wilson_interval(3, 2), "3 successes of 2"),
    ):
        with pytest.raises(UserError, match=sentence):
            call()
