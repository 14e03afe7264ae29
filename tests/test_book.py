"""Tests of the rendered book in a real browser: nothing from outside, nothing too wide, no errors.

They read ``book/_build/html``, as the last ``make book`` left it.
"""

import functools
import http.server
import io
import re
import threading
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from PIL import Image
from playwright.sync_api import Page

from tests.browser_scripts import script_source

ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "book" / "_build" / "html"
SKIPPED = {"genindex.html", "py-modindex.html", "search.html"}  # without text of ours
PAGES = sorted(
    str(path.relative_to(HTML))
    for path in HTML.rglob("*.html")
    if path.name not in SKIPPED
    and path.relative_to(HTML).parts[0] not in ("_static", "slides")
)
CHAPTERS = [
    name
    for name in PAGES
    if name.startswith("chapters/") and not name.endswith("_appendix.html")
]
MEASURES = ("monitor", "knowledge_base", "latent_knowledge", "multiplicity")
LOCAL = ("file:", "data:", "blob:")
WIDTHS = (1400, 390)

# Places that scroll, and whether each has something beyond its right edge and shows it.
PLACES = """[...document.querySelectorAll(".bd-content :is(.cell_output .text_html, div.math, "
    + ".pst-scrollable-table-container, .table-container)")]"""
WIDE = f"""{PLACES}.map(box => ({{tag: box.tagName,
    wide: box.scrollWidth - box.clientWidth - box.scrollLeft > 1,
    shown: box.dataset.hasOwnProperty("moreRight")}}))"""
SMALLEST = (
    18  # pixels of the smallest text of a figure at its full size: 9 points at 144 dpi
)


pytestmark = pytest.mark.skipif(
    not PAGES, reason="there is no book yet: run make book first"
)


every_page = pytest.mark.parametrize(
    "name", PAGES, scope="module"
)  # all tests of one, in a row
every_chapter = pytest.mark.parametrize("name", CHAPTERS, scope="module")


@pytest.fixture(
    scope="module",
    params=[pytest.param(WIDTHS[0], marks=pytest.mark.slow), WIDTHS[1]],
    ids=lambda width: f"{width}px",
)
def visits(browser, request):
    """Return a function that opens a page, unless it is open; it gives the page and what it did.

    All are opened in one window of a width, since a new one takes longer than most
    pages do.
    """
    page, now = browser.new_page(viewport={"width": request.param, "height": 900}), {}
    page.on("request", lambda asking: now["asked"].append(asking.url))
    page.on("pageerror", lambda error: now["errors"].append(str(error)))
    page.on(
        "console", lambda m: now["errors"].append(m.text) if m.type == "error" else None
    )

    def visit(name: str) -> tuple[Page, list[str], list[str]]:
        address = (HTML / name).as_uri()
        if page.url != address:
            now.update(asked=[], errors=[])
            page.goto(address, wait_until="load")
            page.wait_for_function(
                "!window.MathJax || !MathJax.startup?.promise || "
                "MathJax.startup.promise.then(() => true)"
            )
        return page, now["asked"], now["errors"]

    yield visit
    page.close()


def test_the_book_has_its_pages():
    toc = (ROOT / "book" / "_toc.yml").read_text(encoding="utf-8")
    expected = {f"{file}.html" for file in re.findall(r"(?:file|root): (\S+)", toc)}
    assert expected == set(PAGES)


@every_page
def test_nothing_is_wrong_and_nothing_comes_from_outside(visits, name):
    page, asked, errors = visits(name)
    wrong = page.evaluate(script_source("wrong"))
    links = page.eval_on_selector_all(
        "article a[href]", "nodes => nodes.map(n => n.href)"
    )
    files = {link.partition("#")[0] for link in links if link.startswith("file:")}
    wrong["links"] = [f for f in files if not Path(unquote(urlsplit(f).path)).exists()]
    wrong["outside"] = [address for address in asked if not address.startswith(LOCAL)]
    assert asked
    assert {what: found for what, found in wrong.items() if found} == {}
    assert not errors


@every_page
def test_what_is_wider_than_its_place_shows_it(visits, name):
    page, _, _ = visits(name)
    page.evaluate(
        "document.querySelectorAll('details').forEach(fold => { fold.open = true })"
    )
    page.wait_for_function(f"{WIDE}.every(box => box.shown === box.wide)")
    if page.viewport_size["width"] == min(WIDTHS) and name in CHAPTERS:
        assert {"tag": "DIV", "wide": True, "shown": True} in page.evaluate(
            WIDE
        )  # tables
    page.evaluate(f"{PLACES}.forEach(box => {{ box.scrollLeft = 1e5 }})")
    page.wait_for_function(
        f"{PLACES}.every(box => !box.dataset.hasOwnProperty('moreRight') && "
        "(box.scrollLeft > 1) === box.dataset.hasOwnProperty('moreLeft'))"
    )
    page.evaluate(f"{PLACES}.forEach(box => {{ box.scrollLeft = 0 }})")


@every_chapter
def test_a_figure_is_whole_on_a_telephone_and_a_tap_enlarges_it(visits, name):
    page, _, _ = visits(name)
    if page.viewport_size["width"] > min(WIDTHS):
        return
    shown = page.eval_on_selector_all(
        "article .cell_output figure img",
        """nodes => nodes.filter(n => n.checkVisibility()).map(n => ({
            right: n.getBoundingClientRect().right, link: n.closest("a")?.href, source: n.src,
            share: n.getBoundingClientRect().width / n.naturalWidth}))""",
    )
    assert shown
    assert all(
        one["right"] <= min(WIDTHS) and one["link"] == one["source"] for one in shown
    )
    if Path(name).stem in MEASURES:
        assert min(one["share"] for one in shown) * SMALLEST > 8.99


def test_figures_lie_on_the_page_in_the_dark(browser):
    page = browser.new_context(color_scheme="dark").new_page()
    page.goto((HTML / CHAPTERS[0]).as_uri())
    figure = page.locator("article figure img").first
    figure.scroll_into_view_if_needed()
    box, picture = (
        figure.bounding_box(),
        Image.open(io.BytesIO(page.screenshot())).convert("RGB"),
    )
    inside = picture.getpixel((int(box["x"]) + 3, int(box["y"]) + 3))
    beside = picture.getpixel((int(box["x"]) - 8, int(box["y"]) + 3))
    assert inside == beside
    assert max(inside) < 60


def test_the_front_page_works_without_scripts(browser):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto((HTML / "index.html").as_uri())
    bar = page.locator(".front-fact tr:has(th:text-is('France')) .front-bar")
    prompt = page.locator(".front-fact q:visible")
    first = bar.bounding_box()["width"], prompt.inner_text()
    page.locator("label", has_text="Say a wrong country first").click()
    page.wait_for_timeout(700)  # the bar takes half a second
    assert bar.bounding_box()["width"] < first[0] / 2
    assert prompt.inner_text() != first[1]
    page.keyboard.press("ArrowRight")  # round to the first
    page.wait_for_timeout(700)
    assert (bar.bounding_box()["width"], prompt.inner_text()) == first
    figures = page.locator("article figure img").all()
    assert figures
    assert all(figure.is_visible() for figure in figures)
    assert page.locator("article .finding").count()


def test_search_results_quote_no_latex(browser):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=HTML)
    handler.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page, quotes = browser.new_page(), []
        for words in ("MONITOR", "anchor", "logarithm", "object"):
            page.goto(f"http://127.0.0.1:{server.server_port}/search.html?q={words}")
            page.wait_for_function(
                "/found \\d/.test(document.querySelector('#search-results').textContent)"
            )
            page.wait_for_load_state("networkidle")
            quotes += page.locator("#search-results p.context").all_inner_texts()
        server.shutdown()
    assert len(quotes) > 20
    assert not [
        quote for quote in quotes if re.search(r"\\([(\[]|[a-zA-Z]{2,})|\$", quote)
    ]


@functools.cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@functools.cache
def _ids(path: Path) -> set[str]:
    return set(re.findall(r'\bid="([^"]+)"', _text(path)))


@pytest.mark.parametrize("name", PAGES)
def test_anchors_are_there(name):
    missing = []
    for link in re.findall(r'<a\b[^>]*\bhref="([^"]*#[^"]+)"', _text(HTML / name)):
        address, _, anchor = unescape(link).partition("#")
        path = (HTML / name).parent / address if address else HTML / name
        if re.match(r"[a-z]+:", address):
            continue
        if anchor.startswith("ask?") and "live-probe" in _text(path):
            continue  # a state of the live box
        if anchor not in _ids(path):
            missing.append(link)
    assert not missing


def test_headings_of_the_boards_sort_by_keyboard(visits):
    page, _, _ = visits("chapters/comparison_appendix.html")
    board = page.locator("table.sortable:has-text('MONITOR ↓')").first
    button = board.locator("th button").filter(has_text="MONITOR")
    orders = []
    for _ in range(2):
        button.focus()
        page.keyboard.press("Enter")
        cells = board.locator("tbody tr td:nth-of-type(2)").all_inner_texts()
        orders.append([float(cell.split()[0]) for cell in cells])
    assert orders[0] == sorted(orders[0])
    assert orders[1] == sorted(orders[1], reverse=True)
    assert board.locator("th[aria-sort=descending]").count() == 1


@every_chapter
def test_a_chapter_begins_with_its_answer(visits, name):
    """Findings and figure first, no code above them."""
    tops = visits(name)[0].evaluate(script_source("tops"))
    assert tops["finding"] < tops["figure"] < tops["code"]


def test_the_first_pages_have_the_findings_and_figures_that_they_name(visits):
    page, _, _ = visits("times.html")
    rows = page.locator("article table tbody tr").all_inner_texts()
    assert len(rows) >= 8
    assert all(int(row.split()[-1]) > 0 for row in rows)  # what the build took
    for name in ("tour", "index"):
        page, _, _ = visits(f"{name}.html")
        text = (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")
        assert (
            page.locator("article figure img").count()
            == text.count("{chapter-figure}")
            > 0
        )
    findings = page.locator("article .finding").count()
    assert (
        page.locator("article .finding a[href^='chapters/']").count() == findings >= 3
    )
