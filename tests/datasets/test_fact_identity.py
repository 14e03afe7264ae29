"""A fact is its relation, subject and object, whatever its row is called."""

import warnings

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError, datasets
from helpers.datasets import fact_identity, seen_questions

QUESTIONS = {"country": ["Which country is [X] in?"]}
CITIES = pd.DataFrame(
    {
        "subject": ["Lyon", "Turin", "Lima", "Oslo"],
        "object": ["France", "Italy", "Peru", "Norway"],
    }
)


@pytest.mark.parametrize(
    "spelling",
    ["LYON", " Lyon ", "Ly\u200bon", "\ufeffLyon", "\uff2c\uff59\uff4f\uff4e"],
)
def test_spellings_of_a_name_are_one_name(spelling):
    same = fact_identity.identity_text("country", "Lyon", "France")
    assert fact_identity.identity_text("Country", spelling, "france") == same
    assert fact_identity.identity_text("Country", "Lyons", "france") != same
    assert fact_identity.identity_text("", "countryLyon", "France") != same


def test_accents_tell_names_apart_however_they_are_written():
    composed, decomposed = "C\u00f4te", "Co\u0302te"
    assert fact_identity.folded_text(composed) == fact_identity.folded_text(decomposed)
    assert fact_identity.folded_text(composed) != fact_identity.folded_text("Cote")


@given(st.lists(st.text(), min_size=2, max_size=5), st.randoms())
def test_the_order_of_options_does_not_count(options, random):
    shuffled = random.sample(options, len(options))
    key = options[0]
    assert fact_identity.identity_text("q", options, key) == (
        fact_identity.identity_text("q", shuffled, key)
    )


@given(st.text())
def test_folding_twice_is_folding_once(text):
    once = fact_identity.folded_text(text)
    assert fact_identity.folded_text(once) == once


@pytest.mark.parametrize("spelled", [str, str.upper, " {} ".format])
def test_a_fact_that_is_there_twice_counts_once_and_is_said(tmp_path, spelled):
    again = CITIES.assign(subject=CITIES["subject"].map(spelled), note="second")
    table = pd.concat([CITIES.assign(note="first"), again], ignore_index=True)
    with pytest.warns(UserWarning, match="repeats 4 of its facts, such as .*each co"):
        folder = datasets.write_dataset(table, QUESTIONS, tmp_path / "own")
    facts = datasets.load(folder)
    assert facts["object"].tolist() == CITIES["object"].tolist()
    assert datasets.relation_table(folder)["n_facts"].tolist() == [4]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        datasets.write_dataset(CITIES, QUESTIONS, tmp_path / "once")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Côte d'Ivoire", "Côte d\u2019Ivoire"),
        ("Guinea-Bissau", "Guinea Bissau"),
        ("São Tomé", "Sao Tome"),
        ("The Netherlands", "Netherlands"),
        ("Łódź", "Lodz"),
        ("St. Lucia", "Saint Lucia"),
        ("Trinidad & Tobago", "Trinidad and Tobago"),
    ],
)
def test_a_subject_in_two_spellings_has_two_right_objects(one, other, tmp_path):
    table = CITIES.head(3).assign(subject=[one, other, "Lima"])
    folder = datasets.write_dataset(table, QUESTIONS, tmp_path / "own")
    with pytest.warns(UserWarning, match="are taken as one"):
        facts = datasets.load(folder)
    assert facts["other_objects"].tolist() == [["Italy"], ["France"], []]
    assert facts["distractors"].tolist() == [["Peru"], ["Peru"], ["France", "Italy"]]
    same = table.assign(object="Peru")
    with pytest.warns(UserWarning, match="repeats 1 of its facts"):
        datasets.write_dataset(same, QUESTIONS, tmp_path / "same")


def test_names_that_differ_by_a_sign_are_two():
    for one, other in (("C", "C++"), ("C", "C#"), ("5 + 3", "5 3"), ("Ra", "RA I")):
        table = pd.DataFrame({"relation": "r", "subject": [one, other], "object": "x"})
        assert not fact_identity.repeated_facts(table).any()


def test_true_objects_in_another_spelling_are_not_wrong(tmp_path):
    table = pd.DataFrame(
        {
            "subject": ["South Africa", "South Africa", "Peru"],
            "object": ["Pretoria", "Cape Town", "Lima"],
            "distractors": [["Cape-Town", "Durban"], ["Durban", "pretoria."], ["Oslo"]],
        }
    )
    facts = datasets.load(datasets.write_dataset(table, QUESTIONS, tmp_path / "own"))
    assert facts["distractors"].tolist() == [["Durban"], ["Durban"], ["Oslo"]]


def test_objects_of_a_subject_in_two_spellings_answer_one_question(tmp_path):
    table = pd.concat([CITIES, CITIES.head(1).assign(subject="LYON", object="Spain")])
    table = pd.concat([table, CITIES.assign(subject=CITIES["subject"] + " Sud")])
    folder = datasets.write_dataset(table, QUESTIONS, tmp_path / "own")
    questions = datasets.knowledge_base_questions(str(folder), "", 50, 1)
    answers = questions.asked.set_index("question")["answers"].map(list)
    shots = questions.seen_shots["question"]
    assert "Which country is LYON in?" not in {*answers.index, *shots}
    lyon = "Which country is Lyon in?"
    assert lyon in set(shots) or answers[lyon] == ["France", "Spain"]


def test_several_true_objects_all_count_and_none_is_wrong(tmp_path):
    table = pd.concat([CITIES, CITIES.head(1).assign(subject="LYON", object="Spain")])
    table["distractors"] = [
        ["Spain", "Peru"],
        *[["France", "Spain"]] * 3,
        ["france", "Chad"],
    ]
    facts = datasets.load(datasets.write_dataset(table, QUESTIONS, tmp_path / "own"))
    assert facts["other_objects"].tolist() == [["Spain"], [], [], [], ["France"]]
    assert facts["distractors"].tolist()[::4] == [["Peru"], ["Chad"]]
    assert facts["distractors"][1] == ["France", "Spain"]


def test_the_atlas_has_no_fact_twice_and_one_object_a_subject():
    facts = datasets.load("atlas")
    assert fact_identity.fact_identities(facts).is_unique
    assert "other_objects" not in facts


@pytest.mark.parametrize("name", ["all", "mean"])
def test_a_relation_is_not_called_as_totals_are(tmp_path, name):
    facts = CITIES.assign(relation=name)
    with pytest.raises(UserError, match=f"relation called '{name}'"):
        datasets.write_dataset(facts, {name: ["Where is [X]?"]}, tmp_path / "own")


def test_answers_of_a_question_that_is_there_twice_all_count(tmp_path):
    lines = [
        '{"question": "Where is Lyon?", "answer": ["France"]}',
        '{"question": "Where is Lyon?", "answer": ["Europe"]}',
        '{"question": "Where is Oslo?", "answer": ["Norway"]}',
        '{"question": "Where is Oslo?", "answer": ["norway"]}',
    ]
    path = tmp_path / "own.jsonl"
    path.write_text("\n".join(lines))
    questions = seen_questions.read_questions(path)
    assert questions["answers"].tolist() == [["France", "Europe"], ["Norway"]]
    assert questions["n_answers"].tolist() == [2, 1]
