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
        (f"{paper}: {name}", paper, table.attrs["source"], better)
        for paper, name, _, table, better in _printed()
    ]
    return pd.DataFrame(rows, columns=["measure", "paper", "source", "better"]).set_index("measure")


def joined(least: str = "probably", without: Collection[tuple[str, str]] = ()) -> pd.DataFrame:
    """Put what the four papers print of each model side by side."""
    found = matches(least)
    left_out = pd.MultiIndex.from_frame(found[["model", "paper"]]).isin(list(without))
    found, table = found[~left_out], models()
    for paper, name, values, *_ in _printed():
        names = found[found["paper"] == paper].set_index("model")["name"]
        printed = values.reindex(names).set_axis(names.index).rename(f"{paper}: {name}")
        table = table.join(printed)
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
def _printed() -> list[tuple[str, str, pd.Series, pd.DataFrame, int]]:
    """Return paper, measure, its values by the paper's models, its table, and its direction."""
    monitor, lists = load("monitor_table4"), load("lke_table7")
    found = [
        ("MONITOR", "score", monitor["MONITOR"], monitor, -1),
        ("MONITOR", "mean accuracy", monitor["avg"] / 100, monitor, 1),
        ("MONITOR", "mean anchor", monitor["probs"], monitor, 1),
    ]
    for setting in knowledge_base.SETTINGS:
        shares = knowledge_base.measures(setting) / 100
        for name in ("CR", "NCR", "UR", "NCCR", "IUR"):
            table = load("kb_table11" if name in ("NCCR", "IUR") else "kb_table9")
            found.append(("knowledge bases", f"{name}, {setting}", shares[name], table, 1))
    found.append(("IC-LKE", "accuracy", lists["accuracy"], lists, 1))
    found.append(("IC-LKE", "deviation over relations", lists["deviation"], lists, 0))
    for table, benchmarks in ((load(name), names) for name, names in BENCHMARKS.items()):
        for benchmark in benchmarks:
            shares = table.filter(regex=f"^{benchmark} ") / 100
            for name, better in (("accuracy", 1), ("ambiguity", -1), ("binary ambiguity", -1)):
                column = {"binary ambiguity": "ambiguity_binary"}.get(name, name)
                values = shares[f"{benchmark} {column}"]
                found.append(("multiplicity", f"{benchmark} {name}", values, table, better))
    return found
