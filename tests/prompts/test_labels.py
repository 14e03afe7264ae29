"""Labels of older answers give the columns that today's probes have."""

import pandas as pd
import pytest

from helpers import datasets, exchange, prompts
from helpers.exchange import record
from helpers.prompts import labels, lists, shots
from notebooks.analysis import latent_prompts

QUESTION = ["kind", "frame", "context", "context_index"]


@pytest.fixture(scope="module")
def facts():
    controls = {"unrelated": [["Helium"]] * 2, "noun": [["Lamp"]] * 2}
    return datasets.load("atlas", ["P17"], n=2).assign(**controls)


@pytest.mark.parametrize(
    "make",
    [
        lambda facts, frames: prompts.monitor_probes(facts, frames),
        lambda facts, frames: prompts.question_probes(
            facts, frames, contexts=("none", "right", "wrong", "unrelated", "noun")
        ),
        lambda facts, frames: prompts.question_probes(facts, frames, "wp"),
        lambda facts, frames: prompts.fact_check_probes(facts, frames),
    ],
    ids=["monitor", "questions", "gaps", "statements"],
)
def test_labels_of_questions_tell_their_columns(facts, make):
    probes = make(facts, datasets.prompt_frames("atlas"))
    again = labels.add_columns(probes.drop(columns=QUESTION))
    pd.testing.assert_frame_equal(again[QUESTION], probes[QUESTION], check_dtype=False)


def test_labels_of_lists_tell_what_they_can(facts):
    options = {fact: ["France", "Peru"] for fact in facts["fact"]}
    templates = latent_prompts.templates_of_dataset("atlas")
    parts = [
        lists.ic_lke_probes(facts, facts, options, 2, "space", 3, "2 1", 1),
        latent_prompts.probes_without_examples(facts, options, "space"),
        latent_prompts.probes_from_templates(facts, templates, options),
    ]
    probes = pd.concat(parts, ignore_index=True)
    told = ["way", "template", "examples", "draw"]
    again = labels.add_columns(probes.drop(columns=list(lists.WAY)))
    pd.testing.assert_frame_equal(again[told], probes[told], check_dtype=False)
    named = [
        lists.ic_lke_probes(
            facts, facts, options, 2, "arrow and line", variant="arrow and line"
        ),
        *latent_prompts.probes_with_other_separators(
            facts, facts, options, templates, 2
        ),
    ]
    probes = pd.concat(named, ignore_index=True)
    again = labels.add_columns(probes.drop(columns=list(lists.WAY)))
    assert again["separator"].tolist() == probes["separator"].tolist()
    assert set(again["examples"]) == {-1}  # the label does not tell


def test_labels_of_settings_are_these():
    for setting in shots.PROMPT_SETTINGS:
        assert labels.columns_of_label(setting) == {"setting": setting}


@pytest.mark.parametrize("label", ["v0", "frames0", "mc3", "right2", "wrong", "", "1"])
def test_other_labels_tell_nothing(label):
    answers = pd.DataFrame({"variant": [label]})
    assert list(labels.add_columns(answers)) == ["variant"]


def test_columns_that_are_there_stay():
    answers = pd.DataFrame(
        {"variant": ["right", "later"], "context": ["spoilt", "list"]}
    )
    read = labels.add_columns(answers)
    assert read["context"].tolist() == ["spoilt", "list"]
    assert read["frame"].tolist() == [0, -1]
    assert list(labels.add_columns(pd.DataFrame({"item": ["a"]}))) == ["item"]


@pytest.mark.parametrize("study", ["monitor", "knowledge_base", "latent_knowledge"])
def test_answers_with_labels_alone_give_the_same_facts(root, study):
    shared = exchange.read_archive(root / "results" / "atlas-xs.zip")
    given, answers = shared.record["runs"][study]["parameters"], shared.answers(study)
    added = {
        "monitor": QUESTION,
        "knowledge_base": ["setting"],
        "latent_knowledge": list(lists.WAY),
    }
    old = labels.add_columns(answers.drop(columns=added[study]))
    pd.testing.assert_frame_equal(
        record.facts_from_answers(study, given, old),
        record.facts_from_answers(study, given, answers),
    )
