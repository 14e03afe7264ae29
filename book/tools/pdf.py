"""Print the book as one PDF: jupyter-book's single page, printed by a browser."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Error, Page, sync_playwright

from book.tools import render
from helpers import UserError
from helpers.runs import PROJECT_FOLDER

PDF_FOLDER = PROJECT_FOLDER / "build" / "pdf"
BOOK_PDF = PDF_FOLDER / "what-language-models-know.pdf"
BROWSER_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
# All that a page shows only on a click, or when it comes near, has to be there at once.
UNFOLDING_SCRIPT = """async () => {
    document.documentElement.dataset.theme = "light";
    for (const each of document.querySelectorAll("details")) each.open = true;
    for (const each of document.querySelectorAll("img")) each.loading = "eager";
    await window.MathJax?.startup?.promise;
    await document.fonts.ready;
    const decoded = image => image.decode().catch(() => null);
    await Promise.all([...document.images].map(decoded));
}"""
FOOTER_HTML = """<div
    style="width: 100%; text-align: center; font: 8px sans-serif; color: #555">
    <span class="pageNumber"></span></div>"""


def render_single_page(out: Path = PDF_FOLDER) -> Path:
    """Render the book as one page and return its file."""
    if not list((render.BOOK_FOLDER / "chapters").glob("*.ipynb")):
        raise UserError("The book holds no chapters yet: run make book first.")
    log = out / "log"
    status, _ = render.run_jupyter_book("singlehtml", out, log)
    page = out / "_build" / "singlehtml" / "index.html"
    if status or not page.is_file():
        raise UserError(f"The single page was not rendered: see {log}.")
    return page


def browser_path() -> str:
    """Return the path of a browser that can print."""
    if os.environ.get("CHROMIUM"):
        return os.environ["CHROMIUM"]
    for program in BROWSER_PROGRAMS:
        path = shutil.which(program)
        if path:
            return path
    raise UserError(
        "No browser prints the book: install chromium, or set CHROMIUM to one."
    )


def print_page_as_pdf(page: Path, pdf: Path) -> Path:
    """Print a page of the book with everything unfolded; return the PDF."""
    with _opened_page(page.as_uri(), pdf, width=900) as opened:
        opened.evaluate(UNFOLDING_SCRIPT)
        opened.emulate_media(media="print", color_scheme="light")
        opened.pdf(
            path=pdf,
            format="A4",
            margin={"top": "18mm", "bottom": "20mm", "left": "18mm", "right": "18mm"},
            print_background=True,
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=FOOTER_HTML,
            outline=True,
            tagged=True,
        )
    return pdf


def print_slides_as_pdf(deck: Path) -> Path:
    """Print a deck beside itself, a page for each slide; return the PDF."""
    pdf = deck.with_suffix(".pdf")
    address = f"{deck.resolve().as_uri()}?print-pdf"
    with _opened_page(address, pdf, width=1280) as opened:
        opened.wait_for_function(
            "window.Reveal?.isReady() && document.querySelector('.pdf-page')"
        )
        opened.pdf(
            path=pdf, prefer_css_page_size=True, print_background=True, tagged=True
        )
    return pdf


@contextmanager
def _opened_page(address: str, pdf: Path, width: int) -> Iterator[Page]:
    """Open a page in a browser that can print it, as it is on paper."""
    pdf.parent.mkdir(parents=True, exist_ok=True)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=browser_path(),
                args=["--no-sandbox", "--disable-dev-shm-usage"],
            )
            size = {"width": width, "height": 1200}
            opened = browser.new_page(viewport=size, color_scheme="light")
            opened.set_default_timeout(180_000)
            opened.goto(address, wait_until="load")
            yield opened
            browser.close()
    except Error as error:
        first = str(error).splitlines()[0]
        raise UserError(f"The browser could not print {address}: {first}.") from error
