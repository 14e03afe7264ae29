"""Budgets: how dense the code may be, how much there may be of it, and what findings say.

A number that works against what it stands for is changed, with its reason in the commit.
A feature that a paper describes is never dropped for one.
"""

import functools
from typing import NamedTuple

import pytest

from notebooks.kit import findings
from tests.density import Density, density_of_folders, density_of_text


class Budget(NamedTuple):
    """The most that a part of the tree may have."""

    folders: tuple[str, ...]
    tokens: int
    tokens_a_line: float
    tokens_a_statement: float
    nested_in_100_lines: float
    without: str = ""


BUDGETS = {
    "helpers": Budget(("helpers",), 142_500, 8.15, 11.2, 3.7, "helpers/exchange"),
    "exchange": Budget(("helpers/exchange",), 28_000, 8.2, 10.8, 4.8),
    "notebooks": Budget(("notebooks",), 128_500, 9.3, 13.0, 3.2),
    "book": Budget(("book",), 33_000, 8.2, 10.2, 3.9),
    "bench": Budget(("bench",), 22_500, 8.55, 11.3, 4.0),
    "tests": Budget(("tests",), 384_000, 9.45, 14.5, 7.2),
}
CHAPTERS = (
    *("atlas", "monitor", "knowledge_base", "latent_knowledge", "multiplicity"),
    *("calibration", "comparison", "published", "real_models"),
)


@functools.cache
def counted(part: str) -> Density:
    return density_of_folders(BUDGETS[part].folders, BUDGETS[part].without)


@pytest.mark.parametrize("part", BUDGETS)
def test_code_is_no_denser_than_its_budget(part):
    counts, budget = counted(part), BUDGETS[part]
    assert counts.tokens_a_line <= budget.tokens_a_line
    assert counts.tokens_a_statement <= budget.tokens_a_statement
    assert counts.nested_in_100_lines <= budget.nested_in_100_lines


@pytest.mark.parametrize("part", BUDGETS)
def test_there_is_no_more_code_than_its_budget(part):
    assert 0 < counted(part).tokens <= BUDGETS[part].tokens


def test_density_counts_code_alone():
    """Docstrings and comments are no tokens, and nesting is told from calls."""
    text = '"""A module."""\n\nx = f(1)  # why\ny = [a if a else 0 for a in x]\n'
    assert density_of_text(text) == Density(6 + 13, 2, 2, 2)


@pytest.mark.parametrize("name", CHAPTERS)
def test_findings_of_a_chapter(name):
    """Each is worded in full; up to four are to be retold."""
    told = findings.claim_wordings(name)
    assert told
    assert 1 <= sum(words.get("main", False) for words in told.values()) <= 4
    for words in told.values():
        assert {"holds", "opposite", "undecided"} <= words.keys()
        assert words.keys() <= {
            *("holds", "opposite", "undecided", "undefined", "main"),
            *("null", "digits", "scale", "unit", "heading"),
            *("equivalent", "margin"),
        }
        assert ("equivalent" in words) == ("margin" in words)
        sentences = [words[kind] for kind in ("holds", "opposite", "undecided")]
        assert all(sentence.endswith(".") for sentence in sentences)


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_wording_is_used_where_its_statistic_is(name, root):
    text = (root / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")
    modules = (root / "notebooks/analysis").glob(f"{name}*.py")
    code = "".join(path.read_text(encoding="utf-8") for path in modules)
    for claim in findings.claim_wordings(name):
        assert f'\\"{claim}\\"' in text or f'"{claim}"' in code, claim
