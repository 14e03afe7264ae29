"""Where the files of a run are: start one, save its tables and manifest, load many.

``runs/<model-slug>/<chapter>/`` holds ``answers.parquet``, ``metrics.parquet`` and,
written last, ``run.json``: where it is, the run is whole.
"""

import contextlib
import hashlib
import json
import os
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import UserError, reraise_as_user_error, reraise_failed_write
from helpers.io import files
from helpers.models.checkpoints import model_slug
from helpers.prompts import labels
from helpers.runs import environment

_ABOVE = Path(__file__).resolve().parents[2]
# The project's folder. A package installed alone has none: runs then go where one
# works.
PROJECT_FOLDER = _ABOVE if (_ABOVE / "_config.yml").is_file() else Path.cwd()
RUNS_FOLDER = PROJECT_FOLDER / "runs"
# Settings that a run may choose itself: they are in its manifest.
OPEN_SETTINGS = ("focus", "separator")
OTHER_FOLDER_REMEDY = "free the folder, or give another with run_dir or --runs"
SYNTHESIS = "synthesis"  # folder, among those of the models, of chapters that read runs
SAVE_REMEDY = "make room or give the folder free, then run again; finished work is kept"
LEFT_BY_EARLIER_RUN = ("run.json", "notebook.ipynb", "findings.json")
TABLE_COLUMNS = (
    "model",
    "chapter",
    "folder",
    "dataset",
    "seed",
    "finished",
    "seconds",
    "device",
    "parameters",
    "manifest",
)


@dataclass(frozen=True)
class Run:
    """One run in progress: its chapter, its parameters and the folders it writes to."""

    chapter: str
    parameters: dict[str, Any]
    folder: Path
    cache: Path
    started: float


def parameters(names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a notebook, as the first thing that its set-up does.

    They are the names in lower case that hold a number, a text, a yes or no, or a list
    of such, and so what the parameters cell has assigned, and papermill after it. Where
    the set-up is executed again, the parameters are those of the first time, with the
    values that they have now: cells in between have assigned names of their own.

    Parameters
    ----------
    names : dict
        What ``globals()`` returns in the notebook.

    Returns
    -------
    dict
        The parameters by name, for :func:`start`.

    Examples
    --------
    >>> cell = {"model": "atlas-s", "n_facts": 5, "relations": [], "_": "a", "In": []}
    >>> parameters(cell)
    {'model': 'atlas-s', 'n_facts': 5, 'relations': []}
    """
    if "settings" in names:
        return {name: names[name] for name in names["settings"]}
    settings = {}
    for name, value in names.items():
        assigned = name.islower() and not name.startswith("_")
        if assigned and isinstance(value, bool | int | float | str | list):
            settings[name] = value
    return settings


def start(chapter: str, parameters: dict[str, Any], folder: str | Path = "") -> Run:
    """Make a run's folder and return the run.

    Parameters
    ----------
    chapter : str
        The chapter's name, as in ``notebooks/<chapter>.ipynb``.
    parameters : dict
        The chapter's parameters; ``model`` names the folder. A chapter without one is a
        synthesis.
    folder : str or Path, default ""
        Where the run's files go; by default ``runs/<model-slug>/<chapter>`` in the
        project, or ``runs/synthesis/<chapter>``.

    Returns
    -------
    Run
        ``run.cache``, beside the chapters' folders, is shared by all chapters of one
        model.

    Raises
    ------
    UserError
        If the folder cannot be made or written to.
    """
    asks_a_model = "model" in parameters
    if folder:
        path = Path(folder)
    elif asks_a_model:
        path = RUNS_FOLDER / model_slug(parameters["model"]) / chapter
    else:
        path = RUNS_FOLDER / SYNTHESIS / chapter
    cache = path.parent / "cache"
    _make_writable_folder(path)
    if asks_a_model:
        _make_writable_folder(cache)
    return Run(chapter, dict(parameters), path, cache, time.monotonic())


def _make_writable_folder(path: Path) -> None:
    """Make a folder, and refuse one that cannot be written to."""
    probe = path / f".write-{os.getpid()}.tmp"
    with reraise_failed_write(path, OTHER_FOLDER_REMEDY):
        path.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()


@contextlib.contextmanager
def lock_folder(folder: Path, what: str = "run") -> Iterator[None]:
    """Hold a folder, made where it is missing, for one command.

    A lock ends with its process at the latest.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(folder / ".lock", timeout=0)
    with reraise_failed_write(folder, OTHER_FOLDER_REMEDY):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout as error:
            raise UserError(
                f"Another {what} is at work in {folder}: wait for it or end it, then "
                "run again."
            ) from error
    try:
        yield
    finally:
        lock.release()


def save(
    run: Run,
    *,
    metrics: pd.DataFrame,
    answers: pd.DataFrame | None = None,
    model: dict[str, Any] | None = None,
    dataset: dict[str, Any] | None = None,
    read: pd.DataFrame | None = None,
    extra: dict[str, Any] | None = None,
) -> Path:
    """Write a run's tables and, last of all, its manifest.

    Each file is written whole or not at all.

    Parameters
    ----------
    run : Run
        As ``start`` returned it.
    metrics, answers : DataFrame
        What was computed, and what the model said; a run without answers is a
        synthesis.
    model, dataset : dict
        As ``helpers.models.describe_model`` and ``helpers.datasets.source_record``
        return them, if any.
    read : DataFrame, optional
        The runs that a synthesis was made from, rows of ``load``; the manifest tells
        each one's folder, model, chapter, data set, seed, end, and the SHA-256 of its
        ``metrics.parquet``.
    extra : dict, optional
        Further entries of the manifest.

    Returns
    -------
    Path
        The run's folder; ``load`` leaves out that of a synthesis.

    Raises
    ------
    UserError
        If a file cannot be written, or a run that was read has lost its metrics.
    """
    device = "" if model is None else str(model.get("device", ""))
    manifest = {
        "chapter": run.chapter,
        "parameters": run.parameters,
        "seed": run.parameters.get("seed"),
    }
    manifest |= environment.describe_circumstances(run.started, device)
    if answers is None:
        tables = {"metrics.parquet": metrics}
        origins = [] if read is None else [_origin(row) for row in read.itertuples()]
        manifest |= {"kind": SYNTHESIS, "read": origins}
    else:
        tables = {"answers.parquet": answers, "metrics.parquet": metrics}
        manifest |= {"model": model, "dataset": dataset}
    manifest |= extra or {}
    text = json.dumps(
        manifest, indent=2, ensure_ascii=False, default=environment.json_value
    )
    parts = {}
    for name in (*tables, "run.json"):
        parts[name] = run.folder / f".{name}.{os.getpid()}.tmp"
    for name, table in tables.items():
        with reraise_failed_write(run.folder / name, SAVE_REMEDY, *parts.values()):
            table.to_parquet(parts[name], index=False, write_page_checksum=True)
    with reraise_failed_write(run.folder / "run.json", SAVE_REMEDY, *parts.values()):
        parts["run.json"].write_text(f"{text}\n", encoding="utf-8")
        for name in LEFT_BY_EARLIER_RUN:
            (run.folder / name).unlink(missing_ok=True)
    for name, part in parts.items():
        with reraise_failed_write(run.folder / name, SAVE_REMEDY, *parts.values()):
            part.replace(run.folder / name)
    return run.folder


def load(folder: str | Path | None = None) -> pd.DataFrame:
    """Return one row for each finished run, oldest first.

    Parameters
    ----------
    folder : str or Path, optional
        The folder over the models' folders; by default ``runs`` in the project.

    Returns
    -------
    DataFrame
        ``model``, ``chapter``, ``folder``, ``dataset``, ``seed``, ``finished`` (UTC),
        ``seconds``, ``device``, and the dicts ``parameters`` and ``manifest`` (the
        whole of ``run.json``). A ``run.json`` that cannot be read is left out with a
        warning.
    """
    rows = []
    for path in sorted(Path(folder or RUNS_FOLDER).glob("*/*/run.json")):
        try:
            manifest = _parsed_manifest(path)
            if manifest.get("kind") != SYNTHESIS:
                rows.append(_row_of_run(manifest, path))
        except UserError as error:
            warnings.warn(f"{path} is left out: {error}", stacklevel=2)
    table = pd.DataFrame(rows, columns=list(TABLE_COLUMNS))
    return table.sort_values(["finished", "folder"], ignore_index=True)


def _row_of_run(manifest: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return what the table of runs holds of one, whose manifest is at the path."""
    with files.reraise_as_malformed_file(path):
        return {
            "chapter": manifest["chapter"],
            "seed": manifest["seed"],
            "finished": str(manifest["finished"]),
            "seconds": manifest["seconds"],
            "device": manifest["device"],
            "parameters": manifest["parameters"],
            "model": str(manifest["model"]["name"]),
            "dataset": str(manifest["dataset"]["name"]),
            "folder": path.parent,
            "manifest": manifest,
        }


def load_answers(folder: str | Path) -> pd.DataFrame:
    """Return the answers table of the run in ``folder``, which must have one.

    Answers of older runs are given the columns that tell what a prompt is.
    """
    return labels.add_columns(_saved_table(Path(folder) / "answers.parquet"))


def load_metrics(folder: str | Path) -> pd.DataFrame:
    """Return the metrics table of the run in ``folder``, which must have one."""
    return _saved_table(Path(folder) / "metrics.parquet")


def load_manifest(folder: str | Path) -> dict[str, Any]:
    """Return the manifest of the run in ``folder``, which must have one."""
    return _parsed_manifest(_path_of_existing_file(Path(folder) / "run.json"))


def settings_of_run(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a run, those that it left open as they came out."""
    chosen = {name: manifest[name] for name in OPEN_SETTINGS if name in manifest}
    return manifest["parameters"] | chosen


def path_from_project(path: Path) -> str:
    """Return a path as people read it: from the project's top if it is inside."""
    if path.is_relative_to(PROJECT_FOLDER):
        path = path.relative_to(PROJECT_FOLDER)
    return str(path)


def _parsed_manifest(path: Path) -> dict[str, Any]:
    """Return what the manifest at a path holds."""
    try:
        with files.reraise_as_malformed_file(path.name):
            manifest = files.parse_json(files.read_text(path), path.name)
            if not isinstance(manifest, dict):
                raise UserError("it holds no object")
            if not isinstance(manifest.get("parameters"), dict):
                raise UserError("it holds no parameters")
            return manifest
    except UserError as error:
        raise UserError(
            f"{path} is damaged ({error}): run the chapter again."
        ) from error


def _origin(run: Any) -> dict[str, Any]:  # pandas' rows have no types
    """Return what a synthesis keeps of a run that it read: a row of ``load``."""
    metrics = _path_of_existing_file(run.folder / "metrics.parquet")
    return {
        "model": run.model,
        "chapter": run.chapter,
        "dataset": run.dataset,
        "seed": run.seed,
        "finished": run.finished,
        "folder": os.path.relpath(run.folder, PROJECT_FOLDER),
        "sha256": hashlib.sha256(metrics.read_bytes()).hexdigest(),
    }


def _path_of_existing_file(path: Path) -> Path:
    """Return the path of a finished run's file, which must be there."""
    if not path.is_file():
        raise UserError(
            f"{path.parent} holds no {path.name}: run the chapter to its end there."
        )
    return path


def _saved_table(path: Path) -> pd.DataFrame:
    """Return a run's table."""
    remedy = "run the chapter again, of which the answers cache spares most of the work"
    with reraise_as_user_error(f"{path} is damaged", remedy, OSError, ValueError):
        existing = _path_of_existing_file(path)
        return pd.read_parquet(existing, page_checksum_verification=True)
