"""Result tables: one look in the page, and the same as CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from pandas.api.types import is_numeric_dtype
from pandas.io.formats.style import Styler

from helpers import stats
from helpers.io.exported_tables import export_table, table_with_index_as_columns
from helpers.stats.results import interval
from notebooks.kit.plots.style import OTHER_QUESTIONS

if TYPE_CHECKING:
    from IPython.display import HTML

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
    flat = table_with_index_as_columns(table)
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
