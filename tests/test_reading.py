"""How the rendered book reads: for those who use a screen reader, a telephone, a slow line.

They read ``book/_build/html``, as the last ``make book`` left it. Bytes are counted on a local
server that compresses text, as the host of the published pages does.
"""

import functools
import gzip
import http.server
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "book" / "_build" / "html"
PAGES = sorted(
    str(path.relative_to(HTML))
    for path in HTML.rglob("*.html")
    if not path.is_relative_to(HTML / "_static")
)
WIDTHS, THEMES = (1400, 390), ("light", "dark")
WEIGHT = 1_500_000  # bytes of a page with all that it fetches when it is opened
SECONDS, TRIES = 1.0, 20  # until the first page can be read; the best counts: others have work too
PATIENCE = 120_000  # milliseconds, for the same reason
COMPRESSED = {".html", ".css", ".js", ".svg", ".json"}
SET = """!window.MathJax || !MathJax.startup?.promise || MathJax.startup.promise.then(() => true)"""
STYLE = """
*, *::before, *::after { transition: none !important; animation: none !important; }
[data-once] [data-alike] { visibility: hidden !important; }"""
SCROLLABLE = """() => [...document.querySelectorAll(
    "pre, .nboutput > .output_area, .cell_output > .output, .jp-RenderedHTMLCommon, "
    + ".pst-scrollable-table-container")].every(e => (e.tabIndex === 0) ===
        (e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight))"""
# Colours are compared on one of the elements that are styled alike: same path of tags, classes,
# styles of their own and even or odd places. All other rules see the whole page.
FOUND = """async rules => {
    const seen = new Set();
    for (const e of document.body.querySelectorAll("*")) {
        e.removeAttribute("data-alike");
        if (e.childElementCount || !e.checkVisibility()) continue;
        let path = "";
        for (let n = e; n && n !== document.body; n = n.parentElement)
            path += [n.tagName, n.getAttribute("class"), n.getAttribute("style"),
                [...n.parentElement.children].indexOf(n) % 2].join("|") + "/";
        if (seen.has(path)) e.setAttribute("data-alike", "");
        seen.add(path);
    }
    const only = rules ? {runOnly: rules} : {rules: {"color-contrast": {enabled: false}}};
    const found = [
        await axe.run(document, {resultTypes: ["violations"], ...only})];
    document.body.setAttribute("data-once", "");
    found.push(await axe.run(document,
        {resultTypes: ["violations"], runOnly: ["color-contrast"]}));
    document.body.removeAttribute("data-once");
    return found.flatMap(f => f.violations).filter(v => ["serious", "critical"].includes(v.impact))
        .map(v => `${v.id}: ${v.nodes.slice(0, 3).map(n => n.target.join(" ")).join(", ")}`);
}"""
HEADINGS = """nodes => nodes.filter(n => n.checkVisibility()).map(n => Number(n.tagName[1]))"""

pytestmark = pytest.mark.skipif(not PAGES, reason="there is no book yet: run make book first")


class Compressing(http.server.SimpleHTTPRequestHandler):
    """Serve files as the host of the published pages does, text compressed."""

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


@pytest.mark.parametrize("name", PAGES)
def test_no_serious_barrier(page, name):
    page.goto((HTML / name).as_uri(), wait_until="load")
    page.wait_for_function(SET)
    page.add_style_tag(content=STYLE)  # else a colour is read on its way to another
    page.evaluate(Path(AXE_FILE_PATH).read_text(encoding="utf-8"))
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(SCROLLABLE)  # the theme lets keys reach what scrolls, a moment later
        for theme in THEMES:
            page.evaluate("name => { document.documentElement.dataset.theme = name }", theme)
            rules = None if theme == "light" else ["link-in-text-block"]  # and colours, always
            found += [f"{width} px, {theme}: {what}" for what in page.evaluate(FOUND, rules)]
    assert not found


def test_the_search_for_barriers_can_find_one(page):
    pale = '<p>dark<p>dark<p>dark<p><b style="color: #ccc">pale</b><img src="x">'
    page.set_content(f'<html lang="en"><title>a</title>{pale}')
    page.add_style_tag(content=STYLE)
    page.evaluate(Path(AXE_FILE_PATH).read_text(encoding="utf-8"))
    found = page.evaluate(FOUND, None)
    assert {what.partition(":")[0] for what in found} == {"color-contrast", "image-alt"}


@pytest.mark.parametrize("name", PAGES)
def test_headings_stand_in_order(page, name):
    page.goto((HTML / name).as_uri(), wait_until="domcontentloaded")
    levels = page.eval_on_selector_all(
        "article :is(h1, h2, h3, h4, h5, h6), #search-results h2", HEADINGS
    )
    assert levels.count(1) == 1 or name == "search.html"
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_light(page, address, name):
    got = []
    devtools = page.context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.on("Network.loadingFinished", lambda event: got.append(event["encodedDataLength"]))
    page.goto(f"{address}/{name}", wait_until="networkidle")
    assert len(got) > 10
    assert sum(got) < WEIGHT


def test_the_first_page_can_be_read_in_a_second(browser, address):
    times = []
    while len(times) < TRIES and not min(times, default=SECONDS) < SECONDS:
        context = browser.new_context()
        opened = context.new_page()
        opened.goto(f"{address}/index.html", wait_until="load")
        paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        times.append(opened.evaluate(paint) / 1000)
        context.close()
    assert min(times) < SECONDS


def test_the_search_works_without_a_server(page):
    page.goto((HTML / "index.html").as_uri())
    page.goto((HTML / "search.html").as_uri() + "?q=interference")
    page.wait_for_selector("#search-results li a", timeout=PATIENCE)
    links = page.eval_on_selector_all("#search-results li a", "nodes => nodes.map(n => n.href)")
    assert any("chapters/monitor" in link for link in links)
    assert all(link.startswith("file:") for link in links)


def test_tables_that_sort_are_fetched_when_they_come_near(page):
    text = {name: (HTML / name).read_text(encoding="utf-8") for name in PAGES}
    holding = [name for name in PAGES if "tables_on_demand.js" in text[name]]
    if not holding:
        pytest.skip("no chapter of this book has a sortable table")
    assert all('<table id="itables_' in text[name] for name in holding)
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((HTML / holding[0]).as_uri(), wait_until="load")
    assert not [url for url in asked if "/itables_" in url]
    page.locator("div:has(> table[id^=itables_])").last.scroll_into_view_if_needed()
    page.wait_for_selector(".dt-container table.dataTable tbody tr", timeout=PATIENCE)
    assert [url for url in asked if "/itables_" in url]


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("chapters/")])
def test_figures_are_told_in_full(page, name):
    page.goto((HTML / name).as_uri(), wait_until="domcontentloaded")
    texts = page.eval_on_selector_all("article img", "nodes => nodes.map(n => n.alt.trim())")
    assert texts
    assert not [text for text in texts if len(text) < 20 or text.endswith(".png")]


def test_figures_keep_their_colours():
    """A palette may not move a colour by more than an eye could tell."""
    for path in (HTML / "_images").glob("*.png"):
        with Image.open(path) as image:
            assert image.mode == "P"
            assert len(image.getcolors(256)) > 2
