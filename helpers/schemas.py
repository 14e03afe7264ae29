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

FITS: dict[str, Callable[[pd.Series], bool]] = {
    "text": lambda values: (
        types.is_object_dtype(values) or types.is_string_dtype(values)
    ),
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

    >>> [each.column for each in columns_of("summary")]
    ['relation', 'measure', 'estimate', 'low', 'high', 'n']
    """
    stages = ("probes", "answers") if stage == "answers" else (stage,)
    found = []
    for each in COLUMNS:
        if each.stage in stages and each.study in ("", study):
            found.append(each)
    return found


def checked(table: pd.DataFrame, stage: str, study: str = "") -> pd.DataFrame:
    """Return a table of a stage, or refuse one without its columns or with other types.

    A column of which every value is missing fits any type.
    """
    columns = columns_of(stage, study)
    check_columns(table, (each.column for each in columns if each.needed), stage)
    for each in columns:
        if each.column not in table or FITS[each.type](table[each.column]):
            continue
        if table[each.column].notna().any():
            raise UserError(
                f"The column {each.column} of the {stage} holds "
                f"{table[each.column].dtype}: give {each.type} ({each.meaning})."
            )
    return table


def _read(path: Path) -> tuple[Column, ...]:
    """Return the rows of the table of columns."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(Column(**row) for row in csv.DictReader(file))


COLUMNS = _read(Path(__file__).with_suffix(".csv"))
