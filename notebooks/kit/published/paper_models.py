"""The models of the four papers side by side: who they are, and what each paper printed of them.

``models.csv`` names each; ``matches.csv`` says which name means it, how surely
(``CERTAINTIES``) and why; ``measures.csv`` where which measure is printed.
"""

from collections.abc import Collection
from functools import cache

import numpy as np
import pandas as pd

from helpers import UserError
from notebooks.kit.published import FOLDER, load, load_tidy

PAPERS = ("MONITOR", "knowledge bases", "IC-LKE", "multiplicity")
CERTAINTIES = ("same weights", "probably", "same family")  # the surest first


def models() -> pd.DataFrame:
    """Return the models of the four papers, by name, with ``family, billion, kind, released``."""
    return pd.read_csv(FOLDER / "models.csv", index_col="model")


def matches(least: str = CERTAINTIES[-1]) -> pd.DataFrame:
    """Return which name in which paper means which model, at least how surely, and why."""
    if least not in CERTAINTIES:
        raise UserError(
            f'"{least}" is no certainty: choose from {", ".join(CERTAINTIES)}.'
        )
    found = pd.read_csv(FOLDER / "matches.csv", dtype=str)
    sure = CERTAINTIES[: CERTAINTIES.index(least) + 1]
    return found[found["certainty"].isin(sure)].reset_index(drop=True)


def doubtful() -> pd.DataFrame:
    """Return the matches that may be of other weights, as :func:`matches` does."""
    found = matches()
    return found[found["certainty"] != CERTAINTIES[0]].reset_index(drop=True)


def measures() -> pd.DataFrame:
    """Return a model's printed measures by name, ``better`` (1, -1, 0) and ``source``."""
    table = pd.read_csv(FOLDER / "measures.csv", index_col="measure")
    sources = {name: load_tidy(name)["source"].iloc[0] for name in set(table["table"])}
    table["source"] = table["table"].map(sources)
    return table[["paper", "source", "better"]]


def joined(
    least: str = "probably", without: Collection[tuple[str, str]] = ()
) -> pd.DataFrame:
    """Put what the four papers print of each model side by side."""
    found = matches(least)
    left_out = pd.MultiIndex.from_frame(found[["model", "paper"]]).isin(list(without))
    found, table = found[~left_out], models()
    for row in pd.read_csv(FOLDER / "measures.csv").itertuples():
        names = found[found["paper"] == row.paper].set_index("model")["name"]
        values = _printed()[row.table][row.column] / row.divisor
        table = table.join(
            values.reindex(names).set_axis(names.index).rename(row.measure)
        )
    return table.dropna(how="all", subset=list(measures().index))


def shared(least: str = "probably") -> pd.DataFrame:
    """Count the models that two papers share; on the diagonal, all that a paper prints."""
    found = matches(least)
    there = pd.crosstab(found["model"], found["paper"])[list(PAPERS)].clip(upper=1)
    counts = (there.T @ there).rename_axis(index="paper", columns=None)
    printed = found.groupby("paper")[
        "name"
    ].nunique()  # a name with two models counts once
    return counts.where(~np.eye(len(PAPERS), dtype=bool), printed, axis=0)


def relations() -> pd.DataFrame:
    """Put MONITOR (Table 10) and the average IC-LKE accuracy of relations beside each other."""
    printed, words = load("monitor_table10"), load("monitor_table9")["label"]
    found = (
        matches(CERTAINTIES[0]).query("paper == 'MONITOR'").set_index("name")["model"]
    )
    table = printed.rename(columns=found).set_axis(words[printed.index], axis=0)
    accuracy = load("lke_table8")["accuracy"].rename("IC-LKE accuracy")
    return table.join(accuracy).rename_axis("relation")


@cache
def _printed() -> dict[str, pd.DataFrame]:
    """Return the tables that print the measures."""
    names = pd.read_csv(FOLDER / "measures.csv")["table"].unique()
    return {name: load(name) for name in names}
