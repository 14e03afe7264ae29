"""The panel is the same for every model, spread over exposures, and nested."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from book.tools import parameters
from helpers import UserError, datasets
from helpers.datasets import multiple_choice
from helpers.datasets.exposure import name_frequencies
from helpers.datasets.panel import LEFT_OUT_RELATIONS
from helpers.models import checkpoints


@pytest.fixture(scope="module")
def panel():
    """Return the default panel."""
    return datasets.panel_facts()


def test_composition_is_as_told(panel):
    false = panel["false_exposures"] > 0
    levels = panel.loc[~false, "exposures"].value_counts()
    assert len(panel) == panel["fact"].nunique() == 688
    assert false.sum() == 688 / 8
    assert levels[0] == 688 / 4
    others = levels.drop(0)
    assert set(others.index) == {1, 2, 4, 8, 16, 32, 64, 128, 256}
    assert others.max() - others.min() <= 1


def test_facts_are_those_of_the_data_set(panel):
    every = (
        datasets.load("atlas", seed=0)
        .set_index("fact")
        .loc[panel["fact"]]
        .reset_index()
    )
    pd.testing.assert_frame_equal(panel[every.columns], every)


def test_relations_share_the_panel(panel):
    counts = panel["relation"].value_counts()
    assert counts.size == 24
    assert counts.min() >= 20
    assert counts.max() <= 36
    assert not set(counts.index) & set(LEFT_OUT_RELATIONS)


@given(st.integers(0, 80), st.integers(0, 80))
@limits(max_examples=6)
def test_smaller_panels_lie_within_larger_ones(first, second):
    small, large = sorted((first, second))
    assert set(datasets.panel_facts(small)["fact"]) <= set(
        datasets.panel_facts(large)["fact"]
    )
    assert len(datasets.panel_facts(large)) == large


@pytest.mark.parametrize("model", checkpoints.bundled_models())
def test_every_bundled_model_read_the_panel_as_it_says(panel, model):
    told = datasets.training_exposure(model).loc[panel["fact"]]
    assert (told["exposures"].to_numpy() == panel["exposures"].to_numpy()).all()
    assert (told["false_object"].to_numpy() == panel["false_object"].to_numpy()).all()
    assert (told["tuned"] == 0).all()
    assert told["plain"].to_numpy().tolist() == (panel["false_exposures"] == 0).tolist()


def test_another_seed_draws_other_facts(panel):
    other = datasets.panel_facts(seed=1)
    assert 0 < len(set(other["fact"]) & set(panel["fact"])) < 688


def test_a_negative_number_is_refused():
    with pytest.raises(UserError, match="give 0 or more"):
        datasets.panel_facts(-1)
    assert datasets.panel_facts(0).empty


def test_left_out_relations_are_those_of_the_chapter(root):
    declared = parameters.declared_parameters(
        root / "notebooks" / "latent_knowledge.ipynb"
    )
    assert tuple(declared["left_out"]) == LEFT_OUT_RELATIONS


def test_all_chapters_ask_as_many(root):
    names = ("monitor", "knowledge_base", "latent_knowledge", "multiplicity")
    declared = [
        parameters.declared_parameters(root / "notebooks" / f"{name}.ipynb")
        for name in names
    ]
    assert {found["n_panel"] for found in declared} == {688}


def test_questions_and_items_about_named_facts_alone(panel):
    wanted = set(panel["fact"])
    bank = datasets.knowledge_base_questions("atlas", "atlas-s", only=wanted)
    assert set(bank.asked["item"]) == wanted
    assert not set(bank.asked["question"]) & set(bank.seen_shots["question"])
    assert not set(bank.asked["question"]) & set(bank.unseen_shots["question"])
    bench = multiple_choice.load_benchmark("atlas", model="atlas-s", only=wanted)
    assert set(bench.items["item"]) == wanted
    assert not set(bench.pool["item"]) & wanted
    told = bench.items[bench.items["false_object"] != ""]
    assert len(told) == 688 // 8
    assert all(
        f in options for f, options in zip(told["false_object"], told["options"])
    )


def test_false_objects_are_offered_without_hiding_the_truth(panel):
    options = {
        fact: ["x", "y", true] for fact, true in zip(panel["fact"], panel["object"])
    }
    made = datasets.options_with_false_object(options, panel)
    for row in panel.itertuples():
        assert made[row.fact][-1] == row.object
        assert len(made[row.fact]) == 3
        assert (row.false_object in made[row.fact]) == bool(row.false_object)
    assert options[panel["fact"].iloc[0]][0] == "x"  # what was given is left as it was
    pd.testing.assert_frame_equal(panel, datasets.panel_facts())


def test_facts_of_ones_own_make_a_panel_of_those_that_have_counts():
    counts = [None, 0, 0, 0, 0, 0, 1, 1, 5, 5, 6, 7, 900, 901, 1000, None]
    facts = pd.DataFrame({"fact": [f"r-{i}" for i in range(16)], "relation": "r"})
    facts = facts.assign(exposure=pd.array(counts, dtype="Int64"))
    every = datasets.panel_facts(99, 0, facts)
    assert every["fact"].tolist() == facts["fact"][1:15].tolist()
    small = datasets.panel_facts(8, 0, facts)
    assert set(small["fact"]) <= set(every["fact"])
    assert len(small) == 8
    assert small["exposure"].eq(0).sum() in (2, 3)
    assert small["exposure"].between(1, 1).sum() >= 1
    assert small["exposure"].between(4, 7).sum() >= 1
    assert small["exposure"].between(512, 1023).sum() >= 1
    assert datasets.panel_facts(0, 0, facts).empty


def test_the_truth_is_that_of_training_or_of_ones_own_files():
    told = datasets.fact_exposure("atlas", "atlas-s")
    expected = datasets.training_exposure("atlas-s")
    pd.testing.assert_frame_equal(told, expected[told.columns])
    for name in ("fktc", "seen_qa", "fever", "nobel"):  # nothing is fetched
        assert datasets.fact_exposure(name) is None
    with pytest.raises(UserError, match="no file or folder"):
        datasets.fact_exposure("./missing")


def test_where_nobody_counted_the_frequency_of_the_subject_stands_in():
    told = datasets.fact_exposure("atlas", "gpt2")
    facts = datasets.load("atlas", seed=0).set_index("fact")["subject"]
    assert "stand_in" in told
    assert "stand_in" not in datasets.fact_exposure("atlas", "atlas-s")
    assert told["plain"].all()
    assert not told["false_exposures"].any()
    assert (told.loc[facts.index, "exposures"] == facts.map(name_frequencies())).all()
    same = told["exposures"].groupby(facts).nunique()
    assert same.max() == 1  # of a name, not of a fact
