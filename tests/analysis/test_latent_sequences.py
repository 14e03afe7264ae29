"""EIC-LKE beside IC-LKE: agreement and counts, by hand."""

import numpy as np
import pandas as pd
import pytest

from helpers import models
from helpers.prompts import lists
from notebooks.analysis import latent_sequences as together

DRAWS = {"n_resamples": 100, "seed": 0}


def marks():
    """Four facts of two relations: EIC-LKE loses one of the three that IC-LKE finds."""
    right = {
        together.SPACES: [1, 1, 0, 1],
        together.ALONE: [1, 1, 0, 1],
        together.TOGETHER: [1, 0, 0, 1],
        together.TRUTHS_BEFORE: [1, 1, 0, 1],
    }
    parts = []
    for way, values in right.items():
        rows = {"item": list("abcd"), "relation": list("rrss"), "right": values}
        part = pd.DataFrame(rows).assign(way=way, model="m", slot=[0, 1, 0, 1])
        parts.append(part)
    table = pd.concat(parts, ignore_index=True).astype({"right": float})
    return table.assign(mass=table["right"] * 0.8 + 0.1)


def test_agreement_by_hand():
    row = together.agreement_with_lists(marks(), **DRAWS).loc["m"]
    assert row["facts"] == 4
    assert row["IC-LKE, %"] == "75.0"
    assert row["EIC-LKE, %"] == "50.0"
    assert row["EIC less IC, points"].startswith("-25.0 ")
    assert row["same verdict, %"].startswith("75.0 ")
    # Less their relation's means: 0, 0, -.5, .5 and .5, -.5, -.5, .5.
    expected = 0.5 / np.sqrt(0.5 * 1.0)
    assert float(row["r within relations"].split()[0]) == pytest.approx(
        expected, abs=0.005
    )


def test_what_is_compared():
    compared = dict(together.comparisons_of_sequences(marks(), **DRAWS))
    assert compared["m: EIC-LKE, less IC-LKE"].estimate == -0.25
    assert compared["m: EIC-LKE, less EIC-LKE, truths before"].estimate == -0.25
    base, tuned = together.BASE_AND_TUNED
    pair = [marks().assign(model=base), marks().assign(model=tuned)]
    names = dict(together.comparisons_of_sequences(pd.concat(pair), **DRAWS))
    assert names[f"EIC-LKE: {tuned}, less {base}"].estimate == 0


def test_rooms_of_relations():
    pool = pd.DataFrame({"relation": ["a"] * 130 + ["b"] * 59 + ["c"] * 23})
    table = together.slots_of_relations(pool)
    # b: 29 before the first, then 30 more in steps of five: 7; c: 11, then 12: 3.
    assert table.loc["a"].tolist() == [100, 50, 11]
    assert table.loc["b"].tolist() == [59, 29, 7]
    assert table.loc["c"].tolist() == [23, 11, 3]


def test_tokens_of_both_ways_are_counted_by_the_tokenizer():
    lm = models.load("atlas-xs")
    names = {"subject": ["Lyon", "Turin"], "object": ["France", "Italy"]}
    pool = pd.DataFrame(names).assign(relation="P17")
    names = {"subject": ["Bern", "Nice"], "object": ["Switzerland", "France"]}
    tests = pd.DataFrame(names).assign(relation="P17", fact=["a", "b"])
    options = {"a": ["Peru", "Switzerland"], "b": ["Chad", "France"]}
    probes = together.probes_alone_and_together(tests, pool, options, n_examples=2)
    table = together.tokens_by_way(lm, probes).set_index("way")
    assert table["passes"].to_dict() == {
        together.SPACES: 4,
        together.ALONE: 4,
        together.TOGETHER: 4,  # one slot a sequence here, so two sequences of two
        together.TRUTHS_BEFORE: 4,
    }
    alone = lists.ic_lke_probes(tests, pool, options, 2, "space and comma")
    texts = alone["prompt"] + alone["continuation"]
    n_tokens = sum(len(lm.tokenizer(text)["input_ids"]) for text in texts)
    assert table.loc[together.ALONE, "plain"] == n_tokens
    assert table.loc[together.ALONE, "shared"] < n_tokens
