"""Unrelated words could not be an answer: by the rules of a right answer, and by their types."""

import pandas as pd
import pytest

from helpers import UserError, datasets
from helpers.metrics.matching import exact_match, normalise_text


@pytest.fixture(scope="module")
def atlas():
    facts = datasets.load("atlas")
    return facts.assign(unrelated=datasets.draw_unrelated_words("atlas", facts))


def test_every_fact_has_as_many_as_it_has_wrong_words(atlas):
    assert (atlas["unrelated"].str.len() == atlas["distractors"].str.len()).all()
    assert all(len(set(words)) == len(words) for words in atlas["unrelated"])
    assert (
        atlas["unrelated"].explode().nunique() > 4000
    )  # they are not a few words again and again


def test_no_word_is_an_answer_to_the_question(atlas):
    answers = atlas.groupby("relation")["object"].agg(
        lambda names: set(map(normalise_text, names))
    )
    kinds = datasets.relation_table("atlas").set_index("relation")["object_type"]
    homes = atlas.groupby("object")["relation"].agg(set)
    for row in atlas.itertuples():
        for word in row.unrelated:
            assert normalise_text(word) not in answers[row.relation], (row.fact, word)
            assert not exact_match(word, row.object)
            assert {kinds[home] for home in homes[word]} != {kinds[row.relation]}


def test_no_fact_puts_a_word_together_with_the_fact_asked(atlas):
    pairs = {frozenset(pair) for pair in zip(atlas["subject"], atlas["object"])}
    for row in atlas.itertuples():
        for word in row.unrelated:
            assert word not in (row.subject, row.object)
            assert frozenset((word, row.subject)) not in pairs
            assert frozenset((word, row.object)) not in pairs


def test_the_draw_depends_on_the_seed_and_the_fact_alone(atlas):
    few = atlas.sample(20, random_state=0)
    assert datasets.draw_unrelated_words("atlas", few) == few["unrelated"].tolist()
    other = datasets.draw_unrelated_words("atlas", few, seed=1)
    assert sum(one == two for one, two in zip(other, few["unrelated"])) == 0


OWN = pd.DataFrame(
    [
        *(("author", "Hamlet", "Shakespeare"), ("author", "Faust", "Goethe")),
        *(
            ("year", "Hamlet", "1603"),
            ("year", "Faust", "1808"),
            ("year", "Emma", "1815"),
        ),
        ("translator", "Faust", "goethe"),
    ],
    columns=["relation", "subject", "object"],
)
ASKS = {name: [f"The {name} of [X]?"] for name in ("author", "year", "translator")}


def test_ones_own_relations_are_unrelated_if_they_share_no_object(tmp_path):
    facts = datasets.load(datasets.write_dataset(OWN, ASKS, tmp_path / "own"))
    words = datasets.draw_unrelated_words(tmp_path / "own", facts)
    found = dict(zip(zip(facts["relation"], facts["subject"]), map(set, words)))
    assert found["author", "Hamlet"] == {"1808"} or found["author", "Hamlet"] == {
        "1815"
    }
    assert found["author", "Faust"] <= {
        "1603",
        "1815",
    }  # not its own year, nor "goethe"
    assert found["author", "Faust"]
    assert found["year", "Emma"] <= {"Shakespeare", "Goethe", "goethe"}


def test_a_data_set_of_one_relation_has_none(tmp_path):
    one = OWN[OWN["relation"] == "year"]
    folder = datasets.write_dataset(one, {"year": ASKS["year"]}, tmp_path / "own")
    assert datasets.draw_unrelated_words(folder, datasets.load(folder)) == [[], [], []]


def test_a_data_set_that_is_not_there_is_named():
    with pytest.raises(UserError, match="no-such-data"):
        datasets.draw_unrelated_words("no-such-data", OWN.head(0))
