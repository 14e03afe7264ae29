"""Where the files of a run are: start one, save its tables and manifest, load many.

A run is one chapter executed on one model. Its folder ``runs/<model-slug>/<chapter>/`` holds
``answers.parquet`` (what the model said), ``metrics.parquet`` (what was computed from it) and
``run.json`` (how it came about). ``run.json`` is written last: where it is, the run is whole.
"""

import json
import os
import platform
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.checkpoints import slug
from helpers.errors import UserError

_ABOVE = Path(__file__).resolve().parent.parent
# The project's folder. A package installed alone has none: runs then go where one works.
ROOT = _ABOVE if (_ABOVE / "_config.yml").is_file() else Path.cwd()
RUNS = ROOT / "runs"
PACKAGES = ("torch", "transformers", "numpy", "pandas")


@dataclass(frozen=True)
class Run:
    """One run in progress: its chapter, its parameters and the folders it writes to."""

    chapter: str
    parameters: dict[str, Any]
    folder: Path
    cache: Path
    started: float


def start(chapter: str, parameters: dict[str, Any], folder: str | Path = "") -> Run:
    """Make a run's folder and return the run.

    Parameters
    ----------
    chapter : str
        The chapter's name, as in ``notebooks/<chapter>.ipynb``.
    parameters : dict
        The chapter's parameters; ``model`` names the folder.
    folder : str or Path, default ""
        Where the run's files go; by default ``runs/<model-slug>/<chapter>`` in the project.

    Returns
    -------
    Run
        ``run.cache``, beside the chapters' folders, is shared by all chapters of one model.

    Raises
    ------
    UserError
        If the folder cannot be made or written to.
    """
    path = Path(folder) if folder else RUNS / slug(parameters["model"]) / chapter
    cache = path.parent / "cache"
    try:
        for needed in (path, cache):
            needed.mkdir(parents=True, exist_ok=True)
            probe = needed / f".write-{os.getpid()}.tmp"
            probe.touch()
            probe.unlink()
    except OSError as error:
        raise UserError(
            f"The run cannot write to {path} ({error.strerror}): "
            "free it, or give another folder with run_dir or --runs."
        ) from error
    return Run(chapter, dict(parameters), path, cache, time.time())


def save(
    run: Run,
    *,
    answers: pd.DataFrame,
    metrics: pd.DataFrame,
    model: dict[str, Any],
    dataset: dict[str, Any],
    extra: dict[str, Any] | None = None,
) -> Path:
    """Write a run's two tables and, last of all, its manifest; each file whole or not at all.

    Parameters
    ----------
    run : Run
        As ``start`` returned it.
    answers, metrics : DataFrame
        What the model said, and what was computed from it.
    model, dataset : dict
        As ``helpers.models.describe`` and ``helpers.datasets.source`` return them.
    extra : dict, optional
        Further entries of the manifest.

    Returns
    -------
    Path
        The run's folder.

    Raises
    ------
    UserError
        If a file cannot be written.
    """
    manifest = {**_manifest(run), "model": model, "dataset": dataset, **(extra or {})}
    text = json.dumps(manifest, indent=2, ensure_ascii=False, default=_plain) + "\n"
    _write(run.folder / "answers.parquet", lambda path: answers.to_parquet(path, index=False))
    _write(run.folder / "metrics.parquet", lambda path: metrics.to_parquet(path, index=False))
    _write(run.folder / "run.json", lambda path: path.write_text(text, encoding="utf-8"))
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
        ``model``, ``chapter``, ``folder``, ``dataset``, ``seed``, ``finished`` (UTC), ``seconds``,
        ``device``, and the dicts ``parameters`` and ``manifest`` (the whole of ``run.json``). A
        ``run.json`` that cannot be read is left out with a warning.
    """
    rows = []
    for path in sorted(Path(folder or RUNS).glob("*/*/run.json")):
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
            rows.append(_row(manifest, path.parent))
        except (OSError, ValueError, KeyError, TypeError) as error:
            warnings.warn(f"{path} is left out: {type(error).__name__} {error}", stacklevel=2)
    columns = ["model", "chapter", "folder", "dataset", "seed", "finished", "seconds", "device"]
    table = pd.DataFrame(rows, columns=[*columns, "parameters", "manifest"])
    return table.sort_values(["finished", "folder"], ignore_index=True)


def answers(folder: str | Path) -> pd.DataFrame:
    """Return the answers table of the run in ``folder``; a ``UserError`` says if it has none."""
    return _read(Path(folder) / "answers.parquet")


def metrics(folder: str | Path) -> pd.DataFrame:
    """Return the metrics table of the run in ``folder``; a ``UserError`` says if it has none."""
    return _read(Path(folder) / "metrics.parquet")


def manifest(folder: str | Path) -> dict[str, Any]:
    """Return the manifest of the run in ``folder``; a ``UserError`` says if it has none."""
    path = Path(folder) / "run.json"
    if not path.is_file():
        raise UserError(f"{path.parent} holds no {path.name}: the run has not finished there.")
    return json.loads(path.read_text(encoding="utf-8"))


def overall(chapter: str, folder: str | Path | None = None, relation: str = "all") -> pd.DataFrame:
    """Return the figures of every finished run of a chapter, over all facts or of one relation.

    Parameters
    ----------
    chapter : str
        The chapter's name.
    folder : str or Path, optional
        The folder over the models' folders; by default ``runs`` in the project.
    relation : str
        A relation, or ``"all"`` for all facts together.

    Returns
    -------
    DataFrame
        One row a run: ``model, dataset, n_parameters``, then for each measure its estimate, and
        the bounds of its interval as ``<measure>_low`` and ``<measure>_high``.
    """
    rows = []
    for found in load(folder).query("chapter == @chapter").itertuples():
        row = {"model": found.model, "dataset": found.dataset}
        row["n_parameters"] = found.manifest["model"].get("n_parameters")
        table = metrics(found.folder).query("level in ('run', 'relation')")
        for measure in table[table["relation"] == relation].itertuples():
            row[measure.measure] = measure.estimate
            row |= {f"{measure.measure}_{end}": getattr(measure, end) for end in ("low", "high")}
        rows.append(row)
    return pd.DataFrame(rows, columns=None if rows else ["model", "dataset", "n_parameters"])


def alike(run: Run, names: Iterable[str], folder: str | Path | None = None) -> pd.DataFrame:
    """Return the other finished runs of a chapter that have some parameters in common with one.

    Parameters
    ----------
    run : Run
        The run to compare with; it is not among the rows.
    names : iterable of str
        Parameters that must be the same, such as ``["dataset", "seed"]``.
    folder : str or Path, optional
        As for ``load``.

    Returns
    -------
    DataFrame
        Rows of ``load``.
    """
    table, names = load(folder), list(names)
    wanted = json.loads(json.dumps([run.parameters[name] for name in names], default=_plain))
    same = table["parameters"].map(lambda given: [given.get(name) for name in names] == wanted)
    other = table["folder"].map(Path) != run.folder
    chosen = (table["chapter"] == run.chapter) & other & same.astype(bool)
    return table[chosen].reset_index(drop=True)


def by_fact(
    chapter: str, dataset: str, measure: str, folder: str | Path | None = None
) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return a measure of each fact, one column for each model that has a finished run.

    Parameters
    ----------
    chapter, dataset : str
        Names of the chapter and of the data set.
    measure : str
        Name of the measure in the metrics, at level ``fact``.
    folder : str or Path, optional
        The folder over the models' folders; by default ``runs`` in the project.

    Returns
    -------
    DataFrame
        Index ``item``; a column a model, by the last part of its name; not a number where a run
        did not ask a fact.
    dict
        Model to its number of parameters.
    """
    columns, sizes = {}, {}
    for found in load(folder).query("chapter == @chapter and dataset == @dataset").itertuples():
        name = found.model.rstrip("/").rpartition("/")[2]
        rows = metrics(found.folder).query("level == 'fact' and measure == @measure")
        columns[name] = rows.set_index("item")["estimate"]
        sizes[name] = found.manifest["model"].get("n_parameters")
    return pd.DataFrame(columns).rename_axis("item"), sizes


def _manifest(run: Run) -> dict[str, Any]:
    """Return what is known of a run without its model: parameters, versions, costs, commit."""
    return {
        "chapter": run.chapter,
        "parameters": run.parameters,
        "seed": run.parameters.get("seed"),
        "versions": {"python": platform.python_version()} | {p: version(p) for p in PACKAGES},
        "device": _device(),
        "seconds": round(time.time() - run.started, 1),
        "peak_memory_mib": _peak_memory(),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
    }


def _row(manifest: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the row that ``load`` shows of one manifest."""
    kept = ("chapter", "seed", "finished", "seconds", "device", "parameters")
    names = {key: manifest[key]["name"] for key in ("model", "dataset")}
    return {**{key: manifest[key] for key in kept}, **names, "folder": folder, "manifest": manifest}


def _write(path: Path, write: Callable[[Path], object]) -> None:
    """Write a file beside its place, then move it there, so that no half file is ever seen."""
    part = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(part)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise UserError(
            f"{path} cannot be written ({error.strerror or error}): "
            "make room or give the folder free, then run again; finished work is kept."
        ) from error


def _read(path: Path) -> pd.DataFrame:
    """Return a run's table."""
    if not path.is_file():
        raise UserError(f"{path.parent} holds no {path.name}: the run has not finished there.")
    return pd.read_parquet(path)


def _device() -> str:
    """Return the machine's accelerator if torch sees one, else the processor's kind."""
    torch = sys.modules.get("torch")  # never imported here: a run without a model needs none
    if torch is not None and torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"cpu ({platform.machine()}, {os.cpu_count()} cores)"


def _peak_memory() -> dict[str, float]:
    """Return the most memory that this process has held so far, in MiB, by place."""
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux KiB
    peak = {"cpu": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20}
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        peak["cuda"] = torch.cuda.max_memory_allocated() / 2**20
    return {place: round(size, 1) for place, size in peak.items()}


def _commit() -> str | None:
    """Return the project's git commit, with ``+changes`` if files differ; None without git."""
    try:
        git = ["git", "-C", str(ROOT)]
        top = subprocess.check_output([*git, "rev-parse", "--show-toplevel"], text=True, stderr=-3)
        if Path(top.strip()) != ROOT:  # a copy of the project inside some other repository
            return None
        commit = subprocess.check_output([*git, "rev-parse", "HEAD"], text=True, stderr=-3)
        changed = subprocess.check_output([*git, "status", "--porcelain", "-uno"], text=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return commit.strip() + ("+changes" if changed.strip() else "")


def _plain(value: object) -> object:
    """Return a path, a numpy number or a set as something that JSON can hold."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    return value.tolist()  # numpy scalars and arrays; anything else is a mistake worth raising
