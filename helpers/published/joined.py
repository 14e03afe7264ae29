"""The models of the four papers side by side: who they are, and what each paper printed of them.

``models.csv`` names each model as people do; ``matches.csv`` says which name in which paper means
it, how surely (``CERTAINTIES``), and why. A name may match two models, but only one of them well.
"""

from collections.abc import Collection
from functools import cache

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.published import FOLDER, knowledge_base, load

PAPERS = ("MONITOR", "knowledge bases", "IC-LKE", "multiplicity")
CERTAINTIES = ("same weights", "probably", "same family")  # the surest first
BENCHMARKS = {
    "multiplicity_table1": ("TruthfulQA", "Wiki-FACTOR", "Med-HALT"),
    "multiplicity_table3": ("CommonsenseQA", "FEVER", "True-False"),
}


def models() -> pd.DataFrame:
    """Return the models of the four papers, by name.

    ``family`` (of the pretrained model it comes from), ``billion`` (all parameters as the name
    says; not a number where unknown), ``kind`` ("base" or "tuned"), ``released`` (year).
    """
    return pd.read_csv(FOLDER / "models.csv", index_col="model")


def matches(least: str = CERTAINTIES[-1]) -> pd.DataFrame:
    """Return which name in which paper means which model, at least how surely, and why.

    ``name`` is that in the paper's tables here.
    """
    if least not in CERTAINTIES:
        raise UserError(f'"{least}" is no certainty: choose from {", ".join(CERTAINTIES)}.')
    found = pd.read_csv(FOLDER / "matches.csv", dtype=str)
    sure = CERTAINTIES[: CERTAINTIES.index(least) + 1]
    return found[found["certainty"].isin(sure)].reset_index(drop=True)


def doubtful() -> pd.DataFrame:
    """Return the matches that may be of other weights, as :func:`matches` does."""
    found = matches()
    return found[found["certainty"] != CERTAINTIES[0]].reset_index(drop=True)


def measures() -> pd.DataFrame:
    """Return the measures of a model that the four papers print, by name ("IC-LKE: accuracy").

    ``better`` is 1 if higher is better, -1 if lower is, 0 if neither; ``source`` is the table.
    """
    rows = [
        (name, paper, table.attrs["sources"][name], table.attrs["better"][name])
        for paper, table in _figures().items()
        for name in table
    ]
    return pd.DataFrame(rows, columns=["measure", "paper", "source", "better"]).set_index("measure")


def joined(least: str = "probably", without: Collection[tuple[str, str]] = ()) -> pd.DataFrame:
    """Put what the four papers print of each model side by side."""
    found = matches(least)
    left_out = pd.MultiIndex.from_frame(found[["model", "paper"]]).isin(list(without))
    found, table = found[~left_out], models()
    for paper, figures in _figures().items():
        names = found[found["paper"] == paper].set_index("model")["name"]
        table = table.join(figures.reindex(names).set_axis(names.index))
    return table.dropna(how="all", subset=list(measures().index))


def shared(least: str = "probably") -> pd.DataFrame:
    """Count the models that two papers share; on the diagonal, all that a paper prints."""
    found = matches(least)
    there = pd.crosstab(found["model"], found["paper"])[list(PAPERS)].clip(upper=1)
    counts = (there.T @ there).rename_axis(index="paper", columns=None)
    printed = found.groupby("paper")["name"].nunique()  # a name with two models counts once
    return counts.where(~np.eye(len(PAPERS), dtype=bool), printed, axis=0)


def relations() -> pd.DataFrame:
    """Put what two of the papers print of relations side by side, by the relation's words.

    A column of MONITOR for each model of :func:`models` that Table 10 names, and ``IC-LKE
    accuracy``, the average over that paper's models (its Table 8 has no others), where it has a
    relation of the same words.
    """
    printed, words = load("monitor_table10"), load("monitor_table9")["label"]
    found = matches(CERTAINTIES[0]).query("paper == 'MONITOR'").set_index("name")["model"]
    table = printed.rename(columns=found).set_axis(words[printed.index], axis=0)
    return table.join(load("lke_table8")["accuracy"].rename("IC-LKE accuracy")).rename_axis(
        "relation"
    )


@cache
def _figures() -> dict[str, pd.DataFrame]:
    """Return each paper's measures by its own names of models, with sources and directions."""
    monitor = load("monitor_table4")
    printed = {
        "score": (monitor["MONITOR"], monitor.attrs["source"], -1),
        "mean accuracy": (monitor["avg"] / 100, monitor.attrs["source"], 1),
        "mean anchor": (monitor["probs"], monitor.attrs["source"], 1),
    }
    knowing = {
        f"{name}, {setting}": (
            knowledge_base.measures(setting)[name] / 100,
            load("kb_table11" if name in ("NCCR", "IUR") else "kb_table9").attrs["source"],
            1,
        )
        for setting in knowledge_base.SETTINGS
        for name in ("CR", "NCR", "UR", "NCCR", "IUR")
    }
    lists = load("lke_table7")
    latent = {
        "accuracy": (lists["accuracy"], lists.attrs["source"], 1),
        "deviation over relations": (lists["deviation"], lists.attrs["source"], 0),
    }
    multiplicity = {
        f"{benchmark} {name}": (load(table)[f"{benchmark} {column}"] / 100, source, better)
        for table, benchmarks in BENCHMARKS.items()
        for source in [load(table).attrs["source"]]
        for benchmark in benchmarks
        for name, column, better in (
            ("accuracy", "accuracy", 1),
            ("ambiguity", "ambiguity", -1),
            ("binary ambiguity", "ambiguity_binary", -1),
        )
    }
    tables = {}
    for paper, columns in zip(PAPERS, (printed, knowing, latent, multiplicity), strict=True):
        named = {f"{paper}: {name}": parts for name, parts in columns.items()}
        tables[paper] = pd.DataFrame({name: values for name, (values, _, _) in named.items()})
        tables[paper].attrs["sources"] = {name: source for name, (_, source, _) in named.items()}
        tables[paper].attrs["better"] = {name: better for name, (_, _, better) in named.items()}
    return tables
