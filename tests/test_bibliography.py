"""The bibliography: what it lists is cited, and what is cited it lists."""

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "book"
TEMPLATES = sorted((ROOT / "notebooks").glob("*.ipynb"))


def entries_of(text: str) -> list[str]:
    """Return the keys of a bibliography, in its order."""
    return re.findall(r"^@\w+\{([^,\s]+),", text, flags=re.MULTILINE)


def citations_in(text: str) -> set[str]:
    """Return the keys that a page cites, several in one role or one."""
    roles = re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", text)
    return {key.strip() for role in roles for key in role.split(",")}


@pytest.fixture(scope="module")
def entries() -> list[str]:
    return entries_of((BOOK / "references.bib").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def cited() -> set[str]:
    """Return what pages and chapters cite in their text; code cites nothing."""
    texts = [page.read_text(encoding="utf-8") for page in BOOK.glob("*.md")]
    for path in TEMPLATES:
        cells = nbformat.read(path, as_version=4).cells
        texts += [cell.source for cell in cells if cell.cell_type == "markdown"]
    return set().union(*map(citations_in, texts))


def test_keys_are_read_from_entries_and_roles():
    assert entries_of("@misc{a2020b,\n x = {@c}\n}\n\n@article{d1, y}\n") == [
        "a2020b",
        "d1",
    ]
    text = "{cite:p}`a2020b, d1` and {cite:t}`e3`, but `f4` and {doc}`g5`."
    assert citations_in(text) == {"a2020b", "d1", "e3"}


def test_every_entry_is_cited(entries, cited):
    assert not set(entries) - cited


def test_every_citation_has_an_entry_and_no_key_is_there_twice(entries, cited):
    assert not cited - set(entries)
    assert len(set(entries)) == len(entries)
