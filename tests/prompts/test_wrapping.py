"""A prompt format changes the prompt of a question, and nothing else."""

import pandas as pd
import pytest

from helpers import UserError, datasets, prompts
from helpers.metrics.matching import contains_words
from helpers.prompts import prompt_formats

FORMATS = pytest.mark.parametrize("name", prompt_formats.PROMPT_FORMATS)


@pytest.fixture(scope="module")
def facts():
    return datasets.load("atlas", ["P17", "P36", "P246", "P30"], n=6, seed=3)


@pytest.fixture(scope="module")
def frames():
    return datasets.prompt_frames("atlas")


@pytest.fixture(scope="module")
def probes(facts, frames):
    gaps = prompts.question_probes(facts.head(2), frames, "wp")
    checks = prompts.fact_check_probes(facts.head(2), frames)
    asked = prompts.monitor_probes(facts, frames)
    return pd.concat([asked, gaps, checks], ignore_index=True).rename(
        lambda row: row + 5
    )


@pytest.fixture(scope="module")
def shots(facts, frames):
    return prompt_formats.draw_demonstrations(datasets.load("atlas"), frames, facts)


@FORMATS
def test_only_prompts_of_questions_change(name, probes, shots):
    found = prompt_formats.wrap_questions(probes, name, shots)
    pd.testing.assert_frame_equal(
        found.drop(columns="prompt"), probes.drop(columns="prompt")
    )
    same = found["prompt"] == probes["prompt"]
    assert (
        same.all()
        if name in ("bare", "chat")
        else (same == (probes["kind"] != "qa")).all()
    )
    assert all(
        new.count(old) == 1 for new, old in zip(found["prompt"], probes["prompt"])
    )


def test_a_question_is_asked_after_five_others_in_one_form(probes, shots):
    texts = prompt_formats.wrap_questions(probes, "shots", shots).query("kind == 'qa'")[
        "prompt"
    ]
    single = prompt_formats.wrap_questions(probes, "qa").query("kind == 'qa'")["prompt"]
    assert all(text.endswith(f"\n\n{end}") for text, end in zip(texts, single))
    parts = [text.split("\n\n") for text in texts]
    assert {len(part) for part in parts} == {prompt_formats.N_SHOTS + 1}
    assert all(
        s.startswith("Question: ") and "\nAnswer: " in s for p in parts for s in p[:-1]
    )


def test_demonstrations_give_nothing_away(probes, facts, shots):
    for row in (
        prompt_formats.wrap_questions(probes, "shots", shots)
        .query("kind == 'qa'")
        .itertuples()
    ):
        before = row.prompt.rpartition("Question: ")[0]
        assert not contains_words(before, row.subject)
        assert not contains_words(before, row.object)
    assert not set(shots["subject"]) & set(facts["subject"])


def test_a_demonstration_that_names_subject_or_object_is_left_out():
    rows = [
        ("Where is Cusco?", "Cusco", "Peru"),
        ("Which river is Lima on?", "Lima", "Rímac"),
        ("Where is Oslo?", "Oslo", "Norway"),
    ]
    shots = pd.DataFrame(rows, columns=["question", "subject", "object"])
    probes = pd.DataFrame({"kind": ["qa"], "prompt": "Where is Lima?"})
    found = prompt_formats.wrap_questions(
        probes.assign(subject="Lima", object="Peru"), "shots", shots
    )
    before = prompt_formats.qa_format_text("Where is Oslo?", "Norway")
    assert found["prompt"].tolist() == [
        before + prompt_formats.qa_format_text("Where is Lima?")
    ]


def test_demonstrations_are_of_many_relations_and_drawn_with_the_seed(
    facts, frames, shots
):
    every = datasets.load("atlas")
    relation = every.drop_duplicates(["subject", "object"]).set_index(
        ["subject", "object"]
    )
    first = [
        relation.loc[pair, "relation"]
        for pair in zip(shots["subject"], shots["object"])
    ][:20]
    assert len(set(first)) > 15
    again = prompt_formats.draw_demonstrations(every, frames, facts)
    pd.testing.assert_frame_equal(shots, again)
    assert not prompt_formats.draw_demonstrations(every, frames, facts, seed=1).equals(
        shots
    )


def test_where_all_facts_are_asked_each_is_asked_after_others(facts, frames):
    few = facts[facts["relation"] == "P36"]
    shots = prompt_formats.draw_demonstrations(few, frames, few)
    assert set(shots["subject"]) == set(few["subject"])
    asked = prompt_formats.wrap_questions(
        prompts.monitor_probes(few, frames, 1), "shots", shots
    )
    for row in asked.itertuples():
        before = row.prompt.rpartition("Question: ")[0]
        assert before.count("Question: ") == prompt_formats.N_SHOTS
        assert row.subject not in before


def test_relations_without_questions_demonstrate_nothing(facts, frames):
    some = frames[frames["relation"] != "P36"]
    shots = prompt_formats.draw_demonstrations(facts, some, facts.head(0))
    assert len(shots) == (facts["relation"] != "P36").sum()
    assert prompt_formats.draw_demonstrations(facts, some.head(0), facts).empty


def test_empty_tables_stay_empty(probes, shots):
    for name in prompt_formats.PROMPT_FORMATS:
        assert list(
            prompt_formats.wrap_questions(probes.head(0), name, shots).columns
        ) == list(probes.columns)


def test_an_unknown_format_is_refused():
    assert [
        prompt_formats.check_prompt_format(name) for name in ("", "auto", "qa")
    ] == [
        "",
        "auto",
        "qa",
    ]
    with pytest.raises(UserError, match='bare, qa, shots, chat or auto, not "yes"'):
        prompt_formats.check_prompt_format("yes")
