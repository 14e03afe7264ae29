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
