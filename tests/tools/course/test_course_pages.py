"""Tests of the pages of the course: glossary, prerequisites, instructors' guide."""

import re
from collections import Counter
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from book.tools import jobs, render
from book.tools.course import quiz, weeks

ROOT = Path(__file__).resolve().parents[3]
BOOK = ROOT / "book"
TERM = re.compile(r"\{term\}`([^`<]+?)(?:\s*<([^>]+)>)?`")


def page(name):
    return (BOOK / f"{name}.md").read_text(encoding="utf-8")


def chapter(name):
    cells = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def linked(text):
    """Return the terms that a text links to."""
    return [(target or title).lower() for title, target in TERM.findall(text)]


def glossary():
    body = re.search(r"```\{glossary\}\n(.*?)```", page("glossary"), flags=re.DOTALL)[1]
    return [
        line.lower() for line in body.splitlines() if line and not line.startswith(" ")
    ]


def test_the_glossary_is_in_order_and_says_each_word_once():
    assert glossary() == sorted(set(glossary()))
    assert len(glossary()) >= 30


@pytest.mark.parametrize("name", render.chapter_names())
def test_a_chapter_links_to_the_glossary_at_first_use(name):
    found = linked(chapter(name))
    assert set(found) <= set(glossary())
    assert max(Counter(found).values()) == 1, "a term is linked once a chapter"
    assert len(found) >= 3
    assert "{doc}`../glossary`" in chapter(name)
    assert "{doc}`../prerequisites`" in chapter(name)


def test_every_chapter_has_its_objectives():
    text = (
        page("instructors").partition("## Learning objectives")[2].partition("\n## ")[0]
    )
    rows = re.findall(r"^\| \{ref\}`([\w-]+)` \|", text, flags=re.MULTILINE)
    assert [label.replace("-", "_") for label in rows] == render.chapter_names()


def test_the_table_of_times_was_measured_for_every_chapter():
    table = pd.read_csv(weeks.COURSE_TIMES_FILE)
    asking = [
        name
        for name in render.chapter_names()
        if jobs.chapter_kind(name) != "synthesis"
    ]
    assert set(table["notebook"]) == set(asking)
    assert (table[["minutes", "minutes of one core", "GB of memory"]] > 0).all(
        axis=None
    )
    assert table["measured"].str.fullmatch(r"20\d\d-\d\d-\d\d").all()
    assert not table.duplicated(["notebook", "model"]).any()


def test_the_syllabus_names_what_there_is():
    rows = re.findall(r"^\| .*\{ref\}.*\|$", page("syllabus"), flags=re.MULTILINE)
    quizzes = (ROOT / "notebooks" / "quiz").glob("*.yaml")
    items = {item.id for path in quizzes for item in quiz.read_quiz_items(path)}
    rubric = page("project").partition("## Rubric")[2]
    assert len(rows) >= 6
    for row in rows:
        _, _, asked, criterion = row.strip("| ").split(" | ")
        assert set(asked.split(", ")) <= items
        assert f"| {criterion} |" in rubric
