"""Sequences of many tests, spoilt lists, and the strings of the released code."""

import re
from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import UserError
from helpers.prompts import lists, sequences


def table(n, start=0):
    rows = range(start, start + n)
    made = {"fact": [f"r-{k}" for k in rows], "relation": "r", "subject": [f"s{k}" for k in rows]}
    return pd.DataFrame({**made, "object": [f"o{k}" for k in rows]})


POOL, TESTS = table(100), table(25, 100)
OPTIONS = lists.choices(TESTS, pd.concat([POOL, TESTS]), 4)


def test_tests_stand_after_the_fiftieth_example_and_every_fifth_from_there():
    probes = sequences.eic_lke(TESTS, POOL, OPTIONS, separator="space")
    before = probes["prompt"].str.findall(r"s(\d+) o\d+ ").map(len)
    place = probes.groupby("item", sort=False).ngroup() % 11
    assert (before == 50 + 6 * place).all()  # five examples and the test before
    assert probes.groupby("item").size().eq(4).all()
    assert probes["correct"].sum() == len(TESTS)


def test_each_choice_has_its_own_sequence():
    probes = sequences.eic_lke(TESTS[:3], POOL, OPTIONS, separator="space")
    for option, rows in probes.groupby("option"):
        texts = (rows["prompt"] + rows["continuation"]).tolist()
        for shorter, longer in pairwise(texts):
            assert longer.startswith(shorter)
        tested = [OPTIONS[fact][option] for fact in rows["item"]]
        assert rows["choice"].tolist() == tested
    assert probes["prompt"].nunique() == 1 + 4 + 4  # the first test is the same in all


def test_the_first_test_of_a_sequence_is_that_of_a_list():
    one = sequences.eic_lke(TESTS[:1], POOL, OPTIONS, separator="space", variant="ic")
    pd.testing.assert_frame_equal(one, lists.ic_lke(TESTS[:1], POOL, OPTIONS))


def test_examples_that_run_out_begin_a_new_sequence():
    probes = sequences.eic_lke(TESTS, POOL, OPTIONS, separator="space")
    firsts = probes[probes["item"].isin(["r-100", "r-111", "r-122"])]
    assert (firsts["prompt"].str.count("o") == 50).all()


def test_many_tests_in_a_sequence_are_parted_by_a_comma_as_in_the_paper():
    probes = sequences.eic_lke(TESTS[:2], POOL, OPTIONS, n_examples=2, every=1)
    last = probes.iloc[-1]
    pattern = r"s\d+ o\d+, s\d+ o\d+, s100 o100, s\d+ o\d+, s101 o101"
    assert re.fullmatch(pattern, last["prompt"] + last["continuation"])


def test_places_of_a_list_are_asked_with_all_before_them():
    probes = sequences.in_list(POOL[:3].assign(status="other"), "colon and comma")
    assert probes["prompt"].tolist()[2] == "s0 : o0, s1 : o1, s2 :"
    assert probes["continuation"].tolist() == [" o0", " o1", " o2"]
    assert probes["place"].tolist() == [0, 1, 2]
    assert probes["status"].eq("other").all()


@settings(max_examples=40)
@given(
    kind=st.sampled_from(sequences.KINDS),
    place=st.sampled_from(sequences.PLACES),
    size=st.integers(3, 60),
    share=st.floats(0.05, 0.9),
    seed=st.integers(0, 99),
)
def test_replaced_pairs_are_as_many_as_asked_and_false(kind, place, size, share, seed):
    pairs, n = table(size), max(1, min(size - 1, int(size * share)))
    made = sequences.corrupt(pairs, kind, place, n, seed)
    replaced = (made["status"] == "replaced").to_numpy()
    assert replaced.sum() == n
    kept = made.loc[~replaced, ["subject", "object"]]
    pd.testing.assert_frame_equal(kept, pairs.loc[~replaced, ["subject", "object"]])
    assert (made["object"] != pairs["object"]).to_numpy()[replaced].all()
    assert set(made["object"]) <= set(pairs["object"])
    own = made["subject"].isin(pairs["subject"]).to_numpy()
    assert own[replaced].all() if kind == "wrong" else not own[replaced].any()
    assert made["subject"].is_unique
    places = replaced.nonzero()[0]
    if place == "block":
        assert places.max() - places.min() == n - 1
    after = [k for k in range(1, size) if replaced[k - 1] and not replaced[k]]
    assert (made["status"] == "following").to_numpy().nonzero()[0].tolist() == after


def test_a_list_is_spoilt_in_every_way_a_fifth_of_it():
    lists_of_ten = sequences.spoilt(table(10))
    assert list(lists_of_ten) == [
        "all true",
        *("unknown, scattered", "unknown, block", "wrong, scattered", "wrong, block"),
    ]
    replaced = [rows["status"].eq("replaced").sum() for rows in lists_of_ten.values()]
    assert replaced == [0, 2, 2, 2, 2]
    assert [
        rows["status"].eq("replaced").sum() for rows in sequences.spoilt(table(2)).values()
    ] == [*(0, 1, 1, 1, 1)]
    alike = table(6).assign(object="the same")
    assert list(sequences.spoilt(alike)) == list(sequences.spoilt(table(1))) == ["all true"]


def test_the_released_codes_slips():
    tests, pool = table(1, 9), table(2)
    probe = sequences.as_released(tests, pool, {"r-9": ["o9"]}).iloc[0]
    text = probe["prompt"] + probe["continuation"]
    # ' : ' twice before the choice, ' , ' between pairs, and no comma before the tested subject.
    assert text in ("s0 : o0 , s1 : o1 s9 :  : o9", "s1 : o1 , s0 : o0 s9 :  : o9")
    ours = lists.ic_lke(tests, pool, {"r-9": ["o9"]}, separator="colon and comma").iloc[0]
    assert (ours["prompt"] + ours["continuation"]).endswith(", s9 : o9")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sequences.corrupt(POOL, "false", "block"), 'not "false", "block"'),
        (lambda: sequences.corrupt(POOL, "wrong", "edge"), 'not "wrong", "edge"'),
        (lambda: sequences.corrupt(POOL[:5], "wrong", "block", 5), "5 of 5 pairs"),
        (lambda: sequences.eic_lke(TESTS, POOL, OPTIONS, every=0), "after every 0 examples"),
        (lambda: sequences.eic_lke(TESTS, POOL[:0], OPTIONS), "no example of r"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(UserError, match=words):
        call()
