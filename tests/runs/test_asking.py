"""The panel as each chapter asks it: the same facts, nothing given away, all of it counted."""

import numpy as np
import pandas as pd
import pytest

from helpers import UserError, datasets, models, prompts, runs
from helpers.metrics import responses as marking
from helpers.runs.panel import panel_answers
from helpers.studies import STUDIES
from notebooks.analysis import calibration
from tests import panel_runs


@pytest.fixture(scope="module")
def small():
    """Return the smallest bundled model."""
    return models.load("atlas-xs")


@pytest.fixture(scope="module")
def told(small, tmp_path_factory):
    """Return each chapter's answers about the panel, and the entries of the manifests."""
    folder = tmp_path_factory.mktemp("asked")
    places = {name: panel_runs.save_panel_run(folder, name, small) for name in STUDIES}
    entries = {
        name: runs.load_manifest(place)["panel"] for name, place in places.items()
    }
    return {
        name: panel_answers.panel_answers(place) for name, place in places.items()
    }, entries


def test_all_chapters_ask_the_same_facts(told):
    answers, entries = told
    facts = set(datasets.panel_facts(panel_runs.PANEL_SIZE)["fact"])
    assert all(set(table["item"]) == facts for table in answers.values())
    assert {entry["n_facts"] for entry in entries.values()} == {panel_runs.PANEL_SIZE}


def test_responses_to_unread_facts_are_judged_by_the_key(told):
    responses = told[0]["knowledge_base"]
    assert (responses["exposures"] == 0).any()
    assert responses["answers"].map(len).gt(0).all()
    again = marking.mark_responses(responses)
    assert responses["label"].tolist() == again["label"].tolist()


VERDICT = ["item", "known", "score", "blind", "misled"]
EXPOSED = [
    "exposures",
    "false_exposures",
    "plain",
    "seen",
    "kind",
    "label",
]  # and what follows


def _some_right(answers):
    """Return answers of which every other response is right and chosen again."""
    if "answers" not in answers:
        return answers
    right = np.arange(len(answers)) % 2 == 0
    said = answers["text"].where(~right, answers["answers"].str[0])
    return answers.assign(
        text=said, consistency=answers["consistency"].mask(right, 0.8)
    )


def _other_training(answers, seed):
    """Return the same answers of a model that read other facts: what is derived changes, too."""
    order = np.random.default_rng(seed).permutation(len(answers))
    moved = {
        name: answers[name].to_numpy()[order] for name in EXPOSED if name in answers
    }
    moved |= {
        name: ~answers[name].to_numpy(bool)
        for name in ("seen", "plain")
        if name in answers
    }
    answers = answers.assign(**moved)
    return (
        marking.unseen_guesses_as_wrong(marking.mark_responses(answers))
        if "seen" in answers
        else answers
    )


@pytest.mark.parametrize("chapter", STUDIES)
def test_what_was_read_changes_no_verdict(chapter, told):
    entry, answers = told[1][chapter], _some_right(told[0][chapter])
    answers = answers.assign(**{
        name: np.arange(len(answers)) % 3 for name in ("exposures", "false_exposures")
    })  # fmt: skip
    false = (
        datasets.panel_facts(panel_runs.PANEL_SIZE)
        .set_index("fact")["false_object"]
        .to_dict()
    )
    before = calibration.verdicts_of_study(
        STUDIES[chapter], answers, entry["settings"], false
    )
    others = [_other_training(answers, seed) for seed in range(3)]
    for other in [*others, answers.drop(columns=EXPOSED, errors="ignore")]:
        after = calibration.verdicts_of_study(
            STUDIES[chapter], other, entry["settings"], false
        )
        pd.testing.assert_frame_equal(after[VERDICT], before[VERDICT])


def test_no_prompt_gives_its_answer_away(told):
    answers, _ = told
    facts = datasets.panel_facts(panel_runs.PANEL_SIZE).set_index("fact")
    lists = answers["latent_knowledge"].drop_duplicates("item")
    for row in lists.itertuples():
        subject = facts.loc[row.item, "subject"]
        assert row.prompt.endswith(subject)
        assert f" {subject} {facts.loc[row.item, 'object']} " not in f" {row.prompt} "
    responses = answers["knowledge_base"]
    for row in responses.itertuples():
        assert row.prompt.count(row.question) == 1  # asked, and not among the shots


def test_the_false_object_can_be_chosen(told):
    answers, _ = told
    false = (
        datasets.panel_facts(panel_runs.PANEL_SIZE)
        .query("false_object != ''")
        .set_index("fact")
    )
    assert len(false) == 3
    for name in ("latent_knowledge", "multiplicity"):
        column = "choice" if name == "latent_knowledge" else "text"
        offered = answers[name].groupby("item")[column].agg(set)
        assert all(
            false.loc[item, "false_object"] in offered[item] for item in false.index
        )


def test_tokens_are_those_of_what_was_read_and_scored(told, small):
    answers, entries = told
    table = answers["multiplicity"]
    read = {text: len(small.tokenizer(text, add_special_tokens=False)["input_ids"])
            for text in table["read"].unique()}  # fmt: skip
    whole = table["read"].map(read) + table["tokens"].map(len)
    assert entries["multiplicity"]["tokens"] == whole.sum()
    assert entries["multiplicity"]["probes"] == len(table)
    assert 0 < entries["multiplicity"]["forwarded"] < whole.sum()


def test_answers_are_those_of_plain_scoring(told, small):
    answers, _ = told
    facts = datasets.panel_facts(panel_runs.PANEL_SIZE).head(1)
    again = prompts.monitor_probes(facts, datasets.prompt_frames("atlas"), 3)
    mine = answers["monitor"].query("item == @facts.fact.iloc[0]")
    from helpers import probing

    scored = probing.score(small, again, progress=False)
    first = np.concatenate(
        mine.set_index("variant")["logprobs"].loc[scored["variant"]].tolist()
    )
    np.testing.assert_allclose(
        first, np.concatenate(scored["logprobs"].tolist()), atol=1e-4
    )
    assert mine.loc[mine["variant"] == "right", "text"].notna().all()


@pytest.mark.parametrize("changed", [{"n_panel": 0}, {"dataset": "fktc"}])
def test_where_nothing_is_to_be_asked(small, tmp_path, changed):
    folder = panel_runs.save_panel_run(tmp_path, "monitor", small, **changed)
    assert runs.load_manifest(folder)["panel"] is None
    with pytest.raises(UserError, match="once more"):
        panel_answers.panel_answers(folder)


def test_a_negative_number_is_refused(small, tmp_path):
    with pytest.raises(UserError, match="n_panel is -1"):
        panel_runs.save_panel_run(tmp_path, "monitor", small, n_panel=-1)


def test_the_panel_does_not_depend_on_the_relations_of_the_chapter(
    small, tmp_path, told
):
    folder = panel_runs.save_panel_run(
        tmp_path, "latent_knowledge", small, relations=["P17", "P36"]
    )
    asked = panel_answers.panel_answers(folder)
    assert set(asked["item"]) == set(told[0]["latent_knowledge"]["item"])


@pytest.mark.parametrize(("n", "asked"), [(3, 0), (6, 1), (12, 5)])
def test_small_data_of_ones_own_leave_examples_and_shots(small, tmp_path, n, asked):
    facts = datasets.load("atlas", relations=["P17"], n=n).drop(columns="distractors")
    counts = [None if place % 6 == 5 else place for place in range(n)]
    questions = {"P17": ["Which country is [X] in?"]}
    own = datasets.write_dataset(
        facts.assign(exposure=counts), questions, tmp_path / "own"
    )
    for chapter in STUDIES:
        place = panel_runs.save_panel_run(tmp_path, chapter, small, dataset=str(own))
        entry = runs.load_manifest(place)["panel"]
        assert (entry or {"n_facts": 0})["n_facts"] == asked
