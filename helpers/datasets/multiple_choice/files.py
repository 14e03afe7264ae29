"""CSV and JSON files as rows, with messages for what is not as expected."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from helpers.datasets.multiple_choice.benchmark import read_text
from helpers.errors import UserError


def csv_rows(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    """Read a CSV file with a header; line breaks inside quoted cells are kept.

    Cells that a short row lacks are empty.

    Parameters
    ----------
    path : Path
    columns : tuple of str
        Columns that must be there.

    Raises
    ------
    UserError
        If the file cannot be read or lacks a column.
    """
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""), restval="")
    missing = [name for name in columns if name not in (reader.fieldnames or ())]
    if missing:
        raise UserError(
            f"{path} lacks the column {', '.join(missing)}; it has "
            f"{', '.join(filter(None, reader.fieldnames or ())) or 'none'}."
        )
    return list(reader)


def json_lines(path: Path) -> list[dict[str, Any]]:
    """Read one JSON object a line; a `UserError` names the line that is none."""
    found = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise UserError(f"{path}, line {number} is not JSON ({error.msg}).") from None
        if not isinstance(value, dict):
            raise UserError(f"{path}, line {number} is not a JSON object.")
        found.append(value)
    return found


def need(row: dict[str, Any], keys: tuple[str, ...], where: str) -> None:
    """Refuse a record that lacks a key."""
    missing = [key for key in keys if key not in row]
    if missing:
        raise UserError(f"{where} lacks {', '.join(missing)}.")
