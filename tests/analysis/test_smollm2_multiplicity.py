"""SmolLM2's kept answers: ambiguity by hand, and the tables that the chapter shows."""

import numpy as np
import pytest

from notebooks.analysis import smollm2_multiplicity as analysis

DRAWS = {"n_resamples": 50, "seed": 0}


@pytest.fixture(scope="module")
def kept():
    return analysis.kept_answers()


def test_ambiguity_and_its_control_by_hand(kept):
    means = kept.answers["logprobs"].map(np.mean)
    keys = [kept.answers["item"], kept.answers["variation"]]
    best = kept.answers.loc[means.groupby(keys).idxmax()]
    changed = best.groupby("item")["option"].nunique() > 1
    alike = []
    for _, rows in kept.answers.query("variation == 0").groupby("item"):
        p = np.exp(rows["logprobs"].map(np.sum))
        alike.append(((p / p.sum()) ** kept.n_prompts).sum())
    table = analysis.prompts_beside_draws(kept, **DRAWS)
    row = table.loc["answers that change"]
    assert float(row["prompts"]) == pytest.approx(100 * changed.mean(), abs=0.051)
    assert float(row["draws"]) == pytest.approx(100 * (1 - np.mean(alike)), abs=0.051)
    assert row["n"] == len(changed) == 120


def test_both_rules_have_a_row_of_four_cells(kept):
    table = analysis.confidence_in_cells(kept, **DRAWS)
    assert [name.partition(" ")[0].strip(",") for name in table.index] == [
        "SmolLM2"
    ] * 2
    assert table.shape == (2, 4)


def test_detectors_are_judged_without_what_the_text_taught(kept):
    areas = analysis.areas_by_detector(kept, **DRAWS)
    assert set(areas["target"]) == {"randomness", "steady errors"}
    assert areas["estimate"].between(0, 1).all()
