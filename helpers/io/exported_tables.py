"""Tables as files to paste: CSV, Markdown and LaTeX."""

import re
import unicodedata
from html import escape
from pathlib import Path

import pandas as pd

from helpers import reraise_failed_write, without_escape_sequences
from helpers.io import latex

FORMULA_SIGNS = frozenset("=+-@\t\n")
CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
# A signed number with or without bounds, as `interval` writes it.
NUMBER_PATTERN = re.compile(r"[+-][\d.]+( \[[-+\d., ]+\])?")


def export_table(table: pd.DataFrame, name: str, folder: str | Path) -> list[Path]:
    """Write a table as CSV, Markdown and LaTeX (booktabs)."""
    flat = table_with_index_as_columns(table)
    flat = flat.rename(columns=_without_commands).map(_without_commands)
    texts = {"csv": _as_csv(flat), "md": _as_markdown(flat), "tex": _as_latex(flat)}
    paths = {ending: Path(folder) / f"{name}.{ending}" for ending in texts}
    remedy = "choose a folder that you may write to, with free space"
    with reraise_failed_write(paths["csv"], remedy):
        Path(folder).mkdir(parents=True, exist_ok=True)
        for ending, text in texts.items():
            paths[ending].write_text(text, encoding="utf-8")
    return list(paths.values())


def _as_csv(table: pd.DataFrame) -> str:
    return table.rename(columns=_csv_cell).map(_csv_cell).to_csv(index=False)


def _as_markdown(table: pd.DataFrame) -> str:
    cells = table.rename(columns=_markdown_cell).map(_markdown_cell)
    text = cells.to_markdown(index=False, floatfmt=".4g", disable_numparse=True)
    return text + "\n"


def _as_latex(table: pd.DataFrame) -> str:
    style = table.map(_latex_cell).style.format(precision=3, na_rep="")
    style = style.hide(axis="index").format_index(_latex_title, axis="columns")
    return style.to_latex(hrules=True)


def _latex_cell(value: object) -> object:
    return latex.escape_latex(value) if isinstance(value, str) else value


def _latex_title(name: object) -> str:
    return latex.escape_latex(str(name))


def _without_commands(value: object) -> object:
    """Leave out of a text what a terminal would take for a command."""
    if not isinstance(value, str):
        return value
    return CONTROL_CHARACTERS.sub("", without_escape_sequences(value))


def _csv_cell(value: object) -> object:
    """Keep a text from being a spreadsheet's formula, and in one row."""
    if not isinstance(value, str):
        return value
    # A bare carriage return would divide a row, unquoted.
    text = value.replace("\r\n", "\n").replace("\r", "\n")
    # Some spreadsheets take the full-width signs for these.
    first = unicodedata.normalize("NFKC", text[:1])
    may_be_formula = first in FORMULA_SIGNS
    if may_be_formula and not NUMBER_PATTERN.fullmatch(text):
        return f"'{text}"
    return text


def _markdown_cell(value: object) -> object:
    if isinstance(value, str):
        text = escape(" ".join(value.split()), quote=False)
        # A bare pipe would end the cell.
        return re.sub(r"([`|$]|(?<=])\()", r"\\\1", text)
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return value


def table_with_index_as_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Turn a named index into columns and drop another; lists become their text."""
    is_named = any(name is not None for name in table.index.names)
    return table.reset_index(drop=not is_named).map(_scalar_or_text)


def _scalar_or_text(value: object) -> object:
    return value if pd.api.types.is_scalar(value) else str(value)
