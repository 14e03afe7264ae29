"""Facts in the format of FKTC, the corpus of the MONITOR paper.

A file holds one relation as JSON lines: first ``{"relations": [question templates]}``,
then one ``{"subject": ..., "object": ..., "taxonomy": [wrong objects]}`` a fact. Facts
of one's own may have an ``"exposure"``, how often a corpus contains them.
"""

import hashlib
import re
from functools import cache
from pathlib import Path

import pandas as pd

from helpers import UserError
from helpers.datasets.registry import (
    DATA_FOLDER,
    FRAME_COLUMNS,
    SOURCES,
    FactsAndFrames,
    record_of_own_files,
)
from helpers.io import user_cache
from helpers.io.files import read_json_lines

FACT_COLUMNS = [
    "fact",
    "relation",
    "subject",
    "object",
    "distractors",
    "exposure",
    "place",
]


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
                f"The folder {path} holds no .json file: give a folder with one file a relation "
                "in the format of FKTC."
            )
    # A file is read again only if it has changed.
    told = [_read_file(file, file.stat().st_mtime_ns) for file in paths]
    found = sorted(told, key=lambda file: _natural(file[0]))
    names, questions, facts, checksums = zip(*found)
    if double := next((name for name in names if names.count(name) > 1), None):
        raise UserError(
            f"Two files of {path} hold the relation {double}: a relation's name is the file's name "
            "up to the first '-' or '.', so rename one of them."
        )
    rows = []
    for name, told in zip(names, facts):
        rows += [(f"{name}-{i:04d}", name, *fact) for i, fact in enumerate(told)]
    table = pd.DataFrame(rows, columns=FACT_COLUMNS).astype({"exposure": "Int64"})
    table["distractors"] = table["distractors"].map(list)
    if table["exposure"].isna().all():
        table = table.drop(columns="exposure")
    checksum = hashlib.sha256("".join(checksums).encode()).hexdigest()
    source = SOURCES["fktc"]
    if sorted(checksums) == sorted(
        source.files.values()
    ):  # the published files, byte for byte
        about = source.about(checksum)
    else:
        about = record_of_own_files(path.name, path, checksum)
    return FactsAndFrames(table, _frames(dict(zip(names, questions))), about)


def _natural(relation: str) -> tuple:
    """Sort P9 before P17: split a name into text and numbers."""
    return tuple(
        (int(p), "") if p.isdecimal() else (-1, p) for p in re.split(r"(\d+)", relation)
    )


@cache
def _read_file(path: Path, _modified: int) -> tuple[str, list[str], list[tuple], str]:
    """Return a file's relation, questions, facts and SHA-256."""
    lines = read_json_lines(path)
    if not lines:
        raise UserError(
            f"{path} is empty: its first line must hold the question templates."
        )
    questions = lines[0].get("relations")
    good = isinstance(questions, list) and questions
    if not good or not all(
        isinstance(q, str) and q.count("[X]") == 1 for q in questions
    ):
        raise UserError(
            f'{lines[0]["where"]} must be {{"relations": [...]}} with one or more question '
            "templates, each with one [X] in place of the subject."
        )
    facts = [parse_fact(line) for line in lines[1:]]
    if not facts:
        raise UserError(
            f"{path} holds no facts: add one line a fact after the templates."
        )
    relation = re.split(r"[-.]", path.name, maxsplit=1)[0]
    return relation, questions, facts, user_cache.checksum_of_files([path])


def parse_fact(value: dict) -> tuple[str, str, tuple[str, ...], int | None, str]:
    """Return a line's subject, object, wrong objects, exposure and place, or say what is wrong."""
    keys = ("subject", "object", "taxonomy", "where")
    subject, obj, wrong, where = (value.get(key) for key in keys)
    texts = [subject, obj, *wrong] if isinstance(wrong, list) else [None]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise UserError(
            f'{where} must be {{"subject": "...", "object": "...", "taxonomy": ["...", ...]}} '
            "with texts that are not empty."
        )
    if obj in wrong:
        raise UserError(
            f"{where} lists its own object {obj!r} in `taxonomy`: remove it there."
        )
    if double := next((text for text in wrong if wrong.count(text) > 1), None):
        raise UserError(
            f"{where} lists {double!r} twice in `taxonomy`: list each object once."
        )
    count = value.get("exposure")
    if count is not None and (type(count) is not int or not 0 <= count < 2**63):
        raise UserError(
            f"{where} has the exposure {count!r}: give a whole number, 0 or more, or leave it out."
        )
    return subject, obj, tuple(wrong), count, where


def cloze_templates() -> pd.DataFrame:
    """Return the cloze template of each relation of FKTC (Table 9 of the paper)."""
    # For P27 the paper has "[X] is [Y] citizen.", of which no causal model can be asked
    # the end.
    return pd.read_csv(DATA_FOLDER / "fktc_templates.csv", keep_default_na=False)


def _frames(questions: dict[str, list[str]]) -> pd.DataFrame:
    """Return all published questions, repeated ones too, and the frames made of the cloze."""
    cloze = cloze_templates().set_index("relation")["template"].to_dict()
    rows = []
    for relation, texts in questions.items():
        rows += [(relation, "qa", i, text) for i, text in enumerate(texts)]
        if relation in cloze:
            text = cloze[relation]
            check = f"Statement: {text} The statement is True or False?"
            rows += [(relation, "wp", 0, text), (relation, "fc", 0, check)]
    return pd.DataFrame(rows, columns=FRAME_COLUMNS)
