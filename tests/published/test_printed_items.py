"""Paper by paper: each printed item has a place in the book, where a number of it stands, or a reason."""

import functools
import re
from pathlib import Path

import pytest

from notebooks.kit import published
from notebooks.kit.published import paper_models, printed_items
from tests.page_text import element_of_label, plain, words_of
from tests.published.table_checks import CHECK_PREFIXES
from tests.published.test_published_tables import paper_text

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "book" / "_build" / "html"
PAGE = (ROOT / "book" / "papers.md").read_text(encoding="utf-8")
NUMBERED, CLAIMS = printed_items.numbered_items(), printed_items.claim_items()
PLACED = [
    row for table in (NUMBERED, CLAIMS) for row in table.itertuples() if row.place
]
EQUATIONS = {"MONITOR": 3, "knowledge bases": 10, "IC-LKE": 4, "multiplicity": 4}
# That a paper names and does not have
NOT_THERE = {("IC-LKE", "Table"): {14}}
# What holds an image or a formula, and may have no number of its own
WITHOUT_TEXT = ("fig-", "equation-")


def numbers_of(text, kind):
    """Return the numbers of tables, figures or equations that a text names."""
    lists = re.findall(rf"{kind}s? (\d+(?:, \d+)*(?:,? and \d+)?)", text)
    return {int(number) for one in lists for number in re.findall(r"\d+", one)}


def numbers_with_a_row(paper, kind):
    rows = NUMBERED[NUMBERED["paper"] == paper]
    return numbers_of("\n".join(rows["item"].str.partition(":")[0]), kind)


@pytest.mark.parametrize("paper", paper_models.PAPERS)
@pytest.mark.parametrize("kind", ["Table", "Figure"])
def test_every_table_and_figure_that_a_paper_names_has_a_row(shared, paper, kind):
    named = numbers_of(paper_text(shared, CHECK_PREFIXES[paper]), kind)
    assert numbers_with_a_row(paper, kind) == named - NOT_THERE.get(
        (paper, kind), set()
    )


@pytest.mark.parametrize("paper", EQUATIONS)
def test_every_equation_has_a_row(paper):
    numbers = set(range(1, EQUATIONS[paper] + 1))
    assert numbers_with_a_row(paper, "Equation") == numbers


def test_every_item_has_a_number_in_the_book_or_a_reason():
    assert list(NUMBERED) == printed_items.ITEM_COLUMNS
    assert set(NUMBERED["paper"]) == set(paper_models.PAPERS)
    assert not NUMBERED.duplicated().any()
    told = (NUMBERED["value"] != "") | (NUMBERED["reason"] != "")
    assert told.groupby([NUMBERED["paper"], NUMBERED["item"]]).any().all()
    assert ((NUMBERED["place"] != "") | (NUMBERED["value"] == "")).all()


def test_every_sentence_is_a_row():
    assert len(CLAIMS) == len(published.paper_claims())
    assert CLAIMS["place"].is_unique


def test_the_page_has_each_paper():
    for paper in paper_models.PAPERS:
        assert f"```{{paper-items}} {paper}\n" in PAGE


def test_an_element_ends_where_its_own_tag_closes():
    page = '<section><span id="a"></span><h2>A</h2><p>1</p></section><p>2</p>'
    page += '<div id="b"><div>3</div>4</div><div>5</div>'
    assert element_of_label(page, "b") == '<div id="b"><div>3</div>4</div>'
    assert element_of_label(page, "a").endswith("<p>1</p></section>")
    assert element_of_label(page, "c") == ""


@functools.cache
def page_text(page):
    return (HTML / f"{page}.html").read_text(encoding="utf-8")


@pytest.mark.skipif(
    not (HTML / "papers.html").is_file(), reason="there is no book yet: make book first"
)
@pytest.mark.parametrize("row", PLACED, ids=lambda row: f"{row.item[:40]} {row.place}")
def test_the_number_stands_where_the_link_leads(row):
    page, _, label = row.place.partition("#")
    element = element_of_label(page_text(page), label)
    assert element, "no such label"
    held = " ".join(plain(element).split())
    assert " ".join(plain(row.value).split()) in held
    if not row.value and not label.startswith(WITHOUT_TEXT):
        assert re.search(r"\d", words_of(element)), "no number at all"
