"""Right answers: what counts as the same, and what does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.errors import UserError
from helpers.metrics.matching import exact_match, normalise, rule_of, starts_with


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
    assert rule_of("exact_match") is exact_match
    assert rule_of("starts_with") is starts_with
    with pytest.raises(UserError, match='no rule "contains"'):
        rule_of("contains")
