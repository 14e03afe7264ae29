"""Tests of the slides: what fills an outline, what the outlines may say, and decks in a browser."""

import base64
import html
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from book.tools import pdf, render
from book.tools.course import exercises, quiz, slides, weeks
from book.tools.jobs import TEMPLATES
from helpers import UserError
from notebooks.kit import findings
from notebooks.kit.findings import Finding, load_findings
from tests.browser_scripts import script_source
from tests.page_text import plain

ROOT = Path(__file__).resolve().parents[3]
HTML = ROOT / "book" / "_build" / "html"
DECKS = sorted(
    p for p in (HTML / slides.SLIDES_FOLDER).glob("*.html") if p.stem != "lecture"
)
PIXEL = base64.b64encode(b"not really a picture, but long").decode()
TEXT = """(x)=
# Is it <so>?

We ask "why" ({doc}`../data`) {cite:p}`somebody2020`.
"""
CONTENT = """## Definition

```{math}
:label: eq-x
a < b
```
"""
TOLD = {
    "seed": 3,
    "parameters": {},
    "finished": "2026-01-02T03:04",
    "device": "cpu",
    "versions": {"python": "3"},
}
# Where an outline has digits that no run computed: formulas, what is cited, and what is
# made up.
CITED = re.compile(
    r"\$+[^$]*\$+|\{\w+\} .*|(?:Tables?|Figures?|sections?|Equations?|Appendix) [\w.]+"
    r"(?:(?:,| and| to) [A-Z]?\.?\d[\w.]*)*|\b(?:19|20)\d\d\b|IC-LKE|SmolLM2|`[^`]*`"
)
FIGURE_TEXT = 22  # pixels of a figure's labels: 11 points at 144 dots an inch


@pytest.fixture
def chapter(tmp_path):
    """Return a chapter that is made up, with two findings, a figure and an equation."""
    about = {"mystnb": {"figure": {"name": "fig-x"}, "image": {"alt": 'A "curve"'}}}
    shown = new_output("display_data", {"image/png": PIXEL})
    cells = [
        new_markdown_cell(TEXT),
        new_markdown_cell(CONTENT),
        new_code_cell("plot()", metadata=about, outputs=[shown]),
    ]
    found = [
        Finding(
            "rises",
            "holds",
            "It rises <by> 12.5 [1.0, 20.0] points.",
            0.125,
            0.01,
            0.2,
            9,
        ),
        Finding("falls", "undecided", "9 facts do not decide.", 0.1, -0.1, 0.2, 9),
    ]
    (tmp_path / "findings.json").write_text(json.dumps([vars(one) for one in found]))
    model = {"model": {"name": "org/<m>", "revision": "abc"}, "read": [{"model": "b"}]}
    (tmp_path / "run.json").write_text(json.dumps(TOLD | model))
    return slides.ExecutedChapter("monitor", new_notebook(cells=cells), tmp_path)


def parts(page: str) -> list[str]:
    return re.findall(r"<section>.*?</section>", page, flags=re.DOTALL)


def test_an_outline_is_filled_in_from_the_run(chapter):
    outline = """## Does it rise?

{figure} fig-x | Shares, as above.
{finding} rises falls

Note: 4 minutes, optional
Ask *first*.

---

## Meaning of $a$

{equation} eq-x
{source} Made-up numbers & words.
"""
    title, result, meaning, made = parts(slides.deck_html(outline, chapter))
    assert "<h1>Is it &lt;so&gt;?</h1>" in title
    assert "<p>We ask &quot;why&quot;.</p>" in title
    assert f'alt="A &quot;curve&quot;" src="data:image/png;base64,{PIXEL}"' in result
    assert "<figcaption><p>Shares, as above.</p>" in result
    assert '<h2 class="optional">' in result
    assert (
        'data-claim="rises">It rises &lt;by&gt; 12.5 [1.0, 20.0] points.</p>' in result
    )
    assert 'class="finding undecided mathjax_ignore" data-claim="falls"' in result
    assert re.search(r"<p>4 minutes, optional</p>\s<p>Ask <em>first</em>.</p>", result)
    assert r"\(a\)</span></h2>" in meaning
    assert r"\[a &lt; b\]" in meaning
    assert "Made-up numbers &amp; words." in meaning
    assert "org/&lt;m&gt;, abc" in made
    assert "python 3" in made


def test_what_a_run_lacks_is_left_out_and_so_is_an_empty_slide(chapter):
    outline = "## A\n\n{finding} unknown rises\n\n---\n\n## B\n\n{figure} fig-y\n{finding} other"
    _, only, _ = parts(slides.deck_html(outline, chapter))
    assert re.findall("<h2>(.*?)</h2>", only) == ["A"]
    assert re.findall('data-claim="(.*?)"', only) == ["rises"]
    assert "<script>x" not in slides.deck_html("## A\n\n<script>x</script>", chapter)
    with pytest.raises(UserError, match=r"ask for \{deck\}: take one of finding"):
        slides.deck_html("## A\n\n{deck} x", chapter)


@pytest.mark.parametrize("answers", [True, False])
def test_answers_are_in_the_notes_unless_they_are_not_public(chapter, answers):
    chapter.answers = answers
    outline = "## Q\n\n{quiz} monitor-direction\n\n---\n\n## By hand\n\n{exercise} ex-monitor-hand"
    _, asked, by_hand, _ = parts(slides.deck_html(outline, chapter))
    item = next(
        one for one in quiz.read_quiz_items(TEMPLATES / "quiz" / "monitor.yaml")
    )
    shown, _, notes = asked.partition("<aside")
    assert html.escape(item.ask) in shown
    assert [html.escape(each) for each in item.options] == re.findall(
        "<li>(.*?)</li>", shown
    )
    assert ("Answer:" in notes) == answers
    assert ("0.4" in by_hand.partition("<aside")[2]) == answers


def test_a_deck_is_printed_a_page_a_slide(chapter, tmp_path, monkeypatch):
    monkeypatch.setattr(
        slides, "chapters_with_slides", lambda answers: {"monitor": chapter}
    )
    outline = tmp_path / "monitor.md"
    outline.write_text(
        "## A\n\nOne.\n\n---\n\n## B\n\n$$a^2$$\n\nNote: 1 minute\nSay it."
    )
    (tmp_path / "lecture.yaml").write_text("- monitor: A\n- missing: B\n")
    monkeypatch.setattr(slides, "OUTLINES_FOLDER", tmp_path)
    try:
        pdf.browser_path()
    except UserError:
        pytest.skip("no browser is installed")
    with ThreadPoolExecutor() as apart:  # the library bears one browser a thread
        said = apart.submit(slides.make_slides, tmp_path / "out").result()
    assert said.endswith("2 decks, as HTML and as PDF.")
    data = (tmp_path / "out" / "monitor.pdf").read_bytes()
    assert data.startswith(b"%PDF-")
    assert data.count(b"/Type /Page\n") == 4
    assert (tmp_path / "out" / "lecture.pdf").is_file()


@pytest.fixture(scope="module", params=sorted(render.chapter_names()))
def outlined(request):
    """Return a chapter's name, its outline, slide by slide, and its template's cells."""
    text = (slides.OUTLINES_FOLDER / f"{request.param}.md").read_text(encoding="utf-8")
    cells = nbformat.read(TEMPLATES / f"{request.param}.ipynb", as_version=4).cells
    return request.param, re.split(r"^---$", text, flags=re.MULTILINE), cells


def test_a_slide_has_a_heading_minutes_notes_and_at_most_60_words(outlined):
    name, pages, _ = outlined
    assert 12 <= len(pages) + 2 <= 22
    told = findings.claim_wordings(name)
    asked = {
        one.id: one for one in quiz.read_quiz_items(TEMPLATES / "quiz" / f"{name}.yaml")
    }
    given = {
        one.label: one for one in exercises.read_exercises(TEMPLATES / f"{name}.ipynb")
    }
    for page in pages:
        assert re.match(r"\s*## \S", page), page
        body, timed, notes = re.split(r"^(Note: .*)$", page, flags=re.MULTILINE)
        assert weeks.SPEAKER_NOTE_LINE.fullmatch(timed), page
        assert notes.strip()
        said = [
            re.sub(
                r"\$+[^$]*\$+", "x", re.sub(r"^\{\w+\}|[#|*-]", "", body, flags=re.M)
            )
        ]
        for kind, words in re.findall(r"^\{(\w+)\} *(.*)$", body, flags=re.MULTILINE):
            if kind == "finding":
                claims = [told.get(claim, {}) for claim in words.split()]
                said += [
                    max(map(str, claim.values()), key=len, default="")
                    for claim in claims
                ]
            elif kind == "quiz":
                said += [asked[words].ask, *asked[words].options]
            elif kind == "exercise":
                assert body.strip().startswith(f"## {given[words].title}\n")
                said.append(given[words].text)
        assert sum(len(one.split()) for one in said) <= 66, (
            page
        )  # names and formulas count twice


def test_the_lecture_takes_ninety_minutes():
    told = []
    for one in yaml.safe_load(
        (slides.OUTLINES_FOLDER / "lecture.yaml").read_text(encoding="utf-8")
    ):
        ((name, heading),) = one.items()
        text = (slides.OUTLINES_FOLDER / f"{name}.md").read_text(encoding="utf-8")
        (page,) = [part for part in text.split("\n---\n") if f"## {heading}\n" in part]
        told.append(int(weeks.SPEAKER_NOTE_LINE.search(page)[1]))
    assert 80 <= sum(told) <= 90


def test_outlines_name_what_is_in_the_chapter_and_no_numbers_of_a_run(outlined):
    name, pages, cells = outlined
    asked = re.findall(r"^\{(\w+)\} *(.*)$", "\n".join(pages), flags=re.MULTILINE)
    markdown = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    shown = [
        cell.metadata.get("mystnb", {}).get("figure", {}).get("name") for cell in cells
    ]
    given = exercises.read_exercises(TEMPLATES / f"{name}.ipynb")
    have = {
        "figure": set(shown),
        "equation": {label for label, _ in slides.EQUATION_DIRECTIVE.findall(markdown)},
        "exercise": {
            one.label for one in given if one.kind == "on paper"
        },  # not handed in
        "quiz": {
            one.id for one in quiz.read_quiz_items(TEMPLATES / "quiz" / f"{name}.yaml")
        },
    }
    for kind, words in asked:
        assert kind in slides.SLIDE_DIRECTIVES
        if kind in have:
            assert set(words.partition(" | ")[0].split()) <= have[kind], words
    claims = [
        claim for kind, words in asked if kind == "finding" for claim in words.split()
    ]
    assert len(set(claims)) == len(claims) >= 4
    for page in pages:
        body, _, notes = page.partition("\nNote:")
        said = (
            notes.partition("\n")[2]
            if "{source} " in body
            else weeks.SPEAKER_NOTE_LINE.sub("", page)
        )
        assert not re.search(r"\d", CITED.sub("", said)), page


needs_book = pytest.mark.skipif(
    not DECKS, reason="there is no book yet: run make book first"
)


@needs_book
@pytest.mark.parametrize("deck", DECKS, ids=lambda path: path.stem)
def test_numbers_on_slides_are_those_of_the_findings(deck):
    assert f'"slides/{deck.name}"' in (HTML / "instructors.html").read_text(
        encoding="utf-8"
    )
    found = {
        one.claim: one for one in load_findings(ROOT / "book" / "chapters" / deck.stem)
    }
    page = deck.read_text(encoding="utf-8")
    shown = dict(
        re.findall(r'<p class="finding[^>]*data-claim="([^"]+)">(.*?)</p>', page)
    )
    for claim, words in shown.items():
        assert plain(words) == plain(found[claim].sentence)
    wanted = (
        (slides.OUTLINES_FOLDER / deck.name)
        .with_suffix(".md")
        .read_text(encoding="utf-8")
    )
    claims = re.findall(r"^\{finding\} (.*)$", wanted, flags=re.MULTILINE)
    assert set(" ".join(claims).split()) <= shown.keys()


@needs_book
@pytest.mark.parametrize("deck", DECKS, ids=lambda path: path.stem)
def test_a_deck_opens_without_network_and_fits(deck, browser):
    page, asked, errors = (
        browser.new_page(viewport={"width": 1400, "height": 788}),
        [],
        [],
    )
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.goto(deck.as_uri())
    page.wait_for_function("window.Reveal?.isReady()")
    number = page.evaluate("Reveal.getTotalSlides()")
    assert 12 <= number <= 22
    for index in range(number):
        page.evaluate(f"Reveal.slide({index})")
        assert not page.evaluate(script_source("outside")), f"slide {index + 1}"
        assert page.evaluate(script_source("words")) <= 60, f"slide {index + 1}"
        assert page.evaluate(script_source("scale")) * FIGURE_TEXT >= 13, (
            f"slide {index + 1}"
        )
    assert not errors
    assert not [
        address for address in asked if not address.startswith(("file:", "data:"))
    ]
    assert page.evaluate("document.querySelectorAll('mjx-merror').length") == 0
    page.close()
