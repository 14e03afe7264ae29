"""Right answers: what counts as the same, and what does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError
from helpers.metrics.matching import (
    RULES,
    contains,
    cut,
    exact_match,
    normalise,
    rule_of,
    starts_with,
)


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        (" France\n", "France"),
        ("FRANCE.", "France"),
        ("“France”", "france"),
        ("U.S.", "US"),
        ("Guinea Bissau", "Guinea-Bissau"),
        ("Côte d’Ivoire", "Côte d'Ivoire"),
        ("São  Tomé", "São Tomé"),
        ("Ｆｒａｎｃｅ", "France"),
        ("STRASSE", "Straße"),
        ("+33", "+33"),
    ],
)
def test_spellings_that_match(text, gold):
    assert exact_match(text, gold)
    assert starts_with(text, gold)


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("the Netherlands", "Netherlands"),
        ("France and Spain", "France"),
        ("Sao Tome", "São Tomé"),
        ("Niger", "Nigeria"),
        ("33", "+33"),
        ("", "France"),
        ("?", "?"),
        ("", ""),
    ],
)
def test_spellings_that_do_not_match(text, gold):
    assert not exact_match(text, gold)


@pytest.mark.parametrize(
    ("text", "gold", "expected"),
    [
        (" Paris, the capital", "Paris", True),
        ("Paris", "Paris", True),
        ("New York City", "New York", True),
        ("Côte d'Ivoire.\nThe", "Cote d'Ivoire", False),
        ("Parisian", "Paris", False),
        ("Paris-based", "Paris", False),
        ("Guinea-Bissau", "Guinea", False),
        ("Nigeria", "Niger", False),
        ("in Paris", "Paris", False),
        ("", "Paris", False),
        ("?! Paris", "", False),
    ],
)
def test_starts_with_whole_words(text, gold, expected):
    assert starts_with(text, gold) is expected


@pytest.mark.parametrize(
    ("text", "gold", "first"),
    [
        (" France. Which country is Lima in?", "France", " France."),
        ("France\nQuestion: Where is Lima?", "France", "France"),
        ("\n France! It", "France", " France!"),
        ("the U.S., I think. Or", "US", "the U.S., I think."),
        ("It is St. Louis. It", "St. Louis", "It is St. Louis."),
        ("J. K. Rowling. She", "J. K. Rowling", "J. K. Rowling."),
        ("Washington, D.C. It", "Washington, D.C.", "Washington, D.C."),
        ("3.5 million. More", "3.5 million", "3.5 million."),
        ("", "France", ""),
    ],
)
def test_an_answer_is_cut_after_its_first_line_and_sentence(text, gold, first):
    assert cut(text, gold) == first


@pytest.mark.parametrize(
    ("text", "gold", "exact", "held"),
    [
        (" France. Which country is Lima in?", "France", True, True),
        ("J. K. Rowling. She", "J. K. Rowling", True, True),
        ("I think it is France.", "France", False, True),
        ("It is St. Louis, of course.", "St. Louis", False, True),
        ("Peru. Not France.", "France", False, False),
        ("Which country is Lyon in?\nFrance", "France", False, False),
        ("Nigeria", "Niger", False, False),
        ("Guinea-Bissau", "Bissau", False, True),
        ("I cannot answer that.", "France", False, False),
        ("...", "?", False, False),
    ],
)
def test_what_follows_the_first_sentence_does_not_count(text, gold, exact, held):
    assert exact_match(text, gold) is exact
    assert contains(text, gold) is held


@given(st.text("ab .\n-'"), st.text("ab .-"))
def test_each_rule_lets_pass_what_a_stricter_one_does(text, gold):
    exact, start, inside = (rule(text, gold) for rule in RULES.values())
    assert exact <= start <= inside


@given(st.text("ab .\n-'"), st.text("ab .-"))
def test_the_object_alone_is_right_however_it_is_punctuated(text, gold):
    if normalise(gold) and normalise(text) == normalise(gold):
        assert all(rule(text, gold) for rule in RULES.values())


@given(st.text())
def test_normalise_changes_nothing_twice(text):
    once = normalise(text)
    assert normalise(once) == once
    assert once == " ".join(once.split())


@given(st.text(), st.text())
def test_exact_match_implies_starts_with(text, more):
    if exact_match(text, text):
        assert starts_with(f"{text} {more}", text)


def test_rules_have_names():
    assert list(RULES) == ["exact_match", "starts_with", "contains"]
    assert rule_of("starts_with") is starts_with
    with pytest.raises(UserError, match='no rule "close"'):
        rule_of("close")


@pytest.mark.parametrize(
    ("text", "gold", "same"),
    [
        ("8,849 m", "8849 m", True),
        ("1.5 m", "15 m", False),
        ("40 °C", "-40 °C", False),
        ("\N{MINUS SIGN}40", "-40", True),
        ("1914-18", "1914–18", True),
        ("東京。日本の首都は", "東京", True),
        ("नई दिल्ली। यह", "नई दिल्ली", True),
        ("ما؟ نعم", "ما", True),
        ("<think>Rome. Or Bern?</think>Bern. It", "Bern", True),
        ("<think>Bern", "Bern", False),
    ],
)
def test_numbers_other_scripts_and_thoughts(text, gold, same):
    assert exact_match(text, gold) == same
