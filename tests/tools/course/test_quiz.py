"""Tests of the quizzes: one right answer each, the numbers, and packages for platforms."""

import io
import re
import zipfile
from itertools import permutations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from book.tools import render
from book.tools.course import quiz

QUIZZES = sorted((Path(__file__).resolve().parents[3] / "notebooks" / "quiz").glob("*.yaml"))
ITEMS = [item for path in QUIZZES for item in quiz.read(path)]
SOUND = """- id: a
  ask: One and one?
  options: [Two, Three]
  key: Two
  why: Count.
- id: b
  ask: Two and two?
  accept: ["4", four]
  why: Count again.
"""
COMPUTED = {  # what short items ask for, by the chapters' equations
    "monitor-pfd": np.abs(0.9 - np.array([0.7, 0.3])).mean(),
    "monitor-score": np.sqrt((0.3**2 + 0.3**2 + 0.3 * 0.3) / 3) / 0.6,
    "kb-ncr": (5 - 3) / 10,
    "kb-nccr": 0.5 * 0.8 - 0.3 * 0.5,
    "kb-iur": 1 - (1 - 0.6) * 0.5,
    "latent-product": 0.5 * 0.4,
    "latent-mass": 0.06 / (0.02 + 0.02 + 0.06),
    "multiplicity-sc": (3 * 2 + 1 * 0) / (4 * 3),
    "multiplicity-entropy": -2 * 0.5 * np.log2(0.5),
    "calibration-dose": np.log2(1 + 7),
    "calibration-auc": np.mean([(a > b) + (a == b) / 2 for a in (3, 2) for b in (2, 1)]),
    "calibration-kappa": (0.8 - 0.6) / (1 - 0.6),
    "published-rounding": 10**-1 / 2,
    "published-sum": 3 * 10**-2 / 2,
    "comparison-difference": np.mean([0, 0, 1, 1, 0]),
    "comparison-variance": 4 + 5 - 2 * 3,
    "atlas-accuracy": 14 / 20,
    "real-orders": len(list(permutations(range(4)))),
    "real-three": np.mean([p in ((0, 1, 2), (2, 1, 0)) for p in permutations(range(3))]),
    "real-holm": 10,
}


def local(element):
    return element.tag.rpartition("}")[2]


def opened(package):
    """Return the roots of a package's files, by name."""
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        return {name: ElementTree.fromstring(archive.read(name)) for name in archive.namelist()}


def test_each_chapter_has_about_eight_items():
    assert {path.stem for path in QUIZZES} == set(render.chapters())
    for path in QUIZZES:
        items = quiz.read(path)
        assert 7 <= len(items) <= 10
        assert any(item.accept for item in items)
        assert any(item.options for item in items)


def test_ids_are_unique_and_fit_for_xml():
    assert len({item.id for item in ITEMS}) == len(ITEMS)
    assert all(re.fullmatch(r"[a-z][a-z-]*", item.id) for item in ITEMS)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_an_item_has_one_right_answer_and_a_reason(item):
    assert item.ask.endswith("?")
    assert item.why.endswith(".")
    assert bool(item.options) != bool(item.accept)
    if item.options:
        assert item.options.count(item.key) == 1
        assert len(set(item.options)) == len(item.options)
        assert len(item.options) == 4
    else:
        right = COMPUTED[item.id]
        for text in item.accept:
            digits = text.rstrip(" %")
            above, _, below = digits.partition("/")
            number = float(above) / float(below or 1) / (100 if "%" in text else 1)
            assert number == pytest.approx(right, rel=0.011)  # 0.33 for a third


@pytest.mark.parametrize("path", QUIZZES, ids=lambda path: path.stem)
def test_a_package_has_a_manifest_that_names_all_files(path):
    items = quiz.read(path)
    roots = opened(quiz.files(path, "A title")[f"{path.stem}-qti.zip"])
    manifest = roots["imsmanifest.xml"]
    resources = [e for e in manifest.iter() if local(e) == "resource"]
    hrefs = [e.get("href") for e in manifest.iter() if local(e) == "file"]
    assert sorted(hrefs) == sorted(set(roots) - {"imsmanifest.xml"})
    assert [local(part) for part in manifest] == ["metadata", "organizations", "resources"]
    kinds = [resource.get("type") for resource in resources]
    assert kinds.count("imsqti_test_xmlv2p1") == 1
    assert kinds.count("imsqti_item_xmlv2p1") == len(items)
    needed = [e.get("identifierref") for e in manifest.iter() if local(e) == "dependency"]
    assert set(needed) <= {resource.get("identifier") for resource in resources}
    listed = [e for e in roots["test.xml"].iter() if local(e) == "assessmentItemRef"]
    assert [e.get("identifier") for e in listed] == needed == [item.id for item in items]
    assert all(roots[e.get("href")].get("identifier") == e.get("identifier") for e in listed)


@pytest.mark.parametrize("path", QUIZZES, ids=lambda path: path.stem)
def test_an_item_of_a_package_has_one_key_among_its_choices(path):
    roots = opened(quiz.files(path, "A title")[f"{path.stem}-qti.zip"])
    for item in quiz.read(path):
        root = roots[f"{item.id}.xml"]
        parts = ["responseDeclaration", "outcomeDeclaration", "itemBody", "responseProcessing"]
        assert [local(part) for part in root] == parts  # the order that the schema asks for
        (right,) = [e.text for e in root[0].iter() if local(e) == "value"]
        choices = {e.get("identifier"): e.text for e in root.iter() if local(e) == "simpleChoice"}
        if item.options:
            assert choices[right] == item.key
            assert tuple(choices.values()) == item.options
            assert root[-1].get("template").endswith("/match_correct")
        else:
            mapped = [e.get("mapKey") for e in root.iter() if local(e) == "mapEntry"]
            assert (right, tuple(mapped)) == (item.answer, item.accept)
            assert not choices
            assert root[-1].get("template").endswith("/map_response")
        assert item.ask in "".join(root.itertext())


def test_answers_are_on_one_of_two_pages(tmp_path):
    path = tmp_path / "sums.yaml"
    path.write_text(SOUND)
    made = quiz.files(path, "Sums")
    assert made == quiz.files(path, "Sums")
    students, teachers = made["sums.md"].decode(), made["sums-answers.md"].decode()
    assert "- (a) Two\n- (b) Three" in students
    assert "Answer" not in students
    assert "Count" not in students
    assert "*Answer:* (a) Two. Count." in teachers
    assert "*Answer:* 4. Count again." in teachers
