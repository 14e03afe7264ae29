"""Facts without questions: T-REx-MC and tables of Nobel laureates, as published.

T-REx-MC: files for ``train`` and for ``test``, choices as a Python list in a string.
Laureates: ``firstname, surname`` and ``born_date`` (with ``gender``, "org") or
``born``, the year, in Latin-1.
"""

from pathlib import Path
from typing import Any

import pandas as pd

from helpers import UserError
from helpers.datasets.registry import FRAME_COLUMNS, SOURCES, FactsAndFrames
from helpers.io import files, user_cache

TREX_COLUMNS = ("Relation_ID", "Subject", "Object", "Multiple Choices")
FILE_ENDINGS = (".parquet", ".csv", ".jsonl")
YEAR_PATTERNS = {"born_date": r"^(\d{4})-", "born": r"^(\d{4})(?:\.0)?$"}


def dataset_at_path(path: Path) -> str:
    """Return which of the two data sets is at a path: "trex_mc", "nobel", or "" for neither."""
    if path.is_dir() and len(_splits(path)) == 2:
        return "trex_mc"
    return "nobel" if _laureates(path) else ""


def read_pairs(name: str, path: Path) -> FactsAndFrames:
    """Read one of the data sets: facts with the column ``label``, in the order of the files."""
    if name == "nobel":
        table, paths = _births(path), _laureates(path)
    else:
        found = _splits(path)
        parts = [_multiple_choices(found[split], split) for split in ("train", "test")]
        table, paths = (
            pd.concat(parts, ignore_index=True),
            [found["test"], found["train"]],
        )
    about = SOURCES[name].about(user_cache.checksum_of_files(paths))
    if name == "nobel" and about["checksum"] not in SOURCES[name].files.values():
        about |= {"licence": "", "url": str(path), "version": "", "citation": ""}
    return FactsAndFrames(table, pd.DataFrame(columns=FRAME_COLUMNS), about)


def _splits(path: Path) -> dict[str, Path]:
    """Return the file of each split in a folder of T-REx-MC."""
    found = {}
    for file in sorted(path.rglob("*")):
        split = file.stem.partition("-")[0]
        if split in ("train", "test") and file.suffix in FILE_ENDINGS:
            found[split] = file
    return found


def _multiple_choices(file: Path, split: str) -> pd.DataFrame:
    """Read one file of T-REx-MC."""
    table = pd.DataFrame(files.read_records(file, TREX_COLUMNS))
    numbers = table["Relation_ID"].astype(str)
    rows = enumerate(zip(table["Multiple Choices"], table["Object"].astype(str)))
    wrong = [_choices(value, obj, f"{file}, row {row}") for row, (value, obj) in rows]
    names = [f"T{number}-{split}-{row:05d}" for row, number in enumerate(numbers)]
    made = pd.DataFrame({"fact": names, "relation": "T" + numbers})
    made["subject"], made["object"] = (
        table["Subject"].astype(str),
        table["Object"].astype(str),
    )
    made["distractors"], made["choices"], made["split"] = wrong, wrong, split
    return made.assign(label=table.get("Relation Name", made["relation"]))


def _choices(value: Any, obj: str, where: str) -> list[str]:
    """Return the wrong objects of a row; the true one, should it be among them, is dropped."""
    listed = (
        files.parse_python_literal(value) if isinstance(value, str) else list(value)
    )
    if not isinstance(listed, list) or not all(
        isinstance(text, str) for text in listed
    ):
        raise UserError(
            f"{where} has Multiple Choices {str(value)[:40]!r}: write a list of texts, such as "
            "\"['Peru', 'Chad']\"."
        )
    return [text for text in dict.fromkeys(listed) if text != obj]


def _births(path: Path) -> pd.DataFrame:
    """Read a table of laureates, without organisations, empty years and second prizes."""
    found = _laureates(path)
    if len(found) > 1:
        names = ", ".join(file.name for file in found)
        raise UserError(
            f"The folder {path} holds several tables, {names}: give one by its path."
        )
    table = pd.DataFrame(files.read_csv_rows(found[0], others=("latin-1",)))
    column = next(name for name in YEAR_PATTERNS if name in table)
    years = table[column].str.extract(YEAR_PATTERNS[column], expand=False)
    names = table["firstname"] + " " + table["surname"].replace("NA", "")
    person = table.get("gender", pd.Series("", index=table.index)) != "org"
    kept = pd.DataFrame({"subject": names.str.split().str.join(" "), "object": years})
    kept = (
        kept[person & years.notna()].drop_duplicates("subject").reset_index(drop=True)
    )
    if kept.empty:
        raise UserError(f"No row of {path} has a person with a year of birth.")
    kept.insert(0, "fact", [f"P569-{row:04d}" for row in range(len(kept))])
    kept.insert(1, "relation", "P569")
    return kept.assign(
        distractors=[[] for _ in range(len(kept))], label="year of birth"
    )


def _laureates(path: Path) -> list[Path]:
    """Return the files at a path that are CSV and name persons and their birth in their header."""
    found = []
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        if file.suffix == ".csv" and file.is_file():
            header = (
                next(files.read_lines(file), "")
                .replace('"', "")
                .strip("\ufeff \r\n")
                .split(",")
            )
            if "firstname" in header and set(YEAR_PATTERNS) & set(header):
                found.append(file)
    return found
