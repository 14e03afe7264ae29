"""Tests of book/_ext/main_findings.py: what pages take from the executed chapters."""

import importlib.util
import json
import re
from pathlib import Path

import nbformat
import pytest
from sphinx.application import Sphinx

from helpers import findings

BOOK = Path(__file__).resolve().parent.parent / "book"
NOTEBOOKS = BOOK.with_name("notebooks")
SPEC = importlib.util.spec_from_file_location("main_findings", BOOK / "_ext" / "main_findings.py")
main_findings = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(main_findings)
TEXT = "".join((BOOK / f"{name}.md").read_text(encoding="utf-8") for name in ("index", "tour"))
LINES = "".join(re.findall(r"```\{main-findings\}\n(.*?)```", TEXT, re.DOTALL))


@pytest.fixture
def book(tmp_path):
    found = [
        {"claim": "wrong_hint", "decision": "holds", "sentence": "A wrong word costs 10 points."},
        {"claim": "level", "decision": "undefined", "sentence": "Nothing counts."},
    ]
    (tmp_path / "chapters" / "monitor").mkdir(parents=True)
    path = tmp_path / "chapters" / "monitor" / "findings.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    run = {"model": {"name": "people/<b>bold", "prompt_format": "shots"}}
    path.with_name("run.json").write_text(json.dumps(run), encoding="utf-8")
    return tmp_path


def test_a_line_names_a_finding_of_a_chapter(book):
    expected = [("monitor", "holds", "A wrong word costs 10 points.")]
    assert main_findings.sentences(book, ["monitor: wrong_hint", ""]) == expected
    assert main_findings.sentences(book, ["monitor: missing, wrong_hint"]) == expected


@pytest.mark.parametrize("line", ["monitor: level", "monitor: missing", "atlas: wrong_hint"])
def test_what_is_not_there_is_left_out(book, line):
    assert main_findings.sentences(book, [line]) == []


@pytest.mark.parametrize("line", sorted(set(LINES.splitlines())))
def test_pages_name_findings_that_chapters_have(line):
    chapter, _, claims = line.partition(": ")
    assert {claim.strip() for claim in claims.split(",")} <= set(findings.wordings(chapter))


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_cells_rest_on_findings_of_their_chapter(path):
    cells = nbformat.read(path, 4).cells
    tags = {tag for cell in cells for tag in cell.metadata.get("tags", [])}
    needed = {tag.removeprefix("when:") for tag in tags if tag.startswith("when:")}
    assert needed <= set(findings.wordings(path.stem))


def test_the_models_that_were_asked_are_named_by_measure(book):
    for chapter, run in {
        "multiplicity": {"model": {"name": "atlas-m", "prompt_format": "bare"}},
        "latent_knowledge": {"model": {"name": "atlas-m", "prompt_format": "bare"}},
        "calibration": {"models": ["atlas-s", "atlas-m"]},
        "published": {},
    }.items():
        (book / "chapters" / chapter).mkdir()
        path = book / "chapters" / chapter / "run.json"
        path.write_text(json.dumps(run), encoding="utf-8")
    by = ("<b>bold (shots) by MONITOR", "atlas-m by IC-LKE, multiplicity")
    assert main_findings.asked(book) == "; ".join([*by, "atlas-s, atlas-m by calibration"])


@pytest.mark.parametrize("text", re.findall(r"\{when-found\} (.+)", TEXT))
def test_conditions_name_a_finding_of_the_page(text):
    assert text in LINES.splitlines()


def test_a_page_shows_what_was_found_and_the_text_that_rests_on_it(book):
    told = "```{when-found} monitor: {}\nText on *{}*.\n```\n"
    lines = "# Page\n\n```{main-findings}\nmonitor: wrong_hint\nmonitor: level\n```\n\n" * 2
    page = lines + "".join(told.replace("{}", claim) for claim in ("wrong_hint", "level"))
    (book / "index.md").write_text(page, encoding="utf-8")
    given = {"extensions": ["myst_parser"], "html_theme": "basic"}
    app = Sphinx(book, None, book / "html", book / "trees", "html", given, status=None)
    main_findings.setup(app)
    app.build()
    made = (book / "html" / "index.html").read_text(encoding="utf-8")
    assert made.count("A wrong word costs 10 points.") == 2
    assert made.count("Asked: &lt;b&gt;bold (shots) by MONITOR.") == 1
    assert made.count("left out here and below") == 1
    assert "Text on <em>wrong_hint</em>" in made
    assert "Text on <em>level</em>" not in made
