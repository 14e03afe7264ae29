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

    >>> printed("MONITOR").head(2)["estimate"].round(3).tolist()
    [0.736, 0.727]
    >>> len(printed("MONITOR", "P9999"))
    0
    """
    rows = _printed(measure, relation)
    return rows.assign(questions="paper")


def _printed(measure: str, relation: str) -> pd.DataFrame:
    columns = ["series", "parameters", "estimate"]
    if measure == "MONITOR":
        size = 1e9 * published.load("monitor_table2")["size_billion"]
        table = published.load("monitor_table10").T
        table["all"] = table.mean(axis=1)  # as our mean; Table 4 divides by one relation more
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
    standings: pd.DataFrame,
    sizes: Mapping[str, float | None],
    measure: str,
    reasons: Mapping[str, str],
) -> pd.DataFrame:
    """Put our models' figures in the shape of :func:`printed`, to be drawn with it.

    `reasons` says in what each run differs from the paper's (`beside.why`).

    >>> rows = pd.DataFrame({"model": ["a"], "measure": ["right"], "estimate": [0.5],
    ...                      "low": [0.4], "high": [0.6]})
    >>> beside(rows, {"a": 1e6}, "right", {"a": "other facts"}).values.tolist()
    [['here', 1000000.0, 0.5, 0.4, 0.6, 'other']]
    """
    rows = standings[standings["measure"] == measure]
    rows = rows.assign(parameters=rows["model"].map(dict(sizes)))
    tuned = rows["model"].str.contains(TUNED)
    rows["series"] = tuned.map({True: "here, tuned", False: "here"})
    rows["questions"] = rows["model"].map(lambda name: "other" if reasons[name] else "same")
    columns = ["series", "parameters", "estimate", "low", "high", "questions"]
    return rows[columns].dropna(subset=["parameters", "estimate"]).reset_index(drop=True)
