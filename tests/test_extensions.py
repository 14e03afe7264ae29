"""Tests of book/_ext: what pages take from chapters, what holds together, what a book lacks."""

import ast
import importlib.util
import json
import re
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest
from docutils import nodes
from docutils.core import publish_doctree
from docutils.utils import new_document
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

from notebooks.kit import findings
from tests.page_text import words_of

BOOK = Path(__file__).resolve().parent.parent / "book"


def extension(name):
    spec = importlib.util.spec_from_file_location(name, BOOK / "_ext" / f"{name}.py")
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    return module


TEXT = "".join(
    (BOOK / f"{name}.md").read_text(encoding="utf-8") for name in ("index", "tour")
)
LINES = "".join(re.findall(r"```\{main-findings\}\n(.*?)```", TEXT, re.DOTALL))
NBSP = "\u00a0"


@pytest.mark.parametrize("line", sorted(set(LINES.splitlines())))
def test_pages_name_findings_that_chapters_have(line):
    chapter, _, claims = line.partition(": ")
    assert {claim.strip() for claim in claims.split(",")} <= set(
        findings.claim_wordings(chapter)
    )


@pytest.fixture
def book(tmp_path):
    found = [
        {
            "claim": "wrong_hint",
            "decision": "holds",
            "sentence": "A wrong word costs 10 points.",
        },
        {"claim": "level", "decision": "undefined", "sentence": "Nothing counts."},
    ]
    path = tmp_path / "chapters" / "monitor" / "findings.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(found), encoding="utf-8")
    run = {"model": {"name": "people/<b>bold", "prompt_format": "shots"}}
    path.with_name("run.json").write_text(json.dumps(run), encoding="utf-8")
    return tmp_path


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
def test_a_line_names_a_finding_of_a_chapter(book, line, there):
    expected = [("monitor", "holds", "A wrong word costs 10 points.")] * there
    assert extension("main_findings").finding_sentences(book, [line, ""]) == expected


@pytest.mark.parametrize("text", re.findall(r"\{when-found\} (.+)", TEXT))
def test_conditions_name_a_finding_of_the_page(text):
    assert text in LINES.splitlines()


@pytest.mark.parametrize(
    "path",
    sorted(BOOK.with_name("notebooks").glob("*.ipynb")),
    ids=lambda path: path.stem,
)
def test_cells_rest_on_findings_of_their_chapter(path):
    cells = nbformat.read(path, 4).cells
    tags = {tag for cell in cells for tag in cell.metadata.get("tags", [])}
    needed = {tag.removeprefix("when:") for tag in tags if tag.startswith("when:")}
    assert needed <= set(findings.claim_wordings(path.stem))


@pytest.mark.parametrize(
    ("place", "link", "name"),
    [
        ("chapters/monitor#fig-a", "chapters/monitor.html#fig-a", "figure in MONITOR"),
        (
            "chapters/atlas_appendix#T_a",
            "chapters/atlas_appendix.html",
            "table in atlas",
        ),
        ("data#data-fktc", "data.html#data-fktc", "data"),
    ],
)
def test_an_item_leads_to_its_label_if_the_book_has_the_run(book, place, link, name):
    made = extension("paper_items").link_to_place(place, book)
    assert made.startswith(f'<a href="{link}">{name}')


def test_an_item_with_two_places_is_one_row_and_a_reason_is_shown(book):
    rows = pd.DataFrame(
        {
            "item": ["Table 1", "Table 1", "Figure 1"],
            "place": ["data#a", "data#b", ""],
            "reason": ["", "", "no numbers <here>"],
        }
    )
    made = extension("paper_items").table_of_items(rows, book)
    assert made.count("<tr>") == 3
    assert made.count("<a href=") == 2
    assert "<td>no numbers &lt;here&gt;</td>" in made


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
    by = ("MONITOR: <b>bold (shots)", "IC-LKE, multiplicity: atlas-m")
    assert extension("main_findings").asked_models_text(book) == "; ".join(
        [*by, "asking once beside all four: atlas-s, atlas-m"]
    )


def test_no_folder_of_a_model_is_on_the_front_page(book):
    names = ["/home/me/models/tiny.gguf", "/home/me/other/tiny.gguf", "org/model"]
    (book / "chapters" / "calibration").mkdir()
    path = book / "chapters" / "calibration" / "run.json"
    path.write_text(json.dumps({"models": names}), encoding="utf-8")
    text = extension("main_findings").asked_models_text(book)
    assert text.endswith("asking once beside all four: tiny, tiny (2), model")


def test_a_page_shows_what_was_found_and_the_text_that_rests_on_it(book):
    told = "```{when-found} monitor: {}\nText on *{}*.\n```\n"
    lines = (
        "# Page\n\n```{main-findings}\nmonitor: wrong_hint\nmonitor: level\n```\n\n" * 2
    )
    page = lines + "".join(
        told.replace("{}", claim) for claim in ("wrong_hint", "level")
    )
    (book / "index.md").write_text(page, encoding="utf-8")
    given = {"extensions": ["myst_parser"], "html_theme": "basic"}
    app = Sphinx(book, None, book / "html", book / "trees", "html", given, status=None)
    extension("main_findings").setup(app)
    app.build()
    made = (book / "html" / "index.html").read_text(encoding="utf-8")
    assert made.count("A wrong word costs 10 points.") == 2
    assert made.count("Models asked. MONITOR: &lt;b&gt;bold (shots).") == 1
    assert made.count("left out here and below") == 1
    assert "Text on <em>wrong_hint</em>" in made
    assert "Text on <em>level</em>" not in made


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>25.0 [17.0, 33.0] %</p>", "<p>25.0_[17.0,_33.0]_%</p>"),
        ("<p>[-0.58, \u22121.00], 95 %</p>", "<p>[\u22120.58,_\u22121.00], 95_%</p>"),
        ("<td>-2.9 points, 1-4 of GPT-2</td>", "<td>\u22122.9_points, 1-4 of GPT-2</td>"),
        ("<p>5 points (Fig. 3)</p>", "<p>5_points (Fig._3)</p>"),
        ("<p>10, 20 and [1, 2, 3]</p>", "<p>10, 20 and [1, 2,_3]</p>"),
        *((kept, kept) for kept in ("<pre>7 % 2</pre>", "<code>[1, 2]</code>",
                                    "<script>[1, 2]</script>", r"<i>\([0, 1]\)</i>",
                                    '<i data-of="[1, 2]"></i>')),
    ],
)  # fmt: skip
def test_numbers_hold_together_but_not_in_code(page, expected):
    assert extension("lean_pages").lighter_page_html(page) == expected.replace(
        "_", NBSP
    )


def test_a_sentence_of_a_lean_page_is_found_again():
    sentence = "It falls by -2.9 points [-3.4, -2.1], 25 % of Fig. 3."
    page = extension("lean_pages").lighter_page_html(f"<p>{sentence}</p>")
    assert sentence not in page
    assert words_of(page).strip() == sentence


@pytest.mark.parametrize(
    ("target", "explicit", "kind", "text"),
    [
        ("fig-one", True, "ref", "the figure"),
        ("fig-one", False, "ref", "(not in this book)"),
        ("fig-one", True, "numref", "(not in this book)"),
        (
            "fig-none",
            True,
            "ref",
            None,
        ),  # a label that no template has is still an error
    ],
)
def test_a_known_label_that_is_missing_becomes_its_title(target, explicit, kind, text):
    app = SimpleNamespace(config=SimpleNamespace(chapter_labels={"fig-one"}))
    node = nodes.Element(reftarget=target, refexplicit=explicit, reftype=kind)
    found = extension("missing_references").text_for_missing_reference(
        app, None, node, nodes.inline("", "the figure")
    )
    assert (found and found.astext()) == text


def test_a_link_to_a_part_of_a_chapter_is_left_to_sphinx():
    document = new_document("page.md")
    config = SimpleNamespace(chapter_labels={"fig-one"})
    document.settings.env = SimpleNamespace(config=config)
    for kind, target in (("", "Fig-One"), ("", "fig-none"), ("doc", "fig-one")):
        link = pending_xref(reftype="myst", refdomain=kind, reftarget=target)
        document.append(link)
    extension("missing_references").ChapterLinks(document).run()
    kinds = [link["reftype"] for link in document.findall(pending_xref)]
    assert kinds == ["ref", "myst", "myst"]


def test_tables_in_docstrings_are_whole():
    for path in (BOOK.parent / "helpers").rglob("*.py"):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        table = re.search(r"^=+ .*^=+ [= ]*$", text, re.MULTILINE | re.DOTALL)
        if table:
            page = publish_doctree(table[0], settings_overrides={"report_level": 5})
            assert [type(node) for node in page.children] == [nodes.table], path


def test_labels_of_figures_sections_equations_and_exercises_are_known():
    wanted = {
        "fig-multiplicity-truth",
        "monitor-cost-of-this-run",
        "eq-monitor",
        "ex-kb-price",
    }
    assert wanted <= extension("missing_references").template_labels()


@pytest.mark.parametrize("page", sorted(BOOK.glob("*.md")), ids=lambda page: page.stem)
def test_pages_refer_to_parts_of_chapters_by_a_role(page):
    """In a book without the chapter a link to its label is an error, a role plain text."""
    linked = re.findall(r"\]\(#?([\w-]+)\)", page.read_text(encoding="utf-8"))
    assert not set(linked) & extension("missing_references").template_labels()
