"""What the front page and the page of four ways show of one fact."""

import importlib
import re

import pytest

from book.tools import live
from helpers import UserError, datasets
from helpers.studies import STUDIES
from tests.live_page import Question, answers, front, one_fact

STATES = [
    ("Ask", Question("P17", "Lyon", way="sentence")),
    ("Say <b>first", Question("P17", "Lyon", way="sentence", context="Italy")),
]


@pytest.fixture(scope="module")
def form():
    return live.form(front.fact(STATES))


def test_each_state_has_a_button_and_its_own_bars(form):
    assert re.findall(
        r'<input type="radio" name="front-fact" id="(front-\d)"( checked)?>', form
    ) == [
        ("front-0", " checked"),
        ("front-1", ""),
    ]
    for at, (_, asked) in enumerate(STATES):
        expected = answers(asked).set_index("object")["probability"]
        row = re.search(r'<th scope="row">France</th>.*?style="([^"]+)"', form)[1]
        assert f"--p{at}:{100 * expected['France']:.2f}%" in row
    assert form.index("France</th>") < form.index("Italy</th>")  # the truth first


def test_words_are_escaped(form):
    assert "Say &lt;b&gt;first" in form
    assert "<b>" not in form


def test_the_prompt_of_each_state_is_shown(form):
    assert '<span class="front-at-0"><q>Lyon is located in</q></span>' in form
    assert '<span class="front-at-1"><q>Italy. Lyon is located in</q></span>' in form


@pytest.fixture(scope="module")
def readings():
    return one_fact.through("P17-0243")


def test_each_study_reads_the_fact_as_it_does_elsewhere(readings):
    assert [reading.study for reading in readings] == list(STUDIES)
    from helpers import models

    every = datasets.load("atlas")
    lists = STUDIES["latent_knowledge"]
    model = models.load(one_fact.MODEL, device="cpu")
    separator = Question().separator  # the live page writes lists as IC-LKE does
    answers = lists.ask(model, every[every["fact"] == "P17-0243"], separator=separator)
    totals = answers["logprobs"].map(sum)
    rank = 1 + (totals > totals[answers["correct"]].iloc[0]).sum()
    reading = readings[list(STUDIES).index("latent_knowledge")]
    assert reading.known == (rank == 1)
    assert rank == 1 or f"France is number {rank} " in reading.result


def test_prompts_are_those_that_the_model_reads(readings):
    shown = {reading.study: reading.prompts for reading in readings}
    assert shown["monitor"][0] == "Which country is Lyon in?"
    assert shown["monitor"][2].endswith(". Which country is Lyon in?")
    assert shown["latent_knowledge"][0].endswith(" ⏎ Lyon:")


def test_readings_are_escaped_and_linked(root, monkeypatch):
    monkeypatch.syspath_prepend(str(root / "book" / "_ext"))
    text = importlib.import_module("facts_shown").reading("monitor", ["<i>"], "a & b", None)
    assert "<code>&lt;i&gt;</code>" in text
    assert "a &amp; b" in text
    assert 'href="chapters/monitor.html"' in text
    assert "undefined" in text


def test_an_unknown_fact_is_refused():
    with pytest.raises(UserError, match="has no fact"):
        one_fact.through("P17-9999")
