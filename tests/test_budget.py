"""Budgets: how large the package, the chapters' code and the chapters may become.

Raising a number needs a line in the change log that says what a user got for it.
"""

import itertools

import nbformat
import pytest

from helpers import findings

LINES = {  # of Python below a folder
    "helpers": 16_900,
    "notebooks/analysis": 7_585,
    "book/tools": 3_220,
    "book/_ext": 790,
    "tests": 32_290,
}
MEASURES = ("monitor", "knowledge_base", "latent_knowledge", "multiplicity")
CODE, FINDINGS = 150, 8  # of a chapter
VISIBLE = {True: 60, False: 30}  # lines of code at least: in a measure's chapter, in another
WORDS, FOLDS = (1_000, 2_400), 12  # words before the exercises
CHAPTERS = ("atlas", *MEASURES, "calibration", "comparison", "published", "real_models")
HIDDEN = {"hide-input", "remove-input", "remove-cell"}


@pytest.fixture(params=CHAPTERS)
def cells(request, root):
    return nbformat.read(root / "notebooks" / f"{request.param}.ipynb", 4).cells


def lines(cells, *, hidden=True):
    """Count all lines of code, blank ones and those of removed cells too, or those in view."""
    return sum(
        len(cell.source.splitlines())
        for cell in cells
        if cell.cell_type == "code" and (hidden or not HIDDEN & set(cell.metadata.get("tags", [])))
    )


@pytest.mark.parametrize("folder", LINES)
def test_lines_of_a_folder(root, folder):
    found = [path.read_text(encoding="utf-8").count("\n") for path in (root / folder).rglob("*.py")]
    assert 0 < sum(found) <= LINES[folder]


def test_lines_of_a_chapter(cells, request):
    name = request.node.callspec.params["cells"]
    assert lines(cells) <= CODE
    assert lines(cells, hidden=False) >= VISIBLE[name in MEASURES]


def test_words_and_folds_of_a_chapter(cells):
    text = [cell.source for cell in cells if cell.cell_type == "markdown"]
    page = itertools.takewhile(lambda source: "## Exercises" not in source, text)
    least, most = WORDS
    assert least <= sum(len(source.split()) for source in page) <= most
    folds = sum("hide-input" in cell.metadata.get("tags", []) for cell in cells)
    assert folds + sum(source.count(":class: dropdown") for source in text) <= FOLDS


@pytest.mark.parametrize("name", CHAPTERS)
def test_findings_of_a_chapter(name):
    """At most eight, three of them to retell; each is worded in full."""
    told = findings.wordings(name)
    assert 0 < len(told) <= FINDINGS
    assert 1 <= sum(words.get("main", False) for words in told.values()) <= 3
    for words in told.values():
        assert {"holds", "opposite", "undecided"} <= words.keys()
        assert words.keys() <= {
            *("holds", "opposite", "undecided", "undefined", "main"),
            *("null", "digits", "scale", "unit", "heading"),
        }
        sentences = [words[kind] for kind in ("holds", "opposite", "undecided")]
        assert all(sentence.endswith(".") for sentence in sentences)
        assert all(len(sentence.split()) <= 40 for sentence in sentences)


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_wording_is_used_where_its_statistic_is(name, root):
    text = (root / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")
    code = "".join(path.read_text() for path in (root / "notebooks/analysis").glob(f"{name}*.py"))
    for claim in findings.wordings(name):
        assert f'\\"{claim}\\"' in text or f'"{claim}"' in code, claim
