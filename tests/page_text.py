"""The text of a rendered page as its source has it, for tests that compare sentences."""

import re
from html import unescape

# A page holds numbers and units together, and its minus signs are true ones
# (book/_ext/lean_pages.py).
SIGNS = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2212": "-"})
TAG = re.compile(r"<[^>]+>")


def plain(text: str) -> str:
    """Return HTML or a sentence with common spaces, common minus signs and no entities."""
    return unescape(text).translate(SIGNS)


def words_of(page: str) -> str:
    """Return what a reader sees of a page, without its tags."""
    return plain(TAG.sub(" ", page))


def element_of_label(page: str, label: str) -> str:
    """Return the element with an id; of a label before a heading, its section.

    Nothing if the page has no such label.
    """
    opening = re.search(rf'<(\w+)\b[^>]*\bid="{re.escape(label)}"[^>]*>', page)
    if opening is None:
        return ""
    start = opening.start()
    element = _element_from(page, start, opening[1])
    if opening[1] == "span" and not TAG.sub("", element):
        start = page.rfind("<section", 0, start)
        element = _element_from(page, start, "section")
    return element


def _element_from(page: str, start: int, tag: str) -> str:
    """Return the element that begins at a place, up to its own closing tag."""
    depth = 0
    for found in re.compile(rf"<(/?){tag}\b[^>]*>").finditer(page, start):
        depth += -1 if found[1] else 1
        if depth == 0:
            return page[start : found.end()]
    return page[start:]
