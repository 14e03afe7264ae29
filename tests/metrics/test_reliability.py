"""Tables with intervals: paired, by setting, by the truth; and the paper's own comparisons."""

import numpy as np
import pandas as pd
import pytest

from helpers import UserError, published, stats
from helpers.metrics import knowledge_base as kb
from helpers.metrics import reliability
from helpers.published import knowledge_base as paper


def said(n=40, seed=0):
    random = np.random.default_rng(seed)
    rows = pd.DataFrame({"item": [f"q{i}" for i in range(n)], "seen": np.arange(n) % 2 == 0})
    rows["group"] = np.where(rows["seen"], "P17", "T1")
    rows["type"] = "location"
    labels = random.choice(["wrong", "uninformative"], n)
    rows["label"] = np.where(rows["seen"] & (random.random(n) < 0.5), "correct", labels)
    rows["consistency"] = np.where(rows["label"] == "uninformative", np.nan, random.random(n))
    return reliability.with_strata(rows)


def settings():
    first, second = said().assign(variant="x"), said(seed=1).assign(variant="y")
    return pd.concat([first, second], ignore_index=True)


def test_small_groups_share_a_stratum():
    rows = said(40)
    assert rows["stratum"].value_counts().to_dict() == {"P17, seen": 20, "T1, unseen": 20}
    few = reliability.with_strata(said(18))
    assert set(few["stratum"]) == {"rest, seen", "rest, unseen"}
    twice = pd.concat([said(12), said(12)])
    assert set(reliability.with_strata(twice)["stratum"]) == {"rest, seen", "rest, unseen"}
    mixed = said(24).assign(group=[f"P{i}" for i in range(24)])
    assert set(reliability.with_strata(mixed)["stratum"]) == {"location, seen", "location, unseen"}


def test_every_setting_has_every_measure():
    table = reliability.by_setting(settings(), 50)
    assert table.groupby("setting", sort=False).size().to_dict() == {"x": 12, "y": 12}
    first = table[table["setting"] == "x"].set_index("measure")["estimate"]
    pd.testing.assert_series_equal(first, kb.scores(said()), check_names=False)
    inside = table.dropna()
    assert ((inside["low"] <= inside["estimate"]) & (inside["estimate"] <= inside["high"])).all()


def silent():
    rows = settings().assign(label="uninformative", consistency=np.nan, exposures=0.0)
    return rows.assign(text="unsure", answers="")


def test_responses_that_say_nothing_leave_the_means_undefined():
    table = reliability.by_setting(silent(), 20)
    assert set(table.loc[table["estimate"].isna(), "measure"]) == set(kb.MEASURES[4:8])
    assert (reliability.changes(silent(), ["x", "y"], n_resamples=20)["estimate"] == 0).all()
    assert reliability.known_changes(silent(), ["x", "y"], n_resamples=20).empty


def test_without_responses_the_tables_keep_their_columns():
    interval = ["estimate", "low", "high", "n"]
    nothing = silent()[:0]
    assert list(reliability.by_setting(nothing, 20)) == ["setting", "measure", *interval]
    assert reliability.changes(nothing, ["x", "y"], n_resamples=20)["n"].eq(0).all()
    assert list(reliability.by_exposure(nothing, 20)) == ["exposures", "model", *interval]
    for pair in reliability.truths(nothing).values():
        assert [len(values) for values in pair] == [0, 0]


def test_what_is_undefined_is_said_with_its_reason():
    assert reliability.undefined(reliability.by_setting(settings(), 20)) == ""
    told = reliability.undefined(reliability.by_setting(silent(), 20))
    assert told.startswith(
        "No response says anything, so none can be asked again: Cons_c, Cons_w, "
    )
    assert "max_new_tokens" in told

    never = settings().assign(consistency=np.nan)  # distractors too few to ask again
    told = reliability.undefined(reliability.by_setting(never, 20)).splitlines()
    lacking = [line.partition(" ")[0] for line in told[:-1]]
    assert lacking == [*kb.MEASURES[4:7], "Cons_w", "CCR", "CWR", "NCCR", "IUR"]
    assert "n_options" in told[-1]

    both = settings()
    one = both[~both["label"].eq("correct") | both["variant"].eq("y")]
    told = reliability.undefined(reliability.by_setting(one, 20)).splitlines()
    assert told[0].startswith("Cons_c is undefined (x): no correct response about seen knowledge")
    assert len(told) == 2


def test_changes_are_differences_on_the_same_questions_in_any_order():
    both = settings()
    table = reliability.changes(both, ["x", "y"], n_resamples=50)
    expected = kb.scores(said(seed=1)) - kb.scores(said())
    found = table.set_index("measure")["estimate"]
    np.testing.assert_allclose(found, expected[found.index])
    shuffled = both.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(reliability.changes(shuffled, ["x", "y"], n_resamples=50), table)
    assert reliability.changes(both, ["x"]).empty
    with pytest.raises(UserError, match="same facts"):
        reliability.changes(both.iloc[:-1], ["x", "y"], n_resamples=50)


def test_no_change_has_no_effect():
    same = pd.concat([said().assign(variant=name) for name in "xy"])
    table = reliability.changes(same, ["x", "y"], n_resamples=50)
    assert (table[["estimate", "low", "high"]] == 0).all(axis=None)
    assert (table["p"] == 1).all()


def test_shares_by_exposure_sum_to_one():
    rows = said().assign(exposures=np.repeat([0, 1, 4, 256], 10))
    table = reliability.by_exposure(rows, 50)
    assert sorted(table["exposures"].unique()) == [0, 1, 4, 256]
    np.testing.assert_allclose(table.groupby("exposures")["estimate"].sum(), 1)


def test_truths_count_lucky_answers_as_right():
    rows = pd.DataFrame(
        {
            "text": ["Peru", "Chad", "Mali", "Lima"],
            "answers": [["Peru"], ["Mali"], ["Mali"], []],
            "seen": [True, True, False, False],
            "consistency": [1.0, 0.5, 0.25, 0.75],
            "exposures": [8, 8, 0, np.nan],
        }
    )
    found = reliability.truths(rows)
    assert found["the answer is right"][1].tolist() == [1, 0, 1]
    assert found["the fact was read"][1].tolist() == [1, 1, 0]
    assert found["the fact was read"][0].tolist() == [1.0, 0.5, 0.25]


@pytest.mark.parametrize("setting", paper.SETTINGS)
def test_table_2_follows_from_the_other_tables(setting):
    printed, table = published.load("kb_table2")[setting], paper.models(setting)
    for pair, value in printed.items():
        first, second = pair.split(" vs. ")
        r = stats.correlation(table[first], table[second]).r
        # The four-shot column is off by up to 0.03, the others by rounding.
        assert r == pytest.approx(value, abs=0.031 if setting == "four-shot" else 0.0061), pair


def test_models_are_paired_with_their_kin():
    table = paper.models("four-shot")
    assert table["tuned"].sum() == 14
    assert table["family"].nunique() == 12
    pairs = paper.pairs()
    for small, large in zip(*(side.index for side in pairs["larger"])):
        assert table.loc[small, "family"] == table.loc[large, "family"]
        assert table.loc[small, "billion"] < table.loc[large, "billion"]
    base, tuned = pairs["tuned"]
    assert not base["tuned"].any()
    assert tuned["tuned"].all()
    assert (base["billion"].to_numpy() == tuned["billion"].to_numpy()).all()


def test_findings_of_the_paper_hold_in_pairs():
    effects = reliability.effects(paper.pairs(), ["NCR", "UR", "IUR", "Cons_w"], 500)
    table = effects.assign(effect=effects["effect"].str.partition(" (")[0])
    table = table.set_index(["effect", "measure"])
    assert table.loc[("larger", "NCR"), "low"] > 0
    assert table.loc[("larger", "Cons_w"), "low"] > 0
    assert table.loc[("tuned", "UR"), "low"] > 0
    assert table.loc[("unsure shots", "IUR"), "low"] > 0


def test_known_facts_are_compared_in_pairs():
    rows = pd.DataFrame(
        {
            "item": ["a", "b", "c"] * 2,
            "variant": ["x"] * 3 + ["y"] * 3,
            "exposures": [64, 128, 8] * 2,
            "label": ["correct", "correct", "wrong", "correct", "uninformative", "correct"],
        }
    )
    found = reliability.known_changes(rows, ["x", "y"], n_resamples=99).iloc[0]
    assert found[["before", "after", "estimate", "n"]].tolist() == [1.0, 0.5, -0.5, 2]
    assert reliability.known_changes(rows, ["x", "y"], least=500).empty
