"""Tests of book/_ext/main_findings.py: what pages take from the executed chapters."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

from helpers import findings

BOOK = Path(__file__).resolve().parent.parent / "book"
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
