"""The papers' sentences: each stands in its paper, and each verdict follows from the tables."""

import re

import pandas as pd
import pytest

from notebooks.kit import published
from tests.published import judges
from tests.published.judges import judgement
from tests.published.table_checks import CHECK_PREFIXES
from tests.published.test_published_tables import paper_text

STATED = published.paper_claims()


def squeezed(text):
    """Take out what typesetting adds: white space, hyphens, numbers of lines, marks of type."""
    text = re.sub(r"^ ?\d{3} ", "", text, flags=re.MULTILINE)
    return re.sub(r"[\s\-$*\\]|\[[^]]*\]", "", text.replace("\\sim", "∼"))


def pattern(quotation):
    """Write a quotation as a pattern; our copies read a letter of another alphabet as they can."""
    return re.escape(squeezed(quotation)).replace("η", ".")


@pytest.mark.parametrize("row", list(STATED.itertuples()), ids=lambda row: row.claim)
def test_each_sentence_stands_in_its_paper_word_for_word(shared, row):
    assert re.search(
        pattern(row.quotation), squeezed(paper_text(shared, CHECK_PREFIXES[row.paper]))
    )


@pytest.mark.parametrize("row", list(STATED.itertuples()), ids=lambda row: row.claim)
def test_each_verdict_and_the_numbers_of_its_reason_are_what_the_tables_give(row):
    found = judges.judge_claim(row.paper, row.claim, row.rests_on)
    assert found.verdict == row.verdict
    assert found.told
    assert judgement.unstated_values(found.told, row.says) == []


@pytest.mark.parametrize(
    ("told", "left"),
    [
        ([2, 12, "Vicuna-7b", 0.25], []),
        ([12, 2], [2]),
        ([2, 12, 0.26], [0.26]),
        ([1234.4], []),
        (["Vicuna-8b"], ["Vicuna-8b"]),
    ],
)
def test_a_reason_that_states_other_numbers_or_an_other_order_is_noticed(told, left):
    assert (
        judgement.unstated_values(told, "2 of 12 hold; Vicuna-7b has 0.25 of 1,234.")
        == left
    )


def test_there_are_sentences_of_all_papers_and_verdicts():
    assert not STATED.duplicated(["paper", "claim"]).any()
    counted = pd.crosstab(STATED["paper"], STATED["verdict"])
    assert set(counted.index) == set(judges.PAPERS)
    assert set(counted) == set(judgement.VERDICTS)
    assert (counted.sum(axis=1) >= 10).all()
    assert (counted[["supported", "contradicted"]] > 0).all(axis=None)
    assert STATED["says"].str.endswith(".").all()
    assert not STATED["says"].str.contains("{|nan", regex=True).any()


def test_what_is_contradicted_has_a_severity():
    wrong = STATED["verdict"] == "contradicted"
    assert set(STATED.loc[wrong, "severity"]) == {
        "substance",
        "exceptions",
        "description",
    }
    assert (STATED.loc[~wrong, "severity"] == "").all()
    exceptions = STATED.loc[STATED["severity"] == "exceptions", "says"]
    counts = exceptions.str.extract(r"(\d+) of (\d+)").astype(int)
    assert (counts[0] > counts[1] / 2).all()


SLIPS = published.printed_slips()


@pytest.mark.parametrize("row", list(SLIPS.itertuples()), ids=lambda row: row.place)
def test_each_slip_quotes_its_paper_word_for_word_in_both_places(shared, row):
    text = squeezed(paper_text(shared, CHECK_PREFIXES[row.paper]))
    assert re.search(pattern(row.quotation), text)
    assert re.search(pattern(row.other_quotation), text)
    assert row.quotation != row.other_quotation


def test_there_are_slips_of_all_papers():
    assert set(SLIPS["paper"]) == set(judges.PAPERS)
    assert not SLIPS.duplicated(["paper", "quotation"]).any()
    assert SLIPS["says"].str.endswith(".").all()
    assert (SLIPS["place"].str.len() > 0).all()
