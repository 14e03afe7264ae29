"""Statistics of the chapter on knowledge bases, by hand and against plain means."""

import numpy as np
import pandas as pd
import pytest

from helpers import UserError
from helpers.metrics import knowledge_base as kb
from helpers.metrics import knowledge_base_strata
from notebooks.analysis import knowledge_base as analysis
from notebooks.kit import group_difference


def said(n=40, seed=0, setting="x"):
    random = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {"item": [f"q{i}" for i in range(n)], "seen": np.arange(n) % 2 == 0}
    )
    rows["group"] = np.where(rows["seen"], "P17", "T1")
    rows = rows.assign(type="location", setting=setting)
    labels = random.choice(["wrong", "uninformative"], n)
    rows["label"] = np.where(rows["seen"] & (random.random(n) < 0.5), "correct", labels)
    rows["consistency"] = np.where(
        rows["label"] == "uninformative", np.nan, random.random(n)
    )
    return knowledge_base_strata.add_strata(rows)


def both():
    return pd.concat([said(), said(seed=1, setting="y")], ignore_index=True)


def silent():
    return both().assign(label="uninformative", consistency=np.nan)


def test_every_setting_has_every_measure():
    table = analysis.measures_by_setting(both(), n_resamples=50)
    assert table.groupby("setting", sort=False).size().to_dict() == {"x": 12, "y": 12}
    first = table[table["setting"] == "x"].set_index("measure")["estimate"]
    pd.testing.assert_series_equal(
        first, kb.measures_of_responses(said()), check_names=False
    )
    inside = table.dropna()
    assert (
        (inside["low"] <= inside["estimate"]) & (inside["estimate"] <= inside["high"])
    ).all()
    assert analysis.measures_by_setting(both()[:0], n_resamples=50).empty
    nothing = analysis.measures_by_setting(silent(), n_resamples=20)
    assert set(nothing.loc[nothing["estimate"].isna(), "measure"]) == set(
        kb.MEASURE_NAMES[4:8]
    )
    step = analysis.change_between_settings(silent(), "x", "y", "UR", n_resamples=20)
    assert step[0] == 0 < step[2] == -step[1]


def test_a_level_counts_the_questions_that_it_is_about():
    rows = said(50).iloc[:30]  # 15 seen
    rows = pd.concat([rows, said(50).iloc[31::2]])
    table = analysis.measures_by_setting(rows, n_resamples=20)
    found = table.set_index("measure").loc["UR", ["estimate", "low", "high"]].tolist()
    assert analysis.measure_of_setting(table, rows, "x", "UR") == (*found, 25)
    assert analysis.measure_of_setting(table, rows, "x", "NCR")[-1] == 15
    nothing = analysis.measure_of_setting(table, rows, "y", "UR")
    assert np.isnan(nothing[:3]).all()
    assert nothing[-1] == 0


def unread(setting="x"):
    """Return four seen questions, four about facts never read and two of UnseenQA, all one kind."""
    exposures, label = [8] * 4 + [0] * 4 + [np.nan] * 2, ["correct"] * 4 + ["wrong"] * 3
    label += ["uninformative"] * 2 + ["wrong"]
    rows = pd.DataFrame(
        {"exposures": exposures, "label": label, "kind": label, "stratum": "a"}
    )
    rows["kind"] = rows["kind"].replace("uninformative", "unsure")
    return rows.assign(seen=rows["exposures"] > 0, setting=setting, consistency=0.5)


def test_facts_never_read_and_what_nobody_can_answer_are_told_apart():
    more, facts = analysis.unanswered_rate_difference(unread(), n_resamples=50)
    assert (more.estimate, more.n, facts) == (0.5 - 0.25, 6, "facts that it never read")
    assert more.low < more.estimate < more.high
    alone = unread().drop(
        columns="exposures"
    )  # nobody knows what another model has read
    more, facts = analysis.unanswered_rate_difference(alone, n_resamples=50)
    assert (more.estimate, more.n, facts) == (
        2 / 6 - 0,
        10,
        "facts that it may have read",
    )
    assert np.isnan(
        analysis.unanswered_rate_difference(unread()[:4], n_resamples=50)[0].estimate
    )
    table = analysis.response_shares_by_group(pd.concat([unread(), unread("y")]))
    assert list(table.index) == [
        f"{side}, {name} ({n})"
        for side, n in (("seen", 4), ("never read", 4), ("UnseenQA", 2))
        for name in "xy"
    ]
    assert table.loc["never read, y (4)"].to_dict() == {
        "correct": 0,
        "wrong": 0.75,
        "unsure": 0.25,
    }


def test_false_answers_by_how_often_the_text_was_wrong():
    rows = [(0, 64, "the false one")] * 3 + [
        (0, 64, "wrong"),
        (16, 48, "the false one"),
    ]
    rows += [(16, 48, "correct"), (32, 32, "correct"), (32, 32, "wrong")]
    misled = pd.DataFrame(rows, columns=["exposures", "false_exposures", "answer"])
    found = analysis.false_less_true_answer_rates(misled, n_resamples=20)
    assert [(one.estimate, one.n) for one in found] == [(0.75, 4), (0, 2), (-0.5, 2)]
    assert np.isnan(
        analysis.false_less_true_answer_rates(misled[:0], n_resamples=20)[0].estimate
    )


def test_steps_are_differences_on_the_same_questions_in_any_order():
    rows = both()
    expected = kb.measures_of_responses(said(seed=1)) - kb.measures_of_responses(said())
    for name in analysis.MAIN_MEASURES:
        found = analysis.change_between_settings(rows, "x", "y", name, n_resamples=50)
        assert found[0] == pytest.approx(expected[name])
        assert found[-1] == 20
        shuffled = rows.sample(frac=1, random_state=1)
        assert (
            analysis.change_between_settings(shuffled, "x", "y", name, n_resamples=50)
            == found
        )
    assert np.isnan(
        analysis.change_between_settings(rows, "x", "z", "UR", n_resamples=50)[:3]
    ).all()
    with pytest.raises(UserError, match="same facts"):
        analysis.change_between_settings(rows.iloc[:-1], "x", "y", "UR", n_resamples=50)


def test_a_contrast_is_the_difference_of_two_measures():
    rows = said()[lambda table: table["consistency"].notna()]
    scores = kb.measures_of_responses(rows)
    found = analysis.difference_of_two_measures(
        rows, "Cons_c", "Cons_w", n_resamples=50
    )
    assert found.estimate == pytest.approx(scores["Cons_c"] - scores["Cons_w"])
    assert found.low <= found.estimate <= found.high
    assert np.isnan(
        analysis.difference_of_two_measures(
            silent(), "Cons_c", "Cons_w", n_resamples=50
        ).estimate
    )


def test_a_gap_is_a_difference_of_means_and_needs_two_sides():
    random = np.random.default_rng(0)
    flag, value = pd.Series(random.random(60) < 0.4), pd.Series(random.random(60))
    found = analysis.group_mean_difference(value, flag, n_resamples=200)
    assert found.estimate == pytest.approx(value[flag].mean() - value[~flag].mean())
    assert found.low < found.estimate < found.high
    turned = analysis.group_mean_difference(value, ~flag, n_resamples=200)
    assert turned.estimate == pytest.approx(-found.estimate)
    for one in (flag | True, flag[:0]):
        alone = analysis.group_mean_difference(value[: len(one)], one, n_resamples=9)
        assert np.isnan(alone[:3]).all()
        assert alone.n == len(one)


def test_shares_by_exposure_sum_to_one():
    rows = said().assign(exposures=np.repeat([0, 1, 4, 256], 10))
    table = analysis.response_shares_by_exposure(rows, n_resamples=50)
    assert sorted(table["exposures"].unique()) == [0, 1, 4, 256]
    np.testing.assert_allclose(table.groupby("exposures")["estimate"].sum(), 1)
    assert analysis.response_shares_by_exposure(rows[:0], n_resamples=50).empty


def test_truths_count_lucky_answers_as_right():
    rows = pd.DataFrame(
        {
            "text": ["Peru", "Chad", "Mali", "Lima"],
            "answers": [["Peru"], ["Mali"], ["Mali"], []],
            "seen": [True, True, False, False],
            "consistency": [1.0, 0.5, 0.25, 0.75],
            "exposures": [8, 8, 0, np.nan],
            "group": ["P17", "P17", "P36", "P17"],
        }
    )
    found = analysis.consistency_beside_truth(rows)
    assert found["right"].tolist() == [1, 0, 1]
    assert found["read"].tolist() == [1, 1, 0]
    assert found["consistency"].tolist() == [1.0, 0.5, 0.25]
    assert analysis.consistency_beside_truth(rows[:0]).empty
    assert analysis.consistency_beside_truth(rows.drop(columns="exposures")).empty
    panel = pd.DataFrame(
        {"consistency": [1.0, np.nan, 0.5], "correct": [1.0, 0.0, 0.0]}
    )
    panel = panel.assign(exposures=[8, 0, 0], relation=["P17", "P17", "P36"])
    of_panel = analysis.consistency_of_panel(panel)
    assert of_panel.to_numpy().tolist() == [[1.0, 1.0, 1.0, 0.0], [0.5, 0.0, 0.0, 1.0]]


def test_known_facts_are_compared_in_pairs():
    rows = pd.DataFrame({"item": ["a", "b", "c"] * 2, "setting": ["x"] * 3 + ["y"] * 3})
    rows["exposures"] = [64, 128, 8] * 2
    rows["label"] = [
        "correct",
        "correct",
        "wrong",
        "correct",
        "uninformative",
        "correct",
    ]
    nothing = analysis.ask_wrongly_stated_facts(None, None, "atlas-s", 0, "exact", 0)
    found = analysis.comparisons_for_appendix(
        both(), rows, nothing, nothing, "x", n_resamples=99
    )
    told = {what: result for what, result, *_ in found}
    pair = told["correct, facts stated 64 times or more, x → y"]
    assert (pair.estimate, pair.n) == (-0.5, 2)
    assert told["NCR"][0] == pytest.approx(kb.measures_of_responses(said())["NCR"])
    assert told["NCR, x → y"] == analysis.change_between_settings(
        both(), "x", "y", "NCR", n_resamples=99
    )
    assert np.isnan(told["consistency, false minus true"].estimate)


def test_a_difference_within_relations_does_not_see_their_levels():
    """Facts never read are more often of the relation about which the model is silent."""
    relations = ["P17"] * 6 + ["P36"] * 6 + ["P37"] * 2
    silent = [1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1]
    unread = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1]
    # P17: 1 less a half, weight 4 * 2 / 6; P36: 0 less a fifth, weight 5 / 6; P37 none.
    by_hand = (0.5 * 8 / 6 - 0.2 * 5 / 6) / (13 / 6)
    interval = group_difference.mean_difference_within_relations(
        silent, np.array(unread, dtype=bool), relations, n_resamples=50
    )
    assert interval.estimate == pytest.approx(by_hand)
    pooled = analysis.group_mean_difference(
        silent, np.array(unread, dtype=bool), n_resamples=50
    )
    assert pooled.estimate > 2 * by_hand
    nothing = group_difference.mean_difference_within_relations(
        [], [], [], n_resamples=50
    )
    assert np.isnan(nothing.estimate)
