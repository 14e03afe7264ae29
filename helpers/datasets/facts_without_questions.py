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
    """Return which data set is at a path: "trex_mc", "nobel", or "" for neither."""
    if path.is_dir() and len(_files_of_splits(path)) == 2:
        return "trex_mc"
    if _laureate_tables(path):
        return "nobel"
    return ""


def read_pairs(name: str, path: Path) -> FactsAndFrames:
    """Read a data set: facts with the column ``label``, in the order of the files."""
    source = SOURCES[name]
    if name == "nobel":
        tables = _laureate_tables(path)
        facts = _birth_facts(tables, path)
        about = source.about(user_cache.checksum_of_files(tables))
        if about["checksum"] not in source.files.values():  # not as published
            about["url"] = str(path)
            for field in ("licence", "version", "citation"):
                about[field] = ""
    else:
        splits = _files_of_splits(path)
        train = _multiple_choice_facts(splits["train"], "train")
        test = _multiple_choice_facts(splits["test"], "test")
        facts = pd.concat([train, test], ignore_index=True)
        paths = [splits["test"], splits["train"]]
        about = source.about(user_cache.checksum_of_files(paths))
    frames = pd.DataFrame(columns=FRAME_COLUMNS)
    return FactsAndFrames(facts, frames, about)


def _files_of_splits(path: Path) -> dict[str, Path]:
    """Return the file of each split in a folder of T-REx-MC."""
    splits = {}
    for file in sorted(path.rglob("*")):
        split = file.stem.partition("-")[0]
        if split in ("train", "test") and file.suffix in FILE_ENDINGS:
            splits[split] = file
    return splits


def _multiple_choice_facts(file: Path, split: str) -> pd.DataFrame:
    """Read one file of T-REx-MC."""
    records = files.read_records(file, TREX_COLUMNS)
    table = pd.DataFrame(records)
    relations = "T" + table["Relation_ID"].astype(str)
    objects = table["Object"].astype(str)
    names = []
    distractors = []
    choices = table["Multiple Choices"]
    for row, relation in enumerate(relations):
        where = f"{file}, row {row}"
        names.append(f"{relation}-{split}-{row:05d}")
        distractors.append(_wrong_objects(choices[row], objects[row], where))
    labels = table.get("Relation Name", relations)
    return pd.DataFrame(
        {
            "fact": names,
            "relation": relations,
            "subject": table["Subject"].astype(str),
            "object": objects,
            "distractors": distractors,
            "choices": distractors,
            "split": split,
            "label": labels,
        }
    )


def _wrong_objects(value: Any, obj: str, where: str) -> list[str]:  # of any file
    """Return the wrong objects of a row; the true one, if it is there, is dropped."""
    is_text = isinstance(value, str)
    choices = files.parse_python_literal(value) if is_text else list(value)
    if not _is_list_of_texts(choices):
        raise UserError(
            f"{where} has Multiple Choices {str(value)[:40]!r}: write a list of texts, "
            "such as \"['Peru', 'Chad']\"."
        )
    return [text for text in dict.fromkeys(choices) if text != obj]


def _is_list_of_texts(value: object) -> bool:
    """Tell whether a value is a list of texts, perhaps an empty one."""
    if not isinstance(value, list):
        return False
    return all(isinstance(text, str) for text in value)


def _birth_facts(tables: list[Path], path: Path) -> pd.DataFrame:
    """Read laureates, without organisations, empty years and second prizes."""
    if len(tables) > 1:
        names = ", ".join(file.name for file in tables)
        raise UserError(
            f"The folder {path} holds several tables, {names}: give one by its path."
        )
    rows = files.read_csv_rows(tables[0], others=("latin-1",))
    table = pd.DataFrame(rows)
    column = next(name for name in YEAR_PATTERNS if name in table)
    pattern = YEAR_PATTERNS[column]
    years = table[column].str.extract(pattern, expand=False)
    surnames = table["surname"].replace("NA", "")
    full_names = table["firstname"] + " " + surnames
    subjects = full_names.str.split().str.join(" ")
    people = pd.DataFrame({"subject": subjects, "object": years})
    is_usable = years.notna()
    if "gender" in table:
        is_usable &= table["gender"] != "org"
    people = people[is_usable].drop_duplicates("subject")
    people = people.reset_index(drop=True)
    if people.empty:
        raise UserError(f"No row of {path} has a person with a year of birth.")
    return pd.DataFrame(
        {
            "fact": [f"P569-{number:04d}" for number in range(len(people))],
            "relation": "P569",
            "subject": people["subject"],
            "object": people["object"],
            "distractors": [[] for _ in range(len(people))],
            "label": "year of birth",
        }
    )


def _laureate_tables(path: Path) -> list[Path]:
    """Return the CSV files at a path whose header names persons and their birth."""
    candidates = sorted(path.iterdir()) if path.is_dir() else [path]
    tables = []
    for file in candidates:
        if file.suffix == ".csv" and file.is_file():
            header = _header(file)
            if "firstname" in header and set(YEAR_PATTERNS) & set(header):
                tables.append(file)
    return tables


def _header(file: Path) -> list[str]:
    """Return the names in the first line of a CSV file, without quotes and marks."""
    line = next(files.read_lines(file), "")
    line = line.replace('"', "").strip("\ufeff \r\n")
    return line.split(",")
