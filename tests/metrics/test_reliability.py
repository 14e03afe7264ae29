"""Strata of the bootstrap, and the paper's own comparisons."""

import numpy as np
import pandas as pd
import pytest

from helpers.metrics import knowledge_base_strata
from notebooks.kit.published import knowledge_base as paper


def said(n=40, seed=0):
    random = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {"item": [f"q{i}" for i in range(n)], "seen": np.arange(n) % 2 == 0}
    )
    rows["group"] = np.where(rows["seen"], "P17", "T1")
    rows["type"] = "location"
    labels = random.choice(["wrong", "uninformative"], n)
    rows["label"] = np.where(rows["seen"] & (random.random(n) < 0.5), "correct", labels)
    rows["consistency"] = np.where(
        rows["label"] == "uninformative", np.nan, random.random(n)
    )
    return knowledge_base_strata.add_strata(rows)


def test_small_groups_share_a_stratum():
    rows = said(40)
    assert rows["stratum"].value_counts().to_dict() == {
        "P17, seen": 20,
        "T1, unseen": 20,
    }
    few = knowledge_base_strata.add_strata(said(18))
    assert set(few["stratum"]) == {"rest, seen", "rest, unseen"}
    twice = pd.concat([said(12), said(12)])
    assert set(knowledge_base_strata.add_strata(twice)["stratum"]) == {
        "rest, seen",
        "rest, unseen",
    }
    mixed = said(24).assign(group=[f"P{i}" for i in range(24)])
    assert set(knowledge_base_strata.add_strata(mixed)["stratum"]) == {
        "location, seen",
        "location, unseen",
    }


def test_findings_of_the_paper_hold_in_pairs():
    effects = knowledge_base_strata.paired_effects(
        paper.pairs_of_models(), ["NCR", "UR", "IUR", "Cons_w"]
    )
    table = effects.assign(effect=effects["effect"].str.partition(" (")[0])
    table = table.set_index(["effect", "measure"])
    assert table.loc[("larger", "NCR"), "low"] > 0
    assert table.loc[("larger", "Cons_w"), "low"] > 0
    assert table.loc[("tuned", "UR"), "low"] > 0
    assert table.loc[("unsure shots", "IUR"), "low"] > 0


def test_a_family_of_several_pairs_counts_once():
    """By pairs the mean is 0.3; by families (0.2 + 0.6) / 2, ± 12.706 · 0.2."""
    names = ["A", "A", "A", "B"]
    base = pd.DataFrame({"pretrained": names, "UR": [0.1, 0.2, 0.3, 0.1]})
    tuned = pd.DataFrame({"pretrained": names, "UR": [0.2, 0.4, 0.6, 0.7]})
    effects = knowledge_base_strata.paired_effects({"tuned": (base, tuned)}, ["UR"])
    row = effects.iloc[0]
    assert row["effect"] == "tuned (2 families)"
    assert row["n"] == 2
    assert row["estimate"] == pytest.approx(0.4)
    assert row["low"] == pytest.approx(0.4 - 12.706 * 0.2, abs=1e-3)
    tuned["UR"] = [0.2, 0.4, 0.6, np.nan]
    effects = knowledge_base_strata.paired_effects({"tuned": (base, tuned)}, ["UR"])
    assert effects["estimate"].item() == pytest.approx(0.2)
    assert np.isnan(effects["low"].item())


def test_tuning_in_each_setting_of_the_paper_by_hand():
    """Llama 2 (3 pairs), Llama 3 (2), Mistral (1), Gemma (2), from Table 9."""
    effects = knowledge_base_strata.paired_effects(
        paper.tuned_pairs_by_setting(), ["UR"]
    )
    effects = effects.set_index("effect")
    by_family = {
        "zero-shot": [(-7.0 + 28.5 + 79.9) / 3, (69.2 + 37.9) / 2, 28.4, 73.2],
        "four-shot": [(93.3 + 90.1 + 86.6) / 3, (62.9 + 42.5) / 2, 80.2, 94.2],
        "four-two": [(33.1 + 23.7 + 4.9) / 3, (-10.3 + 1.0) / 2, -2.6, 37.1],
    }
    for setting, families in by_family.items():
        row = effects.loc[f"{setting} (4 families)"]
        assert 100 * row["estimate"] == pytest.approx(np.mean(families), abs=0.1)
    assert effects.loc["four-shot (4 families)", "low"] > 0
    assert effects.loc["four-two (4 families)", "low"] < 0
