"""Lists: no example leaks, choices keep their rules, strings are the paper's, bad input is told."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import UserError, datasets
from helpers.metrics.canonical import comparison_key
from helpers.prompts import context_length, lists
from helpers.prompts.prompt_texts import SEPARATORS

FACTS = datasets.load("atlas", ["P17", "P30", "P36", "P575"])
NAMES = st.text("abcxyz", min_size=1, max_size=3)


def table(rows, relation="r"):
    made = pd.DataFrame(rows, columns=["subject", "object"])
    return made.assign(
        relation=relation, fact=[f"{relation}-{n}" for n in range(len(made))]
    )


@settings(max_examples=40)
@given(
    rows=st.lists(st.tuples(NAMES, NAMES), min_size=12, max_size=60, unique=True),
    n_pool=st.integers(1, 40),
    seed=st.integers(0, 99),
)
def test_no_subject_is_on_both_sides(rows, n_pool, seed):
    try:
        parts = lists.divide_into_examples_and_tests(table(rows), n_pool, seed)
    except UserError:
        return
    sides = {role: set(part["subject"]) for role, part in parts.groupby("role")}
    assert not sides["example"] & sides["test"]
    assert len(sides["example"]) <= min(
        n_pool, len(sides["example"] | sides["test"]) / 2
    )
    assert (parts["subject"] != parts["object"]).all()
    kept = [row for row in rows if row[0] != row[1]]
    assert sorted(zip(parts["subject"], parts["object"])) == sorted(kept)


def test_a_published_split_is_kept_and_its_leaks_closed():
    rows = [("a", "1"), ("b", "2"), ("c", "3"), ("a", "4"), ("d", "5")]
    facts = table(rows).assign(split=["train", "train", "train", "test", "test"])
    parts = lists.divide_into_examples_and_tests(facts).set_index("fact")["role"]
    assert parts.to_dict() == {
        "r-0": "example",
        "r-1": "example",
        "r-2": "example",
        "r-4": "test",  # r-3 asks of a subject that an example tells of
    }


def test_the_split_of_a_relation_does_not_depend_on_the_others():
    one = lists.divide_into_examples_and_tests(FACTS[FACTS["relation"] == "P36"])
    two = lists.divide_into_examples_and_tests(FACTS)
    two = two[two["relation"] == "P36"].reset_index(drop=True)
    pd.testing.assert_frame_equal(one, two)


def test_shorter_lists_begin_longer_ones_and_seeds_differ():
    pool = lists.divide_into_examples_and_tests(FACTS).query(
        "role == 'example' and relation == 'P17'"
    )
    ten, fifty = lists.draw_examples(pool, 10), lists.draw_examples(pool, 50)
    assert ten["fact"].tolist() == fifty["fact"].tolist()[:10]
    assert len(set(fifty["fact"])) == 50
    assert (
        lists.draw_examples(pool, 50, seed=1)["fact"].tolist() != fifty["fact"].tolist()
    )


@settings(max_examples=40)
@given(
    rows=st.lists(st.tuples(NAMES, NAMES), min_size=2, max_size=40, unique=True),
    n=st.integers(2, 30),
    seed=st.integers(0, 9),
)
def test_choices_are_unique_wrong_but_the_last_and_never_the_subject(rows, n, seed):
    facts = table(rows)
    true = facts.groupby("subject")["object"].agg(set)
    barred = facts.apply(lambda row: true[row["subject"]] | {row["subject"]}, axis=1)
    possible = [len(set(facts["object"]) - bar) for bar in barred]
    if min(possible) == 0:
        with pytest.raises(UserError, match="no wrong object"):
            lists.draw_choices(facts, facts, n, seed)
        return
    found = lists.draw_choices(facts, facts, n, seed)
    for row, bar, most in zip(facts.itertuples(), barred, possible):
        *wrong, last = found[row.fact]
        assert last == row.object
        assert len(set(wrong)) == len(wrong) == min(n - 1, most)
        assert not set(wrong) & bar


SPELT = [
    ("Lyon", "France"),
    ("LYON.", "Spain"),
    ("ｌｙｏｎ", "Peru"),
    ("Oslo", "Norway"),
]
SPELT += [
    ("Pisa", "italy"),
    ("Rome", "Italy"),
    ("Bern", "Ita\u00adly"),
    ("bern", "Bern"),
]


@settings(max_examples=30)
@given(seed=st.integers(0, 99), n_pool=st.integers(1, 5))
def test_no_spelling_of_a_name_leaks(seed, n_pool):
    facts = table([*SPELT, ("Bonn", "Germany"), ("Kyiv", "Ukraine")])
    parts = lists.divide_into_examples_and_tests(facts, max(n_pool, 2), seed)
    assert "Bern" not in parts["object"].tolist()
    keys = parts["subject"].map(comparison_key)
    is_test = parts["role"] == "test"
    assert not set(keys[is_test]) & set(keys[~is_test])
    for name, options in lists.draw_choices(facts, facts, 20, seed).items():
        fact = facts.set_index("fact").loc[name]
        names = [comparison_key(option) for option in options]
        assert len(set(names)) == len(names)
        assert comparison_key(fact["subject"]) not in names[:-1]
        if comparison_key(fact["subject"]) == "lyon":
            assert not {"france", "spain", "peru"} & set(names[:-1])


def test_a_published_split_leaks_no_spelling_of_a_subject():
    facts = table([("a", "1"), ("b", "2"), ("A.", "3"), ("d", "4")])
    facts = facts.assign(split=["train", "train", "test", "test"])
    parts = lists.divide_into_examples_and_tests(facts)
    assert sorted(parts["subject"]) == ["a", "b", "d"]


def test_choices_of_a_fact_depend_on_its_name_and_seed_alone():
    one = FACTS[FACTS["relation"] == "P36"].iloc[[5]]
    name = one["fact"].item()
    assert (
        lists.draw_choices(one, FACTS)[name] == lists.draw_choices(FACTS, FACTS)[name]
    )
    assert (
        lists.draw_choices(one, FACTS, seed=1)[name]
        != lists.draw_choices(FACTS, FACTS)[name]
    )


def test_published_choices_are_taken_with_the_truth_behind_them():
    facts = table([("a", "1"), ("b", "2")]).assign(
        choices=[["7", "8", "7"], ["9", "2"]]
    )
    assert lists.draw_choices(facts, facts) == {
        "r-0": ["7", "8", "1"],
        "r-1": ["9", "2"],
    }


@pytest.mark.parametrize("name", SEPARATORS)
def test_prompt_and_continuation_are_one_more_pair_of_the_list(name):
    pool, tests = (
        table([("Lyon", "France"), ("Turin", "Italy")]),
        table([("Bern", "Chad")]),
    )
    probes = lists.ic_lke_probes(tests, pool, {"r-0": ["Peru", "Chad"]}, 2, name)
    inner, between = SEPARATORS[name]
    examples = lists.draw_examples(pool, 2)
    pairs = [f"{s}{inner}{o}" for s, o in zip(examples["subject"], examples["object"])]
    whole = between.join([*pairs, f"Bern{inner}Chad"])
    assert (probes["prompt"] + probes["continuation"]).iloc[1] == whole
    assert not probes["prompt"].iloc[0].endswith(" ")
    assert probes["correct"].tolist() == [False, True]


def test_all_facts_of_a_relation_stand_behind_the_same_list():
    parts = lists.divide_into_examples_and_tests(FACTS)
    tests = parts[parts["role"] == "test"].groupby("relation").head(3)
    probes = lists.ic_lke_probes(
        tests, parts[parts["role"] == "example"], lists.draw_choices(tests, FACTS)
    )
    for relation, rows in probes.groupby("relation"):
        heads = {p.removesuffix(s) for p, s in zip(rows["prompt"], rows["subject"])}
        assert len(heads) == 1
        told = parts[(parts["role"] == "example") & (parts["relation"] == relation)]
        assert not set(told["subject"]) & set(rows["subject"])


def test_a_template_may_stand_for_a_separator():
    pool, tests = table([("Lyon", "France")]), table([("Bern", "Chad")])
    probes = lists.ic_lke_probes(
        tests, pool, {"r-0": ["Chad"]}, 1, "In [X] one is in [Y]."
    )
    assert probes["prompt"].item() == "In Lyon one is in France. In Bern one is in"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: lists.pair_template_and_separator("tab"),
            'no separator "tab".*space.*colon and comma',
        ),
        (lambda: lists.pair_template_and_separator("[Y] of [X]"), "no separator"),
        (
            lambda: lists.divide_into_examples_and_tests(
                table([("a", "1"), ("b", "1")])
            ),
            "fewer than 2 different objects",
        ),
        (
            lambda: lists.divide_into_examples_and_tests(
                table([("a", "1"), ("b", "2")])
            ),
            "leaves 1 example, and a list",
        ),
        (
            lambda: lists.divide_into_examples_and_tests(
                table([("a", "1"), ("b", "2")]).assign(split="train")
            ),
            "nothing to test",
        ),
        (
            lambda: lists.draw_examples(table([("a", "1")]), 0),
            "at least 1 example, not 0",
        ),
        (lambda: lists.draw_choices(FACTS[:1], FACTS, 1), "at least 2 objects, not 1"),
        (
            lambda: lists.ic_lke_probes(
                table([("a", "1")]), table([("b", "2")], "q"), {}
            ),
            "no example of r",
        ),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(UserError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_list_too_long_says_how_many_examples_fit():
    pool = table([(f"s{n:02d}", f"o{n:02d}") for n in range(40)])
    tests = table([("subject", "object")])
    options = {"r-0": ["longest object", "object"]}
    probes = lists.ic_lke_probes(tests, pool, options, 30)
    tail = len("subject longest object")
    with pytest.raises(
        UserError, match=r"30 examples of r is 262 tokens long.*n_examples=9"
    ):
        context_length.check_list_lengths(probes, pool, len, 9 * 8 + tail, 30)
    fitting = lists.ic_lke_probes(tests, pool, options, 9)
    context_length.check_list_lengths(fitting, pool, len, 9 * 8 + tail, 9)
    with pytest.raises(UserError, match="n_examples=8"):
        context_length.check_list_lengths(fitting, pool, len, 9 * 8 + tail - 1, 9)
    context_length.check_list_lengths(probes, pool, len, None, 30)


@settings(max_examples=30)
@given(limit=st.integers(0, 300), n=st.integers(1, 30))
def test_as_many_examples_as_fit_and_no_more(limit, n):
    examples = table([(f"s{k}", f"o{k}") for k in range(n)])
    found = context_length.count_fitting_examples(examples, "tail", len, limit)
    lengths = [
        len(lists.example_list_text(examples[:k]) + "tail") for k in range(n + 1)
    ]
    assert found == max([k for k in range(n + 1) if lengths[k] <= limit], default=0)
    assert np.diff(lengths).min() > 0


def test_a_way_of_asking_is_kept_if_all_its_texts_can_be_read():
    rows = [
        ("a", "1234", " 6"),
        ("a", "1234", " 67"),
        ("b", "1234", " 6"),
        ("c", "12345", ""),
    ]
    probes = pd.DataFrame(rows, columns=["variant", "prompt", "continuation"])

    def kept(limit, more=0):
        return "".join(
            context_length.readable_probes(probes, len, limit, more)["variant"]
        )

    assert [kept(limit) for limit in (4, 5, 6, 7, None)] == [
        "",
        "c",
        "bc",
        "aabc",
        "aabc",
    ]
    assert [kept(8, more) for more in (4, 5, 6)] == ["aabc", "aab", ""]
    assert context_length.readable_probes(probes.head(0), len, 5).empty
