"""The models of the four papers side by side: who they are, and what each paper printed of them.

``models.csv`` names each; ``matches.csv`` says which name means it, how surely
(``MATCH_CERTAINTIES``) and why; ``measures.csv`` where which measure is printed.
"""

from collections.abc import Collection
from functools import cache

import numpy as np
import pandas as pd

from helpers import UserError
from notebooks.kit.published import TABLES_FOLDER, load_published_table, load_tidy_table

PAPERS = ("MONITOR", "knowledge bases", "IC-LKE", "multiplicity")
MATCH_CERTAINTIES = ("same weights", "probably", "same family")  # the surest first


def published_models() -> pd.DataFrame:
    """Return the models of the four papers, by name, with ``family, billion, kind, released``."""
    return pd.read_csv(TABLES_FOLDER / "models.csv", index_col="model")


def model_matches(least: str = MATCH_CERTAINTIES[-1]) -> pd.DataFrame:
    """Return which name in which paper means which model, at least how surely, and why."""
    if least not in MATCH_CERTAINTIES:
        raise UserError(
            f'"{least}" is no certainty: choose from {", ".join(MATCH_CERTAINTIES)}.'
        )
    found = pd.read_csv(TABLES_FOLDER / "matches.csv", dtype=str)
    sure = MATCH_CERTAINTIES[: MATCH_CERTAINTIES.index(least) + 1]
    return found[found["certainty"].isin(sure)].reset_index(drop=True)


def doubtful_model_matches() -> pd.DataFrame:
    """Return the matches that may be of other weights, as :func:`model_matches` does."""
    found = model_matches()
    return found[found["certainty"] != MATCH_CERTAINTIES[0]].reset_index(drop=True)


def published_measures() -> pd.DataFrame:
    """Return a model's printed measures by name, ``better`` (1, -1, 0) and ``source``."""
    table = pd.read_csv(TABLES_FOLDER / "measures.csv", index_col="measure")
    sources = {
        name: load_tidy_table(name)["source"].iloc[0] for name in set(table["table"])
    }
    table["source"] = table["table"].map(sources)
    return table[["paper", "source", "better"]]


def measures_of_all_papers(
    least: str = "probably", without: Collection[tuple[str, str]] = ()
) -> pd.DataFrame:
    """Put what the four papers print of each model side by side."""
    found = model_matches(least)
    left_out = pd.MultiIndex.from_frame(found[["model", "paper"]]).isin(list(without))
    found, table = found[~left_out], published_models()
    for row in pd.read_csv(TABLES_FOLDER / "measures.csv").itertuples():
        names = found[found["paper"] == row.paper].set_index("model")["name"]
        values = _printed()[row.table][row.column] / row.divisor
        table = table.join(
            values.reindex(names).set_axis(names.index).rename(row.measure)
        )
    return table.dropna(how="all", subset=list(published_measures().index))


def counts_of_shared_models(least: str = "probably") -> pd.DataFrame:
    """Count the models that two papers share; on the diagonal, all that a paper prints."""
    found = model_matches(least)
    there = pd.crosstab(found["model"], found["paper"])[list(PAPERS)].clip(upper=1)
    counts = (there.T @ there).rename_axis(index="paper", columns=None)
    printed = found.groupby("paper")[
        "name"
    ].nunique()  # a name with two models counts once
    return counts.where(~np.eye(len(PAPERS), dtype=bool), printed, axis=0)


def monitor_and_ic_lke_by_relation() -> pd.DataFrame:
    """Put MONITOR (Table 10) and the average IC-LKE accuracy of relations beside each other."""
    printed, words = (
        load_published_table("monitor_table10"),
        load_published_table("monitor_table9")["label"],
    )
    found = (
        model_matches(MATCH_CERTAINTIES[0])
        .query("paper == 'MONITOR'")
        .set_index("name")["model"]
    )
    table = printed.rename(columns=found).set_axis(words[printed.index], axis=0)
    accuracy = load_published_table("lke_table8")["accuracy"].rename("IC-LKE accuracy")
    return table.join(accuracy).rename_axis("relation")


@cache
def _printed() -> dict[str, pd.DataFrame]:
    """Return the tables that print the measures."""
    names = pd.read_csv(TABLES_FOLDER / "measures.csv")["table"].unique()
    return {name: load_published_table(name) for name in names}
