"""What the page asks is what the chapters ask, and the figure tells what the model says."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from book.tools.live_model import probability_bars_png
from helpers import datasets, models, prompts
from helpers.prompts import lists
from helpers.prompts.prompt_texts import SEPARATORS
from tests import live_page as live
from tests.live_page import Question, page_questions
from tests.live_page import __main__ as writing

RELATIONS = sorted(datasets.relation_table("atlas")["relation"])


@pytest.fixture(scope="module")
def lyon():
    facts = datasets.load("atlas", ["P17"])
    return facts[facts["subject"] == "Lyon"].assign(distractors=[["Peru"]])


@pytest.mark.parametrize(("way", "kind"), [("question", "qa"), ("sentence", "wp")])
def test_questions_are_those_of_the_chapters(lyon, way, kind):
    frames = datasets.prompt_frames("atlas", ["P17"])
    probes = prompts.question_probes(lyon, frames, kind, ("none", "wrong"))
    assert len(probes) == 14
    for row in probes.itertuples():
        context = "Peru" if row.context == "wrong" else ""
        asked = Question("P17", "Lyon", way, row.frame, context)
        prompt, objects, continuations = live.prompt_and_choices(asked)
        assert prompt == row.prompt
        assert continuations[objects.index("France")] == row.continuation


@pytest.mark.parametrize("separator", SEPARATORS)
def test_lists_are_those_of_the_chapters(lyon, separator):
    asked = Question("P17", "Lyon", "list", examples=3, separator=separator)
    prompt, objects, continuations = live.prompt_and_choices(asked)
    pool = live.facts_with_exposures().query("relation == 'P17' and subject != 'Lyon'")[
        :3
    ]
    probes = lists.ic_lke_probes(
        lyon, pool, {lyon["fact"].item(): ["Peru", "France"]}, 3, separator
    )
    pairs = {tuple(pair) for pair in pool[["subject", "object"]].to_numpy()}
    template = lists.pair_template_and_separator(separator)[0]
    assert all(
        prompts.frames.fill_template(template, *pair) in prompt for pair in pairs
    )
    assert len(prompt) == len(probes["prompt"][0])  # the same pairs in another order
    assert continuations[objects.index("France")] == probes["continuation"][1]


def test_other_examples_come_with_each_turn_and_never_tell_the_answer():
    first, second = (
        live.prompt_and_choices(
            Question("P17", "Lyon", "list", examples=200, turn=turn)
        )[0]
        for turn in (0, 1)
    )
    assert first != second
    assert all(
        text.count("Lyon") == 1 and text.endswith("Lyon:") for text in (first, second)
    )
    assert (
        live.prompt_and_choices(Question("P17", "Lyon", "list", examples=9999))[
            0
        ].count("\n")
        == 446
    )


@given(
    st.sampled_from(RELATIONS),
    st.text(max_size=12),
    st.booleans(),
    st.integers(0, 8),
    st.data(),
)
@settings(max_examples=60)
def test_options_are_different_objects_with_the_truth_among_them(
    relation, name, known, turn, data
):
    table = live.facts_with_exposures().query("relation == @relation")
    subject = data.draw(st.sampled_from(sorted(table["subject"]))) if known else name
    asked = Question(relation, subject, "options", turn=turn)
    found = page_questions.question_options(asked, table)
    assert len(found) == len(set(found)) == page_questions.N_OPTIONS
    assert set(found) <= set(table["object"])
    about = table[table["subject"] == subject]
    assert set(about["object"]) | set(filter(None, about["false_object"])) <= set(found)
    again = page_questions.question_options(
        Question(relation, subject, "options", turn=turn + 1), table
    )
    assert again == found[1:] + found[:1]


def test_answers_are_the_products_of_all_tokens():
    lm = models.load(live.LIVE_MODEL, device="cpu")
    table = live.object_probabilities(Question("P30", "Peru", "options"))
    prompt, objects, continuations = live.prompt_and_choices(
        Question("P30", "Peru", "options")
    )
    assert sorted(table["object"]) == sorted(objects)
    assert table["probability"].is_monotonic_decreasing
    for name, continuation in zip(objects, continuations):
        ids = torch.tensor([lm.tokenizer(prompt + continuation)["input_ids"]])
        start = len(lm.tokenizer(prompt)["input_ids"])
        with torch.no_grad():
            logs = lm.model(ids).logits[0].log_softmax(-1)
        total = sum(
            logs[at - 1, ids[0, at]].item() for at in range(start, ids.shape[1])
        )
        found = table.set_index("object")["probability"][name]
        assert math.isclose(found, math.exp(total), rel_tol=1e-4)


def test_the_still_figure_has_its_words_and_shows_the_answer_before():
    made, table = (
        put(Question("P17", "Lyon", "form"))
        for put in (writing.still_figure_data, live.object_probabilities)
    )
    assert probability_bars_png(made["bars"]).startswith(b"\x89PNG")
    assert "“QUESTION: Which country is Lyon in? / ANSWER:”" in made["caption"]
    assert f"{table['object'][0]} {100 * table['probability'][0]:.1f} %" in made["alt"]
    assert "8 likeliest of 157 objects" in made["alt"]
    before = Question("P36", "Peru", "list", examples=4)
    made = writing.still_figure_data(
        Question("P36", "Peru", "list", examples=30), before
    )
    lines = live.prompt_and_choices(before)[0].split("\n")
    assert f" Dashed outline: after “… / {' / '.join(lines[-3:])}”." in made["caption"]
    assert len(lines) == 5
    assert all(row["before"] >= 0 for row in made["bars"])


@pytest.mark.parametrize(
    ("exposures", "words"),
    [(0, "was never stated"), (1, "stated once"), (8, "stated 8 times")],
)
def test_the_truth_is_told_as_often_as_it_stood_in_the_text(exposures, words):
    fact = live.facts_with_exposures().query("exposures == @exposures").iloc[0]
    told = writing.training_text_sentence(Question(fact["relation"], fact["subject"]))
    assert fact["object"] in told
    assert words in told


def test_facts_come_once_each_with_what_was_read_of_them():
    table, training = (
        live.facts_with_exposures(),
        datasets.training_exposure(live.LIVE_MODEL),
    )
    assert len(table) == len(datasets.load("atlas"))
    assert not table.duplicated(["relation", "subject"]).any()
    assert table["exposures"].sum() == training["exposures"].sum()
