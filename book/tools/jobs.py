"""The runs that a book or a sweep needs, and whether each is current.

That is, made (its fingerprint in ``run.json``) from the settings, notebook, code and
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
NOISE_TOOL = "noise_floor_runs.py"
# Weights and tables of the package are among it.
CODE_FOLDERS = (
    PROJECT_FOLDER / "helpers",
    TEMPLATES / "kit",
    TEMPLATES / "analysis",
    TEMPLATES / "atlas",
)
# Larger files are not read, but told apart by their size and time.
LARGE_FILE_BYTES = 2**30
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
    "calibration",
    "atlas",
    "real_models",
    "published",
)
# It is about the book's model alone where that is not bundled.
SINGLE_MODEL_SYNTHESIS = "calibration"
JOB_FINGERPRINT_KEY = "made_from"


@dataclass(frozen=True)
class Job:
    """One run that is to be made; its name is its folder below that of the runs."""

    name: str  # <slug>/<chapter>
    chapter: str  # or NOISE_CHAPTER, or NOTEBOOK_FREE_CHAPTER
    model: str = ""  # empty where the chapter asks none
    settings: Mapping[str, Any] = field(default_factory=dict)  # all others are defaults
    more: tuple[str, ...] = ()  # further folders that it leaves

    @property
    def folders(self) -> tuple[str, ...]:
        """Return all folders that it leaves."""
        return (self.name, *self.more)

    @property
    def early(self) -> bool:
        """Return whether it asks without a notebook, for other chapters to read."""
        return self.chapter in (NOISE_CHAPTER, NOTEBOOK_FREE_CHAPTER)

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the files that make its run whole."""
        missing = set()
        if self.early:
            missing.add("notebook.ipynb")
        elif not self.model:
            missing.add("answers.parquet")
        return tuple(file for file in FILES_OF_WHOLE_RUN if file not in missing)


def chapter_kind(chapter: str, templates: Path = TEMPLATES) -> str:
    """Return whether a chapter runs once, on a model, or on all, by its parameters."""
    declared = parameters.declared_parameters(templates / f"{chapter}.ipynb")
    if "model" not in declared:
        return "synthesis"
    if "models" in declared:
        return "single"
    return "measure"


def models_by_folder(shown: str, others: Sequence[str] = ()) -> dict[str, str]:
    """Return the grid's models by the names of their folders, the book's model last."""
    folders = {}
    for name in others or checkpoints.bundled_models():
        if model_slug(name) != model_slug(shown):
            folders[model_slug(name)] = name
    folders[model_slug(shown)] = shown
    return folders


def plan_jobs(
    chapters: Iterable[str],
    shown: str,
    others: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    *,
    alike: bool = False,
) -> list[Job]:
    """Return the runs of chapters on a grid's models, those that ask models first."""
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
            jobs.append(_notebook_free_job(folder, model, measures, own))
    for chapter in kinds:
        if kinds[chapter] == "synthesis":
            jobs.append(_synthesis_job(chapter, shown, own[chapter]))
    return jobs


def _notebook_free_job(
    folder: str, model: str, chapters: Sequence[str], own: Mapping[str, Mapping]
) -> Job:
    """Return the job that measures a model which the book does not show."""
    settings = {}
    for chapter in chapters:
        settings |= own[chapter]
    settings.pop("prompt_format", None)  # each model has its own
    first, *more = (f"{folder}/{chapter}" for chapter in chapters)
    return Job(first, NOTEBOOK_FREE_CHAPTER, model, settings, tuple(more))


def _synthesis_job(chapter: str, shown: str, settings: Mapping[str, Any]) -> Job:
    """Return the job of a chapter that asks no model."""
    bundled = model_slug(shown) in checkpoints.bundled_models()
    if chapter == SINGLE_MODEL_SYNTHESIS and not bundled:
        settings = {"models": [shown]} | settings
    return Job(f"{SYNTHESIS}/{chapter}", chapter, "", settings)


def settings_for_chapter(chapter: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a chapter takes."""
    declared = parameters.declared_parameters(TEMPLATES / f"{chapter}.ipynb")
    return {name: settings[name] for name in settings if name in declared}


def measured_settings(template: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with which a study measures a model as its chapter would."""
    of_study = measuring.default_run_settings(template.stem)
    of_chapter = parameters.settable_parameters(template)
    measured = of_study | of_chapter
    for name, value in settings.items():
        if name in of_study and name in of_chapter:
            measured[name] = value
    return measured


def reads_finished_runs(job: Job) -> bool:
    """Return whether a job reads finished runs of others, and so begins after them."""
    if job.model:
        return False
    template = TEMPLATES / f"{job.chapter}.ipynb"
    return "runs_dir" in parameters.declared_parameters(template)


def requires_finished_runs(job: Job) -> bool:
    """Return whether a job is about finished runs, chosen by its ``models``."""
    declared = parameters.declared_parameters(TEMPLATES / f"{job.chapter}.ipynb")
    return reads_finished_runs(job) and "models" in declared


def job_priority(job: Job) -> int:
    """Return a number: greater, sooner; first what others show, then the longest."""
    duration_rank = 0
    if job.chapter in CHAPTERS_BY_DURATION:
        place = CHAPTERS_BY_DURATION.index(job.chapter)
        duration_rank = len(CHAPTERS_BY_DURATION) - place
    if job.early:
        return duration_rank + 2 * len(CHAPTERS_BY_DURATION)
    return duration_rank


def noise_floor_job(model: str) -> Job:
    """Return the job that makes a model's runs of the noise floor."""
    from notebooks.analysis.noise_floor import RUN_VARIANTS

    slug = model_slug(model)
    first, *more = (f"noise/{variant}/{slug}/monitor" for variant in RUN_VARIANTS)
    return Job(first, NOISE_CHAPTER, model, more=tuple(more))


def job_fingerprint(
    job: Job, runs: Path, templates: Path = TEMPLATES
) -> dict[str, Any]:
    """Return what a job would be made from: settings, and hashes of what it reads."""
    settings = _settings_of_run(job, templates)
    reads_runs = "runs_dir" in settings
    settings = {name: settings[name] for name in settings if name not in FIXED}
    files = files_below(*CODE_FOLDERS, *_maker_files(job, templates))
    for text in _texts_that_may_be_paths(job, settings):
        files |= files_below(PROJECT_FOLDER / Path(text).expanduser())
    fingerprint = {
        "settings": json.loads(json.dumps(settings, default=environment.json_value)),
        "files": files_digest(files),
    }
    commit = checkpoints.cached_commit_of_model(job.model)
    if commit:
        fingerprint["commit"] = commit
    if job.model:
        fingerprint["versions"] = identity.library_versions()
    if server_address.is_server_address(job.model):
        fingerprint |= _served(job.model)
    if reads_runs:
        fingerprint["runs"] = _finished_runs_digest(runs)
    return fingerprint


def _settings_of_run(job: Job, templates: Path) -> dict[str, Any]:
    """Return all settings of a job's run, by chapter where it has no notebook."""
    if job.chapter == NOISE_CHAPTER:
        return {}
    if job.chapter == NOTEBOOK_FREE_CHAPTER:
        settings = {}
        for folder in job.folders:
            chapter = Path(folder).name
            template = templates / f"{chapter}.ipynb"
            settings[chapter] = measured_settings(template, job.settings)
        return settings
    declared = parameters.declared_parameters(templates / f"{job.chapter}.ipynb")
    return declared | dict(job.settings)


def _maker_files(job: Job, templates: Path) -> list[Path]:
    """Return the files that make a job's run, the code of all runs left out."""
    if job.chapter == NOISE_CHAPTER:
        return [TOOLS_FOLDER / NOISE_TOOL]
    if job.chapter == NOTEBOOK_FREE_CHAPTER:
        return []
    claims = templates / "claims" / f"{job.chapter}.yaml"
    return [templates / f"{job.chapter}.ipynb", claims]


def _texts_that_may_be_paths(job: Job, settings: Mapping[str, Any]) -> list[str]:
    """Return what may name a file or a folder that a job reads."""
    values = [job.model, *_base_models(job.model)]
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


def _base_models(model: str) -> list[str]:
    """Return the folder of the model that an adapter in a folder rests on, if any."""
    folder = PROJECT_FOLDER / Path(model).expanduser()
    if not model or not (folder / adapters.ADAPTER_CONFIG_FILE).is_file():
        return []
    # An adapter of an adapter is refused where it is loaded.
    return [adapters.base_model_name(folder, model)]


@functools.cache
def _served(model: str) -> dict[str, Any]:
    """Return what tells a server's model from another of its name; asked once."""
    from helpers.models.server import served_model  # slow: not for those who need none

    server = served_model.load_from_server(model).server
    return {"server": [server.version, server.tokenizer], "sample": list(server.sample)}


def files_below(*places: Path) -> set[Path]:
    """Return files, and those in folders, what Python compiled left out."""
    files = set()
    for place in places:
        for path in (place, *place.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                files.add(path)
    return files


def files_digest(paths: Iterable[Path], top: Path | None = None) -> str:
    """Return a hash of files' content and names, in whatever order.

    Names are below `top` where it is given. There a link counts by its own name: what
    it leads to may lie elsewhere.
    """
    if top is None:
        files = sorted({path.resolve() for path in paths})
        names = [path_from_project(file) for file in files]
    else:
        files = sorted({path.absolute() for path in paths})
        names = [str(file.relative_to(top.absolute())) for file in files]
    lines = []
    for name, file in zip(names, files, strict=True):
        about = file.stat()
        lines.append(f"{name} {_file_digest(file, about.st_size, about.st_mtime_ns)}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@functools.cache
def _file_digest(file: Path, size: int, time: int) -> str:
    """Return a file's hash, read once a process while size and time are the same."""
    if size > LARGE_FILE_BYTES:
        return f"{size} {time}"
    return user_cache.checksum_of_files([file])


def is_run_current(job: Job, runs: Path) -> bool:
    """Return whether the job's run is there, whole, and made from what there is now."""
    fingerprint = job_fingerprint(job, runs)
    for folder in job.folders:
        stored = _stored_fingerprint(runs / folder, job.parts)
        if stored is None or not _same_fingerprints(stored, fingerprint):
            return False
    return True


def _same_fingerprints(stored: dict[str, Any], current: dict[str, Any]) -> bool:
    """Return whether two are the same, up to small differences of a server."""
    logprobs_before = stored.get("sample", [])
    logprobs_now = current.get("sample", [])
    if not server_address.is_same_sample(logprobs_before, logprobs_now):
        return False
    return {**stored, "sample": []} == {**current, "sample": []}


def write_job_fingerprint(folder: Path, made: dict[str, Any]) -> None:
    """Write into a run's manifest what it was made from."""
    path = folder / "run.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest[JOB_FINGERPRINT_KEY] = made
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    part = folder / f".run.json.{os.getpid()}.tmp"
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def finished_run_manifests(runs: Path) -> list[Path]:
    """Return the manifests of all finished runs of chapters on models."""
    return [path for path in runs.glob("*/*/run.json") if path.parts[-3] != SYNTHESIS]


def _stored_fingerprint(folder: Path, parts: Iterable[str]) -> dict[str, Any] | None:
    """Return what a run says it was made from; None where a part of it is missing."""
    if not all((folder / part).is_file() for part in parts):
        return None
    try:
        manifest = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        return manifest.get(JOB_FINGERPRINT_KEY)
    except (OSError, ValueError, AttributeError):
        return None


def _finished_runs_digest(runs: Path) -> str:
    """Return a hash of the finished runs, and of those of the noise floor."""
    noise_floor = runs.glob("noise/*/*/*/run.json")
    return files_digest([*finished_run_manifests(runs), *noise_floor], runs)
