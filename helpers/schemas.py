"""The columns of each stage, probes, answers, facts and summary: told once, in a table.

``schemas.csv`` holds one row a column; the page on the architecture shows it. Tables
may have further columns.
"""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from pandas.api import types

from helpers import UserError, check_columns


def _is_text(values: pd.Series) -> bool:
    """Return whether a column holds texts, of either type that pandas has for them."""
    return types.is_object_dtype(values) or types.is_string_dtype(values)


FITS: dict[str, Callable[[pd.Series], bool]] = {
    "text": _is_text,
    "list": types.is_object_dtype,
    "integer": types.is_integer_dtype,
    "number": types.is_numeric_dtype,
    "yes or no": types.is_bool_dtype,
}


class Column(NamedTuple):
    """A column of a stage; without a study it is in the tables of all."""

    stage: str
    study: str
    column: str
    type: str
    unit: str
    needed: str
    meaning: str


def columns_of(stage: str, study: str = "") -> list[Column]:
    """Return the columns of a stage; answers have those of their probes, too.

    >>> [column.column for column in columns_of("summary")]
    ['relation', 'measure', 'estimate', 'low', 'high', 'n', 'unanswered']
    """
    stages = ("probes", "answers") if stage == "answers" else (stage,)
    columns = []
    for column in COLUMNS:
        if column.stage in stages and column.study in ("", study):
            columns.append(column)
    return columns


def table_with_checked_columns(
    table: pd.DataFrame, stage: str, study: str = ""
) -> pd.DataFrame:
    """Return a table of a stage, or refuse one without its columns or of other types.

    A column of which every value is missing fits any type.
    """
    columns = columns_of(stage, study)
    needed = [column.column for column in columns if column.needed]
    check_columns(table, needed, stage)
    for column in columns:
        if column.column not in table:
            continue
        values = table[column.column]
        if not FITS[column.type](values) and values.notna().any():
            raise UserError(
                f"The column {column.column} of the {stage} holds "
                f"{values.dtype}: give {column.type} ({column.meaning})."
            )
    return table


def _columns_of_file(path: Path) -> tuple[Column, ...]:
    """Return the rows of the table of columns."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(Column(**row) for row in csv.DictReader(file))


COLUMNS = _columns_of_file(Path(__file__).with_suffix(".csv"))
