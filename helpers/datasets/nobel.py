"""Nobel laureates and the years of their birth, from either of two published tables.

One has the columns ``firstname, surname, born_date`` (and ``gender``, "org" for organisations), the
other ``firstname, surname, born`` with the year alone, in Latin-1.
"""

from pathlib import Path

import pandas as pd

from helpers import UserError
from helpers.datasets import download

NAME = "nobel"
COMMIT = "abcc4d9869493779fdcf799b3fdc9f3f40c51e69"
URL = "https://raw.githubusercontent.com/DataScience4Psych/DataScience4Psych"
FILES = {"data/nobel.csv": "1760cc445c5c5f782d1d24045d9237012a24dbdc77c85aaa6cb2768f700dc607"}
YEARS = {"born_date": r"^(\d{4})-", "born": r"^(\d{4})(?:\.0)?$"}

ABOUT = {
    "name": NAME,
    "title": "Nobel laureates and the years of their birth",
    "licence": "CC BY-SA 4.0",
    "url": f"https://github.com/DataScience4Psych/DataScience4Psych/tree/{COMMIT}",
    "version": COMMIT,
    "citation": "DataScience4Psych: nobel.csv, after nobelprize.org.",
}


def fetch() -> Path:
    """Fetch the table of one commit, once, and return its path."""
    return download.fetch(NAME, f"{URL}/{COMMIT}/", FILES) / "nobel.csv"


def reads(path: Path) -> bool:
    """Tell whether a path is such a table, or a folder with one."""
    return bool(_files(path))


def facts(path: Path) -> pd.DataFrame:
    """Read a table: one fact a person, in the order of the table.

    Organisations, rows without a year, and a person's second prize are left out.
    """
    found = _files(path)
    if len(found) > 1:
        names = ", ".join(file.name for file in found)
        raise UserError(f"The folder {path} holds several tables, {names}: give one by its path.")
    table = _table(found[0])
    column = next(name for name in YEARS if name in table)
    years = table[column].str.extract(YEARS[column], expand=False)
    names = (
        (table["firstname"] + " " + table["surname"].replace("NA", "")).str.split().str.join(" ")
    )
    person = table.get("gender", pd.Series("", index=table.index)) != "org"
    kept = pd.DataFrame({"subject": names, "object": years})[person & years.notna()]
    kept = kept.drop_duplicates("subject").reset_index(drop=True)
    if kept.empty:
        raise UserError(f"No row of {path} has a person with a year of birth.")
    kept.insert(0, "fact", [f"P569-{row:04d}" for row in range(len(kept))])
    kept.insert(1, "relation", "P569")
    return kept.assign(distractors=[[] for _ in range(len(kept))], label="year of birth")


def about(path: Path) -> dict[str, str]:
    """Return the record of a run's manifest; of another table than the published what is known."""
    checksum = download.checksum(_files(path)[:1])
    if checksum in FILES.values():
        return ABOUT | {"checksum": checksum}
    unknown = {"licence": "", "url": str(path), "version": "", "citation": ""}
    return ABOUT | unknown | {"checksum": checksum}


def _files(path: Path) -> list[Path]:
    """Return the files at a path that are CSV and name persons and their birth in their header."""
    found = []
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        if file.suffix == ".csv" and file.is_file():
            with file.open(encoding="latin-1") as lines:
                header = lines.readline().replace('"', "").strip().split(",")
            if "firstname" in header and set(YEARS) & set(header):
                found.append(file)
    return found


def _table(path: Path) -> pd.DataFrame:
    """Return all cells as text, whichever of the two encodings the file is in."""
    for encoding in ("utf-8", "latin-1"):
        try:
            return pd.read_csv(path, dtype=str, keep_default_na=False, encoding=encoding)
        except UnicodeDecodeError:
            continue
        except (OSError, ValueError) as error:
            raise UserError(f"{path} cannot be read ({type(error).__name__}: {error}).") from None
    raise UserError(f"{path} is neither UTF-8 nor Latin-1 text.")
