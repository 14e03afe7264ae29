"""Tests of book/_ext: what pages take from chapters, what holds together, what a book lacks."""

import importlib.util
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes

from helpers import findings

BOOK = Path(__file__).resolve().parent.parent / "book"


def extension(name):
    spec = importlib.util.spec_from_file_location(name, BOOK / "_ext" / f"{name}.py")
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    return module


TEXT = "".join((BOOK / f"{name}.md").read_text(encoding="utf-8") for name in ("index", "tour"))
LINES = "".join(re.findall(r"```\{main-findings\}\n(.*?)```", TEXT, re.DOTALL))
NBSP = "\u00a0"


@pytest.mark.parametrize("line", sorted(set(LINES.splitlines())))
def test_pages_name_findings_that_chapters_have(line):
    chapter, _, claims = line.partition(": ")
    assert {claim.strip() for claim in claims.split(",")} <= set(findings.wordings(chapter))


@pytest.mark.parametrize(
    ("line", "there"),
    [
        ("monitor: wrong_hint", True),
        ("monitor: missing, wrong_hint", True),
        ("monitor: level", False),
        ("monitor: missing", False),
        ("atlas: wrong_hint", False),
    ],
)
def test_a_line_names_a_finding_of_a_chapter(tmp_path, line, there):
    found = [
        {"claim": "wrong_hint", "decision": "holds", "sentence": "A wrong word costs 10 points."},
        {"claim": "level", "decision": "undefined", "sentence": "Nothing counts."},
    ]
    (tmp_path / "chapters" / "monitor").mkdir(parents=True)
    path = tmp_path / "chapters" / "monitor" / "findings.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    expected = [("monitor", "holds", "A wrong word costs 10 points.")] * there
    assert extension("main_findings").sentences(tmp_path, [line, ""]) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>25.0 [17.0, 33.0] %</p>", "<p>25.0 [17.0,_33.0]_%</p>"),
        ("<p>[-0.58, \u22121.00], 95 %</p>", "<p>[-0.58,_\u22121.00], 95_%</p>"),
        ("<p>10, 20 and [1, 2, 3]</p>", "<p>10, 20 and [1, 2,_3]</p>"),
        *((kept, kept) for kept in ("<pre>7 % 2</pre>", "<code>[1, 2]</code>",
                                    "<script>[1, 2]</script>", r"<i>\([0, 1]\)</i>",
                                    '<i data-of="[1, 2]"></i>')),
    ],
)  # fmt: skip
def test_numbers_hold_together_but_not_in_code(page, expected):
    assert extension("lean_pages").lean(page) == expected.replace("_", NBSP)


@pytest.mark.parametrize(
    ("target", "explicit", "kind", "text"),
    [
        ("fig-one", True, "ref", "the figure"),
        ("fig-one", False, "ref", "(not in this book)"),
        ("fig-one", True, "numref", "(not in this book)"),
        ("fig-none", True, "ref", None),  # a label that no template has is still an error
    ],
)
def test_a_known_label_that_is_missing_becomes_its_title(target, explicit, kind, text):
    app = SimpleNamespace(config=SimpleNamespace(chapter_labels={"fig-one"}))
    node = nodes.Element(reftarget=target, refexplicit=explicit, reftype=kind)
    found = extension("missing_parts").as_text(app, None, node, nodes.inline("", "the figure"))
    assert (found and found.astext()) == text


def test_labels_of_figures_sections_equations_and_exercises_are_known():
    wanted = {"fig-multiplicity-truth", "monitor-cost-of-this-run", "eq-monitor", "ex-kb-price"}
    assert wanted <= extension("missing_parts").labels()
