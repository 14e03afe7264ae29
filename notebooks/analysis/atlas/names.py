"""Everyday English names for the sources' names, and the corrections made by hand."""

import csv
import unicodedata
from functools import cache
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "datasets" / "data"


@cache
def _names() -> dict[tuple[str, str], str]:
    with (DATA / "atlas_names.csv").open(encoding="utf-8", newline="") as file:
        return {(row["kind"], row["source"]): row["name"] for row in csv.DictReader(file)}


def english(kind: str, name: str) -> str:
    """Return the everyday English name for a source's name, "" where the thing is left out.

    The table is `datasets/data/atlas_names.csv`; a name that is not in it is only normalised
    (Unicode NFC, one space between words, straight apostrophes, "and" and "Saint" in full).

    >>> english("country", "St. Lucia"), english("capital", "Bogota"), english("city", "Brooklyn")
    ('Saint Lucia', 'Bogotá', '')
    """
    name = _names().get((kind, name), name)
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    for mark in "’‘ʼʻ":
        name = name.replace(mark, "'")
    name = name.replace(" & ", " and ")
    return "Saint " + name[4:] if name.startswith("St. ") and kind == "country" else name


def given(kind: str, name: str) -> bool:
    """Tell whether the table of names has an entry for this name."""
    return (kind, name) in _names()


def fold(name: str) -> str:
    """Return a name without accents, case and punctuation, to match it between packages.

    >>> fold("São Tomé"), fold("Xi’an")
    ('sao tome', 'xian')
    """
    plain = unicodedata.normalize("NFKD", name.replace("-", " "))
    return "".join(c for c in plain if c.isalnum() or c == " ").casefold()


def unaccented(name: str) -> str:
    """Return a name without its accents.

    >>> unaccented("Rājkot")
    'Rajkot'
    """
    plain = unicodedata.normalize("NFKD", name.replace("ı", "i"))
    return "".join(c for c in plain if not unicodedata.combining(c))


def corrections() -> dict[str, dict[str, str]]:
    """Return the hand-made corrections: relation to subject to object ("" leaves the fact out)."""
    found: dict[str, dict[str, str]] = {}
    with (DATA / "atlas_corrections.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["relation"], {})[row["subject"]] = row["object"]
    return found
