"""Runs in the measures that the papers print, and whether they asked the papers' questions."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from helpers import UserError, exchange, stats
from helpers.datasets import unseen_questions
from helpers.datasets.registry import SOURCES as PUBLISHERS
from helpers.datasets.seen_questions import PUBLISHED_SOURCES
from helpers.prompts import prompt_formats
from helpers.runs import store
from helpers.studies import STUDIES, default_settings, member, settings_for_function
from helpers.studies.knowledge_base import UNSEEN
from helpers.studies.model_comparison import facts_by_item
from helpers.studies.multiplicity import BENCHMARKS

COLUMN_TYPES = {
    "value": float,
    "low": float,
    "high": float,
    "n": int,
    "same_questions": bool,
}
PAPER_MEASURE_COLUMNS = [
    "model",
    "label",
    "measure",
    *COLUMN_TYPES,
    "why",
    "dataset",
    "folder",
]
CONTRIBUTED_RUN = "contributed run"
OTHER_RUN_FOLDERS = (
    "measured",
    "questions",
    "benchmarks/*",
)  # where commands put runs, in the folder
RELATION_COUNTS = {"fktc": len(PUBLISHERS["fktc"].files), "trex_mc": 50}
SEEN_QA_TITLE = f"SeenQA: {', '.join(PUBLISHED_SOURCES)}"
PAPERS_UNSEEN_DAY = (
    "2024-04-13"  # unseen in the knowledge-base paper: what comes after it
)


@dataclass(frozen=True)
class SavedRun:
    """A finished run, as `helpers.studies.Study.printed` reads it."""

    chapter: str
    folder: Path
    dataset: str
    settings: Mapping[str, Any]

    @property
    def answers(self) -> pd.DataFrame:
        """The saved answers."""
        return store.load_answers(self.folder)

    @property
    def facts(self) -> pd.DataFrame:
        """Its facts with their measures; ``relation`` is the stratum."""
        return facts_of_run(self.chapter, self.folder).reset_index()


def runs_in_papers_measures(
    runs_dir: str | Path = "", n_resamples: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Return the figures of all finished runs that the papers print of their models, too.

    Computed from the answers as the paper does, with no bounds where resampling has
    nothing to vary; ``differences_from_paper``: in what the run differs from the paper. A random sample of
    the paper's questions does not: the interval allows for it. Of equal runs the one
    with most facts counts, or the last.
    """
    top = Path(runs_dir or store.RUNS_FOLDER)
    folders = [
        top,
        *(folder for name in OTHER_RUN_FOLDERS for folder in sorted(top.glob(name))),
    ]
    found = [
        table[table["chapter"].isin(STUDIES)] for table in map(store.load, folders)
    ]
    found = [table for table in found if len(table)]
    rows: list[dict[str, Any]] = []
    for run in (
        runs_with_labels(pd.concat(found, ignore_index=True)).itertuples()
        if found
        else []
    ):
        try:
            rows += list(_figures(run, n_resamples, seed))
        except (OSError, ValueError, KeyError, TypeError) as error:
            message = f"{run.folder} is left out: {type(error).__name__} {error}"
            warnings.warn(message, stacklevel=2)
    table = pd.DataFrame(rows, columns=[*PAPER_MEASURE_COLUMNS, "finished"]).dropna(
        subset="value"
    )
    table = table.sort_values(["same_questions", "n", "finished"], kind="stable")
    flat = (
        table["low"] == table["high"]
    )  # nothing to vary, such as one fact of each relation
    table[["low", "high"]] = table[["low", "high"]].mask(flat, axis=0)
    kept = table.drop_duplicates(["model", "label", "measure", "dataset"], keep="last")
    return (
        kept.sort_index()[PAPER_MEASURE_COLUMNS]
        .astype(COLUMN_TYPES)
        .reset_index(drop=True)
    )


def contributed_runs_and_refusals(
    archives: str | Path, n_resamples: int = 1000, seed: int = 0
) -> tuple[pd.DataFrame, list[str]]:
    """Return what `runs_in_papers_measures` does of contributed archives, and why others are left out."""
    parts, refused = [], []
    for path in sorted((store.PROJECT_FOLDER / archives).glob("*.zip")):
        with TemporaryDirectory() as top:
            try:
                exchange.unpack_archive(
                    exchange.verify_archive(path)[0], Path(top) / path.stem
                )
            except UserError as error:
                refused.append(str(error))
                continue
            found = runs_in_papers_measures(top, n_resamples, seed)
        parts.append(found.assign(label=found["label"] + " (contributed)", folder=path))
    table = pd.concat(
        parts or [pd.DataFrame(columns=PAPER_MEASURE_COLUMNS)], ignore_index=True
    )
    return table.astype(COLUMN_TYPES).assign(origin=CONTRIBUTED_RUN), refused


def facts_of_run(chapter: str, folder: str | Path) -> pd.DataFrame:
    """Return a run's facts by ``item``, with their measures; ``relation`` is the stratum."""
    path = Path(folder) / "run.json"
    finished = path.stat().st_mtime_ns if path.is_file() else 0
    return _facts(chapter, str(folder), finished).copy()


@lru_cache(maxsize=64)
def _facts(chapter: str, folder: str, finished: int) -> pd.DataFrame:
    """Read a run once, unless it has run again: several tables of a page ask for it."""
    study, given = STUDIES[chapter], store.settings_of_run(store.load_manifest(folder))
    return facts_by_item(
        study.facts(
            store.load_answers(folder), **settings_for_function(study.facts, given)
        )
    )


def measure_by_fact_and_model(
    chapter: str, dataset: str, measure: str, folder: str | Path | None = None
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return a measure of each fact, one column for each model that has a finished run."""
    columns, sizes = {}, {}
    runs = store.load(folder).query("chapter == @chapter and dataset == @dataset")
    for found in runs.itertuples():
        name = found.model.rstrip("/").rpartition("/")[2]
        columns[name] = facts_of_run(chapter, found.folder)[measure]
        sizes[name] = found.manifest["model"].get("n_parameters") or math.inf
    return pd.DataFrame(columns).rename_axis("item"), sizes


def prompt_format_of_run(manifest: Mapping[str, Any]) -> str:
    """Return the format of a run's prompts: bare, qa, shots or chat."""
    model = manifest["model"]
    chat = model.get("chat") or manifest["parameters"].get(
        "chat"
    )  # of runs before formats
    return model.get("prompt_format") or ("chat" if chat else "bare")


def runs_with_labels(found: pd.DataFrame) -> pd.DataFrame:
    """Add to runs ``label``: the model's name and its prompts' format, and the folder if needed."""
    about = found["manifest"]
    names = about.map(
        lambda told: prompt_formats.model_label(
            told["model"]["name"], prompt_format_of_run(told)
        )
    )
    folders = found["folder"].map(lambda folder: folder.parent.name)
    shared = folders.groupby(names).transform("nunique") > 1
    return found.assign(label=names.where(~shared, names + " (" + folders + ")"))


def _figures(run: Any, n_resamples: int, seed: int) -> Iterator[dict[str, Any]]:
    """Compute the figures of one run, a row of `store.load` with its label."""
    head = {"model": run.folder.parent.name, "label": run.label, "dataset": run.dataset}
    head |= {"folder": run.folder, "finished": run.finished}
    draws = {"n_resamples": n_resamples, "seed": seed}
    parameters = run.manifest["parameters"]
    saved = SavedRun(run.chapter, run.folder, run.dataset, parameters)
    for printed in member(STUDIES[run.chapter], "printed")(saved):
        columns = printed.columns
        counted = printed.facts.dropna(subset=columns)
        of = {printed.name: (columns, printed.statistic)}
        found = stats.intervals_by_group(counted, of, **draws)
        row = found[found["relation"] == printed.level].iloc[0]
        n_relations = printed.facts["relation"].nunique()
        other = differences_from_paper(
            run.chapter, run.manifest, n_relations, printed.name
        )
        yield {
            **head,
            "measure": printed.name,
            "same_questions": not other,
            "why": other,
            "value": row["estimate"],
            "low": row["low"],
            "high": row["high"],
            "n": row["n"],
        }


def differences_from_paper(
    chapter: str,
    manifest: Mapping[str, Any],
    n_relations: int | None = None,
    measure: str = "",
) -> str:
    """Say in what a run, or one measure, differs from what the paper asked; "" if in nothing."""
    if other := _other_questions(chapter, manifest["dataset"], n_relations):
        return other
    given, name = store.settings_of_run(manifest), manifest["dataset"]["name"]
    study = STUDIES[chapter]
    reasons = []
    if asked := BENCHMARKS.get(name):
        kind = given.get("focus") or asked.kind
        shots = given.get("n_shots") or asked.shots
        if kind != asked.kind:
            reasons.append(f"variation of {kind}")
        if shots != asked.shots:
            reasons.append(f"{shots} shots, not {asked.shots}")
    of_unseen = not measure or any(f" {each}," in measure for each in UNSEEN)
    if "as_of" in default_settings(study) and of_unseen:
        day = given.get("as_of", unseen_questions.DEFAULT_AS_OF)
        if day != PAPERS_UNSEEN_DAY:
            reasons.append(f"unseen after {day}")
    form = prompt_format_of_run(manifest)
    if form != "bare":
        reasons.append(f"prompts in format {form}")
    for setting, theirs in getattr(study, "AS_PRINTED", {}).items():
        if setting in given and given[setting] != theirs:
            reasons.append(f"{setting} {given[setting]}, not {theirs}")
    return "; ".join(reasons)


def _other_questions(
    chapter: str, dataset: Mapping[str, Any], n_relations: int | None
) -> str:
    """Say if a data set is not the paper's, or not the whole of it; its name proves little."""
    if chapter not in QUESTIONS:
        return "no paper's questions"
    return QUESTIONS[chapter](dataset, n_relations)


def _other_benchmark(dataset: Mapping[str, Any], _: int | None) -> str:
    name = dataset["name"]
    if name not in BENCHMARKS:
        return "other questions"
    rows, whole = int(dataset.get("rows") or 0), BENCHMARKS[name].rows
    if rows not in whole:
        return f"{rows:,} questions in the files, not {whole[0]:,}"
    if rows != whole[0]:  # others have no checksum
        return ""
    return _other_files(dataset, name)


def _other_sources(dataset: Mapping[str, Any], _: int | None) -> str:
    if dataset["name"] != "seen_qa":
        return "other questions"
    if dataset.get("title") != SEEN_QA_TITLE:
        return "other sources"
    return _other_files(dataset, *PUBLISHED_SOURCES)


def _other_facts(
    dataset: Mapping[str, Any], n_relations: int | None, printed: str
) -> str:
    if dataset["name"] != printed:
        return "other facts"
    if other := _other_files(dataset, printed):
        return other
    if n_relations is not None and n_relations < RELATION_COUNTS[printed]:
        return f"{n_relations} of {RELATION_COUNTS[printed]} relations"
    return ""


# A study: in what a data set, with some of its relations, differs from the paper's.
QUESTIONS: dict[str, Callable[[Mapping[str, Any], int | None], str]] = {
    "monitor": partial(_other_facts, printed="fktc"),
    "knowledge_base": _other_sources,
    "latent_knowledge": partial(_other_facts, printed="trex_mc"),
    "multiplicity": _other_benchmark,
}


def _other_files(dataset: Mapping[str, Any], *names: str) -> str:
    """Say if the files are not the published ones, where the checksums of these are known."""
    known = [PUBLISHERS[name].known for name in names]
    told = (dataset.get("checksum") or "").split("; ")
    same = len(told) == len(known) and all(
        not k or k == each for k, each in zip(known, told)
    )
    return "" if same else "files that are not the published ones"
