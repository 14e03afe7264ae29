"""Right answers: what counts as the same, and what does not."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from helpers import UserError
from helpers.metrics.matching import (
    MATCH_RULES,
    contains,
    exact_match,
    first_sentence,
    match_rule,
    normalise_text,
    starts_with,
)

CASES = yaml.safe_load(
    Path(__file__).with_name("spellings.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(("text", "gold", "rules"), CASES["right"])
def test_spellings_that_match(text, gold, rules):
    assert all(match_rule(rule)(text, gold) is True for rule in rules.split())


@pytest.mark.parametrize(("text", "gold", "rules"), CASES["wrong"])
def test_spellings_that_do_not_match(text, gold, rules):
    assert all(match_rule(rule)(text, gold) is False for rule in rules.split())


@pytest.mark.parametrize(("text", "gold", "first"), CASES["cut"])
def test_an_answer_is_cut_after_its_first_line_and_sentence(text, gold, first):
    assert first_sentence(text, gold) == first


@pytest.mark.parametrize(("text", "gold", "exact", "held"), CASES["sentences"])
def test_what_follows_the_first_sentence_does_not_count(text, gold, exact, held):
    assert exact_match(text, gold) is exact
    assert contains(text, gold) is held


@given(st.text("ab .\n-'"), st.text("ab .-"))
def test_each_rule_lets_pass_what_a_stricter_one_does(text, gold):
    exact, start, inside = (rule(text, gold) for rule in MATCH_RULES.values())
    assert exact <= start <= inside


@given(st.text("ab .\n-'"), st.text("ab .-"))
def test_the_object_alone_is_right_however_it_is_punctuated(text, gold):
    if normalise_text(gold) and normalise_text(text) == normalise_text(gold):
        assert all(rule(text, gold) for rule in MATCH_RULES.values())


@given(st.text())
def test_normalise_changes_nothing_twice(text):
    once = normalise_text(text)
    assert normalise_text(once) == once
    assert once == " ".join(once.split())


def test_rules_have_names():
    assert list(MATCH_RULES) == ["exact_match", "starts_with", "contains"]
    assert match_rule("starts_with") is starts_with
    with pytest.raises(UserError, match='no rule "close"'):
        match_rule("close")
