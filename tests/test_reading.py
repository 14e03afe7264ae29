"""How the rendered book reads: for those who use a screen reader, a telephone, a slow line.

They read ``book/_build/html``, as the last ``make book`` left it. Bytes are counted on
a local server that compresses text, as the host of the published pages does.
"""

import functools
import gzip
import http.server
import statistics
import threading
from itertools import count
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from PIL import Image
from playwright.sync_api import Page

from tests.browser_scripts import script_source

ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "book" / "_build" / "html"
PAGES = sorted(
    str(path.relative_to(HTML))
    for path in HTML.rglob("*.html")
    if path.relative_to(HTML).parts[0] not in ("_static", "slides")
)
WIDTHS, THEMES = (1400, 390), ("light", "dark")
WEIGHT = 1_500_000  # bytes of a page with all that it fetches when it is opened
N_VISITS = 5  # of each page in turn; medians count, since others have work too
PATIENCE = 120_000  # milliseconds, for the same reason
COMPRESSED = {".html", ".css", ".js", ".svg", ".json"}
SET = """!window.MathJax || !MathJax.startup?.promise || MathJax.startup.promise.then(() => true)"""
STYLE = "*, *::before, *::after { transition: none !important; animation: none !important; }"

pytestmark = pytest.mark.skipif(
    not PAGES, reason="there is no book yet: run make book first"
)


class Compressing(http.server.SimpleHTTPRequestHandler):
    """Serve files as the host of the published pages does, text compressed."""

    def translate_path(self, path: str) -> str:
        """Leave out the first folder: each visit has its own, so that a cache holds nothing."""
        return super().translate_path(path[path.index("/", 1) :])

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.suffix not in COMPRESSED or not path.is_file():
            return super().do_GET()
        body = _compressed(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@functools.cache
def _compressed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), 6)


@pytest.fixture(scope="module")
def address():
    """Return the address of a local server of the pages."""
    handler = functools.partial(Compressing, directory=str(HTML))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def page(browser):
    """Return an empty page without anything in its cache."""
    context = browser.new_context(viewport={"width": WIDTHS[0], "height": 900})
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def visit(browser, address):
    """Return a function that opens a page, unless it is open, and the sizes of all that it fetched.

    All pages are opened in one window, since a new one takes longer than most pages do.
    """
    page, numbers, now = browser.new_page(), count(), {}
    devtools = page.context.new_cdp_session(page)
    devtools.send("Network.enable")
    ended = "Network.loadingFinished"
    devtools.on(ended, lambda event: now["sizes"].append(event["encodedDataLength"]))

    def visit(name: str) -> tuple[Page, list[int]]:
        page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        if now.get("name") != name:
            now.update(name=name, sizes=[])
            page.goto(f"{address}/{next(numbers)}/{name}", wait_until="load")
            page.wait_for_function(SET)
        return page, now["sizes"]

    return visit


@pytest.fixture(scope="module")
def good():
    """Return the names of styles whose colours were found to differ enough, on any page so far."""
    return set()


every_page = pytest.mark.parametrize(
    "name", PAGES, scope="module"
)  # all tests of one, in a row


@pytest.mark.slow
@every_page
def test_no_serious_barrier(visit, name, good):
    page, _ = visit(name)
    page.add_style_tag(content=STYLE)  # else a colour is read on its way to another
    page.evaluate(Path(AXE_FILE_PATH).read_text(encoding="utf-8"))
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(
            script_source("scrollable")
        )  # the theme lets keys reach what scrolls, a moment later
        for theme in THEMES:
            page.evaluate(
                "name => { document.documentElement.dataset.theme = name }", theme
            )
            rules = (
                None if theme == "light" else ["link-in-text-block"]
            )  # and colours, always
            serious, passed = page.evaluate(
                script_source("barriers"), [rules, list(good)]
            )
            found += [f"{width} px, {theme}: {what}" for what in serious]
            good.update(passed)
    assert not found


def test_the_search_for_barriers_can_find_one(page):
    pale = '<p>dark<p>dark<p>dark<p><b style="color: #ccc">pale</b><img src="x">'
    page.set_content(f'<html lang="en"><title>a</title>{pale}')
    page.add_style_tag(content=STYLE)
    page.evaluate(Path(AXE_FILE_PATH).read_text(encoding="utf-8"))
    found, good = page.evaluate(script_source("barriers"), [None, []])
    assert {what.partition(":")[0] for what in found} == {"color-contrast", "image-alt"}
    assert len(good) == 1  # the dark ones are alike
    assert page.evaluate(script_source("barriers"), [None, good]) == [found, []]
    page.evaluate("document.body.style.color = '#bbb'")
    found, _ = page.evaluate(
        script_source("barriers"), [None, good]
    )  # no longer those that were good
    assert any(what.startswith("color-contrast: <p") for what in found)


@pytest.mark.slow
@every_page
def test_a_page_is_light(visit, name):
    page, sizes = visit(name)
    page.wait_for_load_state("networkidle")
    assert len(sizes) > 10
    assert sum(sizes) < WEIGHT


def _first_paint(browser, url: str) -> float:
    """Return after how many milliseconds a new visitor sees something of a page."""
    context = browser.new_context()
    opened = context.new_page()
    opened.goto(url, wait_until="load")
    paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    milliseconds = opened.evaluate(paint)
    context.close()
    return milliseconds


def test_the_first_page_is_seen_as_soon_as_a_plain_one(browser, address):
    """What it holds more, a figure and a box that asks a model, waits its turn."""
    ratios = []
    for visit in range(N_VISITS):
        first = _first_paint(browser, f"{address}/first{visit}/index.html")
        plain = _first_paint(browser, f"{address}/plain{visit}/cite.html")
        ratios.append(first / plain)
    assert statistics.median(ratios) < 2


def test_the_search_works_without_a_server(page):
    page.goto((HTML / "index.html").as_uri())
    page.goto((HTML / "search.html").as_uri() + "?q=interference")
    page.wait_for_selector("#search-results li a", timeout=PATIENCE)
    links = page.eval_on_selector_all(
        "#search-results li a", "nodes => nodes.map(n => n.href)"
    )
    assert any("chapters/monitor" in link for link in links)
    assert all(link.startswith("file:") for link in links)


def test_figures_keep_their_colours():
    """A palette may not move a colour by more than an eye could tell."""
    for path in (HTML / "_images").glob("*.png"):
        with Image.open(path) as image:
            assert image.mode == "P"
            assert len(image.getcolors(256)) > 2
