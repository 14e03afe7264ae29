"""Paraphrases from a sequence-to-sequence model: different, none the text itself."""

import pytest

from helpers import UserError
from helpers.probing.paraphrasing import paraphrase
from tests import tiny


def test_paraphrases_differ_from_each_other_and_from_the_text():
    lm = tiny.language_model("t5")
    texts = ["the capital of Chad", "Rome"]
    found = paraphrase(lm, texts, 2, max_new_tokens=6)
    assert len(found) == 2
    for text, told in zip(texts, found):
        assert len(told) <= 2
        assert len(set(told)) == len(told)
        assert text not in told
        assert all(line and line == line.strip() for line in told)
    assert any(found)
    assert paraphrase(lm, texts, 2, max_new_tokens=6) == found


def test_a_causal_model_is_no_paraphraser():
    with pytest.raises(UserError, match="is no paraphraser: give a sequence-to-sequence model"):
        paraphrase(tiny.language_model("llama"), ["Rome"], 2)


def test_at_least_one_paraphrase_is_asked_for():
    with pytest.raises(UserError, match="at least 1, not 0"):
        paraphrase(tiny.language_model("t5"), ["Rome"], 0)
