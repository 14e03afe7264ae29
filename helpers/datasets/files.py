"""Text, CSV and JSON files as rows, with a sentence for what is not as expected."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from helpers import UserError, first_line

LARGEST = 2**30  # bytes of a text file
csv.field_size_limit(LARGEST)  # a cell may be a whole document


def read_text(path: Path) -> str:
    """Return a file as text, a byte order mark taken off; a `UserError` says why it cannot be."""
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"{path} cannot be read: it is no plain file; name one that is.")
        if path.stat().st_size > LARGEST:
            raise UserError(f"{path} is larger than {LARGEST >> 20} MB: divide it.")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text: save it in that encoding.") from None


def csv_rows(path: Path, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    """Read a CSV file with a header; line breaks inside quoted cells are kept."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""))
    header = next(reader, [])
    missing = [name for name in columns if name not in header]
    if missing:
        raise UserError(
            f"{path} lacks the column {', '.join(missing)}; it has "
            f"{', '.join(filter(None, header)) or 'none'}."
        )
    rows, where = [], f"{path}, line {reader.line_num + 1}"
    for cells in reader:
        if cells and len(cells) != len(header):
            raise UserError(
                f"{where} has {len(cells)} cells and the header {len(header)}: put a "
                "text that holds a comma in double quotes, and leave no cell out."
            )
        if cells:
            rows.append({**dict(zip(header, cells)), "where": where})
        where = f"{path}, line {reader.line_num + 1}"
    return rows


def json_lines(path: Path) -> list[dict[str, Any]]:
    """Read one JSON object a line, with its place under ``"where"``; refuse a line that is none."""
    found = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        value = parse_json(line, where)
        if not isinstance(value, dict):
            raise UserError(f"{where} is not a JSON object: write one object a line.")
        found.append({**value, "where": where})
    return found


def parse_json(text: str, where: Path | str) -> Any:
    """Return a JSON text as a value, or say where it is none."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"{where} is not JSON ({error.msg}, at character {error.pos}).") from None
    except (ValueError, RecursionError) as error:  # endless digits, a thousand brackets
        raise UserError(f"{where} cannot be read as JSON ({first_line(error)}).") from None


def need(row: dict[str, Any], keys: tuple[str, ...], where: str) -> None:
    """Refuse a record that lacks a key."""
    missing = [key for key in keys if key not in row]
    if missing:
        raise UserError(f"{where} lacks {', '.join(missing)}.")
