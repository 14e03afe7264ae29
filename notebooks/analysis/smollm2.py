"""The kept answers of SmolLM2, a model that people use, and what they show by frequency of name."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from helpers import datasets, exchange, stats
from helpers.datasets.exposure import frequencies, training
from helpers.exchange import record
from helpers.metrics import accuracy, roc_curve
from helpers.runs import ROOT
from helpers.studies import STUDIES, compare
from helpers.studies.model_comparison import by_item
from notebooks.atlas import records
from notebooks.kit.plots import result_tables, shared_figures

ARCHIVE = ROOT / "results" / "smollm2.zip"
CHAT = (
    ROOT / "results" / "smollm2-chat.zip"
)  # fewer questions, in the model's chat template
GROUPS = (
    0,
    30,
    300,
    3_000,
    30_000,
)  # occurrences in a thousand million words, from which each is
MAIN = (
    "MONITOR",
    "coverage",
    "base",
    "average",
    "NCR",
    "right",
    "accuracy",
    "self_consistency",
)
WORDS = {
    "right": "right answer first",
    "none": "nothing first",
    "unrelated": "unrelated word first",
    "wrong": "wrong answer first",
}


def read(path: Path = ARCHIVE) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the answers of MONITOR, and the measures of all four studies, computed anew."""
    shared, _ = exchange.verify(path)
    rows = []
    for name, run in shared.record["runs"].items():
        titles = {measure.name: measure.title for measure in STUDIES[name].MEASURES}
        rows += [
            {"study": name, "title": titles[m["measure"]], **m} for m in run["measures"]
        ]
    table = pd.DataFrame(rows)[
        ["study", "measure", "title", "estimate", "low", "high", "n"]
    ]
    return shared.answers("monitor"), table


def by_fact(answers: pd.DataFrame) -> pd.DataFrame:
    """Return what is right of each fact by what is said first, and how often its name occurs."""
    marked = accuracy.mark_texts(answers)
    reworded = (marked["context"] == "none") & (marked["frame"] != 0)
    said = accuracy.by_fact(marked[~reworded], "context")
    other = marked[reworded].groupby("item")["right"].mean()
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
        rows, mean = (
            facts.assign(right=facts[column]),
            {"right": (["right"], stats.mean)},
        )
        found = stats.intervals(rows, mean, "often", **draws)
        found = found[~found["often"].isin(["all", "mean"])]
        parts.append(found.assign(first=name, often=found["often"].astype(int)))
    return pd.concat(parts, ignore_index=True)


def beside_atlas(facts: pd.DataFrame, **draws: int) -> tuple[Axes, Axes]:
    """Draw accuracy by exposure in the atlas models, and by frequency of the name in SmolLM2."""
    table = records.evaluation(records.untuned(records.members()))
    alone = (
        curves(facts, **draws).query("first == @WORDS['none']").assign(first="SmolLM2")
    )
    _, (left, right) = plt.subplots(
        1, 2, figsize=(9, 3.8), sharey=True, layout="constrained"
    )
    told = table[table["condition"] == records.ALONE]
    words = {"axis": "doublings", "xlabel": records.TIMES}
    shared_figures.curves(
        told, "exposures", "model", left, ylabel="facts answered correctly", **words
    )
    words = {"axis": "even", "xlabel": "occurrences of the name, at least"}
    shared_figures.curves(alone, "often", "first", right, **words)
    return left, right


def formats(**draws: int) -> pd.DataFrame:
    """Return how much higher each measure is in the kept format than in the chat template."""
    kept, chat = exchange.read(ARCHIVE), exchange.verify(CHAT)[0]
    parts = []
    for name in chat.record["runs"]:
        ways = {
            run.record["runs"][name]["model"]["prompt_format"]: run
            for run in (chat, kept)
        }
        asked = {way: _study(run, name) for way, run in ways.items()}
        titles = {measure.name: measure.title for measure in STUDIES[name].MEASURES}
        found = compare(STUDIES[name], asked, **draws)
        parts.append(found.assign(study=name, title=found["measure"].map(titles)))
    return pd.concat(parts, ignore_index=True).dropna(subset=["estimate"])


def _study(shared: record.Shared, name: str) -> pd.DataFrame:
    """Return the facts of a study in an archive."""
    parameters = shared.record["runs"][name]["parameters"]
    return record.facts(name, parameters, shared.answers(name))


def rising(facts: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Return how scores go with the frequency of the name, both ranked within relations."""
    shared = exchange.read(ARCHIVE)
    studies = {name: by_item(_study(shared, name)) for name in STUDIES}
    known = facts[facts["none"] == 1].set_index("item")
    scores = {"asked once": studies["monitor"]["asked_once"]}
    for name, found in studies.items():
        seen = found[found["seen"] > 0] if "seen" in found else found
        scores[name.replace("_", " ")] = STUDIES[name].verdict(seen)["score"]
    scores |= {f"kept: {WORDS[said]}": known[said] for said in ("unrelated", "wrong")}
    scores["kept: another wording"] = known["reworded"]
    atlas = datasets.load("atlas").set_index("fact")
    rows = []
    for what, score in scores.items():
        table = atlas.loc[score.index, ["relation", "subject"]].assign(score=score)
        table = table.assign(often=table["subject"].map(frequencies())).dropna()
        table[["score", "often"]] = table.groupby("relation")[["score", "often"]].rank(
            pct=True
        )
        table["more"] = table["often"] > 0.5
        rank, area = (
            stats.bootstrap(
                table[["score", with_]].astype(float), of, table["relation"], **draws
            )
            for with_, of in (("often", stats.pearson), ("more", roc_curve.area))
        )
        rows.append(
            {
                "what": what,
                **rank._asdict(),
                "area": result_tables.interval(*area[:3], digits=2),
            }
        )
    return pd.DataFrame(rows)


def agreement(model: str = "atlas-m", **draws: int) -> pd.DataFrame:
    """Return by relation how the frequency of a name goes with the times a model read its fact."""
    atlas = datasets.load("atlas")
    told = atlas["fact"].map(training(model)["exposures"])
    table = atlas.assign(told=told, often=atlas["subject"].map(frequencies())).dropna()
    return stats.intervals(table, {"ρ": (["told", "often"], stats.spearman)}, **draws)


def listed(
    measured: pd.DataFrame, formats: pd.DataFrame, rising: pd.DataFrame, **draws: int
) -> dict[str, pd.DataFrame]:
    """Return the appendix's tables of SmolLM2 by name."""
    formats = formats.drop(columns=["second", "study"])
    found = {"smollm2_all": measured, "formats": formats, "rising_all": rising}
    return found | {"agreement": agreement(**draws)}


def row(facts: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Return one fact of a frequent name that an unrelated word changes."""
    moved = facts[(facts["none"] == 1) & (facts["unrelated"] < 1)]
    chosen = (moved if len(moved) else facts).nlargest(1, "occurrences")
    return chosen[list(columns)].rename(columns=columns)
