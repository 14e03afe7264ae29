"""Strata of the bootstrap, and the paper's own comparisons."""

import numpy as np
import pandas as pd

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
        paper.pairs_of_models(), ["NCR", "UR", "IUR", "Cons_w"], 500
    )
    table = effects.assign(effect=effects["effect"].str.partition(" (")[0])
    table = table.set_index(["effect", "measure"])
    assert table.loc[("larger", "NCR"), "low"] > 0
    assert table.loc[("larger", "Cons_w"), "low"] > 0
    assert table.loc[("tuned", "UR"), "low"] > 0
    assert table.loc[("unsure shots", "IUR"), "low"] > 0
