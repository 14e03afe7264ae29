"""Paired comparisons of methods, and the analyses that are made of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from helpers.metrics import roc_curve
from notebooks.analysis import calibration as analysis
from notebooks.analysis import calibration_verdicts, method_comparison
from notebooks.analysis.exposure_levels import (
    ATLAS_LEVELS,
    OFTEN_OR_SELDOM,
    SELDOM_OR_NEVER,
    SHOWN_OR_NEVER,
)

nan = float("nan")


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
    found = analysis.compare_methods(
        wide, truth, roc_curve.area_under_roc_curve, truth, n_resamples=300
    )
    mean = found[found["model"] == "mean"].set_index("method")
    ahead = mean.loc["copy", ["behind", "behind_low", "behind_high"]]
    assert ahead.isna().tolist() == [
        False,
        True,
        True,
    ]  # no resample tells the two apart
    assert ahead["behind"] == 0
    assert mean["tied"].to_dict() == {"good": True, "bad": False, "copy": True}
    assert analysis.leading_and_other_methods(found) == (["good", "copy"], ["bad"])
    each = found[found["model"] == "one"].set_index("method")["estimate"]
    assert each["good"] == pytest.approx(roc_auc_score(truth, wide["one", "good"]))
    both = found[found["model"] != "mean"].groupby("method")["estimate"].mean()
    np.testing.assert_allclose(mean["estimate"], both[mean.index])


def test_figures_may_be_scaled():
    wide, truth = _table()
    wide = (wide > 1).astype(float)
    scale = {key: 10.0 for key in wide.columns}
    tenfold = analysis.compare_methods(
        wide, truth, _mean, truth, scale=scale, n_resamples=100
    )
    plain = analysis.compare_methods(wide, truth, _mean, truth, n_resamples=100)
    np.testing.assert_allclose(tenfold["high"], 10 * plain["high"])


def test_the_paired_interval_is_narrower_than_two_apart():
    wide, truth = _table(200)
    wide[("one", "near")] = wide["one", "good"] + 0.05 * wide["one", "bad"]
    found = analysis.compare_methods(
        wide, truth, roc_curve.area_under_roc_curve, truth, n_resamples=300
    )
    rows = found[found["model"] == "one"].set_index("method")
    alone = rows.loc["near", "high"] - rows.loc["near", "low"]
    behind = rows[rows["behind"] > 0].loc[
        lambda t: t.index.isin(["near", "good", "copy"])
    ]
    assert ((behind["behind_high"] - behind["behind_low"]) < alone / 3).all()


def test_without_facts_there_is_no_contest():
    nothing = pd.Series(dtype=float)
    found = analysis.compare_methods(pd.DataFrame(), nothing, _mean, nothing)
    assert found.empty
    table = analysis.best_method_by_question({"Who?": ("area", found)})
    assert table.loc["Who? (area)", ["best", "n"]].tolist() == ["n/a", 0]


def test_an_undefined_figure_has_no_best_method():
    wide, truth = _table()
    found = analysis.compare_methods(
        wide, truth * 0, roc_curve.area_under_roc_curve, truth, n_resamples=20
    )
    assert found[["estimate", "low", "high", "behind"]].isna().all(axis=None)
    assert found["tied"].all()
    assert analysis.leading_and_other_methods(found) == ([], [])
    assert (
        analysis.best_method_by_question({"Who?": ("area", found)}).loc[
            "Who? (area)", "best"
        ]
        == "n/a"
    )


def test_one_fact_has_no_interval():
    wide, truth = _table(1)
    found = analysis.compare_methods(wide, truth, _mean, truth, n_resamples=20)
    assert found["estimate"].notna().all()
    assert found[["low", "high"]].isna().all(axis=None)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_analyses_of_small_panels_have_their_columns(n):
    table = _gathered().query(
        "item in @names", local_dict={"names": [f"f{i}" for i in range(n)]}
    )
    nothing = analysis.verdicts_of_all_runs(
        pd.DataFrame(columns=["left_out", "model"]), []
    )
    table = table if n else ATLAS_LEVELS.mark(nothing)
    pairs = pd.MultiIndex.from_product(
        [["atlas-s", "atlas-m"], ["MONITOR", "IC-LKE"]], names=["model", "method"]
    )
    price = pd.DataFrame({"tokens": 9.0, "forwarded": 3.0}, index=pairs)
    asked = analysis.comparison_by_question(table, table, price, n_resamples=20)
    assert len(analysis.best_method_by_question(asked)) == len(asked) == 7
    assert {"exposures", "estimate"} <= set(
        analysis.known_share_by_exposure(table, "model", n_resamples=20)
    )
    assert len(analysis.dose_response_fits(table)) == 16 * (n > 0)
    assert analysis.scores_of_measure_parts(table).columns.isin(table.columns).all()


def _gathered(n=96, seed=1):
    """Return verdicts of two methods on made-up facts; the second one is told nothing."""
    random = np.random.default_rng(seed)
    exposures = np.array([0, 1, 4, 8, 16, 64] * (n // 6))
    rows = []
    for model in ("atlas-s", "atlas-m"):
        for method in ("MONITOR", "IC-LKE"):
            chance = random.random(n)
            score = (
                chance
                if method == "IC-LKE"
                else np.log2(1 + exposures) / 8 + chance / 4
            )
            rows.append(pd.DataFrame({
                "model": model, "method": method, "item": [f"f{i}" for i in range(n)],
                "relation": [f"P{i % 8}" for i in range(n)], "exposures": exposures,
                "score": score, "known": (score > 0.5).astype(float), "blind": score,
                "asked_once": score, "false_exposures": 0, "misled": np.nan}))  # fmt: skip
    return ATLAS_LEVELS.mark(pd.concat(rows, ignore_index=True))


def test_analyses_tell_a_method_that_follows_exposure_from_one_that_does_not():
    table = _gathered()
    found = analysis.areas_by_method(table, "score", "shown or never", n_resamples=200)
    mean = found[found["model"] == "mean"].set_index("method")
    assert mean.loc["MONITOR", "estimate"] > 0.9
    assert mean.loc["IC-LKE", "low"] < 0.5
    slopes = analysis.dose_response_fits(table).query(
        "measure == 'log odds a doubling'"
    )
    slopes = slopes.set_index(["model", "method"])
    assert (slopes.xs("MONITOR", level="method")["estimate"] > 1).all()
    inside = slopes.xs("IC-LKE", level="method")
    assert ((inside["low"] < 0.2) & (inside["high"] > -0.2)).all()


def test_how_many_sums_to_one_and_never_lacks_width():
    table = _gathered()
    wide = analysis.column_by_model_and_method(table, "known")
    found = analysis.shares_by_number_of_methods(
        wide, analysis.column_by_fact(table, wide.index, "group"), n_resamples=100
    )
    sums = found.groupby("read")["estimate"].sum()
    np.testing.assert_allclose(sums, 1)
    assert (found["high"] > found["low"]).all()


def test_what_all_call_known_is_compared_with_methods_that_err_by_themselves():
    same, apart = [1.0] * 5 + [0.0] * 5, [1.0, 0.0] * 5
    columns = {("s", "a"): same, ("s", "b"): same, ("m", "a"): same, ("m", "b"): apart}
    wide = pd.DataFrame(columns).rename_axis(columns=["model", "method"])
    one = pd.Series("P17", index=wide.index)
    excess, words = analysis.excess_share_known_to_all(wide, one, n_resamples=50)
    assert excess.estimate == pytest.approx((0.5 + 0.3) / 2 - 0.25)
    assert words == {"all": "40.0", "chance": "25.0"}
    nothing, _ = analysis.excess_share_known_to_all(wide.head(0), one.head(0))
    assert np.isnan(nothing.estimate)
    # In an easy relation all is known and in the other one nothing: that is no excess
    # of s, and m's last method knows 3 of 5 facts of the easy one.
    two = pd.Series(["P17"] * 5 + ["P36"] * 5, index=wide.index)
    excess, words = analysis.excess_share_known_to_all(wide, two, n_resamples=50)
    assert excess.estimate == pytest.approx(0)
    assert words == {"all": "40.0", "chance": "40.0"}


def test_asking_once_names_what_the_model_writes():
    table = pd.DataFrame({
        "method": ["MONITOR"] * 3 + ["IC-LKE"], "base": [1.0, 0.0, 0.0, np.nan],
        "written": [" Peru", " Chile.", " Cuba", None],
        "false_object": ["Chile", "Chile", np.nan, "Chile"]})  # fmt: skip
    found = analysis.verdicts_of_asking_once(table)
    assert found["known"].tolist() == [1, 0, 0]
    np.testing.assert_array_equal(found["misled"], [0, 1, np.nan])
    assert analysis.verdicts_of_asking_once(
        table.drop(columns=["base", "written"])
    ).empty


def test_as_many_are_found_as_the_share_of_false_alarms_allows():
    values = np.array(
        [[x, 0] for x in range(40)] + [[x, 1] for x in (38.5, 37.5, 5)], dtype=float
    )
    assert analysis.sensitivity_at_alarm_rate(values) == pytest.approx(
        1 / 3
    )  # two of forty may be above
    assert np.isnan(analysis.sensitivity_at_alarm_rate(values[40:]))
    ties = np.array([[1, 0]] * 10 + [[0, 0]] * 10 + [[1, 1], [0, 1]], dtype=float)
    assert analysis.sensitivity_at_alarm_rate(ties) == pytest.approx(
        0.1 / 2
    )  # one of the ten that are tied


def test_beliefs_by_lesson():
    told = pd.DataFrame({
        "method": "IC-LKE", "known": [0.0, 1.0, 0.0], "misled": [1.0, 0.0, 1.0],
        "exposures": [0, 64, 16], "false_exposures": [64, 8, 16]})  # fmt: skip
    found = analysis.verdicts_on_false_statements(told).set_index(
        ["lesson", "verdict"]
    )["estimate"]
    assert found["false more often", "the false object is named"] == 1
    assert found["true more often", "the truth is called known"] == 1
    assert found["both as often", "the truth is called known"] == 0


def test_spread_keeps_facts_that_every_method_was_asked():
    table = _gathered().iloc[:-1]
    wide = analysis.column_by_model_and_method(table, "known")
    assert len(wide) == 95
    assert analysis.column_by_model_and_method(
        table.assign(score=np.nan), "score"
    ).empty


def contest(*rows, **more):
    """Return a contest's means: method, estimate, the leader's lead with its interval."""
    columns = ["method", "estimate", "lead", "lead_low", "lead_high"]
    table = pd.DataFrame(rows, columns=columns).assign(model="mean", n=168, **more)
    return table.assign(low=table["estimate"] - 0.1, high=table["estimate"] + 0.1)


ONCE, LIST = ("asked once", 0.8, nan, nan, nan), ("IC-LKE", 0.6, 0.2, 0.1, 0.3)
NEAR = ("multiplicity", 0.78, 0.02, 0.01, 0.03)
UNSURE = ("knowledge base", 0.75, 0.05, -0.01, 0.11)
AHEAD = ("MONITOR", 0.9, -0.1, -0.16, -0.04)


@pytest.mark.parametrize(
    ("rows", "lead", "rival"),
    [
        ([ONCE, LIST, NEAR], [0.02, 0.01, 0.03], "multiplicity"),
        ([ONCE, LIST, NEAR, UNSURE], [0.05, -0.01, 0.11], "knowledge base"),
        ([ONCE, LIST, UNSURE, AHEAD], [-0.1, -0.16, -0.04], "MONITOR"),
        ([ONCE, ("copy", 0.8, 0.0, nan, nan), LIST], [0.0, nan, nan], "copy"),
        ([ONCE], [nan] * 3, ""),
        ([], [nan] * 3, ""),
    ],
)
def test_the_lead_that_decides_is_the_least_certain_or_a_clear_defeat(
    rows, lead, rival
):
    decisive, other = analysis.lead_over_closest_rival(contest(*rows))
    np.testing.assert_allclose(decisive[:3], lead)
    assert (decisive[3], other) == (168 if rival else 0, rival)


@pytest.mark.parametrize(
    ("rows", "lead", "auc"),
    [
        ([ONCE, AHEAD], [-0.1, -0.16, -0.04], ["0.80", "0.90"]),
        ([ONCE, LIST], [0.2, 0.1, 0.3], ["0.80", "0.60"]),
        ([ONCE], [nan] * 3, ["0.80", "nan"]),
    ],
)
def test_asking_once_is_told_beside_its_closest_rival(rows, lead, auc):
    decisive, _, words = analysis.lead_of_asking_once(contest(*rows))
    np.testing.assert_allclose(decisive[:3], lead)
    assert [words["once"], words["best"]] == auc


def test_a_contest_of_two_is_the_difference_of_their_figures():
    """Whatever else was compared before: a part once took the lead of the best of all."""
    random = np.random.default_rng(1)
    truth = np.arange(80) % 2
    facts = pd.DataFrame({"item": [f"f{i}" for i in range(80)], "model": "m"})
    facts = facts.assign(relation=np.repeat(["a", "b"], 40), shown=truth.astype(float))
    parts = []
    for place, (first, second) in enumerate(method_comparison.COMPARED_PARTS):
        for name, shift in ((first, 0.5 * place), (second, 1.0)):
            score = truth * shift + random.normal(size=80)
            parts.append(facts.assign(method=name, score=score))
    best_of_all = facts.assign(method=calibration_verdicts.ASKED_ONCE, score=truth)
    table = pd.concat([*parts, best_of_all])
    leads = analysis.areas_of_compared_parts(table, ["shown"], n_resamples=50)
    for first, second in method_comparison.COMPARED_PARTS:
        rows = leads[(leads["leader"] == first) & (leads["model"] == "mean")]
        area = rows.set_index("method")["estimate"]
        lead, rival = analysis.lead_over_closest_rival(rows)
        assert rival == second
        assert lead[0] == pytest.approx(area[first] - area[second])


def test_leads_by_model_say_where_a_finding_holds():
    rows = [contest(ONCE, LIST, NEAR).assign(model="small"), contest(ONCE, AHEAD)]
    rows += [contest(ONCE, UNSURE).assign(model="large")]
    rows += [contest(ONCE).assign(model="alone")]
    table = analysis.leads_by_model({"once": pd.concat(rows)})
    assert table["once"].to_dict() == {
        "small": "0.02 [0.01, 0.03], holds",
        "mean": "-0.10 [-0.16, -0.04], opposite",
        "large": "0.05 [-0.01, 0.11], cannot tell",
        "alone": "–",
    }


def test_leads_over_several_methods_hold_at_once():
    wide, truth = _table(200)
    relation = pd.Series("r", index=wide.index)
    bounds = {}
    for n_rivals in (1, 4):
        rows = analysis.compare_methods(
            wide, truth, _mean, relation, leader="good", n_rivals=n_rivals
        )
        rows = rows[rows["model"] == "mean"].set_index("method")
        assert np.isnan(rows.loc["good", "lead"])
        bounds[n_rivals] = rows.loc["bad", ["lead_low", "lead_high"]].astype(float)
    assert bounds[4]["lead_low"] < bounds[1]["lead_low"]
    assert bounds[4]["lead_high"] > bounds[1]["lead_high"]


def test_unread_wordings_count_with_their_mean_and_ties_make_asking_once_as_coarse():
    table = _gathered().assign(asked_frame5=lambda t: t["score"], asked_frame6=0.5)
    plain = table[table["model"] == "atlas-s"]
    found = analysis.areas_by_method(
        analysis.scores_with_unread_wordings(plain),
        "score",
        SHOWN_OR_NEVER,
        n_resamples=20,
    )
    mean = found[found["model"] == "mean"].set_index("method")["estimate"]
    assert mean["asked once"] == pytest.approx((mean["MONITOR"] + 0.5) / 2)
    scored = pd.concat(
        [plain, analysis.scores_of_asking_once(plain, analysis.PLAIN_WORDING)]
    )
    scored["score"] = scored["score"].where(
        scored["method"] != "IC-LKE", scored["score"].round()
    )
    coarse = analysis.areas_by_method(
        scored, "score", SHOWN_OR_NEVER, ties_of="IC-LKE", n_resamples=20
    )
    coarse = coarse[coarse["model"] == "mean"].set_index("method")["estimate"]
    assert 0.5 < coarse["asked once"] < mean["MONITOR"]
    tied, name = analysis.least_lead_at_equal_ties(
        scored, SHOWN_OR_NEVER, n_resamples=20
    )
    assert (tied[0], name) == (
        pytest.approx(0, abs=1e-9),
        "MONITOR",
    )  # asking once is its copy


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
    table = pd.DataFrame(rows, columns=["estimate", "low", "high"], dtype=float).assign(
        n=90
    )
    table["method"] = table["first"] = [f"m{place}" for place in range(len(table))]
    statistic, row, most = analysis.weakest_and_strongest_row(
        table.assign(model="s", second="b")
    )
    if decides is None:
        assert np.isnan(statistic[0])
        assert not any(analysis.odds_ratios_in_words(row, most).values())
        assert not any(analysis.method_pairs_in_words(row, most).values())
        return
    assert statistic == [*rows[decides], 90]
    assert analysis.odds_ratios_in_words(row, most)["top"] == f"m{largest}, s"
    assert analysis.method_pairs_in_words(row, most)["pair"] == f"m{decides} and b"


def test_examples_are_one_fact_of_each_kind_that_shows_most():
    exposures = {"a": 0, "b": 0, "c": 4, "d": 8, "e": 64, "f": 128, "g": 32}
    counts = {"a": 0, "b": 3, "c": 0, "d": 2, "e": 1, "f": 4, "g": 4}
    verdicts = {item: [1.0] * n + [0.0] * (4 - n) for item, n in counts.items()}
    known = pd.DataFrame.from_dict(verdicts, "index", columns=list("wxyz"))
    table = pd.DataFrame({"item": list(exposures), "exposures": exposures.values()})
    assert analysis.example_facts_by_exposure(known, table) == ["f", "d", "b"]
    assert analysis.example_facts_by_exposure(known.loc[["g"]], table) == []
    assert analysis.example_facts_by_exposure(known.head(0), table) == []


def test_what_is_compared_without_a_sentence_names_its_control():
    areas = [
        contest(ONCE, LIST, AHEAD, contrast=name)
        for name in (SHOWN_OR_NEVER, OFTEN_OR_SELDOM, SELDOM_OR_NEVER)
    ]
    parts = contest(
        ("MONITOR: anchor", 0.9, nan, nan, nan),
        ("MONITOR: deviation", 0.6, 0.3, 0.2, 0.4),
    )
    bits = contest(ONCE, LIST, leader="multiplicity")
    asked = {analysis.TOKEN_QUESTION: ("bits", bits)}
    rows = analysis.comparisons_for_appendix(
        pd.concat(areas),
        contest(AHEAD, LIST, leader="multiplicity"),
        parts.assign(contrast=SHOWN_OR_NEVER, leader="MONITOR: anchor"),
        asked,
    )
    told = {label: (statistic, null) for label, statistic, null in rows}
    label = "MONITOR: anchor, less deviation: read / never read"
    assert told[label][0] == [0.3, 0.2, 0.4, 168]
    assert told["AUC of asking once: 1–8 times / never read"] == (
        pytest.approx([0.8, 0.7, 0.9, 168.0]),
        0.5,
    )
    label = "asking once, less IC-LKE: 64+ times / 1–4 times"
    assert told[label][0] == [0.2, 0.1, 0.3, 168]
    assert told["bits per 1,000 tokens: multiplicity, less IC-LKE"][0][0] == 0.2
