"""T-REx-MC, the multiple-choice facts of the IC-LKE paper, as published on the Hugging Face hub.

A folder holds one file for ``train`` (examples) and one for ``test``, as Parquet, CSV or JSON
lines, with the columns ``Relation_ID, Subject, Object, Multiple Choices``. The choices are a Python
list written as a string, the true object not among them; ``Relation Name`` may stand beside.
"""

import ast
import json
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import UserError
from helpers.datasets import download

NAME = "trex_mc"
COMMIT = "7f5049db71dace9ef3f1c32ed28d4295bc63de18"
URL = "https://huggingface.co/datasets/QinyuanWu/T-Rex-MC"
FILES = {f"data/{split}-00000-of-00001.parquet": None for split in ("train", "test")}
COLUMNS = ("Relation_ID", "Subject", "Object", "Multiple Choices")
READERS = {
    ".parquet": pd.read_parquet,
    ".csv": lambda path: pd.read_csv(path, keep_default_na=False),
    ".jsonl": lambda path: pd.DataFrame(map(json.loads, path.read_text("utf-8").splitlines())),
}

ABOUT = {
    "name": NAME,
    "title": "T-REx-MC: multiple-choice facts from T-REx",
    "licence": "Apache-2.0",
    "url": URL,
    "version": COMMIT,
    "citation": (
        "Wu et al. (2025). Towards Reliable Latent Knowledge Estimation in LLMs. WSDM 2025."
    ),
}


def fetch() -> Path:
    """Fetch both files of one commit from the hub, once, and return their folder."""
    return download.fetch(NAME, f"{URL}/resolve/{COMMIT}/", FILES)


def reads(path: Path) -> bool:
    """Tell whether a folder looks like this data set: a file for train and one for test."""
    return path.is_dir() and len(_files(path)) == 2


def facts(path: Path) -> pd.DataFrame:
    """Read a folder."""
    files = _files(path)
    parts = [_read(files[split], split) for split in ("train", "test") if split in files]
    if len(parts) < 2:
        raise UserError(f"The folder {path} needs one file for train and one for test.")
    return pd.concat(parts, ignore_index=True)


def about(path: Path) -> dict[str, str]:
    """Return the record of a run's manifest."""
    files = _files(path)
    return ABOUT | {"checksum": download.checksum([files[split] for split in sorted(files)])}


def _files(path: Path) -> dict[str, Path]:
    """Return the file of each split."""
    found = {}
    for file in sorted(path.rglob("*")):
        split = file.stem.partition("-")[0]
        if split in ("train", "test") and file.suffix in READERS:
            found[split] = file
    return found


def _read(file: Path, split: str) -> pd.DataFrame:
    try:
        table = READERS[file.suffix](file)
    except (OSError, ValueError) as error:
        raise UserError(f"{file} cannot be read ({type(error).__name__}: {error}).") from None
    missing = [column for column in COLUMNS if column not in table]
    if missing:
        raise UserError(
            f"{file} lacks the column {', '.join(missing)}: T-REx-MC has {', '.join(COLUMNS)}."
        )
    numbers = table["Relation_ID"].astype(str)
    rows = enumerate(zip(table["Multiple Choices"], table["Object"].astype(str)))
    wrong = [_choices(value, obj, f"{file}, row {row}") for row, (value, obj) in rows]
    names = [f"T{number}-{split}-{row:05d}" for row, number in enumerate(numbers)]
    made = pd.DataFrame({"fact": names, "relation": "T" + numbers})
    made["subject"], made["object"] = table["Subject"].astype(str), table["Object"].astype(str)
    made["distractors"], made["choices"], made["split"] = wrong, wrong, split
    return made.assign(label=table.get("Relation Name", made["relation"]))


def _choices(value: Any, obj: str, where: str) -> list[str]:
    """Return the wrong objects of a row; the true one, should it be among them, is dropped."""
    try:
        listed = ast.literal_eval(value) if isinstance(value, str) else list(value)
    except (ValueError, SyntaxError, TypeError):
        listed = None
    if not isinstance(listed, list) or not all(isinstance(text, str) for text in listed):
        raise UserError(
            f"{where} has Multiple Choices {str(value)[:40]!r}: write a list of texts, such as "
            "\"['Peru', 'Chad']\"."
        )
    return [text for text in dict.fromkeys(listed) if text != obj]
