"""Paraphrases from a sequence-to-sequence model: different, none the text itself."""

import pytest

from helpers import UserError
from notebooks.analysis.paraphrasing import paraphrase_texts
from tests import tiny_models


def test_paraphrases_differ_from_each_other_and_from_the_text():
    lm = tiny_models.tiny_language_model("t5")
    texts = ["the capital of Chad", "Rome"]
    found = paraphrase_texts(lm, texts, 2, max_new_tokens=6)
    assert len(found) == 2
    for text, told in zip(texts, found):
        assert len(told) <= 2
        assert len(set(told)) == len(told)
        assert text not in told
        assert all(line and line == line.strip() for line in told)
    assert any(found)
    assert paraphrase_texts(lm, texts, 2, max_new_tokens=6) == found


@pytest.mark.parametrize(
    ("family", "n", "sentence"),
    [
        ("llama", 2, "is no paraphraser: give a sequence-to-sequence model"),
        ("t5", 0, "at least 1, not 0"),
    ],
)
def test_what_cannot_be_paraphrased_is_refused(family, n, sentence):
    with pytest.raises(UserError, match=sentence):
        paraphrase_texts(tiny_models.tiny_language_model(family), ["Rome"], n)
