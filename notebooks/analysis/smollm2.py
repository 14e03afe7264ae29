"""The kept answers of SmolLM2, a model that people use, and what they show by frequency of name."""

from collections.abc import Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from helpers import datasets, exchange, stats
from helpers.datasets.exposure import name_frequencies, training_exposure
from helpers.exchange import record
from helpers.metrics import accuracy, roc_curve
from helpers.runs import PROJECT_FOLDER
from helpers.studies import STUDIES, compare_models
from helpers.studies.model_comparison import facts_by_item
from notebooks.atlas import records
from notebooks.kit.plots import result_tables, shared_figures

SMOLLM2_ARCHIVE = PROJECT_FOLDER / "results" / "smollm2.zip"
SMOLLM2_CHAT_ARCHIVE = (
    PROJECT_FOLDER / "results" / "smollm2-chat.zip"
)  # fewer questions, in the model's chat template
FREQUENCY_GROUPS = (
    0,
    30,
    300,
    3_000,
    30_000,
)  # occurrences in a thousand million words, from which each is
MAIN_MEASURES = (
    "MONITOR",
    "coverage",
    "base",
    "average",
    "NCR",
    "right",
    "accuracy",
    "self_consistency",
)
CONTEXT_TITLES = {
    "right": "right answer first",
    "none": "nothing first",
    "unrelated": "unrelated word first",
    "wrong": "wrong answer first",
}


def read_answers_and_measures(
    path: Path = SMOLLM2_ARCHIVE,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the answers of MONITOR, and the measures of all four studies, computed anew."""
    shared, _ = exchange.verify_archive(path)
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


def accuracy_by_fact_and_context(answers: pd.DataFrame) -> pd.DataFrame:
    """Return what is right of each fact by what is said first, and how often its name occurs."""
    marked = accuracy.mark_texts(answers)
    reworded = (marked["context"] == "none") & (marked["frame"] != 0)
    said = accuracy.marks_by_fact_and_prompt(marked[~reworded], "context")
    other = marked[reworded].groupby("item")["right"].mean()
    names = marked.drop_duplicates("item").set_index("item")["subject"]
    often = names.map(name_frequencies())
    return said.assign(
        reworded=said["item"].map(other),
        subject=said["item"].map(names),
        occurrences=said["item"].map(often),
        often=said["item"].map(
            often.map(lambda n: max(g for g in FREQUENCY_GROUPS if g <= n))
        ),
    )


def accuracy_by_name_frequency(facts: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Return the share of right answers by frequency of the name and by what is said first."""
    parts = []
    for column, name in CONTEXT_TITLES.items():
        rows, mean = (
            facts.assign(right=facts[column]),
            {"right": (["right"], stats.mean)},
        )
        found = stats.intervals_by_group(rows, mean, "often", **draws)
        found = found[~found["often"].isin(["all", "mean"])]
        parts.append(found.assign(first=name, often=found["often"].astype(int)))
    return pd.concat(parts, ignore_index=True)


def draw_accuracy_beside_atlas(facts: pd.DataFrame, **draws: int) -> tuple[Axes, Axes]:
    """Draw accuracy by exposure in the atlas models, and by frequency of the name in SmolLM2."""
    table = records.recorded_evaluation(
        records.untuned_models(records.bundled_models())
    )
    alone = (
        accuracy_by_name_frequency(facts, **draws)
        .query("first == @WORDS['none']")
        .assign(first="SmolLM2")
    )
    _, (left, right) = plt.subplots(
        1, 2, figsize=(9, 3.8), sharey=True, layout="constrained"
    )
    told = table[table["condition"] == records.QUESTION_ALONE]
    words = {"axis": "doublings", "xlabel": records.EXPOSURE_AXIS_LABEL}
    shared_figures.curve_plot(
        told, "exposures", "model", left, ylabel="facts answered correctly", **words
    )
    words = {"axis": "even", "xlabel": "occurrences of the name, at least"}
    shared_figures.curve_plot(alone, "often", "first", right, **words)
    return left, right


def differences_between_formats(**draws: int) -> pd.DataFrame:
    """Return how much higher each measure is in the kept format than in the chat template."""
    kept, chat = (
        exchange.read_archive(SMOLLM2_ARCHIVE),
        exchange.verify_archive(SMOLLM2_CHAT_ARCHIVE)[0],
    )
    parts = []
    for name in chat.record["runs"]:
        ways = {
            run.record["runs"][name]["model"]["prompt_format"]: run
            for run in (chat, kept)
        }
        asked = {way: _study(run, name) for way, run in ways.items()}
        titles = {measure.name: measure.title for measure in STUDIES[name].MEASURES}
        found = compare_models(STUDIES[name], asked, **draws)
        parts.append(found.assign(study=name, title=found["measure"].map(titles)))
    return pd.concat(parts, ignore_index=True).dropna(subset=["estimate"])


def _study(shared: record.SharedRuns, name: str) -> pd.DataFrame:
    """Return the facts of a study in an archive."""
    parameters = shared.record["runs"][name]["parameters"]
    return record.facts_from_answers(name, parameters, shared.answers(name))


def correlations_with_name_frequency(facts: pd.DataFrame, **draws: int) -> pd.DataFrame:
    """Return how scores go with the frequency of the name, both ranked within relations."""
    shared = exchange.read_archive(SMOLLM2_ARCHIVE)
    studies = {name: facts_by_item(_study(shared, name)) for name in STUDIES}
    known = facts[facts["none"] == 1].set_index("item")
    scores = {"asked once": studies["monitor"]["asked_once"]}
    for name, found in studies.items():
        seen = found[found["seen"] > 0] if "seen" in found else found
        scores[name.replace("_", " ")] = STUDIES[name].verdict(seen)["score"]
    scores |= {
        f"kept: {CONTEXT_TITLES[said]}": known[said] for said in ("unrelated", "wrong")
    }
    scores["kept: another wording"] = known["reworded"]
    atlas = datasets.load("atlas").set_index("fact")
    rows = []
    for what, score in scores.items():
        table = atlas.loc[score.index, ["relation", "subject"]].assign(score=score)
        table = table.assign(often=table["subject"].map(name_frequencies())).dropna()
        table[["score", "often"]] = table.groupby("relation")[["score", "often"]].rank(
            pct=True
        )
        table["more"] = table["often"] > 0.5
        rank, area = (
            stats.bootstrap(
                table[["score", with_]].astype(float), of, table["relation"], **draws
            )
            for with_, of in (
                ("often", stats.pearson_correlation),
                ("more", roc_curve.area_under_roc_curve),
            )
        )
        rows.append(
            {
                "what": what,
                **rank._asdict(),
                "area": result_tables.interval(*area[:3], digits=2),
            }
        )
    return pd.DataFrame(rows)


def exposure_frequency_correlations(
    model: str = "atlas-m", **draws: int
) -> pd.DataFrame:
    """Return by relation how the frequency of a name goes with the times a model read its fact."""
    atlas = datasets.load("atlas")
    told = atlas["fact"].map(training_exposure(model)["exposures"])
    table = atlas.assign(
        told=told, often=atlas["subject"].map(name_frequencies())
    ).dropna()
    return stats.intervals_by_group(
        table, {"ρ": (["told", "often"], stats.spearman_correlation)}, **draws
    )


def tables_for_appendix(
    measured: pd.DataFrame, formats: pd.DataFrame, rising: pd.DataFrame, **draws: int
) -> dict[str, pd.DataFrame]:
    """Return the appendix's tables of SmolLM2 by name."""
    formats = formats.drop(columns=["second", "study"])
    found = {"smollm2_all": measured, "formats": formats, "rising_all": rising}
    return found | {"agreement": exposure_frequency_correlations(**draws)}


def example_fact_of_frequent_name(
    facts: pd.DataFrame, columns: Mapping[str, str]
) -> pd.DataFrame:
    """Return one fact of a frequent name that an unrelated word changes."""
    moved = facts[(facts["none"] == 1) & (facts["unrelated"] < 1)]
    chosen = (moved if len(moved) else facts).nlargest(1, "occurrences")
    return chosen[list(columns)].rename(columns=columns)
