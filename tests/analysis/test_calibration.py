"""Paired comparisons of methods, and the analyses that are made of them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from helpers.metrics import detection
from notebooks.analysis import calibration as analysis
from notebooks.analysis.exposure_levels import ATLAS, OFTEN, SELDOM, SHOWN


def _mean(values):
    return values[..., 0].mean(axis=-1)


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
    found = analysis.contest(wide, truth, detection.area, truth, n_resamples=300)
    mean = found[found["model"] == "mean"].set_index("method")
    ahead = mean.loc["copy", ["behind", "behind_low", "behind_high"]]
    assert ahead.isna().tolist() == [False, True, True]  # no resample tells the two apart
    assert ahead["behind"] == 0
    assert mean["tied"].to_dict() == {"good": True, "bad": False, "copy": True}
    assert analysis.ranking(found) == (["good", "copy"], ["bad"])
    each = found[found["model"] == "one"].set_index("method")["estimate"]
    assert each["good"] == pytest.approx(roc_auc_score(truth, wide["one", "good"]))
    both = found[found["model"] != "mean"].groupby("method")["estimate"].mean()
    np.testing.assert_allclose(mean["estimate"], both[mean.index])


def test_lower_may_be_better_and_figures_may_be_scaled():
    wide, truth = _table()
    wide = (wide > 1).astype(float)
    found = analysis.contest(wide, truth, _mean, truth, higher=False, n_resamples=100)
    mean = found[found["model"] == "mean"]
    assert mean.loc[mean["behind"] == 0, "estimate"].item() == mean["estimate"].min()
    scale = {key: 10.0 for key in wide.columns}
    tenfold = analysis.contest(wide, truth, _mean, truth, scale=scale, n_resamples=100)
    plain = analysis.contest(wide, truth, _mean, truth, n_resamples=100)
    np.testing.assert_allclose(tenfold["high"], 10 * plain["high"])


def test_the_paired_interval_is_narrower_than_two_apart():
    wide, truth = _table(200)
    wide[("one", "near")] = wide["one", "good"] + 0.05 * wide["one", "bad"]
    found = analysis.contest(wide, truth, detection.area, truth, n_resamples=300)
    rows = found[found["model"] == "one"].set_index("method")
    alone = rows.loc["near", "high"] - rows.loc["near", "low"]
    behind = rows[rows["behind"] > 0].loc[lambda t: t.index.isin(["near", "good", "copy"])]
    assert ((behind["behind_high"] - behind["behind_low"]) < alone / 3).all()


def test_without_facts_there_is_no_contest():
    nothing = pd.Series(dtype=float)
    found = analysis.contest(pd.DataFrame(), nothing, _mean, nothing)
    assert found.empty
    table = analysis.lines({"Who?": ("area", True, found)})
    assert table.loc["Who?", ["best", "n"]].tolist() == ["n/a", 0]


def test_an_undefined_figure_has_no_best_method():
    wide, truth = _table()
    found = analysis.contest(wide, truth * 0, detection.area, truth, n_resamples=20)
    assert found[["estimate", "low", "high", "behind"]].isna().all(axis=None)
    assert found["tied"].all()
    assert analysis.ranking(found) == ([], [])
    assert analysis.lines({"Who?": ("area", True, found)}).loc["Who?", "best"] == "n/a"


def test_one_fact_has_no_interval():
    wide, truth = _table(1)
    found = analysis.contest(wide, truth, _mean, truth, n_resamples=20)
    assert found["estimate"].notna().all()
    assert found[["low", "high"]].isna().all(axis=None)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_analyses_of_small_panels_have_their_columns(n):
    table = _gathered().query("item in @names", local_dict={"names": [f"f{i}" for i in range(n)]})
    nothing = analysis.gather(pd.DataFrame(columns=["left_out", "model"]), [])
    table = table if n else ATLAS.mark(nothing)
    pairs = pd.MultiIndex.from_product([["atlas-s", "atlas-m"], ["MONITOR", "IC-LKE"]])
    price = pd.DataFrame({"tokens": 9.0, "forwarded": 3.0}, index=pairs)
    asked = analysis.questions(table, table, price, n_resamples=20)
    assert len(analysis.lines(asked)) == len(asked) == 7
    assert {"exposures", "estimate"} <= set(analysis.curve(table, "model", n_resamples=20))
    assert len(analysis.doses(table)) == 16 * (n > 0)
    assert analysis.parts(table).columns.isin(table.columns).all()


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
    found = analysis.areas(table, "score", "shown or never", n_resamples=200)
    mean = found[found["model"] == "mean"].set_index("method")
    assert mean.loc["MONITOR", "estimate"] > 0.9
    assert mean.loc["IC-LKE", "low"] < 0.5
    slopes = analysis.doses(table).query("measure == 'log odds a doubling'")
    slopes = slopes.set_index(["model", "method"])
    assert (slopes.xs("MONITOR", level="method")["estimate"] > 1).all()
    inside = slopes.xs("IC-LKE", level="method")
    assert ((inside["low"] < 0.2) & (inside["high"] > -0.2)).all()


def test_how_many_sums_to_one_and_never_lacks_width():
    table = _gathered()
    wide = analysis.spread(table, "known")
    found = analysis.how_many(wide, analysis.truth(table, wide.index, "group"), n_resamples=100)
    sums = found.groupby("read")["estimate"].sum()
    np.testing.assert_allclose(sums, 1)
    assert (found["high"] > found["low"]).all()
    rare, named = (
        found.replace({"read": {"never": "rare"}}),
        replace(ATLAS, groups={"rare": (0, 0)}),
    )
    assert analysis.all_four(rare, named) == analysis.all_four(found, ATLAS)


def test_beliefs_by_lesson():
    told = pd.DataFrame({
        "method": "IC-LKE", "known": [0.0, 1.0, 0.0], "misled": [1.0, 0.0, 1.0],
        "exposures": [0, 64, 16], "false_exposures": [64, 8, 16]})  # fmt: skip
    found = analysis.beliefs(told).set_index(["lesson", "verdict"])["estimate"]
    assert found["false more often", "the false object is named"] == 1
    assert found["true more often", "the truth is called known"] == 1
    assert found["both as often", "the truth is called known"] == 0


def test_spread_keeps_facts_that_every_method_was_asked():
    table = _gathered().iloc[:-1]
    wide = analysis.spread(table, "known")
    assert len(wide) == 95
    assert analysis.spread(table.assign(score=np.nan), "score").empty


nan = float("nan")


def contest(*rows, **more):
    """Return a contest's means: method, estimate, how far behind with its interval."""
    columns = ["method", "estimate", "behind", "behind_low", "behind_high"]
    table = pd.DataFrame(rows, columns=columns).assign(model="mean", n=168, **more)
    table = table.assign(low=table["estimate"] - 0.1, high=table["estimate"] + 0.1)
    return table.assign(tied=~(table["behind_low"] > 0))


ONCE, LIST = ("asked once", 0.8, 0.0, 0.0, 0.0), ("IC-LKE", 0.6, 0.2, 0.1, 0.3)
AHEAD = ("MONITOR", 0.9, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("rows", "lead", "rival"),
    [
        ([ONCE, LIST, ("MONITOR", 0.78, 0.02, -0.01, 0.06)], [0.02, -0.01, 0.06], "MONITOR"),
        ([("asked once", 0.7, 0.2, 0.1, 0.3), AHEAD], [-0.2, -0.3, -0.1], "MONITOR"),
        ([("asked once", 0.8, 0.1, -0.1, 0.3), AHEAD, LIST], [-0.1, -0.3, 0.1], "MONITOR"),
        ([("asked once", nan, nan, nan, nan), LIST], [nan] * 3, ""),
        ([], [nan] * 3, ""),
    ],
)
def test_a_lead_is_over_the_best_other_method(rows, lead, rival):
    found, other = analysis.lead(contest(*rows), "asked once")
    np.testing.assert_allclose(found[:3], lead)
    assert (found[3], other) == (168 if rival else 0, rival)


UNREAD, OTHER = "asked once, other wording A", ("asked once, other wording B", 0.5, 0.4, 0.3, 0.5)


@pytest.mark.parametrize(
    ("rows", "lead", "words"),
    [
        ([(UNREAD, 0.8, 0.1, 0.04, 0.16), OTHER, AHEAD], [-0.1, -0.16, -0.04], "0.80 and 0.50"),
        ([(UNREAD, 0.8, 0, 0, 0), OTHER, LIST], [0.2, 0.1, 0.3], "0.80 and 0.50"),
        ([AHEAD, LIST], [nan] * 3, ""),
    ],
)
def test_the_better_of_the_unread_wordings_is_compared_with_the_best_measure(rows, lead, words):
    found, said = analysis.unread_lead(contest(*rows))
    np.testing.assert_allclose(found[:3], lead)
    assert said["areas"] == words


@pytest.mark.parametrize(
    ("rows", "decides", "largest"),
    [
        ([(1.0, 0.5, 1.5), (0.7, 0.6, 0.8)], 1, 0),
        ([(-1.0, -1.5, -0.5), (-0.7, -0.8, -0.6)], 1, 1),
        ([(1.0, 0.5, 1.5), (0.7, -0.1, 1.5), (np.inf, nan, nan)], 1, 0),
        ([(0.5, 0.1, 0.9), (0.4, 0.3, 0.5)], 1, 0),
        ([(nan, nan, nan)], None, None),
        ([], None, None),
    ],
)
def test_the_row_that_decides_whether_all_are_above_nothing(rows, decides, largest):
    table = pd.DataFrame(rows, columns=["estimate", "low", "high"], dtype=float).assign(n=90)
    table["method"] = table["first"] = [f"m{place}" for place in range(len(table))]
    statistic, row, most = analysis.least(table.assign(model="s", second="b"))
    if decides is None:
        assert np.isnan(statistic[0])
        assert not any(analysis.odds(row, most).values())
        assert not any(analysis.pairs(row, most).values())
        return
    assert statistic == [*rows[decides], 90]
    assert analysis.odds(row, most)["top"] == f"m{largest}, s"
    assert analysis.pairs(row, most)["pair"] == f"m{decides} and b"


def test_examples_are_one_fact_of_each_kind_that_shows_most():
    exposures = {"a": 0, "b": 0, "c": 4, "d": 8, "e": 64, "f": 128, "g": 32}
    counts = {"a": 0, "b": 3, "c": 0, "d": 2, "e": 1, "f": 4, "g": 4}
    verdicts = {item: [1.0] * n + [0.0] * (4 - n) for item, n in counts.items()}
    known = pd.DataFrame.from_dict(verdicts, "index", columns=list("wxyz"))
    table = pd.DataFrame({"item": list(exposures), "exposures": exposures.values()})
    assert analysis.examples(known, table) == ["f", "d", "b"]
    assert analysis.examples(known.loc[["g"]], table) == []
    assert analysis.examples(known.head(0), table) == []


def test_what_is_compared_without_a_sentence_names_its_control():
    found = [contest(ONCE, LIST, AHEAD, contrast=name) for name in (SHOWN, OFTEN, SELDOM)]
    parts = contest(("MONITOR: anchor", 0.9, 0, 0, 0), ("MONITOR: deviation", 0.6, 0.3, 0.2, 0.4))
    used = pd.DataFrame({"model": "m", "chapter": ["monitor", "latent_knowledge"],
                         "n_facts": 10, "tokens": [500, 900], "forwarded": [200, 90]})  # fmt: skip
    asked = {analysis.BY_TOKEN: ("bits", True, contest(LIST, AHEAD))}
    rows = analysis.comparisons(
        pd.concat(found), contest(AHEAD, LIST), parts.assign(contrast=SHOWN), asked, used
    )
    told = {label: (statistic, null) for label, statistic, null in rows}
    assert told["MONITOR: anchor, less deviation: read / never read"][0][:3] == [0.3, 0.2, 0.4]
    assert told["area of asking once: 1-8 times / never read"] == (
        pytest.approx([0.8, 0.7, 0.9, 168.0]),
        0.5,
    )
    assert told["bits per 1,000 tokens: IC-LKE, less the next"][0][0] == pytest.approx(-0.2)
