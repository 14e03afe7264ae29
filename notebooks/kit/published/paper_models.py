"""The models of the four papers: who they are, and what is printed of them.

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
    """Return the models of the four papers: ``family, billion, kind, released``."""
    return pd.read_csv(TABLES_FOLDER / "models.csv", index_col="model")


def model_matches(least: str = MATCH_CERTAINTIES[-1]) -> pd.DataFrame:
    """Return which name means which model in a paper, at least how surely, and why."""
    if least not in MATCH_CERTAINTIES:
        raise UserError(
            f'"{least}" is no certainty: choose from {", ".join(MATCH_CERTAINTIES)}.'
        )
    matches = pd.read_csv(TABLES_FOLDER / "matches.csv", dtype=str)
    sure_enough = MATCH_CERTAINTIES[: MATCH_CERTAINTIES.index(least) + 1]
    return matches[matches["certainty"].isin(sure_enough)].reset_index(drop=True)


def doubtful_model_matches() -> pd.DataFrame:
    """Return the rows of :func:`model_matches` that may mean other weights."""
    matches = model_matches()
    doubtful = matches["certainty"] != MATCH_CERTAINTIES[0]
    return matches[doubtful].reset_index(drop=True)


def published_measures() -> pd.DataFrame:
    """Return the printed measures by name: ``paper, source, better`` (1, -1, 0)."""
    measures = pd.read_csv(TABLES_FOLDER / "measures.csv", index_col="measure")
    sources = {}
    for name in measures["table"].unique():
        sources[name] = load_tidy_table(name)["source"].iloc[0]
    measures["source"] = measures["table"].map(sources)
    return measures[["paper", "source", "better"]]


def measures_of_all_papers(
    least: str = "probably", without: Collection[tuple[str, str]] = ()
) -> pd.DataFrame:
    """Put what the four papers print of each model side by side."""
    matches = model_matches(least)
    pairs = pd.MultiIndex.from_frame(matches[["model", "paper"]])
    matches = matches[~pairs.isin(list(without))]
    table = published_models()
    for row in pd.read_csv(TABLES_FOLDER / "measures.csv").itertuples():
        names = matches[matches["paper"] == row.paper].set_index("model")["name"]
        values = _tables_with_measures()[row.table][row.column] / row.divisor
        by_model = values.reindex(names).set_axis(names.index)
        table = table.join(by_model.rename(row.measure))
    return table.dropna(how="all", subset=list(published_measures().index))


def counts_of_shared_models(least: str = "probably") -> pd.DataFrame:
    """Count the models that two papers share; on the diagonal, all of a paper."""
    matches = model_matches(least)
    printed = pd.crosstab(matches["model"], matches["paper"])[list(PAPERS)]
    printed = printed.clip(upper=1)
    counts = (printed.T @ printed).rename_axis(index="paper", columns=None)
    # On the diagonal a name that may mean two models counts once.
    names_per_paper = matches.groupby("paper")["name"].nunique()
    is_diagonal = np.eye(len(PAPERS), dtype=bool)
    return counts.where(~is_diagonal, names_per_paper, axis=0)


def monitor_and_ic_lke_by_relation() -> pd.DataFrame:
    """Put MONITOR (Table 10) and the average IC-LKE accuracy of relations together."""
    table = load_published_table("monitor_table10")
    labels = load_published_table("monitor_table9")["label"]
    matches = model_matches(MATCH_CERTAINTIES[0]).query("paper == 'MONITOR'")
    model_names = matches.set_index("name")["model"]
    table = table.rename(columns=model_names).set_axis(labels[table.index], axis=0)
    accuracy = load_published_table("lke_table8")["accuracy"].rename("IC-LKE accuracy")
    return table.join(accuracy).rename_axis("relation")


@cache
def _tables_with_measures() -> dict[str, pd.DataFrame]:
    """Return the tables that print the measures."""
    names = pd.read_csv(TABLES_FOLDER / "measures.csv")["table"].unique()
    return {name: load_published_table(name) for name in names}
