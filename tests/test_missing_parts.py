"""Tests of book/_ext/missing_parts.py: references to what a book lacks become text."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

from docutils import nodes

PATH = Path(__file__).resolve().parent.parent / "book" / "_ext" / "missing_parts.py"
SPEC = importlib.util.spec_from_file_location("missing_parts", PATH)
missing_parts = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(missing_parts)


def resolved(target: str, explicit: bool = True, kind: str = "ref") -> str | None:
    """Return the text of a reference to a target, where only fig-one is known."""
    app = SimpleNamespace(config=SimpleNamespace(chapter_labels={"fig-one"}))
    node = nodes.Element(reftarget=target, refexplicit=explicit, reftype=kind)
    found = missing_parts.as_text(app, None, node, nodes.inline("", "the figure"))
    return None if found is None else found.astext()


def test_a_known_label_that_is_missing_becomes_its_title():
    assert resolved("fig-one") == "the figure"
    assert resolved("fig-one", explicit=False) == "(not in this book)"
    assert resolved("fig-one", kind="numref") == "(not in this book)"


def test_a_label_that_no_template_has_is_still_an_error():
    assert resolved("fig-none") is None


def test_labels_of_figures_sections_equations_and_exercises_are_known():
    wanted = {"fig-multiplicity-truth", "monitor-cost-of-this-run", "eq-monitor", "ex-kb-price"}
    assert wanted <= missing_parts.labels()
