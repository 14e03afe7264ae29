"""Which chapter can be run on which data set: names, files, the data page's table, small data."""

import re

import pytest

from book.tools import suitability
from book.tools.suitability import CHAPTER_INPUTS
from helpers import UserError, datasets
from helpers.io import network
from tests import own_facts


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    """Nothing may be fetched to answer."""
    monkeypatch.setattr(
        network,
        "download_with_retries",
        lambda *_: pytest.fail("a data set was fetched"),
    )


def test_the_table_of_the_data_page_is_true(root, tmp_path):
    page = (root / "book" / "data.md").read_text(encoding="utf-8")
    part = page.partition("(data-chapters)=")[2].partition("(data-load)=")[0]
    rows = [[cell.strip() for cell in line.strip("| \n").split("|")]
            for line in part.splitlines() if line.startswith("|")]  # fmt: skip
    assert rows[0][2:] == list(CHAPTER_INPUTS)
    csv = tmp_path / "own.csv"
    csv.write_text("question,options,answer\nUp?,yes|no,yes\nDown?,yes|no,no\n")
    told = {}
    for names, _, *cells in rows[2:]:
        found = re.findall("`(.+?)`", names) or [csv]
        told |= {name: [cell == "yes" for cell in cells] for name in found}
    assert set(datasets.DATASET_NAMES) < set(told)
    told[str(own_facts.write_own_facts(tmp_path / "books", 12))] = told["fktc"]
    for name, cells in told.items():
        assert [
            not suitability.unsuitability_reason(chapter, name)
            for chapter in CHAPTER_INPUTS
        ] == cells, name


def test_a_sentence_names_the_chapter_the_data_and_who_takes_them():
    said = suitability.unsuitability_reason("multiplicity", "trex_mc")
    assert re.match(
        r"trex_mc holds .*multiplicity takes .*run latent_knowledge on it", said
    )
    assert suitability.unsuitability_reason("atlas", "trex_mc") == ""


def test_small_data_are_refused_by_the_chapters_that_need_more(tmp_path):
    few = own_facts.write_own_facts(tmp_path / "few", 3)
    said = {
        chapter: suitability.unsuitability_reason(chapter, few)
        for chapter in CHAPTER_INPUTS
    }
    assert not said["monitor"]
    assert not said["multiplicity"]
    assert "holds 3 facts: add some" in said["knowledge_base"]
    assert "needs at least 2" in said["latent_knowledge"]
    alone = own_facts.write_own_facts(tmp_path / "alone", 12, wrong=())
    said = {
        chapter: suitability.unsuitability_reason(chapter, alone)
        for chapter in CHAPTER_INPUTS
    }
    assert "author-0000" in said["monitor"]
    assert "author-0000" in said["multiplicity"]
    assert not said["knowledge_base"]
    assert not said["latent_knowledge"]
    same = own_facts.write_own_facts(tmp_path / "same", 12, n_objects=1)
    assert "fewer than 2 different objects" in suitability.unsuitability_reason(
        "latent_knowledge", same
    )
    folder = own_facts.write_own_facts(
        own_facts.write_own_facts(tmp_path / "books", 12), 2, "editor"
    )
    assert not any(
        suitability.unsuitability_reason(chapter, folder) for chapter in CHAPTER_INPUTS
    )
    assert suitability.unsuitability_reason("latent_knowledge", folder, ["editor"])


def test_mistakes_are_raised(tmp_path):
    with pytest.raises(UserError, match="no data set 'trivia'"):
        suitability.unsuitability_reason("monitor", "trivia")
    with pytest.raises(UserError, match="no file or folder"):
        suitability.unsuitability_reason("monitor", tmp_path / "none")
    for name in ("atlas", "fktc", own_facts.write_own_facts(tmp_path / "books", 12)):
        with pytest.raises(UserError, match="no relation P9999"):
            suitability.unsuitability_reason("monitor", name, ["P9999"])
    (tmp_path / "books" / "author.json").write_text('{"relations": ["[X]?"]}\n{oops\n')
    with pytest.raises(UserError, match="line 2 is not JSON"):
        suitability.unsuitability_reason("monitor", tmp_path / "books")


def test_calibration_takes_facts_that_have_counts(tmp_path):
    assert suitability.unsuitability_reason("calibration", "atlas") == ""
    for name in (
        "fktc",
        "nobel",
        "fever",
        "seen_qa",
        str(own_facts.write_own_facts(tmp_path / "few", 9)),
    ):
        said = suitability.unsuitability_reason("calibration", name)
        assert said.startswith(f"{name} has no counts of exposure")
        assert "add `exposure` to your facts" in said
    facts = datasets.load("atlas", relations=["P17"], n=9).assign(exposure=3)
    own = datasets.write_dataset(facts, {"P17": ["Where is [X]?"]}, tmp_path / "own")
    assert suitability.unsuitability_reason("calibration", own) == ""
