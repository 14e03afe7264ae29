"""Facts in the format of FKTC, the corpus of the MONITOR paper.

A file holds one relation as JSON lines: first ``{"relations": [question templates]}``,
then one ``{"subject": ..., "object": ..., "taxonomy": [wrong objects]}`` a fact. Facts
of one's own may have an ``"exposure"``, how often a corpus contains them.
"""

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from helpers import UserError
from helpers.datasets.cells import (
    cell_text,
    cell_texts,
    list_in_cell,
    visible_text,
)
from helpers.datasets.registry import (
    DATA_FOLDER,
    FRAME_COLUMNS,
    SOURCES,
    FactsAndFrames,
    record_of_own_files,
)
from helpers.io import user_cache
from helpers.io.files import read_json_lines
from helpers.metrics.canonical import comparison_key

FACT_COLUMNS = [
    "fact",
    "relation",
    "subject",
    "object",
    "distractors",
    "exposure",
    "place",
]

# Subject, object, wrong objects, exposure and place.
ParsedFact = tuple[str, str, tuple[str, ...], int | None, str]


class RelationFile(NamedTuple):
    """What one file says of its relation."""

    relation: str
    questions: list[str]
    facts: list[ParsedFact]
    checksum: str


def read_fktc(path: Path) -> FactsAndFrames:
    """Read a folder of files in FKTC's format, or one file, sorted by relation.

    Facts are as published, repeated rows and rows whose object is the subject included.
    A fact's name is its relation and its row number from 0, for example ``P17-0000``.
    Where some fact has an exposure, so has the table, as ``Int64``: missing where it is
    unknown. The source's checksum is the SHA-256 of the files' own SHA-256.
    """
    paths = [path]
    if path.is_dir():
        paths = [file for file in path.iterdir() if file.suffix in (".json", ".jsonl")]
        if not paths:
            raise UserError(
                f"The folder {path} holds no .json file: give a folder with one file "
                "a relation in the format of FKTC."
            )
    # A file is read again only if it has changed.
    files = [_read_file(file, file.stat().st_mtime_ns) for file in paths]
    files.sort(key=_natural_order)
    relations = [file.relation for file in files]
    for relation in relations:
        if relations.count(relation) > 1:
            raise UserError(
                f"Two files of {path} hold the relation {relation}: a relation's name "
                "is the file's name up to the first '-' or '.', so rename one of them."
            )
    rows = []
    for file in files:
        for number, fact in enumerate(file.facts):
            name = f"{file.relation}-{number:04d}"
            rows.append((name, file.relation, *fact))
    table = pd.DataFrame(rows, columns=FACT_COLUMNS)
    table["exposure"] = table["exposure"].astype("Int64")
    table["distractors"] = table["distractors"].map(list)
    if table["exposure"].isna().all():
        table = table.drop(columns="exposure")
    frames = _frames({file.relation: file.questions for file in files})
    return FactsAndFrames(table, frames, _record(files, path))


def _record(files: list[RelationFile], path: Path) -> dict[str, str]:
    """Return the record of the published files, or of one's own."""
    checksums = [file.checksum for file in files]
    text = "".join(checksums)
    checksum = hashlib.sha256(text.encode()).hexdigest()
    source = SOURCES["fktc"]
    if sorted(checksums) == sorted(source.files.values()):  # byte for byte
        return source.about(checksum)
    return record_of_own_files(path.name, path, checksum)


def _natural_order(file: RelationFile) -> tuple[tuple[int, str], ...]:
    """Return what sorts P9 before P17: the texts and numbers in a relation's name."""
    key = []
    for part in re.split(r"(\d+)", file.relation):
        if part.isdecimal():
            key.append((int(part), ""))
        else:
            key.append((-1, part))
    return tuple(key)


@cache
def _read_file(path: Path, _modified: int) -> RelationFile:
    """Read a file, which was modified at a time in nanoseconds."""
    lines = read_json_lines(path)
    if not lines:
        raise UserError(
            f"{path} is empty: its first line must hold the question templates."
        )
    where = lines[0]["where"]
    texts = list_in_cell(lines[0].get("relations"))
    questions = [cell_text(text, where) for text in texts or []]
    if not questions or not all(map(_is_template, questions)):
        raise UserError(
            f'{where} must be {{"relations": [...]}} with one or more '
            "question templates, each with one [X] in place of the subject."
        )
    facts = [parse_fact(line) for line in lines[1:]]
    if not facts:
        raise UserError(
            f"{path} holds no facts: add one line a fact after the templates."
        )
    relation = visible_text(re.split(r"[-.]", path.name, maxsplit=1)[0])
    checksum = user_cache.checksum_of_files([path])
    return RelationFile(relation, questions, facts, checksum)


def _is_template(text: str) -> bool:
    """Tell whether a text has one place for the subject."""
    return text.count("[X]") == 1


def parse_fact(value: dict[str, Any]) -> ParsedFact:
    """Return a line's subject, object, wrong objects, exposure and place, checked."""
    where = value["where"]
    subject = cell_text(value.get("subject"), where)
    obj = cell_text(value.get("object"), where)
    wrong = cell_texts(value.get("taxonomy"), where)
    if value.get("taxonomy") is None or not all([subject, obj, *wrong]):
        form = '{"subject": "...", "object": "...", "taxonomy": ["...", ...]}'
        raise UserError(f"{where} must be {form} with texts that are not empty.")
    own_key = comparison_key(obj)
    keys: list[str] = []
    for text in wrong:
        key = comparison_key(text)
        if key == own_key:
            raise UserError(
                f"{where} lists its own object {obj!r} in `taxonomy`, as {text!r}: "
                "remove it there."
            )
        if key in keys:
            other = wrong[keys.index(key)]
            raise UserError(
                f"{where} lists {other!r} twice in `taxonomy`, the second time as "
                f"{text!r}: list each object once."
            )
        keys.append(key)
    count = value.get("exposure")
    if count is not None and not _is_count(count):
        raise UserError(
            f"{where} has the exposure {count!r}: give a whole number, 0 or more, "
            "or leave it out."
        )
    return subject, obj, tuple(wrong), count, where


def _is_count(value: object) -> bool:
    """Tell whether a value is a whole number, 0 or more; True and False are none."""
    return type(value) is int and 0 <= value < 2**63


def cloze_templates() -> pd.DataFrame:
    """Return the cloze template of each relation of FKTC (Table 9 of the paper)."""
    # For P27 the paper has "[X] is [Y] citizen.", of which no causal model can be asked
    # the end.
    return pd.read_csv(DATA_FOLDER / "fktc_templates.csv", keep_default_na=False)


def _frames(questions: dict[str, list[str]]) -> pd.DataFrame:
    """Return the published questions, repeated ones too, and frames of the clozes."""
    cloze = cloze_templates().set_index("relation")["template"].to_dict()
    rows = []
    for relation, texts in questions.items():
        for number, text in enumerate(texts):
            rows.append((relation, "qa", number, text))
        if relation in cloze:
            statement = cloze[relation]
            check = f"Statement: {statement} The statement is True or False?"
            rows.append((relation, "wp", 0, statement))
            rows.append((relation, "fc", 0, check))
    return pd.DataFrame(rows, columns=FRAME_COLUMNS)
