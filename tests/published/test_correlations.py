"""Correlations over the papers' models, with what the papers did not give."""

import numpy as np
import pytest
import scipy.stats

from helpers import published
from helpers.published import correlations


@pytest.fixture(scope="module")
def table():
    """Return the table of correlations with few resamples."""
    return correlations.table(n_resamples=300, seed=0)


def test_there_are_all_pairs(table):
    assert table["paper"].value_counts().to_dict() == {
        "knowledge bases": 21,
        "multiplicity": 6,
        "MONITOR": 5,
    }
    sizes = table.groupby("paper")["n"].agg(set).to_dict()
    assert sizes == {"MONITOR": {12}, "knowledge bases": {26}, "multiplicity": {14, 16}}


def test_each_interval_is_scipys(table):
    for pair, row in zip(correlations.pairs(), table.itertuples()):
        theirs = scipy.stats.pearsonr(pair.x, pair.y)
        ends = theirs.confidence_interval()
        found = (row.estimate, row.p, row.low, row.high)
        assert found == pytest.approx((*theirs, ends.low, ends.high))
        assert row.spearman == pytest.approx(scipy.stats.spearmanr(pair.x, pair.y).statistic)
        assert row.rank_low < row.spearman < row.rank_high
        assert row.boot_low < row.estimate < row.boot_high


def test_without_a_family_by_hand(table):
    whole = published.load("monitor_table4")
    rest = whole[~whole.index.str.contains("Vicuna|WizardLM|LLaMa")]
    assert len(rest) == 8
    r = np.corrcoef(rest["MONITOR"], rest["avg"])[0, 1]
    row = table.iloc[0]
    assert row["without"] == "Llama 1"
    assert row["most"] == pytest.approx(r)
    assert (table["least"] <= table["most"]).all()


def test_the_families_hold_all_models():
    counts = correlations.models_of()
    assert counts.sum().to_dict() == {"MONITOR": 12, "knowledge bases": 26, "multiplicity": 16}
    models = {name for pair in correlations.pairs() for name in pair.x.index}
    assert all(correlations.family(name) != name for name in models)
    assert correlations.family("Some-New-Model") == "Some-New-Model"


def test_what_the_chapter_says_of_its_correlations(table):
    rows = table.set_index("pair")
    agree = rows.loc["NCR, UR (four-two)"]
    assert agree["low"] > 0 > agree["rank_low"]
    reliable = rows.loc["NCCR, IUR (four-two)"]
    assert reliable["low"] > 0 > reliable["rank_low"]
    spreads = rows.filter(like="deviation, ambiguity", axis=0)
    sure = spreads.index[spreads["low"] > 0]
    assert list(sure) == [
        f"deviation, ambiguity ({name})" for name in ("Med-HALT", "CommonsenseQA")
    ]


def test_relations_have_the_interval_of_r_and_n():
    table = correlations.relations().set_index("relation")
    assert len(table) == 20
    assert table.index[table["high"] > 0].tolist() == ["P101"]
    assert published.load("monitor_table11")["p_value"].idxmax() == "P101"
