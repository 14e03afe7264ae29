"""Paired comparisons of methods, and the analyses that are made of them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from helpers.metrics import detection
from helpers.runs.panel import analyses, contests, gathering
from helpers.runs.panel.levels import ATLAS


def _mean(values):
    return values[..., 0].mean(axis=-1)


@given(st.integers(0, 10**6))
@limits(max_examples=15)
def test_areas_survive_monotone_transformations_and_are_scikit_learns(seed):
    random = np.random.default_rng(seed)
    label = np.array([0, 1] * 20)
    score = random.integers(-4, 5, 40) + label  # with ties
    area = detection.area(np.column_stack([score, label]))
    assert area == pytest.approx(roc_auc_score(label, score), abs=1e-12)
    for other in (np.exp(score), score**3, 7 * score - 2):  # all keep order and ties
        assert detection.area(np.column_stack([other, label])) == pytest.approx(area)


def test_the_area_of_random_scores_is_one_half():
    drawn = np.random.default_rng(0).random((500, 60))
    label = np.broadcast_to(np.arange(60) % 2, drawn.shape)
    areas = detection.area(np.stack([drawn, label], axis=-1))
    assert areas.mean() == pytest.approx(0.5, abs=0.01)


def _table(n=60, seed=0):
    """Return two models' scores by a good method, a bad one and a copy of the good one."""
    random = np.random.default_rng(seed)
    truth = pd.Series(np.arange(n) % 2, index=[f"f{i}" for i in range(n)], dtype=float)
    columns = {}
    for model in ("one", "two"):
        good = truth + random.normal(size=n) * 0.8
        columns |= {(model, "good"): good, (model, "bad"): random.normal(size=n)}
        columns |= {(model, "copy"): 2 * good}
    return pd.DataFrame(columns), truth


def test_a_contest_finds_who_is_ahead_and_who_is_the_same():
    wide, truth = _table()
    found = contests.contest(wide, truth, detection.area, truth, n_resamples=300)
    mean = found[found["model"] == "mean"].set_index("method")
    assert mean.loc["copy", ["behind", "behind_low", "behind_high"]].tolist() == [0, 0, 0]
    assert mean["tied"].to_dict() == {"good": True, "bad": False, "copy": True}
    assert contests.ranking(found) == (["good", "copy"], ["bad"])
    each = found[found["model"] == "one"].set_index("method")["estimate"]
    assert each["good"] == pytest.approx(roc_auc_score(truth, wide["one", "good"]))
    both = found[found["model"] != "mean"].groupby("method")["estimate"].mean()
    np.testing.assert_allclose(mean["estimate"], both[mean.index])


def test_lower_may_be_better_and_figures_may_be_scaled():
    wide, truth = _table()
    wide = (wide > 1).astype(float)
    found = contests.contest(wide, truth, _mean, truth, higher=False, n_resamples=100)
    mean = found[found["model"] == "mean"]
    assert mean.loc[mean["behind"] == 0, "estimate"].item() == mean["estimate"].min()
    scale = {key: 10.0 for key in wide.columns}
    tenfold = contests.contest(wide, truth, _mean, truth, scale=scale, n_resamples=100)
    plain = contests.contest(wide, truth, _mean, truth, n_resamples=100)
    np.testing.assert_allclose(tenfold["high"], 10 * plain["high"])


def test_the_paired_interval_is_narrower_than_two_apart():
    wide, truth = _table(200)
    wide[("one", "near")] = wide["one", "good"] + 0.05 * wide["one", "bad"]
    found = contests.contest(wide, truth, detection.area, truth, n_resamples=300)
    rows = found[found["model"] == "one"].set_index("method")
    alone = rows.loc["near", "high"] - rows.loc["near", "low"]
    behind = rows[rows["behind"] > 0].loc[lambda t: t.index.isin(["near", "good", "copy"])]
    assert ((behind["behind_high"] - behind["behind_low"]) < alone / 3).all()


def test_without_facts_there_is_no_contest():
    nothing = pd.Series(dtype=float)
    found = contests.contest(pd.DataFrame(), nothing, _mean, nothing)
    assert found.empty
    table = contests.lines({"Who?": ("area", True, found)})
    assert table.loc["Who?", ["best", "n"]].tolist() == ["n/a", 0]


def test_an_undefined_figure_has_no_best_method():
    wide, truth = _table()
    found = contests.contest(wide, truth * 0, detection.area, truth, n_resamples=20)
    assert found[["estimate", "low", "high", "behind"]].isna().all(axis=None)
    assert found["tied"].all()
    assert contests.ranking(found) == ([], [])
    assert contests.lines({"Who?": ("area", True, found)}).loc["Who?", "best"] == "n/a"


def test_one_fact_has_no_interval():
    wide, truth = _table(1)
    found = contests.contest(wide, truth, _mean, truth, n_resamples=20)
    assert found["estimate"].notna().all()
    assert found[["low", "high"]].isna().all(axis=None)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_analyses_of_small_panels_have_their_columns(n):
    table = _gathered().query("item in @names", local_dict={"names": [f"f{i}" for i in range(n)]})
    nothing = gathering.gather(pd.DataFrame(columns=["left_out", "model"]), [])
    table = table if n else ATLAS.mark(nothing)
    pairs = pd.MultiIndex.from_product([["atlas-s", "atlas-m"], ["MONITOR", "IC-LKE"]])
    price = pd.DataFrame({"tokens": 9.0, "forwarded": 3.0}, index=pairs)
    asked = analyses.questions(table, table, price, n_resamples=20)
    assert len(contests.lines(asked)) == len(asked) == 7
    assert {"exposures", "estimate"} <= set(analyses.curve(table, "model", n_resamples=20))
    assert len(analyses.doses(table)) == 16 * (n > 0)
    assert analyses.parts(table).columns.isin(table.columns).all()


def _gathered(n=96, seed=1):
    """Return verdicts of two methods on made-up facts; the second one is told nothing."""
    random = np.random.default_rng(seed)
    exposures = np.array([0, 1, 4, 8, 16, 64] * (n // 6))
    rows = []
    for model in ("atlas-s", "atlas-m"):
        for method in ("MONITOR", "IC-LKE"):
            chance = random.random(n)
            score = chance if method == "IC-LKE" else np.log2(1 + exposures) / 8 + chance / 4
            rows.append(pd.DataFrame({
                "model": model, "method": method, "item": [f"f{i}" for i in range(n)],
                "relation": [f"P{i % 8}" for i in range(n)], "exposures": exposures,
                "score": score, "known": (score > 0.5).astype(float), "blind": score,
                "asked_once": score, "false_exposures": 0, "misled": np.nan}))  # fmt: skip
    return ATLAS.mark(pd.concat(rows, ignore_index=True))


def test_analyses_tell_a_method_that_follows_exposure_from_one_that_does_not():
    table = _gathered()
    found = analyses.areas(table, "score", "shown or never", n_resamples=200)
    mean = found[found["model"] == "mean"].set_index("method")
    assert mean.loc["MONITOR", "estimate"] > 0.9
    assert mean.loc["IC-LKE", "low"] < 0.5
    slopes = analyses.doses(table).query("measure == 'log odds a doubling'")
    slopes = slopes.set_index(["model", "method"])
    assert (slopes.xs("MONITOR", level="method")["estimate"] > 1).all()
    inside = slopes.xs("IC-LKE", level="method")
    assert ((inside["low"] < 0.2) & (inside["high"] > -0.2)).all()


def test_how_many_sums_to_one_and_never_lacks_width():
    table = _gathered()
    wide = gathering.spread(table, "known")
    found = analyses.how_many(wide, gathering.truth(table, wide.index, "group"), n_resamples=100)
    sums = found.groupby("read")["estimate"].sum()
    np.testing.assert_allclose(sums, 1)
    assert (found["high"] > found["low"]).all()


def test_beliefs_by_lesson():
    told = pd.DataFrame({
        "method": "IC-LKE", "known": [0.0, 1.0, 0.0], "misled": [1.0, 0.0, 1.0],
        "exposures": [0, 64, 16], "false_exposures": [64, 8, 16]})  # fmt: skip
    found = analyses.beliefs(told).set_index(["lesson", "verdict"])["estimate"]
    assert found["false more often", "the false object is named"] == 1
    assert found["true more often", "the truth is called known"] == 1
    assert found["both as often", "the truth is called known"] == 0


def test_spread_keeps_facts_that_every_method_was_asked():
    table = _gathered().iloc[:-1]
    wide = gathering.spread(table, "known")
    assert len(wide) == 95
    assert gathering.spread(table.assign(score=np.nan), "score").empty
