"""The runs that a book or a sweep needs, and whether each is there and current.

A run is current if its ``run.json`` says (``made_from``) that it was made from what it would be
made from now. How it was started does not matter, nor where its folder has been moved to.
"""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.models import checkpoints
from helpers.models.checkpoints import slug
from helpers.publishing import dependencies, settings
from helpers.runs import ROOT, SYNTHESIS, environment

TEMPLATES = ROOT / "notebooks"
NOISE = Path(__file__).with_name("noise.py")
PARTS = ("notebook.ipynb", "answers.parquet", "metrics.parquet", "run.json")
# Begun in this order, so that no core is idle for long while the last chapter runs.
LONGEST = ("noise", "monitor", "knowledge_base", "latent_knowledge", "multiplicity", "comparison")
LONGEST += ("calibration", "real_models", "atlas")
LIGHT = ("attribution=no", "siblings=no", "n_grid=1", "n_close=1")  # the same facts, asked as well
KEY = "made_from"


@dataclass(frozen=True)
class Job:
    """One run that is to be made; its name is its folder below that of the runs."""

    name: str  # <slug>/<chapter>
    chapter: str
    model: str = ""  # empty where the chapter asks none
    words: tuple[str, ...] = ()  # the settings given, as name=value
    early: bool = False  # begun before the book's model, whose chapters show the others
    more: tuple[str, ...] = ()  # further folders that it leaves

    @property
    def folders(self) -> tuple[str, ...]:
        """Return all folders that it leaves."""
        return (self.name, *self.more)

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the files that make its run whole."""
        if self.more:  # the noise floor asks without a notebook
            return PARTS[1:]
        return PARTS if self.model else tuple(part for part in PARTS if "answers" not in part)


def kind(chapter: str, templates: Path = TEMPLATES) -> str:
    """Return what a chapter's parameters say that it is: it runs once, or on a model, or on all.

    A synthesis declares no ``model``: it reads finished runs, or published tables. A single one
    declares ``models`` and compares them itself, on the book's model; a measure runs on all.

    >>> kind("monitor"), kind("atlas")
    ('measure', 'single')
    """
    declared = settings.declared(templates / f"{chapter}.ipynb")
    if "model" not in declared:
        return "synthesis"
    return "single" if "models" in declared else "measure"


def family(shown: str, others: Sequence[str] = ()) -> dict[str, str]:
    """Return the models of the grid by the names of their folders, the book's model last.

    >>> family("org/mine", ["atlas-s", "org/mine"])
    {'atlas-s': 'atlas-s', 'org--mine': 'org/mine'}
    """
    names = [name for name in others or checkpoints.bundled() if slug(name) != slug(shown)]
    return {slug(name): name for name in [*names, shown]}


def plan(
    chapters: Iterable[str],
    shown: str,
    others: Sequence[str] = (),
    given: Iterable[str] = (),
    *,
    alike: bool = False,
) -> list[Job]:
    """Return the runs of chapters on the models of a grid, those that ask models first.

    >>> [job.name for job in plan(["atlas", "monitor"], "atlas-m", ["atlas-s"])]
    ['atlas-s/monitor', 'atlas-m/atlas', 'atlas-m/monitor']
    """
    kinds = {chapter: kind(chapter) for chapter in chapters}
    given, found = list(given), []
    for folder, model in family(shown, others).items():
        own = folder == slug(shown)
        asked = given if alike else words(model, shown, given)
        for chapter, what in kinds.items():
            if what == "measure" or (what == "single" and (own or alike)):
                taken = tuple(fitting(chapter, asked))
                found.append(Job(f"{folder}/{chapter}", chapter, model, taken, not (own or alike)))
    syntheses = [chapter for chapter, what in kinds.items() if what == "synthesis"]
    made = {chapter: tuple(fitting(chapter, given)) for chapter in syntheses}
    return found + [Job(f"{SYNTHESIS}/{name}", name, "", taken) for name, taken in made.items()]


def fitting(chapter: str, given: Iterable[str]) -> list[str]:
    """Return the words among ``name=value`` that are not for other chapters alone."""
    declared = settings.declared(TEMPLATES / f"{chapter}.ipynb")
    return [word for word in given if "=" not in word or word.partition("=")[0] in declared]


def needs_runs(job: Job) -> bool:
    """Return whether a job is about finished runs, chosen by its ``models``; others do without."""
    declared = settings.declared(TEMPLATES / f"{job.chapter}.ipynb")
    return not job.model and {"runs_dir", "models"} <= {*declared}


def priority(job: Job) -> int:
    """Return a number, the greater the sooner a job begins; the longest chapters come first.

    >>> several = plan(["atlas", "multiplicity", "monitor"], "atlas-m", ["atlas-s"])
    >>> [job.name for job in sorted(several, key=priority, reverse=True)][:3]
    ['atlas-s/monitor', 'atlas-s/multiplicity', 'atlas-m/monitor']
    """
    length = LONGEST[::-1].index(job.chapter) + 1 if job.chapter in LONGEST else 0
    return length + job.early * 2 * len(LONGEST)


def words(name: str, shown: str, given: Iterable[str]) -> list[str]:
    """Return the settings for the runs of one model: the book's takes what is given.

    The others are asked the same facts in the same way, each in its own prompt format, but spare
    themselves close-ups (``LIGHT``), unless those are given too.

    >>> words("atlas-m", "atlas-m", ["n_facts=5"])
    ['n_facts=5']
    >>> words("atlas-s", "atlas-m", ["n_facts=5", "attribution=yes", "prompt_format=chat"])
    ['attribution=yes', 'siblings=no', 'n_grid=1', 'n_close=1', 'n_facts=5']
    """
    if slug(name) == slug(shown):
        return list(given)
    taken = {word.partition("=")[0]: word for word in (*LIGHT, *given)}
    return [word for parameter, word in taken.items() if parameter != "prompt_format"]


def noise(model: str) -> Job:
    """Return the job that makes a model's runs of the noise floor.

    >>> noise("atlas-s").name
    'noise/usual/atlas-s/monitor'
    """
    from helpers.runs.comparison.noise import VARIANTS  # slow: not for those who need none

    first, *others = (f"noise/{variant}/{slug(model)}/monitor" for variant in VARIANTS)
    return Job(first, "noise", model, early=True, more=tuple(others))


def made_from(job: Job, runs: Path, templates: Path = TEMPLATES) -> dict[str, Any]:
    """Return what a job would be made from now: settings, and hashes of all that it reads."""
    template = templates / f"{job.chapter}.ipynb"
    values = {}
    if not job.more:
        values = settings.declared(template) | settings.read(template, job.words)
    given = {name: value for name, value in values.items() if name not in settings.FIXED}
    maker = NOISE if job.more else template
    found = {
        "settings": json.loads(json.dumps(given, default=environment.plain)),
        "files": dependencies.digest(dependencies.files(maker, given.values(), job.model)),
    }
    found |= {"commit": commit} if (commit := checkpoints.commit(job.model)) else {}
    return found | ({"runs": _read(runs)} if "runs_dir" in values else {})


def is_current(job: Job, runs: Path) -> bool:
    """Return whether the job's run is there, whole, and made from what it would be made from."""
    made = made_from(job, runs)
    return all(_signed(runs / folder, job.parts) == made for folder in job.folders)


def sign(folder: Path, made: dict[str, Any]) -> None:
    """Write into a run's manifest what it was made from."""
    path = folder / "run.json"
    manifest = json.loads(path.read_text(encoding="utf-8")) | {KEY: made}
    part = folder / f".run.json.{os.getpid()}.tmp"
    part.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)


def finished(runs: Path) -> list[Path]:
    """Return the manifests of all finished runs of chapters on models."""
    return [path for path in runs.glob("*/*/run.json") if path.parts[-3] != SYNTHESIS]


def _signed(folder: Path, parts: Iterable[str]) -> dict[str, Any] | None:
    """Return what a run says that it was made from; None where a part of it is missing."""
    if not all((folder / part).is_file() for part in parts):
        return None
    try:
        return json.loads((folder / "run.json").read_text(encoding="utf-8")).get(KEY)
    except (OSError, ValueError, AttributeError):
        return None


def _read(runs: Path) -> str:
    """Return a hash of the finished runs, and of those of the noise floor."""
    return dependencies.digest([*finished(runs), *runs.glob("noise/*/*/*/run.json")], runs)
