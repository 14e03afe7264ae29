"""Questions of the knowledge-base chapter: what counts as seen, truth carried, nothing leaks."""

import json

import pytest

from helpers import UserError, datasets
from helpers.datasets import seen_questions
from helpers.datasets.knowledge_questions import FEWEST_ANSWERS


@pytest.fixture(scope="module")
def bank():
    return datasets.knowledge_base_questions("atlas", "atlas-s", n_seen=3, n_unseen=2)


def test_seen_facts_were_read_and_unseen_ones_never(bank):
    told = datasets.training_exposure("atlas-s")
    facts = bank.asked[bank.asked["exposures"].notna()]
    rows = told.loc[facts["item"]]
    assert (facts["exposures"].to_numpy() == rows["exposures"].to_numpy()).all()
    assert (rows["exposures"].to_numpy()[facts["seen"]] >= 1).all()
    never = rows[~facts["seen"].to_numpy()]
    assert (never[["exposures", "false_exposures", "pair_exposures"]] == 0).all(
        axis=None
    )


def test_numbers_of_questions(bank):
    asked = bank.asked
    facts = asked[asked["exposures"].notna()]
    assert (facts[facts["seen"]].groupby("group").size() == 3).all()
    assert facts[~facts["seen"]].groupby("group").size().max() == 2
    templates = asked[asked["exposures"].isna()].groupby("group").size()
    assert templates.to_dict() == {f"T{number}": 2 for number in range(1, 21)}
    assert asked["item"].is_unique


def test_no_question_is_its_own_shot(bank):
    asked = set(bank.asked["question"])
    assert len(bank.seen_shots) == 280
    assert len(bank.unseen_shots) == 40
    assert not asked & set(bank.seen_shots["question"])
    assert not asked & set(bank.unseen_shots["question"])


def test_every_pool_has_enough_for_three_distractors(bank):
    sizes = bank.pool.groupby("pool")["answer"].nunique()
    assert set(bank.asked["pool"]) <= set(sizes.index)
    assert sizes.min() >= 4


def test_true_answers_are_those_of_the_facts(bank):
    facts = datasets.load("atlas").set_index("fact")
    known = bank.asked[bank.asked["exposures"].notna()]
    assert (
        known["answers"].str[0].to_numpy() == facts.loc[known["item"], "object"]
    ).all()
    for question, subject in zip(
        known["question"], facts.loc[known["item"], "subject"]
    ):
        assert subject in question


def test_other_models_have_seen_it_all_as_far_as_one_knows():
    asked = datasets.knowledge_base_questions(
        "atlas", "gpt2", n_seen=1, n_unseen=1
    ).asked
    assert "exposures" not in asked.columns
    assert asked.loc[~asked["seen"], "group"].str.match(r"T\d+$").all()


def test_the_sample_hangs_on_the_seed(bank):
    again = datasets.knowledge_base_questions("atlas", "atlas-s", n_seen=3, n_unseen=2)
    assert again.asked.equals(bank.asked)
    other = datasets.knowledge_base_questions(
        "atlas", "atlas-s", n_seen=3, n_unseen=2, seed=1
    )
    assert not other.asked["item"].equals(bank.asked["item"])


def test_published_files_become_seen_questions(shared):
    sources = [shared / "data" / name for name in ("nq_open", "triviaqa", "popqa")]
    bank = datasets.knowledge_base_questions("seen_qa", "", 10, 1, sources)
    seen = bank.asked[bank.asked["seen"]]
    assert seen["group"].value_counts().to_dict() == {path.name: 10 for path in sources}
    assert (~bank.asked["seen"]).sum() == 20
    assert not any(seen_questions.answers_change_with_time(seen["question"]))
    assert seen["answers"].str[0].str.split().str.len().max() <= 5
    assert bank.source["title"] == "SeenQA: nq_open, triviaqa, popqa"
    assert set(bank.asked["pool"]) <= set(bank.pool["pool"])
    assert len(bank.seen_shots) == 280
    assert not set(bank.asked["question"]) & set(bank.seen_shots["question"])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"dataset": "trivia"}, "no data set 'trivia'"),
        ({"dataset": "atlas", "n_seen": 0}, "at least one question of each kind"),
        ({"dataset": "atlas", "n_unseen": 0}, "at least one question of each kind"),
    ],
)
def test_bad_settings_are_refused(settings, sentence):
    with pytest.raises(UserError, match=sentence):
        datasets.knowledge_base_questions(**settings)


def write(folder, relation, facts, wrong=()):
    """Write facts in FKTC's format, from pairs of subject and object."""
    rows = [{"subject": s, "object": o, "taxonomy": list(wrong)} for s, o in facts]
    lines = map(json.dumps, [{"relations": ["Who wrote [X]?", "[X] is by?"]}, *rows])
    (folder / f"{relation}.json").write_text("\n".join(lines), encoding="utf-8")


def test_own_facts_are_seen_questions_with_all_objects_of_a_subject(tmp_path):
    facts = [(f"book {n}", f"writer {n}") for n in range(20)]
    write(tmp_path, "author", [*facts, ("book 3", "another")], ["Ibsen"])
    bank = datasets.knowledge_base_questions(
        str(tmp_path), "atlas-s", n_seen=50, n_unseen=1
    )
    asked = bank.asked[bank.asked["seen"]]
    assert len(asked) == 15
    assert len(bank.seen_shots) == FEWEST_ANSWERS
    assert not set(asked["question"]) & set(bank.seen_shots["question"])
    both = [*asked["answers"], *bank.seen_shots["answers"]]
    assert ["writer 3", "another"] in both
    assert "exposures" not in asked
    assert {"Ibsen", "writer 7"} <= set(
        bank.pool.loc[bank.pool["pool"] == "author", "answer"]
    )
    assert "Subjects with more than one object: 1," in bank.notes[0]


def test_a_relation_of_few_answers_has_invented_ones_beside(tmp_path):
    write(tmp_path, "author", [(f"book {n}", f"writer {n % 2}") for n in range(8)])
    bank = datasets.knowledge_base_questions(str(tmp_path), n_seen=2, n_unseen=1)
    assert (
        bank.pool.loc[bank.pool["pool"] == "author", "answer"].nunique()
        > FEWEST_ANSWERS
    )


def test_facts_without_questions_are_refused(tmp_path):
    (tmp_path / "nobel.csv").write_text("firstname,surname,born\nMarie,Curie,1867\n")
    with pytest.raises(UserError, match="has no questions"):
        datasets.knowledge_base_questions(str(tmp_path))
