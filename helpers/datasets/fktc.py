"""Facts in the format of FKTC, the corpus of the MONITOR paper.

A file holds one relation as JSON lines: first ``{"relations": [question templates]}``, then one
``{"subject": ..., "object": ..., "taxonomy": [wrong objects]}`` a fact. Facts of one's own may have
an ``"exposure"``, how often a corpus contains them.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import pandas as pd

from helpers import UserError
from helpers.datasets import download
from helpers.datasets.files import json_lines
from helpers.datasets.registry import DATA, SOURCES, unpublished


@dataclass(frozen=True)
class RelationFile:
    """One file as read; `places` are the file and line of each fact, for messages."""

    relation: str
    questions: tuple[str, ...]
    facts: tuple[tuple[str, str, tuple[str, ...], int | None], ...]
    sha256: str
    places: tuple[str, ...]


def read(path: Path) -> list[RelationFile]:
    """Read a folder of files in FKTC's format, or one file, sorted by relation."""
    paths = [path]
    if path.is_dir():
        paths = [file for file in path.iterdir() if file.suffix in (".json", ".jsonl")]
        if not paths:
            raise UserError(
                f"The folder {path} holds no .json file: give a folder with one file a relation "
                "in the format of FKTC."
            )
    # A file is read again only if it has changed.
    files = [_read_file(file, file.stat().st_mtime_ns) for file in paths]
    files.sort(key=lambda file: _natural(file.relation))
    for first, second in pairwise(files):
        if first.relation == second.relation:
            raise UserError(
                f"Two files of {path} hold the relation {first.relation}: a relation's name is "
                "the file's name up to the first '-' or '.', so rename one of them."
            )
    return files


def _natural(relation: str) -> tuple:
    """Sort P9 before P17: split a name into text and numbers."""
    return tuple((int(p), "") if p.isdecimal() else (-1, p) for p in re.split(r"(\d+)", relation))


@cache
def _read_file(path: Path, _modified: int) -> RelationFile:
    lines = json_lines(path)
    if not lines:
        raise UserError(f"{path} is empty: its first line must hold the question templates.")
    questions, facts = _header(lines[0]), [_fact(line) for line in lines[1:]]
    if not facts:
        raise UserError(f"{path} holds no facts: add one line a fact after the templates.")
    relation = re.split(r"[-.]", path.name, maxsplit=1)[0]
    places = tuple(line["where"] for line in lines[1:])
    return RelationFile(relation, questions, tuple(facts), download.checksum([path]), places)


def _header(value: dict) -> tuple[str, ...]:
    questions = value.get("relations")
    good = isinstance(questions, list) and questions
    if not good or not all(isinstance(q, str) and q.count("[X]") == 1 for q in questions):
        raise UserError(
            f'{value["where"]} must be {{"relations": [...]}} with one or more question templates, '
            "each with one [X] in place of the subject."
        )
    return tuple(questions)


def _fact(value: dict) -> tuple[str, str, tuple[str, ...], int | None]:
    keys = ("subject", "object", "taxonomy", "where")
    subject, obj, wrong, where = (value.get(key) for key in keys)
    texts = [subject, obj, *wrong] if isinstance(wrong, list) else [None]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise UserError(
            f'{where} must be {{"subject": "...", "object": "...", "taxonomy": ["...", ...]}} '
            "with texts that are not empty."
        )
    if obj in wrong:
        raise UserError(f"{where} lists its own object {obj!r} in `taxonomy`: remove it there.")
    double = next((text for text in wrong if wrong.count(text) > 1), None)
    if double:
        raise UserError(f"{where} lists {double!r} twice in `taxonomy`: list each object once.")
    count = value.get("exposure")
    if count is not None and (type(count) is not int or not 0 <= count < 2**63):
        raise UserError(
            f"{where} has the exposure {count!r}: give a whole number, 0 or more, or leave it out."
        )
    return subject, obj, tuple(wrong), count


def facts(files: list[RelationFile]) -> pd.DataFrame:
    """Return the facts as published, repeated rows and rows whose object is the subject included.

    A fact's name is its relation and its row number from 0, for example ``P17-0000``. Where some
    fact has an exposure, so has the table, as ``Int64``: missing where it is unknown.
    """
    rows = [
        (f"{file.relation}-{i:04d}", file.relation, subject, obj, list(wrong), count)
        for file in files
        for i, (subject, obj, wrong, count) in enumerate(file.facts)
    ]
    columns = ["fact", "relation", "subject", "object", "distractors", "exposure"]
    table = pd.DataFrame(rows, columns=columns).astype({"exposure": "Int64"})
    return table.drop(columns="exposure") if table["exposure"].isna().all() else table


def notes(files: list[RelationFile]) -> list[str]:
    """Return sentences on what a reader should know of the facts: repeated and several objects."""
    objects: dict[tuple[str, str], set[str]] = {}
    repeated, several = [], {}
    for file in files:
        for (subject, obj, *_), where in zip(file.facts, file.places):
            known = objects.setdefault((file.relation, subject), set())
            if obj in known:
                repeated.append(where)
            elif known:
                several.setdefault((file.relation, subject), where)
            known.add(obj)
    found = []
    if repeated:
        found.append(f"Facts that repeat an earlier one: {len(repeated)}, such as {repeated[0]}.")
    if several:
        found.append(
            f"Subjects with more than one object: {len(several)}, such as that of "
            f"{next(iter(several.values()))}. Where one of them is asked for, the others are wrong."
        )
    return found


def templates() -> pd.DataFrame:
    """Return the cloze template of each relation of FKTC (Table 9 of the paper).

    One differs: for P27 the paper has "[X] is [Y] citizen.", where the object is not the last
    word, so that no model that reads from left to right can be asked for it at the end.
    """
    return pd.read_csv(DATA / "fktc_templates.csv", keep_default_na=False)


def frames(files: list[RelationFile]) -> pd.DataFrame:
    """Return all published questions, repeated ones too, and the frames made of the cloze."""
    cloze = templates().set_index("relation")["template"].to_dict()
    rows = []
    for file in files:
        rows += [(file.relation, "qa", i, text) for i, text in enumerate(file.questions)]
        if file.relation in cloze:
            text = cloze[file.relation]
            check = f"Statement: {text} The statement is True or False?"
            rows += [(file.relation, "wp", 0, text), (file.relation, "fc", 0, check)]
    return pd.DataFrame(rows, columns=["relation", "kind", "frame", "template"])


def relations(files: list[RelationFile]) -> pd.DataFrame:
    """Return one row a relation: label and types (where known) and counts."""
    known = templates().set_index("relation")
    rows = [
        {
            "relation": file.relation,
            "label": known["label"].get(file.relation, file.relation),
            "subject_type": "",
            "object_type": known["object_type"].get(file.relation, ""),
            "n_facts": len(file.facts),
            "n_objects": len({obj for _, obj, *_ in file.facts}),
        }
        for file in files
    ]
    return pd.DataFrame(rows)


def about(files: list[RelationFile], path: Path) -> dict[str, str]:
    """Return the record of a run's manifest, with the SHA-256 of the files' own SHA-256."""
    checksums = [file.sha256 for file in files]
    checksum = hashlib.sha256("".join(checksums).encode()).hexdigest()
    found = SOURCES["fktc"]
    if sorted(checksums) == sorted(found.files.values()):  # the published files, byte for byte
        return found.about(checksum)
    return unpublished(path.name, path, checksum)
