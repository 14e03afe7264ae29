"""The kept answers of SmolLM2: its numbers, worked out again from the table of answers alone."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from helpers import stats
from helpers.datasets.exposure import frequencies
from helpers.metrics.matching import normalise
from notebooks.analysis import smollm2
from notebooks.analysis.atlas import records

DRAWS = {"n_resamples": 50, "seed": 0}


@pytest.fixture(scope="module")
def kept():
    return smollm2.read()


@pytest.fixture(scope="module")
def facts(kept):
    return smollm2.by_fact(kept[0])


def test_what_is_right_by_what_is_said_first(kept, facts):
    answers = kept[0]
    said, true = (answers[name].map(normalise) for name in ("text", "object"))
    answers = answers.assign(ok=said == true)
    for column, start in {"none": "frame0", "right": "right", "wrong": "wrong"}.items():
        rows = answers[answers["variant"].str.startswith(start)]
        expected = rows.groupby("item")["ok"].mean()[facts["item"]]
        np.testing.assert_allclose(facts[column], expected, atol=1e-12)
    frames = answers[answers["variant"].isin([f"frame{n}" for n in range(1, 7)])]
    expected = frames.groupby("item")["ok"].mean()[facts["item"]]
    np.testing.assert_allclose(facts["reworded"], expected, atol=1e-12)


def test_the_measures_are_those_of_the_archive(kept, facts):
    table = kept[1].set_index("measure")
    assert len(facts) == 450
    assert facts["none"].mean() == pytest.approx(table.loc["base", "estimate"], abs=1e-12)
    assert set(table["study"]) == {
        *("monitor", "knowledge_base"),
        *("latent_knowledge", "multiplicity"),
    }


def test_a_curve_has_the_mean_of_each_group(facts):
    found = smollm2.curves(facts, **DRAWS)
    rows = found[found["first"] == "nothing first"].set_index("often")
    expected = facts.groupby("often")["none"].mean()
    np.testing.assert_allclose(rows["estimate"], expected[rows.index], atol=1e-12)
    assert (rows["low"] <= rows["estimate"]).all()
    assert set(rows.index) == set(smollm2.GROUPS)


def test_groups_are_those_of_the_names(facts):
    often = facts["subject"].map(frequencies())
    ends = [*smollm2.GROUPS[1:], np.inf]
    for low, high in zip(smollm2.GROUPS, ends):
        assert often[facts["often"] == low].between(low, high, inclusive="left").all()


def test_rank_correlation_is_that_of_pandas(facts):
    expected = facts["none"].corr(pd.Series(facts["occurrences"]), method="spearman")
    found = stats.spearman(facts[["none", "occurrences"]].to_numpy())
    assert float(found) == pytest.approx(expected, abs=1e-12)


def test_both_panels_draw_the_shares_they_name(facts):
    left, right = smollm2.beside_atlas(facts, **DRAWS)
    table = records.evaluation(["atlas-m"]).query("condition == @records.ALONE")
    drawn = [set(np.round(line.get_ydata(), 12)) for line in left.get_lines()]
    assert set(table["estimate"].round(12)) in drawn
    expected = facts.groupby("often")["none"].mean().to_numpy()
    np.testing.assert_allclose(right.get_lines()[0].get_ydata(), expected, atol=1e-12)
    assert left.get_ylim() == right.get_ylim()
    plt.close("all")
