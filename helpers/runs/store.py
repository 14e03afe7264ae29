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
OPEN_SETTINGS = (
    "focus",
    "separator",
)  # settings that a run may choose itself: in its manifest
OTHER_FOLDER_REMEDY = "free the folder, or give another with run_dir or --runs"
SYNTHESIS = "synthesis"  # folder, among those of the models, of chapters that read runs


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

    They are the names in lower case that hold a number, a text, a yes or no, or a list of
    such, and so what the parameters cell has assigned, and papermill after it. Where the
    set-up is executed again, the parameters are those of the first time, with the values
    that they have now: cells in between have assigned names of their own.

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
    >>> cell = {"model": "atlas-s", "n_facts": 5, "relations": [], "_": "shown", "In": []}
    >>> parameters(cell)
    {'model': 'atlas-s', 'n_facts': 5, 'relations': []}
    """
    if "settings" in names:
        return {name: names[name] for name in names["settings"]}
    return {
        name: value
        for name, value in names.items()
        if isinstance(value, bool | int | float | str | list)
        and name.islower()
        and not name.startswith("_")
    }


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
    of = model_slug(parameters["model"]) if "model" in parameters else SYNTHESIS
    path = Path(folder) if folder else RUNS_FOLDER / of / chapter
    cache = path.parent / "cache"
    for needed in (path, cache) if "model" in parameters else (path,):
        probe = needed / f".write-{os.getpid()}.tmp"
        with reraise_failed_write(needed, OTHER_FOLDER_REMEDY):
            needed.mkdir(parents=True, exist_ok=True)
            probe.touch()
            probe.unlink()
    return Run(chapter, dict(parameters), path, cache, time.monotonic())


@contextlib.contextmanager
def lock_folder(folder: Path, what: str = "run") -> Iterator[None]:
    """Hold a folder, made where it is missing, for one command; a lock ends with its process."""
    from filelock import FileLock, Timeout

    lock = FileLock(folder / ".lock", timeout=0)
    with reraise_failed_write(folder, OTHER_FOLDER_REMEDY):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire()
        except Timeout as error:
            raise UserError(
                f"Another {what} is at work in {folder}: wait for it or end it, then run again."
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
    """Write a run's tables and, last of all, its manifest; each file whole or not at all.

    Parameters
    ----------
    run : Run
        As ``start`` returned it.
    metrics, answers : DataFrame
        What was computed, and what the model said; a run without answers is a
        synthesis.
    model, dataset : dict
        As ``helpers.models.describe_model`` and ``helpers.datasets.source_record`` return them, if
        any.
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
    told = {"chapter": run.chapter, "parameters": run.parameters}
    told["seed"] = run.parameters.get("seed")
    told |= environment.describe_circumstances(
        run.started, str((model or {}).get("device", ""))
    )
    tables = {"answers.parquet": answers, "metrics.parquet": metrics}
    if answers is None:
        del tables["answers.parquet"]
        rows = [] if read is None else [_origin(row) for row in read.itertuples()]
        told |= {"kind": SYNTHESIS, "read": rows}
    else:
        told |= {"model": model, "dataset": dataset}
    told |= extra or {}
    text = (
        json.dumps(told, indent=2, ensure_ascii=False, default=environment.json_value)
        + "\n"
    )
    parts = {
        name: run.folder / f".{name}.{os.getpid()}.tmp"
        for name in (*tables, "run.json")
    }
    remedy = "make room or give the folder free, then run again; finished work is kept"
    for name, table in tables.items():
        with reraise_failed_write(run.folder / name, remedy, *parts.values()):
            table.to_parquet(parts[name], index=False, write_page_checksum=True)
    with reraise_failed_write(run.folder / "run.json", remedy, *parts.values()):
        parts["run.json"].write_text(text, encoding="utf-8")
        for old in (
            "run.json",
            "notebook.ipynb",
            "findings.json",
        ):  # what an earlier run left
            (run.folder / old).unlink(missing_ok=True)
        for name, part in parts.items():
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
        ``seconds``, ``device``, and the dicts ``parameters`` and ``load_manifest`` (the
        whole of ``run.json``). A ``run.json`` that cannot be read is left out with a
        warning.
    """
    rows, kept = [], ("chapter", "seed", "finished", "seconds", "device", "parameters")
    for path in sorted(Path(folder or RUNS_FOLDER).glob("*/*/run.json")):
        try:
            manifest = _told(path)
            with files.reraise_as_malformed_file(path):
                if manifest.get("kind") != SYNTHESIS:
                    row = {key: manifest[key] for key in kept}
                    row |= {
                        key: str(manifest[key]["name"]) for key in ("model", "dataset")
                    }
                    row |= {"finished": str(row["finished"]), "folder": path.parent}
                    rows.append(row | {"manifest": manifest})
        except UserError as error:
            warnings.warn(f"{path} is left out: {error}", stacklevel=2)
    columns = [
        "model",
        "chapter",
        "folder",
        "dataset",
        "seed",
        "finished",
        "seconds",
        "device",
    ]
    table = pd.DataFrame(rows, columns=[*columns, "parameters", "manifest"])
    return table.sort_values(["finished", "folder"], ignore_index=True)


def load_answers(folder: str | Path) -> pd.DataFrame:
    """Return the answers table of the run in ``folder``; a ``UserError`` says if it has none.

    Answers of older runs are given the columns that tell what a prompt is.
    """
    return labels.add_columns(_read(Path(folder) / "answers.parquet"))


def load_metrics(folder: str | Path) -> pd.DataFrame:
    """Return the metrics table of the run in ``folder``; a ``UserError`` says if it has none."""
    return _read(Path(folder) / "metrics.parquet")


def load_manifest(folder: str | Path) -> dict[str, Any]:
    """Return the manifest of the run in ``folder``; a ``UserError`` says if it has none."""
    return _told(_there(Path(folder) / "run.json"))


def settings_of_run(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a run, those that it left open as they came out."""
    came_out = {name: manifest[name] for name in OPEN_SETTINGS if name in manifest}
    return manifest["parameters"] | came_out


def path_from_project(path: Path) -> str:
    """Return a path as people read it: from the project's top if it is inside."""
    return str(
        path.relative_to(PROJECT_FOLDER)
        if path.is_relative_to(PROJECT_FOLDER)
        else path
    )


def _told(path: Path) -> dict[str, Any]:
    """Return what a manifest says."""
    try:
        with files.reraise_as_malformed_file(path.name):
            return dict(files.parse_json(files.read_text(path), path.name))
    except UserError as error:
        raise UserError(
            f"{path} is damaged ({error}): run the chapter again."
        ) from error


def _origin(found: Any) -> dict[str, Any]:
    """Return what a synthesis keeps of a run that it read: a row of ``load``."""
    table = _there(found.folder / "metrics.parquet")
    kept = ("model", "chapter", "dataset", "seed", "finished")
    return {name: getattr(found, name) for name in kept} | {
        "folder": os.path.relpath(found.folder, PROJECT_FOLDER),
        "sha256": hashlib.sha256(table.read_bytes()).hexdigest(),
    }


def _there(path: Path) -> Path:
    """Return the path of a finished run's file."""
    if not path.is_file():
        raise UserError(
            f"{path.parent} holds no {path.name}: run the chapter to its end there."
        )
    return path


def _read(path: Path) -> pd.DataFrame:
    """Return a run's table."""
    remedy = "run the chapter again, of which the answers cache spares most of the work"
    with reraise_as_user_error(f"{path} is damaged", remedy, OSError, ValueError):
        return pd.read_parquet(_there(path), page_checksum_verification=True)
