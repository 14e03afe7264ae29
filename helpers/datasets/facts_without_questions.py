"""Facts without questions: T-REx-MC, tables of Nobel laureates and LAMA, as published.

T-REx-MC: files for ``train`` and for ``test``, choices as a Python list in a string.
Laureates: ``firstname, surname`` and ``born_date`` (with ``gender``, "org") or
``born``, the year, in Latin-1. LAMA: JSON lines with ``sub_label, obj_label`` (of
Google-RE ``sub, obj``) and ``predicate_id`` or ``pred``.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import UserError
from helpers.datasets.cells import cell_text, list_in_cell
from helpers.datasets.registry import (
    FRAME_COLUMNS,
    SOURCES,
    FactsAndFrames,
    record_of_own_files,
)
from helpers.io import files, user_cache
from helpers.metrics.canonical import comparison_key

TREX_COLUMNS = ("Relation_ID", "Subject", "Object", "Multiple Choices")
FILE_ENDINGS = (".parquet", ".csv", ".jsonl")
# LAMA's names of subject, object and relation, those of T-REx first.
LAMA_SUBJECTS = ("sub_label", "sub")
LAMA_OBJECTS = ("obj_label", "obj")
LAMA_RELATIONS = ("predicate_id", "pred")
YEAR_PATTERNS = {"born_date": r"^(\d{4})-", "born": r"^(\d{4})(?:\.0)?$"}


def dataset_at_path(path: Path) -> str:
    """Return what is at a path: "trex_mc", "nobel", "lama", or "" for none of them."""
    if path.is_dir() and len(_files_of_splits(path)) == 2:
        return "trex_mc"
    if _laureate_tables(path):
        return "nobel"
    if _lama_files(path):
        return "lama"
    return ""


def read_pairs(name: str, path: Path) -> FactsAndFrames:
    """Read a data set: facts with the column ``label``, in the order of the files."""
    frames = pd.DataFrame(columns=FRAME_COLUMNS)
    if name == "lama":
        paths = _lama_files(path)
        about = record_of_own_files(
            path.name, path, user_cache.checksum_of_files(paths)
        )
        return FactsAndFrames(_lama_facts(paths, path), frames, about)
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
    texts: dict[str, list[str]] = {}
    for column in TREX_COLUMNS[:3]:
        cells = [(record[column], record["where"]) for record in records]
        texts[column] = [cell_text(cell, where) for cell, where in cells]
    relations = [f"T{number}" for number in texts["Relation_ID"]]
    objects = texts["Object"]
    names = []
    distractors = []
    choices = table["Multiple Choices"]
    for row, relation in enumerate(relations):
        where = f"{file}, row {row}"
        names.append(f"{relation}-{split}-{row:05d}")
        distractors.append(_wrong_objects(choices[row], objects[row], where))
    labels = table.get("Relation Name", pd.Series(relations))
    return pd.DataFrame(
        {
            "fact": names,
            "relation": relations,
            "subject": texts["Subject"],
            "object": objects,
            "distractors": distractors,
            "choices": distractors,
            "split": split,
            "label": labels,
        }
    )


def _wrong_objects(value: Any, obj: str, where: str) -> list[str]:  # of any file
    """Return the wrong objects of a row; the true one, if it is there, is dropped."""
    cells = list_in_cell(value)
    if cells is None:
        raise UserError(
            f"{where} has Multiple Choices {str(value)[:40]!r}: write a list of texts, "
            "such as \"['Peru', 'Chad']\"."
        )
    key = comparison_key(obj)
    texts = dict.fromkeys(cell_text(cell, where) for cell in cells)
    return [text for text in texts if text and comparison_key(text) != key]


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


def _lama_files(path: Path) -> list[Path]:
    """Return the files at a path whose first line is a fact in LAMA's form."""
    candidates = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    return [file for file in candidates if _is_lama_file(file)]


def _is_lama_file(file: Path) -> bool:
    """Tell whether a file's first line names a subject and an object as LAMA does."""
    if file.suffix != ".jsonl":
        return False
    first = files.first_json_object(file)
    return bool(_present(first, LAMA_SUBJECTS) and _present(first, LAMA_OBJECTS))


def _present(record: Mapping[str, object], names: tuple[str, ...]) -> str:
    """Return the first of some names that a record has, or ""."""
    for name in names:
        if name in record:
            return name
    return ""


def _lama_facts(paths: list[Path], path: Path) -> pd.DataFrame:
    """Read facts of LAMA, each once; a file is a relation where lines name none."""
    rows: dict[tuple[str, str, str], str] = {}
    for file in paths:
        for record in files.read_json_lines(file):
            where = record["where"]
            texts = []
            for names in (LAMA_RELATIONS, LAMA_SUBJECTS, LAMA_OBJECTS):
                texts.append(cell_text(record.get(_present(record, names)), where))
            relation, subject, obj = texts
            relation = re.sub(r"[-./\\]", "_", relation or file.stem)
            if subject and obj:
                rows.setdefault((relation, subject, obj), where)
    if not rows:
        raise UserError(f"No line of {path} has a subject and an object.")
    facts = pd.DataFrame(list(rows), columns=["relation", "subject", "object"])
    numbers = facts.groupby("relation").cumcount().map("{:04d}".format)
    return facts.assign(
        fact=facts["relation"] + "-" + numbers,
        label=facts["relation"],
        place=list(rows.values()),
    )[["fact", "relation", "subject", "object", "label", "place"]]
