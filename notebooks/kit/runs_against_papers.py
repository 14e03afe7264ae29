"""Runs in the papers' measures, and whether they asked the papers' questions."""

import math
import warnings
from collections.abc import Callable, Mapping
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
# Where commands put runs, in the folder of all runs.
OTHER_RUN_FOLDERS = ("measured", "questions", "benchmarks/*")
RELATION_COUNTS = {"fktc": len(PUBLISHERS["fktc"].files), "trex_mc": 50}
SEEN_QA_TITLE = f"SeenQA: {', '.join(PUBLISHED_SOURCES)}"
# Unseen in the knowledge-base paper is what comes after this day.
PAPERS_UNSEEN_DAY = "2024-04-13"


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
    """Return of all finished runs the figures that the papers print of their models.

    Computed from the answers as the paper does, with no bounds where resampling has
    nothing to vary; ``why`` says in what the run differs from the paper. A random
    sample of the paper's questions does not: the interval allows for it. Of equal runs
    the one with most facts counts, or the last.
    """
    runs = _finished_runs_of_studies(Path(runs_dir or store.RUNS_FOLDER))
    rows: list[dict[str, Any]] = []
    for run in runs.itertuples():
        try:
            rows += _measures_of_run(run, n_resamples, seed)
        except (OSError, ValueError, KeyError, TypeError) as error:
            message = f"{run.folder} is left out: {type(error).__name__} {error}"
            warnings.warn(message, stacklevel=2)
    table = pd.DataFrame(rows, columns=[*PAPER_MEASURE_COLUMNS, "finished"])
    table = table.dropna(subset="value")
    table = table.sort_values(["same_questions", "n", "finished"], kind="stable")
    # Equal bounds had nothing to vary, such as one fact of each relation.
    is_flat = table["low"] == table["high"]
    table[["low", "high"]] = table[["low", "high"]].mask(is_flat, axis=0)
    same_figure = ["model", "label", "measure", "dataset"]
    table = table.drop_duplicates(same_figure, keep="last").sort_index()
    table = table[PAPER_MEASURE_COLUMNS].astype(COLUMN_TYPES)
    return table.reset_index(drop=True)


def contributed_runs_and_refusals(
    archives: str | Path, n_resamples: int = 1000, seed: int = 0
) -> tuple[pd.DataFrame, list[str]]:
    """Return figures of contributed archives, and why others of them are refused.

    The figures are those of `runs_in_papers_measures`.
    """
    parts = []
    refusals = []
    for path in sorted((store.PROJECT_FOLDER / archives).glob("*.zip")):
        with TemporaryDirectory() as folder:
            try:
                archive = exchange.verify_archive(path)[0]
                exchange.unpack_archive(archive, Path(folder) / path.stem)
            except UserError as error:
                refusals.append(str(error))
                continue
            part = runs_in_papers_measures(folder, n_resamples, seed)
        parts.append(part.assign(label=part["label"] + " (contributed)", folder=path))
    if not parts:
        parts = [pd.DataFrame(columns=PAPER_MEASURE_COLUMNS)]
    table = pd.concat(parts, ignore_index=True).astype(COLUMN_TYPES)
    return table.assign(origin=CONTRIBUTED_RUN), refusals


def facts_of_run(chapter: str, folder: str | Path) -> pd.DataFrame:
    """Return a run's facts and measures by ``item``; ``relation`` is the stratum."""
    path = Path(folder) / "run.json"
    finished = path.stat().st_mtime_ns if path.is_file() else 0
    return _facts(chapter, str(folder), finished).copy()


# Several tables of a page ask for a run; one that has run again is read again.
@lru_cache(maxsize=64)
def _facts(chapter: str, folder: str, finished: int) -> pd.DataFrame:
    """Return a run's facts by item; `finished` is when the run ended."""
    study = STUDIES[chapter]
    settings = store.settings_of_run(store.load_manifest(folder))
    answers = store.load_answers(folder)
    facts = study.facts(answers, **settings_for_function(study.facts, settings))
    return facts_by_item(facts)


def measure_by_fact_and_model(
    chapter: str, dataset: str, measure: str, folder: str | Path | None = None
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return a measure of each fact, one column for each model with a finished run."""
    columns = {}
    sizes = {}
    runs = store.load(folder).query("chapter == @chapter and dataset == @dataset")
    for run in runs.itertuples():
        name = prompt_formats.model_title(run.model)
        columns[name] = facts_of_run(chapter, run.folder)[measure]
        sizes[name] = run.manifest["model"].get("n_parameters") or math.inf
    return pd.DataFrame(columns).rename_axis("item"), sizes


def prompt_format_of_run(manifest: Mapping[str, Any]) -> str:
    """Return the format of a run's prompts: bare, qa, shots or chat."""
    model = manifest["model"]
    if model.get("prompt_format"):
        return model["prompt_format"]
    # Runs before there were formats say only whether they chat.
    is_chat = model.get("chat") or manifest["parameters"].get("chat")
    return "chat" if is_chat else "bare"


def runs_with_labels(runs: pd.DataFrame) -> pd.DataFrame:
    """Add to runs ``label``: model, prompt format, and the folder if needed."""
    names = runs["manifest"].map(_label_of_run)
    folders = runs["folder"].map(_name_of_parent)
    is_shared = folders.groupby(names).transform("nunique") > 1
    return runs.assign(label=names.where(~is_shared, names + " (" + folders + ")"))


def _label_of_run(manifest: Mapping[str, Any]) -> str:
    name = manifest["model"]["name"]
    return prompt_formats.model_label(name, prompt_format_of_run(manifest))


def _name_of_parent(folder: Path) -> str:
    return folder.parent.name


def _finished_runs_of_studies(top: Path) -> pd.DataFrame:
    """Return the finished runs of the four studies in a folder, with labels."""
    folders = [top]
    for pattern in OTHER_RUN_FOLDERS:
        folders += sorted(top.glob(pattern))
    tables = []
    for folder in folders:
        table = store.load(folder)
        table = table[table["chapter"].isin(STUDIES)]
        if len(table):
            tables.append(table)
    if not tables:
        return pd.DataFrame()
    return runs_with_labels(pd.concat(tables, ignore_index=True))


# `run` is a row as itertuples makes it, whose type has no name.
def _measures_of_run(run: Any, n_resamples: int, seed: int) -> list[dict[str, Any]]:
    """Return the printed measures of one run, a row of `store.load` with its label."""
    parameters = run.manifest["parameters"]
    saved = SavedRun(run.chapter, run.folder, run.dataset, parameters)
    rows = []
    for printed in member(STUDIES[run.chapter], "printed")(saved):
        counted = printed.facts.dropna(subset=printed.columns)
        measure = {printed.name: (printed.columns, printed.statistic)}
        intervals = stats.intervals_by_group(
            counted, measure, n_resamples=n_resamples, seed=seed
        )
        interval = intervals[intervals["relation"] == printed.level].iloc[0]
        n_relations = printed.facts["relation"].nunique()
        differences = differences_from_paper(
            run.chapter, run.manifest, n_relations, printed.name
        )
        row = {
            "model": run.folder.parent.name,
            "label": run.label,
            "dataset": run.dataset,
            "folder": run.folder,
            "finished": run.finished,
            "measure": printed.name,
            "same_questions": not differences,
            "why": differences,
            "value": interval["estimate"],
            "low": interval["low"],
            "high": interval["high"],
            "n": interval["n"],
        }
        rows.append(row)
    return rows


def differences_from_paper(
    chapter: str,
    manifest: Mapping[str, Any],
    n_relations: int | None = None,
    measure: str = "",
) -> str:
    """Say in what a run, or one measure, differs from the paper; "" if in nothing."""
    difference = _difference_of_questions(chapter, manifest["dataset"], n_relations)
    if difference:
        return difference
    settings = store.settings_of_run(manifest)
    study = STUDIES[chapter]
    reasons = []
    benchmark = BENCHMARKS.get(manifest["dataset"]["name"])
    if benchmark:
        kind = settings.get("focus") or benchmark.kind
        shots = settings.get("n_shots") or benchmark.shots
        if kind != benchmark.kind:
            reasons.append(f"variation of {kind}")
        if shots != benchmark.shots:
            reasons.append(f"{shots} shots, not {benchmark.shots}")
    if "as_of" in default_settings(study) and _is_of_unseen_questions(measure):
        day = settings.get("as_of", unseen_questions.DEFAULT_AS_OF)
        if day != PAPERS_UNSEEN_DAY:
            reasons.append(f"unseen after {day}")
    prompt_format = prompt_format_of_run(manifest)
    if prompt_format != "bare":
        reasons.append(f"prompts in format {prompt_format}")
    for name, value in getattr(study, "AS_PRINTED", {}).items():
        if name in settings and settings[name] != value:
            reasons.append(f"{name} {settings[name]}, not {value}")
    return "; ".join(reasons)


def _is_of_unseen_questions(measure: str) -> bool:
    """Tell whether a measure, or one of all measures (""), is of unseen questions."""
    return not measure or any(f" {name}," in measure for name in UNSEEN)


def _difference_of_questions(
    chapter: str, dataset: Mapping[str, Any], n_relations: int | None
) -> str:
    """Say if a data set is not the paper's, or not all of it, whatever its name."""
    if chapter not in QUESTIONS:
        return "no paper's questions"
    return QUESTIONS[chapter](dataset, n_relations)


def _difference_of_benchmark(dataset: Mapping[str, Any], _: int | None) -> str:
    name = dataset["name"]
    if name not in BENCHMARKS:
        return "other questions"
    rows = int(dataset.get("rows") or 0)
    known_sizes = BENCHMARKS[name].rows
    if rows not in known_sizes:
        return f"{rows:,} questions in the files, not {known_sizes[0]:,}"
    if rows != known_sizes[0]:  # others have no checksum
        return ""
    return _difference_of_files(dataset, name)


def _difference_of_sources(dataset: Mapping[str, Any], _: int | None) -> str:
    if dataset["name"] != "seen_qa":
        return "other questions"
    if dataset.get("title") != SEEN_QA_TITLE:
        return "other sources"
    return _difference_of_files(dataset, *PUBLISHED_SOURCES)


def _difference_of_facts(
    dataset: Mapping[str, Any], n_relations: int | None, printed: str
) -> str:
    if dataset["name"] != printed:
        return "other facts"
    difference = _difference_of_files(dataset, printed)
    if difference:
        return difference
    if n_relations is not None and n_relations < RELATION_COUNTS[printed]:
        return f"{n_relations} of {RELATION_COUNTS[printed]} relations"
    return ""


# A study: in what a data set, with some of its relations, differs from the paper's.
QUESTIONS: dict[str, Callable[[Mapping[str, Any], int | None], str]] = {
    "monitor": partial(_difference_of_facts, printed="fktc"),
    "knowledge_base": _difference_of_sources,
    "latent_knowledge": partial(_difference_of_facts, printed="trex_mc"),
    "multiplicity": _difference_of_benchmark,
}


def _difference_of_files(dataset: Mapping[str, Any], *names: str) -> str:
    """Say if the files are not the published ones, as far as checksums are known."""
    other_files = "files that are not the published ones"
    checksums = (dataset.get("checksum") or "").split("; ")
    if len(checksums) != len(names):
        return other_files
    for name, checksum in zip(names, checksums, strict=True):
        published = PUBLISHERS[name].known
        if published and published != checksum:
            return other_files
    return ""
