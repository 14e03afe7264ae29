"""The models of the four papers: every printed name is matched, none is counted twice."""

from itertools import combinations

import pandas as pd
import pytest

from helpers import UserError
from notebooks.kit import published
from notebooks.kit.published import paper_models

TABLES = {
    "MONITOR": "monitor_table4",
    "knowledge bases": "kb_table4",
    "IC-LKE": "lke_table7",
    "multiplicity": "multiplicity_table1",
}


@pytest.mark.parametrize("paper", paper_models.PAPERS)
def test_each_printed_name_is_one_model_for_sure_or_probably(paper):
    found = paper_models.model_matches("probably").query("paper == @paper")
    assert sorted(found["name"]) == sorted(
        published.load_published_table(TABLES[paper]).index
    )
    assert found["model"].is_unique


def test_models_of_the_two_files_are_the_same_and_known():
    about, found = paper_models.published_models(), paper_models.model_matches()
    assert set(about.index) == set(found["model"])
    assert about.index.is_unique
    assert set(about["kind"]) == {"base", "tuned"}
    assert about.index[about["billion"].isna()].tolist() == ["GPT-3.5 Turbo 0125"]
    assert about["released"].between(2021, 2024).all()


def test_size_and_tuning_agree_with_what_the_papers_print():
    """Names were matched by hand; the papers' own columns say whether sizes and kinds fit."""
    about, found = (
        paper_models.published_models(),
        paper_models.model_matches("probably"),
    )
    kb = published.knowledge_base.knowledge_base_models("zero-shot")
    monitor = published.load_published_table("monitor_table2")
    for row in found.itertuples():
        model = about.loc[row.model]
        if row.paper == "knowledge bases" and row.model != "Phi-2":
            assert (
                model["billion"] == kb.loc[row.name, "billion"]
                or row.name == "GPT-3.5 Turbo"
            )
            assert (model["kind"] == "tuned") == kb.loc[row.name, "tuned"]
        if row.paper == "MONITOR":
            assert model["billion"] == monitor.loc[row.name, "size_billion"]
            assert (model["kind"] == "tuned") == (
                monitor.loc[row.name, "instruction_tuned"] == 1
            )


@pytest.mark.parametrize("least", paper_models.MATCH_CERTAINTIES)
def test_no_pair_of_papers_takes_a_printed_row_twice(least):
    found = paper_models.model_matches(least)
    for one, two in combinations(paper_models.PAPERS, 2):
        both = found[found["paper"] == one].merge(
            found[found["paper"] == two], on="model"
        )
        assert both["name_x"].is_unique
        assert both["name_y"].is_unique


def test_every_match_has_a_reason_and_every_doubt_is_listed():
    found = paper_models.model_matches()
    assert found["reason"].str.len().gt(10).all()
    assert (
        len(paper_models.doubtful_model_matches())
        == (found["certainty"] != "same weights").sum()
    )
    assert found.groupby(["model", "paper"]).size().max() == 1


def test_counts_of_shared_models():
    shared = paper_models.counts_of_shared_models("same family")
    assert shared.loc["IC-LKE", "MONITOR"] == 7
    assert shared.loc["IC-LKE", "multiplicity"] == 14
    assert shared.loc["IC-LKE", "knowledge bases"] == 15
    assert shared.loc["knowledge bases", "multiplicity"] == 6
    table = paper_models.measures_of_all_papers("same family")
    both = table[["IC-LKE: accuracy", "MONITOR: score"]].dropna()
    assert len(both) == shared.loc["IC-LKE", "MONITOR"]
    pd.testing.assert_frame_equal(shared, shared.T, check_names=False)
    assert [int(shared.loc[paper, paper]) for paper in paper_models.PAPERS] == [
        12,
        26,
        49,
        16,
    ]


def test_figures_are_those_of_the_tables():
    row = paper_models.measures_of_all_papers().loc["BLOOMZ 7.1B"]
    assert row["MONITOR: score"] == 0.632
    assert row["MONITOR: mean accuracy"] == pytest.approx(0.36232)
    assert row["IC-LKE: accuracy"] == 0.5827
    assert pd.isna(row["multiplicity: TruthfulQA accuracy"])
    row = paper_models.measures_of_all_papers("same family").loc["BLOOM 7.1B"]
    assert row["multiplicity: Wiki-FACTOR binary ambiguity"] == pytest.approx(0.2635)
    assert row["IC-LKE: accuracy"] == 0.5827


def test_a_match_is_left_out():
    pair = ("Llama 3 8B", "multiplicity")
    assert pd.isna(
        paper_models.measures_of_all_papers(without=[pair]).loc[
            "Llama 3 8B", "multiplicity: FEVER accuracy"
        ]
    )
    alone = [("Phi-2", "knowledge bases")]
    assert "Phi-2" not in paper_models.measures_of_all_papers(without=alone).index


def test_directions_are_those_of_the_papers():
    better = paper_models.published_measures()["better"]
    assert better["MONITOR: score"] == -1
    assert (better[better.index.str.endswith("ambiguity")] == -1).all()
    assert (better[better.index.str.contains("accuracy|CR|UR")] == 1).all()


def test_an_unknown_certainty_is_refused():
    with pytest.raises(UserError, match="is no certainty"):
        paper_models.measures_of_all_papers("surely")


def test_relations_are_those_of_the_tables():
    table = paper_models.monitor_and_ic_lke_by_relation()
    assert table.shape == (20, 13)
    assert set(table.columns[:-1]) <= set(paper_models.published_models().index)
    monitor, averages = (
        published.load_published_table("monitor_table10"),
        published.load_published_table("lke_table8"),
    )
    assert table.iloc[:, :-1].to_numpy() == pytest.approx(monitor.to_numpy())
    assert (
        table.loc["capital of", "Llama 1 30B Instruct"]
        == monitor.loc["P1376", "LLaMa-30b-ins."]
    )
    both = table["IC-LKE accuracy"].dropna()
    assert len(both) == 7
    assert both["record label"] == averages.loc["record label", "accuracy"]
