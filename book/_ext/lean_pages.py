"""Make the rendered pages light, and mend what the theme and libraries leave wrong in them.

No page gets the scripts of sphinx-thebe, which jupyter-book sets up in every book. This one has no
cells that run in the page, and Sphinx writes an inline script of that kind twice, which then fails.
The search page gets one that keeps LaTeX out of what it quotes. After the pages are written

- the theme's icons come from its fonts alone, not from 1.5 MB of JavaScript as well;
- the library of the sortable tables, which every chapter's notebook carries so that it works alone,
  lies in the book once, and a page fetches it when a table comes near the window;
- figures are stored with a palette, which takes a third of the room.
"""

import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import sphinx_thebe
from PIL import Image
from sphinx.application import Sphinx

COLOURS = 256
LOADER = Path(__file__).with_name("tables_on_demand.js")  # in _static, every page would load it
QUOTES = Path(__file__).with_name("search_quotes.js")
ICONS = re.compile(r'<script[^>]* src="[^"]*scripts/fontawesome\.js[^"]*"></script>\s*')
TABLES = re.compile(
    r"<script>\s*(?P<functions>function injectCSS\(.*?)"
    r"if \(!window\.(?P<name>_itables_\w+)\) \{\s*(?P<css>injectCSS\(\"[^\"]*\"\);)\s*"
    r"window\.\w+ = (?P<module>injectModule\(\"[^\"]*\"\));.*?</script>"
    r"\s*<div[^>]*>\s*<noscript>.*?</noscript>\s*</div>",
    re.DOTALL,
)
# What stands in a table's place while its library is on the way: its first rows do that better.
PLACES = re.compile(
    r'(?<=<table id="itables_)(?P<id>\w+)(?P<open>" hidden="hidden">).*?(?=</table>)'
    r'|<sup><noscript>.*?</sup>|<script>document\.getElementById\("itables_.*?</script>',
    re.DOTALL,
)
# Lists of references: a role that ARIA dropped, in a list whose entries hold links beside them.
ROLES = re.compile(r' role="(?:doc-biblioentry|list)"')
# The theme's arrow beside a page with pages below it says nothing to a screen reader.
ARROWS = re.compile(r'<summary>(?=<span class="toctree-toggle")')


def lean(page: str, static: str) -> tuple[str, dict[str, str]]:
    """Return a page made light, and the libraries that it now fetches: name to script.

    Parameters
    ----------
    page : str
        The page's HTML.
    static : str
        Where ``_static`` lies, seen from the page.
    """
    libraries = {}

    def apart(found: re.Match[str]) -> str:
        name = found["name"].strip("_")
        libraries[name] = f"{found['functions']}{found['css']}\nkeepTables({found['module']});\n"
        return (
            f'<script src="{static}/tables_on_demand.js" data-name="{found["name"]}" '
            f'data-library="{static}/{name}.js"></script>'
        )

    page = ROLES.sub("", ICONS.sub("", page))
    page = ARROWS.sub('<summary aria-label="the pages below">', page)
    page = TABLES.sub(apart, page)
    page = PLACES.sub(lambda found: (found["id"] or "") + (found["open"] or ""), page)
    return page, libraries


def shrink(figure: Path) -> int:
    """Store a PNG with a palette if that is smaller; return the bytes that were saved."""
    part = figure.with_suffix(".part")
    with Image.open(figure) as image:
        plain = image.convert("RGB")
        plain.quantize(COLOURS, dither=Image.Dither.NONE).save(part, "PNG", optimize=True)
    saved = figure.stat().st_size - part.stat().st_size
    part.replace(figure) if saved > 0 else part.unlink()
    return max(saved, 0)


def finish(app: Sphinx, error: Exception | None) -> None:
    """Do it to all pages and figures of a book that was built."""
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for path in out.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        lighter, libraries = lean(text, os.path.relpath(out / "_static", path.parent))
        for name, script in libraries.items():
            (out / "_static" / f"{name}.js").write_text(script, encoding="utf-8")
            shutil.copy(LOADER, out / "_static")
        if lighter != text:
            path.write_text(lighter, encoding="utf-8")
    with ThreadPoolExecutor() as threads:
        list(threads.map(shrink, (out / "_images").glob("*.png")))


def without_thebe(app: Sphinx) -> None:
    """Keep sphinx-thebe from adding its scripts."""
    for listener in list(app.events.listeners["env-before-read-docs"]):
        if listener.handler is sphinx_thebe.init_thebe_core:
            app.disconnect(listener.id)


def quote_words(app: Sphinx, page: str, *_: object) -> None:
    """Have the search page quote formulas in words."""
    if page == "search":
        app.add_js_file(None, body=QUOTES.read_text(encoding="utf-8"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", without_thebe)
    app.connect("html-page-context", quote_words)
    app.connect("build-finished", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
