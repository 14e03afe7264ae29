"""What models answered once: kept with its key, and as they would answer again."""

import numpy as np
import pandas as pd
import pytest

from helpers import datasets, models, probing
from helpers.datasets.panel import LEFT_OUT_RELATIONS
from helpers.metrics import latent_knowledge as lke
from helpers.prompts import lists, sequences
from notebooks.analysis import latent_places, latent_records, latent_sequences

MODEL = "atlas-xs"


@pytest.fixture(scope="module")
def records():
    return latent_records.load_records()


def test_all_bundled_models_are_kept_with_the_weights_that_are_bundled(records):
    for table in records:
        assert set(table["version"]) == {latent_records.RECORDS_VERSION}
        assert set(models.bundled_models()) <= set(table["model"])
        kept = table[["model", "weights"]].drop_duplicates().set_index("model")
        assert kept.index.is_unique
        kept = kept["weights"]
        for name in models.bundled_models():
            assert models.load(name).weights_sha[:8] == kept[name]


def test_all_facts_are_asked_in_all_ways(records):
    kept = records.facts
    in_sequences = kept[kept["part"] == "sequences"]
    for _, rows in in_sequences.groupby("model"):
        items = rows.groupby("way")["item"].agg(set)
        assert set(items.index) == set(latent_sequences.WAYS)
        assert all(names == items.iloc[0] for names in items)
        assert rows["relation"].nunique() == 24
    by_examples = kept[kept["part"] == "examples"]
    for _, rows in by_examples.groupby("model"):
        assert set(rows["examples"]) == {0, *latent_records.COUNTS}
        draws = rows[rows["examples"] > 0].groupby("examples")["draw"].nunique()
        assert (draws == 5).all()
    assert not kept[["right", "mass", "top"]].isna().any(axis=None)


def test_no_true_pair_is_called_unread_where_nobody_knows(records):
    for model, rows in records.places.groupby("model"):
        is_known = datasets.training_exposure(model) is not None
        assert ("unread" in set(rows["kind"])) == is_known


@pytest.fixture(scope="module")
def facts():
    every = datasets.load("atlas")
    every = every[~every["relation"].isin(LEFT_OUT_RELATIONS)]
    return lists.divisible_facts_and_notes(every)[0]


def test_a_model_answers_in_sequences_as_it_is_kept(records, facts):
    roles = lists.divide_into_examples_and_tests(facts)
    roles = roles[roles["relation"] == "P61"]
    pool = roles[roles["role"] == "example"]
    tests = roles[roles["role"] == "test"].head(5)
    options = lists.draw_choices(tests, facts, 20)
    probes = sequences.eic_lke_probes(tests, pool, options)
    answers = probing.score(models.load(MODEL), probes, progress=False)
    again = lke.fact_scores(answers).set_index("item")
    kept = records.facts.query(
        "model == @MODEL and way == 'EIC-LKE' and relation == 'P61'"
    )
    kept = kept.set_index("item").loc[again.index]
    np.testing.assert_allclose(kept["mass"], again["mass"], atol=1e-4)
    assert kept["right"].tolist() == again["right"].tolist()


def test_a_model_answers_at_places_as_it_is_kept(records, facts):
    training = datasets.training_exposure("atlas-m")
    of_relation = facts[facts["relation"] == "P36"]
    pairs = latent_places.lists_with_replaced_pairs(of_relation, training, 1)
    chosen = pairs[(pairs["kind"] == "wrong") & (pairs["arrangement"] == "block")]
    probes = latent_places.probes_at_each_place(chosen)
    answers = probing.score(models.load(MODEL), probes, progress=False)
    p = np.exp(answers["logprobs"].map(np.sum)).to_numpy()
    kept = records.places.query(
        "model == @MODEL and relation == 'P36' and draw == 0 and kind == 'wrong' "
        "and arrangement == 'block'"
    )
    np.testing.assert_allclose(kept.sort_values("place")["p"], p, atol=1e-4)


def test_new_answers_of_a_model_take_the_place_of_its_old_ones(tmp_path):
    def table(model, value):
        return pd.DataFrame({"model": [model], "value": [value]})

    old = latent_records.Records(*(table("a", 1) for _ in range(3)))
    other = latent_records.Records(*(table("b", 2) for _ in range(3)))
    new = latent_records.Records(*(table("a", 3) for _ in range(3)))
    both = latent_records.records_with_new_answers(old, other)
    whole = latent_records.records_with_new_answers(both, new)
    for rows in whole:
        assert rows.to_numpy().tolist() == [["b", 2], ["a", 3]]
    latent_records.save_records(whole, tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


def test_a_plain_loop_is_dearer_for_lists_and_cheaper_with_beginnings_once(records):
    """What the chapter says of the tokens of both ways holds of every model kept."""
    tokens = records.tokens.set_index(["model", "choices", "way"])
    for (model, choices), rows in tokens.groupby(level=["model", "choices"]):
        alone = rows.loc[(model, choices, latent_sequences.ALONE)]
        together = rows.loc[(model, choices, latent_sequences.TOGETHER)]
        assert together["plain"] < alone["plain"] / 2
        assert together["shared"] > alone["shared"]
        assert together["shared"] < together["plain"]


def test_an_unknown_model_is_told_in_one_sentence(capsys):
    assert latent_records.main(["no-such-model", "--n_facts", "1"]) == 2
    assert "no-such-model" in capsys.readouterr().err
