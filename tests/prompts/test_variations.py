"""Variations of prompts: exact strings, what stays the same, what is refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError
from helpers.metrics.canonical import comparison_key
from helpers.prompts import prompt_texts, variations

ITEMS = pd.DataFrame(
    {
        "item": ["a", "b"],
        "relation": "",
        "question": ["Up?", "Down?"],
        "options": [["yes", "no", "so"], ["in", "out"]],
        "answer": [1, 0],
    }
)
POOL = pd.DataFrame(
    [(f"p{n}", "", f"Q{n}?", ["1", "2"], 0) for n in range(6)], columns=ITEMS.columns
)


def prompts(table, item="a"):
    """Return the prompt of each variation of an item."""
    return table[table["item"] == item].drop_duplicates("variation")["prompt"].tolist()


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("line", "Up? no\n"),
        ("shot", "QUESTION: Up?\nANSWER: no\n"),
        ("options", "QUESTION: Up?\nOPTIONS: yes; no\nANSWER: no\n"),
        ("text", "Up? no\n\n"),
        ("question", "Q: Up?\nA: no\n\n"),
        ("claim", "Claim: Up?\nLabel: no\n\n"),
        ("letters", "Question: Up?\nA. yes\nB. no\nAnswer: B\n\n"),
        ("medhalt", "Question: Up?\nA. yes\nB. no\nAnswer: B\n\n"),
    ],
)
def test_styles_give_these_exact_strings(style, text):
    assert (
        prompt_texts.demonstration_text(
            prompt_texts.QUESTION_STYLES[style], "Up?", ["yes", "no"], 1
        )
        == text
    )
    assert prompt_texts.option_letter(25) == "Z"
    with pytest.raises(UserError, match="more than 26 options"):
        prompt_texts.option_letter(26)


@pytest.mark.parametrize("kind", ["order", "demonstrations", "options"])
def test_each_item_is_asked_in_every_variation_with_every_option(kind):
    found = variations.variation_probes(ITEMS, kind, 4, "question", POOL, 3)
    assert len(found) == 4 * (3 + 2)
    assert found.groupby(["item", "variant"])["correct"].sum().eq(1).all()
    assert found.groupby(["item", "variant"])["prompt"].nunique().eq(1).all()
    assert found.loc[found["correct"], "text"].unique().tolist() == ["no", "in"]
    assert (found["correct"] == (found["option"] == found["answer"])).all()
    again = variations.variation_probes(ITEMS, kind, 4, "question", POOL, 3)
    pd.testing.assert_frame_equal(found, again)


def test_variation_0_is_the_default_prompt():
    found = variations.variation_probes(ITEMS, "order", 2, "line", POOL, 2)
    assert prompts(found) == ["Q0? 1\nQ1? 1\nUp?", "Q1? 1\nQ0? 1\nUp?"]


def test_orders_of_demonstrations_are_shared_and_differ():
    found = variations.variation_probes(ITEMS, "order", 6, "line", POOL, 3)
    first, second = prompts(found, "a"), prompts(found, "b")
    assert len(set(first)) == 6
    assert [text.removesuffix("Up?") for text in first] == [
        text.removesuffix("Down?") for text in second
    ]


def test_letters_follow_the_options_that_are_shown():
    found = variations.variation_probes(ITEMS, "options", 6, "letters", seed=1)
    for row in found[found["item"] == "a"].itertuples():
        assert f"\n{row.continuation.strip()}. {row.text}\n" in row.prompt
    assert len(set(prompts(found))) == 6
    assert (
        len(set(prompts(found, "b"))) == 2
    )  # two options have two orders, used in turn


@pytest.mark.parametrize(
    "other", [[], ["item"], ["question"]], ids=["same", "name", "question"]
)
def test_a_question_never_demonstrates_itself(other):
    pool = POOL.assign(**{column: POOL[column] + "!" for column in other})
    found = variations.variation_probes(
        POOL, "demonstrations", 5, "line", pool, 5, seed=2
    )
    for row in found.itertuples():
        question = row.prompt.rpartition("\n")[2]
        assert row.prompt.count(question) == 1
        assert row.prompt.count("\n") == 5


@pytest.mark.parametrize("change", [str.lower, "{} ".format, "Q\u200b{}".format])
def test_a_question_never_demonstrates_itself_in_another_spelling(change):
    pool = POOL.assign(item=POOL["item"] + "!", question=POOL["question"].map(change))
    pool["question"] = pool["question"].str.replace("Q\u200bQ", "Q\u200b")
    found = variations.variation_probes(POOL, "order", 2, "line", pool, 5)
    for row in found.itertuples():
        *shots, question = row.prompt.split("\n")
        texts = [shot.rpartition(" ")[0] for shot in shots]
        keys = [comparison_key(text) for text in texts]
        assert comparison_key(question) not in keys
        assert len(shots) == 5
    planned = variations.plan_variations(POOL, ["order"], 2, pool, 6)
    assert planned[1] == 5


def test_paraphrases_come_after_the_question_itself():
    items = ITEMS.head(1).assign(paraphrases=[["Upwards?", "Up?", "Above?"]])
    found = variations.variation_probes(items, "paraphrases", 3, "text")
    assert prompts(found) == ["Up?", "Upwards?", "Above?"]
    with pytest.raises(
        UserError, match="There are 3 different wordings of item a, and 4"
    ):
        variations.variation_probes(items, "paraphrases", 4, "text")


def test_frames_are_questions_then_gaps_then_lines():
    items = ITEMS.head(1).assign(relation="r", subject="Chad")
    frames = pd.DataFrame(
        [("r", "wp", 0, "[X] lies in [Y]."), ("r", "qa", 0, "Where is [X]?")],
        columns=["relation", "kind", "frame", "template"],
    )
    found = variations.variation_probes(items, "frames", 3, frames=frames)
    wanted = ["Where is Chad?", "Chad lies in", "QUESTION: Where is Chad?\nANSWER:"]
    assert prompts(found) == wanted
    with pytest.raises(
        UserError, match="There are 3 different wordings of item a, and 4"
    ):
        variations.variation_probes(items, "frames", 4, frames=frames)


@given(st.integers(1, 4), st.integers(2, 8), st.integers(0, 9))
def test_orders_repeat_only_when_all_are_used(n_things, n, seed):
    found = variations.draw_orders(n_things, n, np.random.default_rng(seed))
    assert len(found) == n
    assert found[0] == list(range(n_things))
    assert all(sorted(order) == list(range(n_things)) for order in found)
    assert len(set(map(tuple, found))) == min(n, [1, 1, 2, 6, 24][n_things])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "mood"}, '"mood" is no kind of variation'),
        ({"kind": "options", "style": "rhyme"}, '"rhyme" is no style'),
        ({"kind": "options", "n_variations": 1}, "at least 2 prompt variations, not 1"),
        ({"kind": "order", "n_shots": -1}, "0 or more, not -1"),
        ({"kind": "order"}, 'the kind "order" needs some'),
        (
            {"kind": "order", "pool": POOL, "n_shots": 2},
            "2 demonstrations have 2 orders, not 10",
        ),
        (
            {"kind": "demonstrations", "pool": POOL, "n_shots": 7},
            "6 demonstrations for a, and 7",
        ),
        ({"kind": "frames"}, "need facts with more than one wording"),
        ({"kind": "paraphrases"}, "need a column `paraphrases`, or a paraphraser"),
    ],
)
def test_what_cannot_be_varied_is_refused(settings, message):
    with pytest.raises(UserError, match=message):
        variations.variation_probes(ITEMS, **settings)


def test_more_demonstrations_than_fit_says_how_many_do():
    def make(n):
        return variations.variation_probes(ITEMS, "demonstrations", 2, "line", POOL, n)

    def size(n):
        table = make(n)
        return (table["prompt"] + table["continuation"]).str.len().max()

    assert len(variations.probes_that_fit_context(make, 4, len, size(4) + 1)) == 10
    assert len(variations.probes_that_fit_context(make, 4, len, None)) == 10
    with pytest.raises(
        UserError, match=r"^6 demonstrations do not fit into .* tokens; 3 do\.$"
    ):
        variations.probes_that_fit_context(make, 6, len, size(3) + 1)
    with pytest.raises(
        UserError, match="longest question does not fit into the context of 5 tok"
    ):
        variations.probes_that_fit_context(make, 6, len, 5)


def test_a_plan_leaves_out_what_cannot_be_varied_and_the_rest_can_be_made():
    facts = ITEMS.assign(relation="r", subject="Chad")
    frames = pd.DataFrame(
        {"relation": ["r"], "kind": "qa", "frame": 0, "template": "Where is [X]?"}
    )
    kinds = ["frames", "paraphrases", "order", "demonstrations", "options"]
    ways, n_shots, notes = variations.plan_variations(
        facts, kinds, 10, POOL.head(1), 6, frames
    )
    assert ways == {"frames": 2, "options": 10}
    assert n_shots < 2
    text = " ".join(notes)
    for words in ('"frames" has 2 variations, not 10', '"paraphrases" is left out',
                  '"order" is left out', '"demonstrations" is left out'):  # fmt: skip
        assert words in text
    for kind, n in ways.items():
        found = variations.variation_probes(facts, kind, n, frames=frames)
        assert found["variation"].nunique() == n
    enough = variations.plan_variations(ITEMS, ["demonstrations", "order"], 5, POOL, 4)
    assert enough == ({"demonstrations": 5, "order": 5}, 4, [])
    for kind, reason in (
        ("frames", "needs facts with more than one.*name other kinds"),
        ("mood", '"mood" is no kind'),
    ):
        with pytest.raises(UserError, match=reason):
            variations.plan_variations(ITEMS, [kind], 5, POOL, 4)
