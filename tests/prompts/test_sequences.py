"""Sequences of many facts: their strings, their orders, their scores in a plain loop."""

import re

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import UserError, models, probing
from helpers.prompts import lists, sequences


def table(n, start=0, relation="r"):
    rows = range(start, start + n)
    names = {
        "fact": [f"{relation}-{row}" for row in rows],
        "relation": relation,
        "subject": [f"s{row}" for row in rows],
        "object": [f"o{row}" for row in rows],
    }
    return pd.DataFrame(names)


POOL = table(100)
TESTS = table(25, 100)
OPTIONS = lists.draw_choices(TESTS, pd.concat([POOL, TESTS]), 4)

CITIES = pd.DataFrame(
    {
        "relation": "P17",
        "subject": ["Lyon", "Turin", "Oslo", "Lima"],
        "object": ["France", "Italy", "Norway", "Peru"],
    }
)
TWO = pd.DataFrame(
    {
        "fact": ["bern", "nice"],
        "relation": "P17",
        "subject": ["Bern", "Nice"],
        "object": ["Switzerland", "France"],
    }
)


def test_strings_of_two_facts_by_hand(monkeypatch):
    """Two examples, Bern, two more, Nice; in each version each bears a choice of its own."""
    monkeypatch.setattr(sequences, "draw_examples", lambda pool, n, seed: pool)
    orders = {"bern": ["Chad", "Switzerland"], "nice": ["France", "Peru"]}
    monkeypatch.setattr(
        sequences, "_choices_in_drawn_order", lambda options, seed: options
    )
    probes = sequences.eic_lke_probes(TWO, CITIES, orders, every=2)
    assert (probes["prompt"] + "|" + probes["continuation"]).tolist() == [
        "Lyon France, Turin Italy, Bern| Chad",
        "Lyon France, Turin Italy, Bern| Switzerland",
        "Lyon France, Turin Italy, Bern Chad, Oslo Norway, Lima Peru, Nice| France",
        "Lyon France, Turin Italy, Bern Switzerland, Oslo Norway, Lima Peru, Nice| Peru",
    ]
    assert probes["correct"].tolist() == [False, True, True, False]
    assert probes["slot"].tolist() == [0, 0, 1, 1]
    assert probes["examples"].tolist() == [2, 2, 4, 4]
    control = sequences.eic_lke_probes(TWO, CITIES, orders, every=2, truths_before=True)
    assert set(control["prompt"]) == {
        "Lyon France, Turin Italy, Bern",
        "Lyon France, Turin Italy, Bern Switzerland, Oslo Norway, Lima Peru, Nice",
    }


def test_facts_stand_after_the_fiftieth_example_and_every_fifth_from_there():
    probes = sequences.eic_lke_probes(TESTS, POOL, OPTIONS, separator="space")
    n_pairs = probes["prompt"].str.count(r"s\d+ o\d+ ")
    # Between two tested facts stand five examples.
    assert (n_pairs == 50 + 6 * probes["slot"]).all()
    assert probes.groupby("sequence")["item"].nunique().tolist() == [11, 11, 3]
    assert probes["slot"].max() == 10
    assert probes["correct"].sum() == len(TESTS)


@settings(max_examples=10, deadline=None)
@given(n_pool=st.integers(2, 130), every=st.integers(1, 9), seed=st.integers(0, 50))
def test_a_sequence_has_room_for_facts_in_proportion(n_pool, every, seed):
    pool = table(n_pool)
    tests = TESTS[:14]
    probes = sequences.eic_lke_probes(tests, pool, OPTIONS, every=every, seed=seed)
    n = min(100, n_pool)
    room = 1 + (n - n // 2) // every
    sizes = probes.groupby("sequence", sort=False)["item"].nunique()
    assert sizes.tolist()[:-1] == [room] * (len(sizes) - 1)
    assert probes["examples"].max() <= n
    first = probes[probes["slot"] == 0]
    assert (first["examples"] == n // 2).all()
    assert probes.groupby("item")["choice"].agg(set).to_dict() == {
        fact: set(OPTIONS[fact]) for fact in tests["fact"]
    }


def test_the_order_of_choices_is_each_facts_own():
    """In one order for all, one version would hold the truths, and the others none."""
    probes = sequences.eic_lke_probes(TESTS, POOL, OPTIONS)
    truths = probes[probes["correct"] & (probes["sequence"] == "r 0")]
    assert len(truths) == 11
    assert len(set(truths["option"])) > 1
    again = sequences.eic_lke_probes(TESTS, POOL, OPTIONS)
    pd.testing.assert_frame_equal(probes, again)
    other = sequences.eic_lke_probes(TESTS, POOL, OPTIONS, seed=1)
    assert (other["choice"] != probes["choice"]).any()


def test_a_fact_with_fewer_choices_bears_its_first_ones_again():
    options = OPTIONS | {"r-100": OPTIONS["r-100"][-2:]}
    probes = sequences.eic_lke_probes(TESTS[:2], POOL, options)
    own = probes.loc[probes["item"] == "r-100", "choice"].tolist()
    second = probes[probes["item"] == "r-101"]
    borne = second["prompt"].str.extract(r"s100 (o\d+)")[0].tolist()
    assert borne == own * 2


def test_pairs_are_parted_by_a_comma():
    probes = sequences.eic_lke_probes(TESTS[:2], POOL[:4], OPTIONS, every=1)
    last = probes.iloc[-1]
    pattern = r"s\d+ o\d+, s\d+ o\d+, s100 o\d+, s\d+ o\d+, s101 o\d+"
    assert re.fullmatch(pattern, last["prompt"] + last["continuation"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"every": 0}, "after every 0 examples"),
        ({"n_examples": 1}, "at least 2 examples, not 1"),
        ({"pool": POOL[:1]}, "1 examples of r"),
        ({"pool": POOL[:0]}, "0 examples of r"),
        ({"separator": "tabs"}, 'no separator "tabs"'),
    ],
)
def test_what_is_refused(change, words):
    settings_ = {"tests": TESTS, "pool": POOL, "options": OPTIONS} | change
    with pytest.raises(UserError, match=words):
        sequences.eic_lke_probes(**settings_)


@pytest.fixture(scope="module")
def lm():
    return models.load("atlas-xs")


def probes_of_two_cities():
    options = {
        "bern": ["Chad", "Peru", "Switzerland"],
        "nice": ["Italy", "Norway", "France"],
    }
    return sequences.eic_lke_probes(TWO, CITIES, options, every=1)


def test_scores_are_those_of_one_pass_a_sequence(lm):
    """A loop with transformers alone reads every fact of a version from one pass of it."""
    probes = probes_of_two_cities()
    answers = probing.score(lm, probes, progress=False)
    expected = []
    for option, rows in answers.groupby("option"):
        longest = (rows["prompt"] + rows["continuation"]).max()
        ids = lm.tokenizer(longest)["input_ids"]
        with torch.inference_mode():
            logits = lm.model(input_ids=torch.tensor([ids])).logits[0]
        logs = logits.log_softmax(-1)
        for row in rows.itertuples():
            start = len(lm.tokenizer(row.prompt)["input_ids"])
            end = len(lm.tokenizer(row.prompt + row.continuation)["input_ids"])
            total = sum(logs[at - 1, ids[at]].item() for at in range(start, end))
            expected.append((row.item, option, total))
    expected = pd.DataFrame(expected, columns=["item", "option", "total"])
    got = answers.assign(total=answers["logprobs"].map(np.sum))
    both = got.merge(expected, on=["item", "option"], suffixes=("", "_plain"))
    assert len(both) == len(probes) == 6
    np.testing.assert_allclose(both["total"], both["total_plain"], atol=1e-5)


def test_all_facts_of_a_version_take_the_tokens_of_one_text(lm):
    """Shared beginnings are forwarded once: a version costs what its longest text does."""
    probes = probes_of_two_cities()
    texts = probes["prompt"] + probes["continuation"]
    # The last token of a text gives no probability that is needed, and is not read.
    read = {tuple(lm.tokenizer(text)["input_ids"][:-1]) for text in texts}
    nodes = {ids[:end] for ids in read for end in range(1, len(ids) + 1)}
    work = probing.scoring_work(lm, probes)
    assert work["forwarded"] == len(nodes)
    assert work["tokens"] == sum(len(lm.tokenizer(text)["input_ids"]) for text in texts)
