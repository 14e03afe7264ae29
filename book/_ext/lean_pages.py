"""Make the rendered pages light, and mend what the theme and libraries leave wrong.

No page gets the scripts of sphinx-thebe: no cells run here, and Sphinx writes its
inline one twice, which then fails. Icons come from the theme's fonts alone, not from
1.5 MB of JavaScript as well; no line ends before a unit or within an interval, minus
signs are true ones; figures are stored with a palette.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import sphinx_thebe
from PIL import Image
from sphinx.application import Sphinx

PALETTE_SIZE = 256
SEARCH_QUOTES_SCRIPT = Path(__file__).with_name("search_quotes.js")
ICON_SCRIPT = re.compile(
    r'<script[^>]* src="[^"]*scripts/fontawesome\.js[^"]*"></script>\s*'
)
# Lists of references: a role that ARIA dropped, in a list whose entries hold links
# beside them.
LIST_ROLE = re.compile(r' role="(?:doc-biblioentry|list)"')
# The theme's arrow beside a page with pages below it says nothing to a screen reader.
TREE_ARROW = re.compile(r'<summary>(?=<span class="toctree-toggle")')
# Spaces that hold together what is read together; code, tags and formulas, which stay
# as they are.
UNBREAKABLE_SPACE = re.compile(
    r"(?<=[\d\]]) (?=%|points)"
    r"|(?<=\d) (?=\[)"
    r"|(?<=\d,) (?=[-\u2212]?[\d.]+\])"
    r"|(?<=Fig\.) (?=\d)"
)
# A hyphen before a number that begins there is a minus; a word, a range or a date has
# none.
MINUS_SIGN = re.compile(r"(?<![\w.)\u2013-])-(?=\d)")
VERBATIM_PARTS = re.compile(
    r"(<(?:pre|script|code)\b.*?</(?:pre|script|code)>"
    r"|<[^>]+>|\\\(.*?\\\)|\\\[.*?\\\])",
    flags=re.DOTALL,
)


def lighter_page_html(page: str) -> str:
    """Return a page made light."""
    page = ICON_SCRIPT.sub("", page)
    page = LIST_ROLE.sub("", page)
    parts = []
    for number, part in enumerate(VERBATIM_PARTS.split(page)):
        if number % 2 == 0:  # text; between two of them stands what is verbatim
            part = UNBREAKABLE_SPACE.sub("\u00a0", part)
            part = MINUS_SIGN.sub("\u2212", part)
        parts.append(part)
    return TREE_ARROW.sub('<summary aria-label="the pages below">', "".join(parts))


def shrink_png(figure: Path) -> int:
    """Store a PNG with a palette if that is smaller; return the bytes saved."""
    part = figure.with_suffix(".part")
    with Image.open(figure) as image:
        plain = image.convert("RGB")
        small = plain.quantize(PALETTE_SIZE, dither=Image.Dither.NONE)
        small.save(part, "PNG", optimize=True)
    saved = figure.stat().st_size - part.stat().st_size
    if saved <= 0:
        part.unlink()
        return 0
    part.replace(figure)
    return saved


def lighten_built_pages(app: Sphinx, error: Exception | None) -> None:
    """Do it to all pages and figures of a book that was built."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for path in out.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        lighter = lighter_page_html(text)
        if lighter != text:
            path.write_text(lighter, encoding="utf-8")
    with ThreadPoolExecutor() as threads:
        list(threads.map(shrink_png, (out / "_images").glob("*.png")))


def disconnect_thebe(app: Sphinx) -> None:
    """Keep sphinx-thebe from adding its scripts."""
    for listener in list(app.events.listeners["env-before-read-docs"]):
        if listener.handler is sphinx_thebe.init_thebe_core:
            app.disconnect(listener.id)


def add_search_quotes(app: Sphinx, page: str, *_: object) -> None:
    """Have the search page quote formulas in words."""
    if page == "search":
        app.add_js_file(None, body=SEARCH_QUOTES_SCRIPT.read_text(encoding="utf-8"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", disconnect_thebe)
    app.connect("html-page-context", add_search_quotes)
    app.connect("build-finished", lighten_built_pages, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
