"""Result tables: one look in the page, and the same as CSV, Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from pandas.api.types import is_numeric_dtype
from pandas.io.formats.style import Styler

from helpers import reraise_failed_write, stats
from helpers.stats.results import interval
from notebooks.kit.plots import latex
from notebooks.kit.plots.style import OTHER_QUESTIONS

if TYPE_CHECKING:
    from IPython.display import HTML

# A signed number with or without bounds, as `interval` writes it.
NUMBER_PATTERN = re.compile(r"[+-][\d.]+( \[[-+\d., ]+\])?")
TOO_FEW_MODELS = "fewer than six models"  # stats.FEWEST_MODELS


def wide_interval_table(
    intervals: pd.DataFrame,
    titles: Mapping[str, str],
    percent: Collection[str] = (),
    digits: int = 3,
    by: str = "relation",
) -> pd.DataFrame:
    """Lay out a tidy table of intervals: one row a group, one column a measure.

    >>> tidy = pd.DataFrame({"relation": ["P17"], "measure": ["acc"],
    ...                      "estimate": [0.5], "low": [0.1], "high": [0.9]})
    >>> wide = wide_interval_table(tidy, {"acc": "accuracy, %"}, percent=["acc"])
    >>> wide.loc["P17"].tolist()
    ['50.0 [10.0, 90.0]']
    """
    groups = sorted(intervals[by].unique(), key=_is_total)
    wide = pd.DataFrame(index=pd.Index(groups, name=by))
    for measure, title in titles.items():
        rows = intervals[intervals["measure"] == measure]
        cells = []
        for row in rows.itertuples():
            if measure in percent:
                cell = interval(row.estimate, row.low, row.high, digits=1, scale=100)
            else:
                cell = interval(row.estimate, row.low, row.high, digits=digits)
            cells.append(cell)
        wide[title] = pd.Series(cells, index=rows[by].to_numpy(), dtype=object)
    return wide


def _is_total(group: object) -> bool:
    return group in ("all", "mean")


def correlation_text(correlation: stats.Correlation, digits: int = 3) -> str:
    """Write a correlation over models with its interval, or that models are too few.

    >>> correlation_text(stats.Correlation(-0.85, -0.96, -0.53, 0.001, 12), digits=2)
    '-0.85 [-0.96, -0.53]'
    >>> correlation_text(stats.correlation([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]))
    'fewer than six models'
    """
    if correlation.n < stats.FEWEST_MODELS:
        return TOO_FEW_MODELS
    return interval(correlation.r, correlation.low, correlation.high, digits)


def our_row_above_published_table(
    ours: Mapping[str, object],
    paper: pd.DataFrame,
    name: str,
    digits: int = 3,
    other_questions: bool = False,
) -> pd.DataFrame:
    """Put our row above a published table.

    >>> paper = pd.DataFrame({"avg": [38.194], "max": [59.7]}, index=["Vicuna-7b"])
    >>> table = our_row_above_published_table({"avg": 12.5}, paper, "atlas-s", digits=1)
    >>> table["avg"].to_dict()
    {'atlas-s': '12.5', 'Vicuna-7b': '38.2'}
    """

    def as_text(value: object) -> str:
        return value if isinstance(value, str) else interval(value, digits=digits)

    columns = [column for column in paper.columns if column in ours]
    if other_questions:
        name += f" ({OTHER_QUESTIONS})"
    our_row = pd.DataFrame(dict(ours), index=[name])[columns]
    return pd.concat([our_row, paper[columns]]).map(as_text).rename_axis("model")


def export_table(table: pd.DataFrame, name: str, folder: str | Path) -> list[Path]:
    """Write a table as CSV, Markdown and LaTeX (booktabs)."""
    flat = _with_index_as_columns(table)
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
    cells = table.map(_markdown_cell)
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


def _csv_cell(value: object) -> object:
    """Keep a text from being a spreadsheet's formula, and in one row."""
    if not isinstance(value, str):
        return value
    # A bare carriage return would divide a row, unquoted.
    text = value.replace("\r\n", "\n").replace("\r", "\n")
    may_be_formula = text.startswith(("=", "+", "-", "@", "\t", "\n"))
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


def show_table(
    table: pd.DataFrame,
    name: str,
    folder: str | Path,
    caption: str,
    digits: int = 3,
    *,
    sortable: bool = False,
    intervals: str = "",
) -> Styler:
    """Export a table and return it styled for the page."""
    export_table(table, name, folder)
    caption = " ".join(filter(None, [caption, intervals]))
    return styled_table(table, name, caption, digits, sortable)


def styled_table(
    table: pd.DataFrame,
    name: str,
    caption: str,
    digits: int = 3,
    sortable: bool = False,
) -> Styler:
    """Return a table styled as :func:`show_table` does, which alone exports it."""
    flat = _with_index_as_columns(table)
    index_names = [name for name in table.index.names if name is not None]
    alignments = []
    for number, dtype in enumerate(flat.dtypes):
        side = "right" if is_numeric_dtype(dtype) else "left"
        alignment = {"selector": f".col{number}", "props": f"text-align: {side}"}
        alignments.append(alignment)
    css_class = "dataframe sortable" if sortable else "dataframe"

    style = flat.style.format(escape="html", precision=digits, na_rep="–")
    style = style.hide(axis="index").format_index(escape="html", axis="columns")
    style = style.set_caption(escape(caption))
    style = style.set_properties(subset=index_names, **{"font-weight": "bold"})
    style = style.set_table_styles(alignments)
    style = style.set_table_attributes(f'class="{css_class}"')
    return style.set_uuid(name.replace("_", "-"))


def folded_tables(*tables: Styler, summary: str = "") -> HTML:
    """Put tables behind a fold, with their captions or a summary on it.

    >>> table = styled_table(pd.DataFrame({"n": [1]}), "n", caption="Counts <of>.")
    >>> folded_tables(table, summary="All <tables>").data[:61]
    '<details class="tables"><summary>All &lt;tables&gt;</summary>'
    """
    from IPython.display import HTML

    title = escape(summary) or tables[0].caption
    inside = "".join(table.to_html() for table in tables)
    return HTML(f'<details class="tables"><summary>{title}</summary>{inside}</details>')


def _with_index_as_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Turn a named index into columns and drop another; lists become their text."""
    is_named = any(name is not None for name in table.index.names)
    return table.reset_index(drop=not is_named).map(_scalar_or_text)


def _scalar_or_text(value: object) -> object:
    return value if pd.api.types.is_scalar(value) else str(value)
