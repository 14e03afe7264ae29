"""Tests of book.tools.pdf: a page as the reader would print it, whole and in colour."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image

from book.tools import pdf, render
from helpers import UserError

PAGE = """<!DOCTYPE html><html lang="en"><title>Book</title><h1>One</h1>
<details><summary>Folded</summary><p>Unfolded words</p></details>
<p style="background: #0173b2; height: 200px"></p><img src="a.png" loading="lazy" alt="a figure">
<h2 style="break-before: page">Two</h2></html>"""


@pytest.fixture
def page(tmp_path):
    """Return a page with something folded, something coloured, a figure and two sheets."""
    Image.new("RGB", (300, 200), "#d55e00").save(tmp_path / "a.png")
    path = tmp_path / "index.html"
    path.write_text(PAGE)
    return path


def test_the_print_is_whole(page, tmp_path, browser):
    with ThreadPoolExecutor() as apart:  # the library bears one browser a thread
        made = apart.submit(
            pdf.print_page_as_pdf, page, tmp_path / "out" / "book.pdf"
        ).result()
    data = made.read_bytes()
    assert data.startswith(b"%PDF-")
    assert data.count(b"/Type /Page\n") == 2
    assert b"/Subtype /Image" in data
    assert b"/Outlines" in data
    assert b"/StructTreeRoot" in data


def test_folded_text_is_printed(browser, page):
    opened = browser.new_page()
    opened.goto(page.as_uri())
    assert not opened.get_by_text("Unfolded words").is_visible()
    opened.evaluate(pdf.UNFOLDING_SCRIPT)
    assert opened.get_by_text("Unfolded words").is_visible()
    assert opened.evaluate("document.images[0].naturalWidth") == 300
    opened.close()


def test_what_cannot_be_printed_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(render, "BOOK_FOLDER", tmp_path)
    monkeypatch.setattr(render, "run_jupyter_book", lambda builder, out, log: (1, ""))
    with pytest.raises(UserError, match="run make book first"):
        pdf.render_single_page(tmp_path)
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "a.ipynb").touch()
    with pytest.raises(UserError, match="was not rendered: see"):
        pdf.render_single_page(tmp_path)
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UserError, match="install chromium"):
        pdf.browser_path()
