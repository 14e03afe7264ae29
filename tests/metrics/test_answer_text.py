"""One door for answers: what is put around one changes no verdict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.metrics import answer_text, matching, responses
from helpers.metrics.canonical import comparison_key

QUESTION = "Which city is the capital of it?"
WORDS = (
    "Paris Lyon I don't know unknown the answer is nobody Knows twenty one 1984 none it"
    " depends on many things Not sure"
)
ANSWERS = st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=6).map(" ".join)
AROUND = [
    *[
        ("**", "**"),
        ("*", "*"),
        ("_", "_"),
        ("`", "`"),
        ("<b>", "</b>"),
        ("<p>", "</p>"),
    ],
    *[("\\text{", "}"), ("\\boxed{", "}"), ("$", "$"), ("\\(", "\\)")],
    *[("\\[\n", "\n\\]"), ("```\n", "\n```"), ("# ", ""), ("- ", ""), ("1. ", "")],
    *[("> ", ""), ("", "[1]"), ("", ".[2]"), ("\n\n", "\n"), ("\r\n", "\r\n")],
    *[("\u2028", ""), ("\f", ""), ("  ", "  "), ("\u200b", "\u200b"), ("\ufeff", "")],
    *[("== ", " =="), ("[b]", "[/b]"), ("| ", " |"), ("{\\bf ", "}"), ("", "^[1]")],
    *[("", ".<ref>x</ref>"), ("\u3164\n", ""), ("[1] ", ""), ("```\nAnswer:\n", "")],
    *[("\u2068", "\u2069"), ("\u00ad", "\u00ad"), ("<think>no</think>", "")],
    *[("[THINK]a b[/THINK]\n", ""), ("<|channel|>final<|message|>", "<|return|>")],
]


@given(ANSWERS, ANSWERS, st.sampled_from(AROUND))
def test_what_is_put_around_an_answer_changes_no_verdict(text, gold, around):
    before, after = around
    dressed = f"{before}{text}{after}"
    assert matching.exact_match(dressed, gold) == matching.exact_match(text, gold)
    kinds = [
        responses.response_kind(each, QUESTION, [gold]) for each in (text, dressed)
    ]
    assert kinds[0] == kinds[1]


@given(st.text(max_size=40), st.text("ab. St1\n", max_size=8))
def test_an_answer_is_right_if_and_only_if_a_reading_is(text, gold):
    wanted = matching.normalise_text(answer_text.join_spaced_thousands(gold))
    readings = answer_text.answer_readings(text, gold)
    spellings = [matching.normalise_text(reading) for reading in readings]
    assert matching.exact_match(text, gold) == (bool(wanted) and wanted in spellings)


@given(ANSWERS, st.sampled_from("'`´ʻʼʽʾʿ‘’‛′＇"))
def test_every_apostrophe_is_the_same(text, apostrophe):
    spelt = text.replace(" ", apostrophe)
    assert matching.exact_match(spelt, text.replace(" ", "'"))
    assert comparison_key(spelt) == comparison_key(text.replace(" ", "'"))


@given(st.integers(1, 10**12), st.sampled_from("-−–—‐‑‒―－﹣"))
def test_a_number_keeps_its_sign_in_every_dash_and_grouping(number, dash):
    for text in (f"{number:,}", f"{number:,}".replace(",", "\u202f")):
        assert matching.exact_match(f"{dash}{text}", str(-number))
        assert not matching.exact_match(f"{dash}{text}", str(number))
        assert matching.exact_match(text, str(number))


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("Bern", True),
        ("<think>Rome?</think>Bern", True),
        ("", False),
        (" \n\n", False),
        ("\u200b", False),
        ("<think>Rome? Or Bern", False),
        ("Rome or Bern</think>", False),
        ("<|channel|>analysis<|message|>Bern", False),
        ("<|channel|>ana", False),
    ],
)
def test_a_text_without_an_answer_is_told(text, holds):
    assert matching.holds_answer(text) is holds


def test_no_more_cuts_are_read_than_there_may_be():
    assert len(answer_text.sentence_ends("a. " * 1000)) == answer_text.MOST_CUTS
