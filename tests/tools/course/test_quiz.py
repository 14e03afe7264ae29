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

QUIZZES = sorted(
    (Path(__file__).resolve().parents[3] / "notebooks" / "quiz").glob("*.yaml")
)
ITEMS = [item for path in QUIZZES for item in quiz.read_quiz_items(path)]
CHOICES = [item for item in ITEMS if item.options]
SOUND = """- id: a
  ask: One and one?
  options:
    Two: Count.
    Three: One too many.
- id: b
  ask: "{n} and {n}?"
  draws: [{n: 2}, {n: 3}]
  value: n + n
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
    "calibration-auc": np.mean(
        [(a > b) + (a == b) / 2 for a in (3, 2) for b in (2, 1)]
    ),
    "calibration-kappa": (0.8 - 0.6) / (1 - 0.6),
    "published-rounding": 10**-1 / 2,
    "published-sum": 3 * 10**-2 / 2,
    "comparison-difference": np.mean([0, 0, 1, 1, 0]),
    "comparison-variance": 4 + 5 - 2 * 3,
    "atlas-accuracy": 14 / 20,
    "real-orders": len(list(permutations(range(4)))),
    "real-three": np.mean(
        [p in ((0, 1, 2), (2, 1, 0)) for p in permutations(range(3))]
    ),
    "real-holm": 10,
}


BLIND = {  # ways to choose that see the options alone: what they make of an option, the most of it
    "long": lambda text, texts: len(text),
    "short": lambda text, texts: -len(text),
    "of usual length": lambda text, texts: -_apart(text, texts),
    "of unusual length": lambda text, texts: _apart(text, texts),
    "second longest": lambda text, texts: text == sorted(texts, key=len)[-2],
    "second shortest": lambda text, texts: text == sorted(texts, key=len)[1],
    "many words": lambda text, texts: len(text.split()),
    "with a comma": lambda text, texts: text.count(","),
    "with digits": lambda text, texts: sum(map(str.isdigit, text)),
    "first in the alphabet": lambda text, texts: text == min(texts),
    "last in the alphabet": lambda text, texts: text == max(texts),
    "hedged": lambda text, texts: _has(text, "may some part perhaps least"),
    "not absolute": lambda text, texts: -_has(text, "all no never any both"),
    "most in common": lambda text, texts: sum(
        len({*text.split()} & {*t.split()}) for t in texts
    ),
    **{f"number {n}": lambda text, texts, n=n: text == texts[n] for n in range(4)},
}


def _apart(text, texts):
    return abs(len(text) - np.mean([len(other) for other in texts]))


def _has(text, words):
    return bool(set(text.lower().split()) & set(words.split()))


@pytest.mark.parametrize("way", BLIND)
def test_options_alone_give_no_key_away(way):
    chosen = [
        max(texts := [*item.options], key=lambda t: BLIND[way](t, texts))
        for item in CHOICES
    ]
    assert np.mean([said == item.answer for said, item in zip(chosen, CHOICES)]) <= 0.35


@pytest.mark.parametrize("path", QUIZZES, ids=lambda path: path.stem)
def test_another_seed_has_other_numbers(path):
    for old, new in zip(quiz.read_quiz_items(path), quiz.read_quiz_items(path, 2027)):
        assert set(old.options) == set(new.options)
        if not old.options:
            assert old.ask != new.ask
            assert not float(new.low) <= float(old.answer) <= float(new.high)


def local(element):
    return element.tag.rpartition("}")[2]


def opened(package):
    """Return the roots of a package's files, by name."""
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        return {
            name: ElementTree.fromstring(archive.read(name))
            for name in archive.namelist()
        }


def test_each_chapter_has_about_eight_items_and_a_third_read_a_result():
    assert {path.stem for path in QUIZZES} == set(render.chapter_names())
    for path in QUIZZES:
        chosen = [bool(item.options) for item in quiz.read_quiz_items(path)]
        assert 7 <= len(chosen) <= 10
        assert {*chosen} == {True, False}
    assert sum(item.reads for item in ITEMS) >= len(ITEMS) / 3
    assert len({item.id for item in ITEMS}) == len(ITEMS)
    assert all(re.fullmatch(r"[a-z][a-z-]*", item.id) for item in ITEMS)  # fit for XML


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_an_item_has_one_right_answer_and_reasons(item):
    assert item.ask.endswith("?")
    assert item.why.endswith(".")
    if item.options:
        assert item.answer in item.options
        assert len(item.options) == 4
        assert all(reason.endswith(".") for reason in item.options.values())
    else:
        assert float(item.low) <= COMPUTED[item.id] <= float(item.high)
        assert float(item.answer) == pytest.approx(COMPUTED[item.id], rel=1e-5)


@pytest.mark.parametrize("path", QUIZZES, ids=lambda path: path.stem)
def test_a_package_has_a_manifest_that_names_all_files(path):
    items = quiz.read_quiz_items(path)
    roots = opened(quiz.quiz_files(path, "A title")[f"{path.stem}-qti21.zip"])
    manifest = roots["imsmanifest.xml"]
    resources = [e for e in manifest.iter() if local(e) == "resource"]
    hrefs = [e.get("href") for e in manifest.iter() if local(e) == "file"]
    assert sorted(hrefs) == sorted(set(roots) - {"imsmanifest.xml"})
    assert [local(part) for part in manifest] == [
        "metadata",
        "organizations",
        "resources",
    ]
    kinds = [resource.get("type") for resource in resources]
    assert kinds.count("imsqti_test_xmlv2p1") == 1
    assert kinds.count("imsqti_item_xmlv2p1") == len(items)
    needed = [
        e.get("identifierref") for e in manifest.iter() if local(e) == "dependency"
    ]
    assert set(needed) <= {resource.get("identifier") for resource in resources}
    listed = [e for e in roots["test.xml"].iter() if local(e) == "assessmentItemRef"]
    assert (
        [e.get("identifier") for e in listed] == needed == [item.id for item in items]
    )
    assert all(
        roots[e.get("href")].get("identifier") == e.get("identifier") for e in listed
    )


@pytest.mark.parametrize("path", QUIZZES, ids=lambda path: path.stem)
def test_platforms_get_key_and_reasons(path):
    made = quiz.quiz_files(path, "A title & more")
    new = opened(made[f"{path.stem}-qti21.zip"])
    old = opened(made[f"{path.stem}-qti12.zip"])[f"{path.stem}.xml"]
    moodle = ElementTree.fromstring(made[f"{path.stem}-moodle.xml"])
    labels = [e.text for e in old.iter() if local(e) == "fieldlabel"]
    assert labels[:2] == ["QUESTIONTYPE", "question_type"]  # Canvas takes the last
    olds = {e.get("ident"): e for e in old.iter() if local(e) == "item"}
    asked = {e.findtext("name/text"): e for e in moodle if e.get("type") != "category"}
    assert list(olds) == list(asked) == [item.id for item in quiz.read_quiz_items(path)]
    for item in quiz.read_quiz_items(path):
        root, question = new[f"{item.id}.xml"], asked[item.id]
        key = next(e.text for e in root[0].iter() if local(e) == "value")
        choices = {
            e.get("identifier"): e.text
            for e in root.iter()
            if local(e) == "simpleChoice"
        }
        told = {
            e.get("identifier"): e.text for e in root if local(e) == "modalFeedback"
        }
        full = [e.findtext("text") for e in question if e.get("fraction") == "100"]
        assert full == [item.answer]
        texts = "".join(olds[item.id].itertext())
        assert all(reason in texts for reason in [item.why, *item.options.values()])
        if item.options:
            assert choices[key] == item.answer
            assert {choices[name]: why for name, why in told.items()} == item.options
            given = {
                e.findtext("text"): e.findtext("feedback/text")
                for e in question.iter("answer")
            }
            assert given == item.options
            (right,) = [c for c in olds[item.id].iter() if c.get("continue") == "No"]
            letter = next(e.text for e in right.iter() if local(e) == "varequal")
            assert letter == item.letters[item.answer]
        else:
            assert (key, told) == (item.answer, {"why": item.why})
            assert float(question.findtext("answer/tolerance")) == item.tolerance
            ends = {local(e): e.text for e in olds[item.id].iter()}
            assert (ends["vargte"], ends["varlte"]) == (item.low, item.high)


def test_answers_are_on_one_of_two_pages(tmp_path):
    path = tmp_path / "sums.yaml"
    path.write_text(SOUND)
    made = quiz.quiz_files(path, "Sums")
    assert made == quiz.quiz_files(path, "Sums")
    students, teachers = made["sums.md"].decode(), made["sums-answers.md"].decode()
    assert "Two" in students
    assert "Count" not in students
    assert "Two. Count." in teachers
    assert "*Answer:* 4. Count again." in teachers
