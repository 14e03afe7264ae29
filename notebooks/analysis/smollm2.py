"""The kept answers of SmolLM2, a model that people use, and what they show by frequency of name."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from helpers import stats
from helpers.datasets.exposure import frequencies
from helpers.datasets.files import table as read_table
from helpers.metrics import accuracy
from helpers.plots import primitives
from helpers.runs import ROOT, sharing
from helpers.studies import STUDIES
from notebooks.analysis.atlas import records

ARCHIVE = ROOT / "results" / "smollm2.zip"
GROUPS = (0, 30, 300, 3_000, 30_000)  # occurrences in a thousand million words, from which each is
WORDS = {
    "right": "right answer first",
    "none": "nothing first",
    "unrelated": "unrelated word first",
    "wrong": "wrong answer first",
}


def read(path: Path = ARCHIVE) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the answers of MONITOR, and the measures of all four studies, computed anew."""
    shared, _ = sharing.verify(path)
    rows = []
    for name, run in shared.record["runs"].items():
        titles = {measure.name: measure.title for measure in STUDIES[name].MEASURES}
        rows += [{"study": name, "title": titles[m["measure"]], **m} for m in run["measures"]]
    table = pd.DataFrame(rows)[["study", "measure", "title", "estimate", "low", "high", "n"]]
    return read_table(shared.files["monitor/answers.parquet"], "it"), table


def by_fact(answers: pd.DataFrame) -> pd.DataFrame:
    """Return what is right of each fact by what is said first, and how often its name occurs.

    ``reworded`` is the mean over the other wordings, with nothing said first.
    """
    marked = accuracy.mark_texts(answers)
    alone = marked["context"] == "none"
    said = accuracy.by_fact(marked[~alone | (marked["variant"] == "frame0")], "context")
    other = marked[alone & (marked["variant"] != "frame0")].groupby("item")["right"].mean()
    names = marked.drop_duplicates("item").set_index("item")["subject"]
    often = names.map(frequencies())
    return said.assign(
        reworded=said["item"].map(other),
        subject=said["item"].map(names),
        occurrences=said["item"].map(often),
        often=said["item"].map(often.map(lambda n: max(g for g in GROUPS if g <= n))),
    )


def curves(facts: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Return the share of right answers by frequency of the name and by what is said first."""
    parts = []
    for column, name in WORDS.items():
        found = stats.intervals(
            facts.assign(right=facts[column]), {"right": (["right"], stats.mean)}, "often", **draws
        )
        found = found[~found["often"].isin(["all", "mean"])]
        parts.append(found.assign(first=name, often=found["often"].astype(int)))
    return pd.concat(parts, ignore_index=True)


def beside_atlas(facts: pd.DataFrame, **draws: int) -> tuple[Axes, Axes]:
    """Draw accuracy by exposure in the atlas models, and by frequency of the name in SmolLM2."""
    table = records.evaluation(records.untuned(records.members()))
    alone = curves(facts, **draws).query("first == @WORDS['none']").assign(first="SmolLM2")
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
    primitives.curves(
        table[table["condition"] == records.ALONE],
        "exposures",
        "model",
        left,
        axis="doublings",
        xlabel="times the training text states the fact",
        ylabel="facts answered correctly",
    )
    primitives.curves(
        alone, "often", "first", right, axis="even", xlabel="occurrences of the name, at least"
    )
    return left, right


def row(facts: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Return one fact of a frequent name that an unrelated word changes."""
    moved = facts[(facts["none"] == 1) & (facts["unrelated"] < 1)]
    chosen = (moved if len(moved) else facts).nlargest(1, "occurrences")
    return chosen[list(columns)].rename(columns=columns)
