"""Runs in the measures that the papers print, and whether they asked the papers' questions."""

import math
import warnings
from collections import namedtuple
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from helpers import UserError, stats
from helpers.datasets import unseen
from helpers.datasets.questions import PUBLISHED
from helpers.datasets.registry import SOURCES as PUBLISHERS
from helpers.metrics import knowledge_base as kb
from helpers.metrics import monitor
from helpers.prompts import wrapping
from helpers.published.knowledge_base import SETTINGS
from helpers.runs import sharing, store
from helpers.stats import Statistic
from helpers.studies import STUDIES, fitting
from helpers.studies.comparison import by_item
from helpers.studies.knowledge_base import BASIC

KINDS = {"value": float, "low": float, "high": float, "n": int, "same_questions": bool}
COLUMNS = ["model", "label", "measure", *KINDS, "why", "dataset", "folder"]
CONTRIBUTED = "contributed run"
ELSEWHERE = (
    "measured",
    "questions",
    "benchmarks/*",
)  # where commands put runs, in the folder
RELATIONS = {"fktc": len(PUBLISHERS["fktc"].files), "trex_mc": 50}
SOURCES = f"SeenQA: {', '.join(PUBLISHED)}"
PAPERS_DAY = "2024-04-13"  # unseen in the knowledge-base paper: what comes after it
UNSEEN = ("UR", "IUR")
AS_PRINTED = {  # settings that change a figure, as the papers have them
    "monitor": {"n_frames": 7, "match": "exact_match", "alphas": list(monitor.EQUAL)},
    "knowledge_base": {"n_options": 5},
    "latent_knowledge": {"n_examples": 50, "n_choices": 100, "separator": "space"},
    "multiplicity": {"n_variations": 10, "rule": "mean"},
}


# How a benchmark was asked: its printed name, rows of its files, what varies, shots.
Asked = namedtuple("Asked", "name rows kind shots")
BENCHMARKS = {
    "truthfulqa": Asked("TruthfulQA", (817,), "order", 6),
    "factor": Asked("Wiki-FACTOR", (2994,), "paraphrases", 0),
    "medhalt": Asked("Med-HALT", (1858,), "options", 0),
    "commonsenseqa": Asked("CommonsenseQA", (1221,), "demonstrations", 16),
    # The study took the shared task's development set; the public file holds half of
    # it.
    "fever": Asked("FEVER", (9999, 19998), "demonstrations", 16),
    "truefalse": Asked("True-False", (6084,), "demonstrations", 16),
}


def runs_beside(
    runs_dir: str | Path = "", n_resamples: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Return the figures of all finished runs that the papers print of their models, too.

    Computed from the answers as the paper does, with no bounds where resampling has
    nothing to vary; ``why``: in what the run differs from the paper. A random sample of
    the paper's questions does not: the interval allows for it. Of equal runs the one
    with most facts counts, or the last.
    """
    top = Path(runs_dir or store.RUNS)
    folders = [
        top,
        *(folder for name in ELSEWHERE for folder in sorted(top.glob(name))),
    ]
    found = [
        table[table["chapter"].isin(STUDIES)] for table in map(store.load, folders)
    ]
    found = [table for table in found if len(table)]
    rows: list[dict[str, Any]] = []
    for run in (
        labelled(pd.concat(found, ignore_index=True)).itertuples() if found else []
    ):
        try:
            rows += list(_figures(run, n_resamples, seed))
        except (OSError, ValueError, KeyError, TypeError) as error:
            message = f"{run.folder} is left out: {type(error).__name__} {error}"
            warnings.warn(message, stacklevel=2)
    table = pd.DataFrame(rows, columns=[*COLUMNS, "finished"]).dropna(subset="value")
    table = table.sort_values(["same_questions", "n", "finished"], kind="stable")
    flat = (
        table["low"] == table["high"]
    )  # nothing to vary, such as one fact of each relation
    table[["low", "high"]] = table[["low", "high"]].mask(flat, axis=0)
    kept = table.drop_duplicates(["model", "label", "measure", "dataset"], keep="last")
    return kept.sort_index()[COLUMNS].astype(KINDS).reset_index(drop=True)


def contributed(
    archives: str | Path, n_resamples: int = 1000, seed: int = 0
) -> tuple[pd.DataFrame, list[str]]:
    """Return what `runs_beside` does of contributed archives, and why others are left out."""
    parts, refused = [], []
    for path in sorted((store.ROOT / archives).glob("*.zip")):
        with TemporaryDirectory() as top:
            try:
                sharing.unpack(sharing.verify(path)[0], Path(top) / path.stem)
            except UserError as error:
                refused.append(str(error))
                continue
            found = runs_beside(top, n_resamples, seed)
        parts.append(found.assign(label=found["label"] + " (contributed)", folder=path))
    table = pd.concat(parts or [pd.DataFrame(columns=COLUMNS)], ignore_index=True)
    return table.astype(KINDS).assign(origin=CONTRIBUTED), refused


def facts(chapter: str, folder: str | Path) -> pd.DataFrame:
    """Return a run's facts by ``item``, with their measures; ``relation`` is the stratum."""
    path = Path(folder) / "run.json"
    finished = path.stat().st_mtime_ns if path.is_file() else 0
    return _facts(chapter, str(folder), finished).copy()


@lru_cache(maxsize=64)
def _facts(chapter: str, folder: str, finished: int) -> pd.DataFrame:
    """Read a run once, unless it has run again: several tables of a page ask for it."""
    study, given = STUDIES[chapter], store.settings_of_run(store.manifest(folder))
    return by_item(study.facts(store.answers(folder), **fitting(study.facts, given)))


def by_fact(
    chapter: str, dataset: str, measure: str, folder: str | Path | None = None
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return a measure of each fact, one column for each model that has a finished run."""
    columns, sizes = {}, {}
    runs = store.load(folder).query("chapter == @chapter and dataset == @dataset")
    for found in runs.itertuples():
        name = found.model.rstrip("/").rpartition("/")[2]
        columns[name] = facts(chapter, found.folder)[measure]
        sizes[name] = found.manifest["model"].get("n_parameters") or math.inf
    return pd.DataFrame(columns).rename_axis("item"), sizes


def prompt_format(manifest: Mapping[str, Any]) -> str:
    """Return the format of a run's prompts: bare, qa, shots or chat."""
    model = manifest["model"]
    chat = model.get("chat") or manifest["parameters"].get(
        "chat"
    )  # of runs before formats
    return model.get("prompt_format") or ("chat" if chat else "bare")


def labelled(found: pd.DataFrame) -> pd.DataFrame:
    """Add to runs ``label``: the model's name and its prompts' format, and the folder if needed."""
    about = found["manifest"]
    names = about.map(
        lambda told: wrapping.label(told["model"]["name"], prompt_format(told))
    )
    folders = found["folder"].map(lambda folder: folder.parent.name)
    shared = folders.groupby(names).transform("nunique") > 1
    return found.assign(label=names.where(~shared, names + " (" + folders + ")"))


def _figures(run: Any, n_resamples: int, seed: int) -> Iterator[dict[str, Any]]:
    """Compute the figures of one run, a row of `store.load` with its label."""
    head = {"model": run.folder.parent.name, "label": run.label, "dataset": run.dataset}
    head |= {"folder": run.folder, "finished": run.finished}
    draws = {"n_resamples": n_resamples, "seed": seed}
    for measure, table, columns, statistic, mean_of in _measures(run):
        of = {measure: (columns, statistic)}
        found = stats.intervals(table.dropna(subset=columns), of, **draws)
        row = found[found["relation"] == mean_of].iloc[0]
        figures = {
            "value": row["estimate"],
            "low": row["low"],
            "high": row["high"],
            "n": row["n"],
        }
        other = why(run.chapter, run.manifest, table["relation"].nunique(), measure)
        yield (
            head
            | {"measure": measure, "same_questions": not other, "why": other}
            | figures
        )


def _measures(
    run: Any,
) -> Iterator[tuple[str, pd.DataFrame, list[str], Statistic, str]]:
    """Yield each printed measure: its name, facts, columns, statistic, and the row to take."""
    if run.chapter == "knowledge_base":
        answers = store.answers(run.folder)
        study, given = STUDIES[run.chapter], run.manifest["parameters"]
        for setting in SETTINGS:
            if not answers["setting"].eq(setting).any():
                continue
            table = study.facts(
                answers, **fitting(study.facts, given | {"setting": setting})
            )
            table["relation"] = table["stratum"]
            for name in ("CR", "NCR", "UR", "NCCR", "IUR"):
                part = table[table["seen"].eq(name not in UNSEEN)]
                yield (
                    f"knowledge bases: {name}, {setting}",
                    part,
                    [*BASIC],
                    kb.measure(name),
                    "all",
                )
        return
    table = facts(run.chapter, run.folder).reset_index()
    if run.chapter == "monitor":
        both = ["counted_deviation", "counted_anchor"]
        yield "MONITOR: score", table, both, monitor.ratio_of_sums, "mean"
        yield "MONITOR: mean accuracy", table, ["average"], stats.mean, "mean"
        yield "MONITOR: mean anchor", table, ["counted_anchor"], stats.mean, "mean"
    elif run.chapter == "latent_knowledge":
        yield "IC-LKE: accuracy", table, ["right"], stats.mean, "mean"
    elif asked := BENCHMARKS.get(run.dataset):
        names = ("accuracy", "ambiguity", "binary ambiguity")
        for name, column in zip(names, ("accuracy", "ambiguous", "ambiguous_binary")):
            yield (
                f"multiplicity: {asked.name} {name}",
                table,
                [column],
                stats.mean,
                "all",
            )


def why(
    chapter: str,
    manifest: Mapping[str, Any],
    n_relations: int | None = None,
    measure: str = "",
) -> str:
    """Say in what a run, or one measure, differs from what the paper asked; "" if in nothing."""
    if other := _other_questions(chapter, manifest["dataset"], n_relations):
        return other
    given, name = store.settings_of_run(manifest), manifest["dataset"]["name"]
    told = {
        setting: (given.get(setting), value)
        for setting, value in AS_PRINTED[chapter].items()
    }
    reasons = []
    if asked := BENCHMARKS.get(name):
        kind, shots = (
            given.get("focus") or asked.kind,
            given.get("n_shots") or asked.shots,
        )
        reasons += [f"variation of {kind}" * (kind != asked.kind)]
        reasons += [f"{shots} shots, not {asked.shots}" * (shots != asked.shots)]
    of_unseen = not measure or any(f" {each}," in measure for each in UNSEEN)
    if chapter == "knowledge_base" and of_unseen:
        day = given.get("as_of", unseen.AS_OF)
        reasons += [f"unseen after {day}" * (day != PAPERS_DAY)]
    form = prompt_format(manifest)
    reasons += [f"prompts in format {form}" * (form != "bare")]
    reasons += [f"{setting} {ours}, not {theirs}" for setting, (ours, theirs) in told.items()
                if setting in given and ours != theirs]  # fmt: skip
    return "; ".join(filter(None, reasons))


def _other_questions(
    chapter: str, dataset: Mapping[str, Any], n_relations: int | None
) -> str:
    """Say if a data set is not the paper's, or not the whole of it; its name proves little."""
    name = dataset["name"]
    if chapter == "multiplicity":
        if name not in BENCHMARKS:
            return "other questions"
        rows, whole = int(dataset.get("rows") or 0), BENCHMARKS[name].rows
        if rows not in whole:
            return f"{rows:,} questions in the files, not {whole[0]:,}"
        return (
            "" if rows != whole[0] else _other_files(dataset, name)
        )  # others have no checksum
    if chapter == "knowledge_base":
        if name != "seen_qa" or dataset.get("title") != SOURCES:
            return "other sources" if name == "seen_qa" else "other questions"
        return _other_files(dataset, *PUBLISHED)
    if name != {"monitor": "fktc", "latent_knowledge": "trex_mc"}[chapter]:
        return "other facts"
    few = n_relations is not None and n_relations < RELATIONS[name]
    part = f"{n_relations} of {RELATIONS[name]} relations" if few else ""
    return _other_files(dataset, name) or part


def _other_files(dataset: Mapping[str, Any], *names: str) -> str:
    """Say if the files are not the published ones, where the checksums of these are known."""
    known = [PUBLISHERS[name].known for name in names]
    told = (dataset.get("checksum") or "").split("; ")
    same = len(told) == len(known) and all(
        not k or k == each for k, each in zip(known, told)
    )
    return "" if same else "files that are not the published ones"
