"""Result tables: one look in the page, and the same table as CSV, Markdown and LaTeX."""

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

NUMBER_PATTERN = re.compile(
    r"[+-][\d.]+( \[[-+\d., ]+\])?"
)  # as `interval` writes them
TOO_FEW_MODELS = "fewer than six models"  # stats.FEWEST_MODELS


def wide_interval_table(
    intervals: pd.DataFrame,
    titles: Mapping[str, str],
    percent: Collection[str] = (),
    digits: int = 3,
    by: str = "relation",
) -> pd.DataFrame:
    """Lay out a tidy table of intervals for reading: one row a group, one column a measure.

    >>> tidy = pd.DataFrame({"relation": ["P17"], "measure": ["acc"], "estimate": [0.5],
    ...                      "low": [0.1], "high": [0.9]})
    >>> wide_interval_table(tidy, {"acc": "accuracy, %"}, percent=["acc"]).loc["P17"].tolist()
    ['50.0 [10.0, 90.0]']
    """
    groups = sorted(intervals[by].unique(), key=lambda group: group in ("all", "mean"))
    result = pd.DataFrame(index=pd.Index(groups, name=by))
    for measure, title in titles.items():
        rows = intervals[intervals["measure"] == measure]
        form = {"digits": 1, "scale": 100} if measure in percent else {"digits": digits}
        triples = zip(rows["estimate"], rows["low"], rows["high"])
        cells = [interval(*triple, **form) for triple in triples]
        result[title] = pd.Series(cells, index=rows[by].to_numpy(), dtype=object)
    return result


def correlation_text(found: stats.Correlation, digits: int = 3) -> str:
    """Write a correlation over models with its interval, or that there are too few of them.

    >>> correlation_text(stats.Correlation(-0.85, -0.96, -0.53, 0.001, 12), digits=2)
    '-0.85 [-0.96, -0.53]'
    >>> correlation_text(stats.correlation([1, 2, 3, 4, 5], [2, 1, 4, 3, 5]))
    'fewer than six models'
    """
    few = found.n < stats.FEWEST_MODELS
    return TOO_FEW_MODELS if few else interval(found.r, found.low, found.high, digits)


def our_row_above_published_table(
    ours: Mapping[str, object],
    paper: pd.DataFrame,
    name: str,
    digits: int = 3,
    other_questions: bool = False,
) -> pd.DataFrame:
    """Put our row above a published table.

    >>> paper = pd.DataFrame({"avg": [38.194], "max": [59.7]}, index=["Vicuna-7b"])
    >>> our_row_above_published_table({"avg": 12.5}, paper, "atlas-s", digits=1)["avg"].to_dict()
    {'atlas-s': '12.5', 'Vicuna-7b': '38.2'}
    """
    columns = [column for column in paper.columns if column in ours]
    name += f" ({OTHER_QUESTIONS})" * other_questions
    both = pd.concat([pd.DataFrame(dict(ours), index=[name])[columns], paper[columns]])
    texts = both.map(
        lambda each: each if isinstance(each, str) else interval(each, digits=digits)
    )
    return texts.rename_axis("model")


def export_table(table: pd.DataFrame, name: str, folder: str | Path) -> list[Path]:
    """Write a table as CSV, Markdown and LaTeX (booktabs)."""
    flat = _flat(table)
    cells = flat.map(_markdown_cell)
    written = flat.map(
        lambda value: latex.escape_latex(value) if isinstance(value, str) else value
    )
    style = written.style.format(precision=3, na_rep="").hide(axis="index")
    style = style.format_index(
        lambda name: latex.escape_latex(str(name)), axis="columns"
    )
    texts = {
        "csv": flat.rename(columns=_csv_cell).map(_csv_cell).to_csv(index=False),
        "md": cells.to_markdown(index=False, floatfmt=".4g", disable_numparse=True)
        + "\n",
        "tex": style.to_latex(hrules=True),
    }
    paths = [Path(folder) / f"{name}.{ending}" for ending in texts]
    with reraise_failed_write(
        paths[0], "choose a folder that you may write to, with free space"
    ):
        Path(folder).mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, texts.values()):
            path.write_text(text, encoding="utf-8")
    return paths


def _csv_cell(value: object) -> object:
    """Keep a text from being a spreadsheet's formula, and in one row."""
    if not isinstance(value, str):
        return value
    text = value.replace("\r\n", "\n").replace(
        "\r", "\n"
    )  # a bare one parts rows unquoted
    odd = text.startswith(
        ("=", "+", "-", "@", "\t", "\n")
    ) and not NUMBER_PATTERN.fullmatch(text)
    return f"'{text}" if odd else text


def _markdown_cell(value: object) -> object:
    if isinstance(value, str):
        text = escape(" ".join(value.split()), quote=False)
        return re.sub(
            r"([`|$]|(?<=])\()", r"\\\1", text
        )  # a bare pipe would end the cell
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    return f"{value:.4g}" if isinstance(value, float) else value


def show_table(
    table: pd.DataFrame,
    name: str,
    folder: str | Path,
    caption: str,
    digits: int = 3,
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
    flat, names = _flat(table), [name for name in table.index.names if name is not None]
    style = flat.style.format(escape="html", precision=digits, na_rep="–").hide(
        axis="index"
    )
    style = style.format_index(escape="html", axis="columns").set_caption(
        escape(caption)
    )
    style = style.set_properties(subset=names, **{"font-weight": "bold"})
    columns = []
    for place, kind in enumerate(flat.dtypes):
        side = "right" if is_numeric_dtype(kind) else "left"
        columns.append({"selector": f".col{place}", "props": f"text-align: {side}"})
    kind = "dataframe sortable" if sortable else "dataframe"
    style = style.set_table_styles(columns).set_table_attributes(f'class="{kind}"')
    return style.set_uuid(name.replace("_", "-"))


def folded_tables(*tables: Styler, summary: str = "") -> HTML:
    """Put tables behind a fold, with their captions or a summary on it.

    >>> import tempfile
    >>> table = show_table(pd.DataFrame({"n": [1]}), "n", tempfile.mkdtemp(), caption="Counts <of>.")
    >>> folded_tables(table, summary="All <tables>").data[:61]
    '<details class="tables"><summary>All &lt;tables&gt;</summary>'
    """
    from IPython.display import HTML

    title = escape(summary) or tables[0].caption
    inside = "".join(table.to_html() for table in tables)
    return HTML(f'<details class="tables"><summary>{title}</summary>{inside}</details>')


def _flat(table: pd.DataFrame) -> pd.DataFrame:
    """Turn a named index into columns and drop another; lists become their text."""
    named = any(name is not None for name in table.index.names)
    flat = table.reset_index(drop=not named)
    return flat.map(
        lambda value: value if pd.api.types.is_scalar(value) else str(value)
    )
