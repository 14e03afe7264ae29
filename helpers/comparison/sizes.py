"""Models by size, and which of them may be paired: the next larger, the tuned one and its base."""

import re
from collections.abc import Mapping
from itertools import pairwise

import pandas as pd

from helpers import published
from helpers.published import knowledge_base as kb

FORMAT = re.compile(r"\s\((?:qa|shots)\)$")  # of prompts, as labels name it; a chat is tuned
TUNED = re.compile(r"[-_](?:chat|instruct|it|sft|rlhf|dpo)\b|\s\(chat\)$", flags=re.IGNORECASE)


def printed(measure: str, relation: str = "all") -> pd.DataFrame:
    """Return what the papers print of a measure, by size.

    Parameters
    ----------
    measure : str
        ``MONITOR`` (Wang et al. 2024, Tables 2, 4 and 10: its BLOOMZ and Vicuna series, as in
        Figures 7 and 8), ``right`` (Wu et al. 2025, Table 1: two models of each family), or a
        measure of Zheng et al. 2024 (families of two sizes or more, four-shot).
    relation : str
        Of MONITOR: a relation of Table 10, or ``"all"``.

    Returns
    -------
    DataFrame
        ``series, parameters, estimate``; shares, not percentages. Empty where nothing is printed.

    Examples
    --------
    >>> printed("MONITOR").head(2)["estimate"].tolist(), len(printed("MONITOR", "P9999"))
    ([0.701, 0.692], 0)
    """
    columns = ["series", "parameters", "estimate"]
    if measure == "MONITOR":
        size = 1e9 * published.load("monitor_table2")["size_billion"]
        table = published.load("monitor_table10").T
        table["all"] = published.load("monitor_table4")["MONITOR"]
        series = size.index.str.extract("(BLOOMZ|Vicuna)", expand=False)
        rows = {"series": series, "parameters": size, "estimate": table.get(relation)}
        return pd.DataFrame(rows, size.index).dropna()[columns].reset_index(drop=True)
    if measure == "right":
        table = published.load("lke_table1").rename_axis("series").reset_index()
        ends = [
            table[["series", end, f"{end} accuracy"]].set_axis(columns, axis=1)
            for end in ("smallest", "largest")
        ]
        return pd.concat(ends).assign(
            parameters=lambda rows: rows["parameters"].map(published.parameters)
        )
    table = kb.models("four-shot")
    if measure not in table:
        return pd.DataFrame(columns=columns)
    rows = table.assign(parameters=1e9 * table["billion"], estimate=table[measure])
    rows = rows.rename(columns={"family": "series"})[columns].dropna()
    return rows[rows.groupby("series")["parameters"].transform("nunique") > 1].reset_index(
        drop=True
    )


def pairs(sizes: Mapping[str, float | None]) -> dict[str, list[tuple[str, str]]]:
    """Return which models may be paired, like with like.

    Parameters
    ----------
    sizes : mapping
        Label to number of parameters, None where it is not known.

    Returns
    -------
    dict
        ``larger``: each untuned model with the next larger one asked in the same format;
        ``tuned``: a model and the one whose name is that of the first and a word such as ``-chat``
        or ``-Instruct`` (or the same model asked in its chat template). The second of a pair comes
        first, as in "larger minus smaller".

    Examples
    --------
    >>> pairs({"m-1b": 1e9, "m-7b": 7e9, "m-7b-chat": 7e9})
    {'larger': [('m-7b', 'm-1b')], 'tuned': [('m-7b-chat', 'm-7b')]}
    """
    base = {name: TUNED.sub("", name) for name in sizes}
    known = {name: size for name, size in sizes.items() if size and base[name] == name}
    order = sorted(known, key=lambda name: (FORMAT.findall(name), known[name], name))
    steps = [
        (b, a)
        for a, b in pairwise(order)
        if known[b] > known[a] and FORMAT.findall(a) == FORMAT.findall(b)
    ]
    tuned = [(name, first) for name, first in base.items() if first != name and first in sizes]
    return {"larger": steps, "tuned": tuned}


def beside(
    standings: pd.DataFrame, sizes: Mapping[str, float | None], measure: str
) -> pd.DataFrame:
    """Put our models' figures in the shape of :func:`printed`, to be drawn with it.

    Parameters
    ----------
    standings : DataFrame
        As :func:`helpers.comparison.board.standings` returns it.
    sizes : mapping
        As for :func:`pairs`; models of unknown size are left out.
    measure : str
        Name of the measure.

    Returns
    -------
    DataFrame
        ``series, parameters, estimate, low, high``; tuned models are a series of their own.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["a"], "measure": ["right"], "estimate": [0.5],
    ...                      "low": [0.4], "high": [0.6]})
    >>> beside(rows, {"a": 1e6}, "right").values.tolist()
    [['here', 1000000.0, 0.5, 0.4, 0.6]]
    """
    rows = standings[standings["measure"] == measure]
    rows = rows.assign(parameters=rows["model"].map(dict(sizes)))
    tuned = rows["model"].str.contains(TUNED)
    rows["series"] = tuned.map({True: "here, tuned", False: "here"})
    columns = ["series", "parameters", "estimate", "low", "high"]
    return rows[columns].dropna(subset=["parameters", "estimate"]).reset_index(drop=True)
