"""The runs that a book or a sweep needs, and whether each is current.

That is, made (``job_fingerprint`` in ``run.json``) from the settings, notebook, code and
files of now.
"""

import functools
import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from book.tools import parameters
from helpers.io import user_cache
from helpers.models import adapters, checkpoints, identity, server_address
from helpers.models.checkpoints import model_slug
from helpers.runs import (
    PROJECT_FOLDER,
    SYNTHESIS,
    environment,
    measuring,
    path_from_project,
)
from helpers.settings import FIXED

TEMPLATES = PROJECT_FOLDER / "notebooks"
# What is asked without a notebook: the noise floor, and other models by the studies.
NOISE_CHAPTER, NOTEBOOK_FREE_CHAPTER = "noise", "others"
TOOLS_FOLDER = Path(__file__).parent
# Weights and tables of the package are among it.
CODE_FOLDERS = (
    PROJECT_FOLDER / "helpers",
    TEMPLATES / "kit",
    TEMPLATES / "analysis",
    TEMPLATES / "atlas",
)
LARGE_FILE_BYTES = (
    2**30
)  # bytes; larger files are not read, but told apart by their size and time
FILES_OF_WHOLE_RUN = (
    "notebook.ipynb",
    "answers.parquet",
    "metrics.parquet",
    "run.json",
)
# Begun in this order, so that no core is idle for long while the last chapter runs.
CHAPTERS_BY_DURATION = (
    "monitor",
    "knowledge_base",
    "latent_knowledge",
    "multiplicity",
    "comparison",
)
CHAPTERS_BY_DURATION += ("calibration", "atlas", "real_models", "published")
SINGLE_MODEL_SYNTHESIS = (
    "calibration"  # is about the book's model alone where it is not bundled
)
JOB_FINGERPRINT_KEY = "made_from"
SERVER_LOGPROB_TOLERANCE = (
    0.02  # by which a server's log-probabilities may differ from one time to the next
)


@dataclass(frozen=True)
class Job:
    """One run that is to be made; its name is its folder below that of the runs."""

    name: str  # <slug>/<chapter>
    chapter: str  # or NOISE, or OTHERS
    model: str = ""  # empty where the chapter asks none
    settings: Mapping[str, Any] = field(default_factory=dict)  # all others are defaults
    more: tuple[str, ...] = ()  # further folders that it leaves

    @property
    def folders(self) -> tuple[str, ...]:
        """Return all folders that it leaves."""
        return (self.name, *self.more)

    @property
    def early(self) -> bool:
        """Return whether it asks without a notebook, for chapters of other models to read."""
        return self.chapter in (NOISE_CHAPTER, NOTEBOOK_FREE_CHAPTER)

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the files that make its run whole."""
        if self.early:
            return FILES_OF_WHOLE_RUN[1:]
        return (
            FILES_OF_WHOLE_RUN
            if self.model
            else tuple(part for part in FILES_OF_WHOLE_RUN if "answers" not in part)
        )


def chapter_kind(chapter: str, templates: Path = TEMPLATES) -> str:
    """Return what a chapter's parameters say that it is: it runs once, or on a model, or on all."""
    declared = parameters.declared_parameters(templates / f"{chapter}.ipynb")
    if "model" not in declared:
        return "synthesis"
    return "single" if "models" in declared else "measure"


def models_by_folder(shown: str, others: Sequence[str] = ()) -> dict[str, str]:
    """Return the models of the grid by the names of their folders, the book's model last."""
    names = [
        name
        for name in others or checkpoints.bundled_models()
        if model_slug(name) != model_slug(shown)
    ]
    return {model_slug(name): name for name in [*names, shown]}


def plan_jobs(
    chapters: Iterable[str],
    shown: str,
    others: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    *,
    alike: bool = False,
) -> list[Job]:
    """Return the runs of chapters on the models of a grid, those that ask models first."""
    settings = settings or {}
    kinds = {chapter: chapter_kind(chapter) for chapter in chapters}
    own = {chapter: settings_for_chapter(chapter, settings) for chapter in kinds}
    asking = [chapter for chapter in kinds if kinds[chapter] != "synthesis"]
    measures = [chapter for chapter in kinds if kinds[chapter] == "measure"]
    jobs = []
    for folder, model in models_by_folder(shown, others).items():
        if alike or folder == model_slug(shown):
            for chapter in asking:
                jobs.append(Job(f"{folder}/{chapter}", chapter, model, own[chapter]))
        elif measures:
            jobs.append(_without_notebooks(folder, model, measures, own))
    for chapter in kinds:
        if kinds[chapter] == "synthesis":
            jobs.append(_synthesis(chapter, shown, own[chapter]))
    return jobs


def _without_notebooks(
    folder: str, model: str, chapters: Sequence[str], own: Mapping[str, Mapping]
) -> Job:
    """Return the job that measures a model which the book does not show."""
    settings = {}
    for chapter in chapters:
        settings |= own[chapter]
    settings.pop("prompt_format", None)  # each model has its own
    first, *more = (f"{folder}/{chapter}" for chapter in chapters)
    return Job(first, NOTEBOOK_FREE_CHAPTER, model, settings, tuple(more))


def _synthesis(chapter: str, shown: str, settings: Mapping[str, Any]) -> Job:
    """Return the job of a chapter that asks no model."""
    if (
        chapter == SINGLE_MODEL_SYNTHESIS
        and model_slug(shown) not in checkpoints.bundled_models()
    ):
        settings = {"models": [shown]} | settings
    return Job(f"{SYNTHESIS}/{chapter}", chapter, "", settings)


def settings_for_chapter(chapter: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a chapter takes."""
    known = parameters.declared_parameters(TEMPLATES / f"{chapter}.ipynb")
    return {name: settings[name] for name in settings if name in known}


def measured_settings(template: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with which a study measures a model as its chapter would."""
    own = measuring.default_run_settings(template.stem)
    defaults = parameters.settable_parameters(template)
    taken = {
        name: value
        for name, value in settings.items()
        if name in defaults and name in own
    }
    return own | defaults | taken


def reads_finished_runs(job: Job) -> bool:
    """Return whether a job reads the finished runs of others, and so begins after them."""
    return not job.model and "runs_dir" in parameters.declared_parameters(
        TEMPLATES / f"{job.chapter}.ipynb"
    )


def requires_finished_runs(job: Job) -> bool:
    """Return whether a job is about finished runs, chosen by its ``models``; others do without."""
    declared = parameters.declared_parameters(TEMPLATES / f"{job.chapter}.ipynb")
    return reads_finished_runs(job) and "models" in declared


def job_priority(job: Job) -> int:
    """Return a number, the greater the sooner a job begins: what others show, then the longest."""
    length = (
        CHAPTERS_BY_DURATION[::-1].index(job.chapter) + 1
        if job.chapter in CHAPTERS_BY_DURATION
        else 0
    )
    return length + job.early * 2 * len(CHAPTERS_BY_DURATION)


def noise_floor_job(model: str) -> Job:
    """Return the job that makes a model's runs of the noise floor."""
    from notebooks.analysis.noise_floor import RUN_VARIANTS

    first, *others = (
        f"noise/{variant}/{model_slug(model)}/monitor" for variant in RUN_VARIANTS
    )
    return Job(first, NOISE_CHAPTER, model, more=tuple(others))


def job_fingerprint(
    job: Job, runs: Path, templates: Path = TEMPLATES
) -> dict[str, Any]:
    """Return what a job would be made from now: settings, and hashes of all that it reads."""
    makers = [
        templates / f"{job.chapter}.ipynb",
        templates / "claims" / f"{job.chapter}.yaml",
    ]
    settings: dict[str, Any] = {}  # by chapter where they are several
    if job.chapter == NOISE_CHAPTER:
        makers = [TOOLS_FOLDER / "noise_floor_runs.py"]
    elif job.chapter == NOTEBOOK_FREE_CHAPTER:
        makers = []
        for folder in job.folders:
            chapter = Path(folder).name
            template = templates / f"{chapter}.ipynb"
            settings[chapter] = measured_settings(template, job.settings)
    else:
        settings = parameters.declared_parameters(makers[0]) | dict(job.settings)
    reads_runs = "runs_dir" in settings
    settings = {name: settings[name] for name in settings if name not in FIXED}
    outside = [
        PROJECT_FOLDER / Path(text).expanduser() for text in _texts(job, settings)
    ]
    made = {
        "settings": json.loads(json.dumps(settings, default=environment.json_value)),
        "files": files_digest(files_below(*CODE_FOLDERS, *makers, *outside)),
    }
    if commit := checkpoints.cached_commit_of_model(job.model):
        made["commit"] = commit
    if job.model:
        made["versions"] = identity.library_versions()
    if server_address.is_server_address(job.model):
        made |= _served(job.model)
    if reads_runs:
        made["runs"] = _read(runs)
    return made


def _texts(job: Job, settings: Mapping[str, Any]) -> list[str]:
    """Return what may name a file or a folder that a job reads."""
    values = [job.model, *_bases(job.model)]
    waiting = list(settings.values())
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value
        else:
            values.append(value)
    return [value for value in values if value and isinstance(value, str)]


def _bases(model: str) -> list[str]:
    """Return the folders of the models that an adapter in a folder rests on."""
    folder = PROJECT_FOLDER / Path(model).expanduser()
    if not model or not (folder / adapters.ADAPTER_CONFIG_FILE).is_file():
        return []
    base = adapters.base_model_name(folder, model)
    return [base, *_bases(base)] if base != model else []


@functools.cache
def _served(model: str) -> dict[str, Any]:
    """Return what tells the model on a server from another of its name, asked once a process."""
    from helpers.models.server import served_model  # slow: not for those who need none

    server = served_model.load_from_server(model).model
    return {"server": [server.version, server.tokenizer], "sample": list(server.sample)}


def files_below(*places: Path) -> set[Path]:
    """Return files, and those in folders, what Python compiled left out."""
    found = {file for place in places for file in (place, *place.rglob("*"))}
    return {
        file for file in found if file.is_file() and "__pycache__" not in file.parts
    }


def files_digest(paths: Iterable[Path], top: Path | None = None) -> str:
    """Return a hash of files' content and names, below `top` where given, in whatever order."""
    # Below `top` a link counts by its own name: what it leads to may lie elsewhere.
    found = sorted({path.absolute() if top else path.resolve() for path in paths})
    name = (
        path_from_project
        if top is None
        else (lambda file: file.relative_to(top.absolute()))
    )
    stats = {file: file.stat() for file in found}
    lines = [
        f"{name(f)} {_hash(f, s.st_size, s.st_mtime_ns)}" for f, s in stats.items()
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@functools.cache
def _hash(file: Path, size: int, time: int) -> str:
    """Return the hash of a file, read once in this process while its size and time are the same."""
    return (
        f"{size} {time}"
        if size > LARGE_FILE_BYTES
        else user_cache.checksum_of_files([file])
    )


def is_run_current(job: Job, runs: Path) -> bool:
    """Return whether the job's run is there, whole, and made from what it would be made from."""
    made = job_fingerprint(job, runs)
    return all(
        _alike(_signed(runs / folder, job.parts), made) for folder in job.folders
    )


def _alike(signed: dict[str, Any] | None, made: dict[str, Any]) -> bool:
    """Tell whether a run was made from the same, a server's numbers aside that differ a little."""
    one, other = ((each or {}).get("sample", []) for each in (signed, made))
    near = len(one) == len(other) and all(
        abs(a - b) <= SERVER_LOGPROB_TOLERANCE for a, b in zip(one, other)
    )
    return near and {**(signed or {}), "sample": []} == {**made, "sample": []}


def write_job_fingerprint(folder: Path, made: dict[str, Any]) -> None:
    """Write into a run's manifest what it was made from."""
    path = folder / "run.json"
    manifest = json.loads(path.read_text(encoding="utf-8")) | {
        JOB_FINGERPRINT_KEY: made
    }
    part = folder / f".run.json.{os.getpid()}.tmp"
    part.write_text(
        json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    part.replace(path)


def finished_run_manifests(runs: Path) -> list[Path]:
    """Return the manifests of all finished runs of chapters on models."""
    return [path for path in runs.glob("*/*/run.json") if path.parts[-3] != SYNTHESIS]


def _signed(folder: Path, parts: Iterable[str]) -> dict[str, Any] | None:
    """Return what a run says that it was made from; None where a part of it is missing."""
    if not all((folder / part).is_file() for part in parts):
        return None
    try:
        return json.loads((folder / "run.json").read_text(encoding="utf-8")).get(
            JOB_FINGERPRINT_KEY
        )
    except (OSError, ValueError, AttributeError):
        return None


def _read(runs: Path) -> str:
    """Return a hash of the finished runs, and of those of the noise floor."""
    return files_digest(
        [*finished_run_manifests(runs), *runs.glob("noise/*/*/*/run.json")], runs
    )
