"""The runs that a book or a sweep needs, and whether each is current.

That is, made (``made_from`` in ``run.json``) from the settings, notebook, code and
files of now.
"""

import functools
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from book.tools import others, settings
from helpers.cli import FIXED
from helpers.datasets import download
from helpers.models import adapters, address, checkpoints, identity
from helpers.models.checkpoints import slug
from helpers.runs import ROOT, SYNTHESIS, environment, shown

TEMPLATES = ROOT / "notebooks"
NOISE, OTHERS = (
    "noise",
    "others",
)  # what is asked without a notebook: modules of this folder
HERE = Path(__file__).parent
CODE = (
    ROOT / "helpers",
    TEMPLATES / "analysis",
)  # weights and tables of the package among it
LARGE = 2**30  # bytes; larger files are not read, but told apart by their size and time
PARTS = ("notebook.ipynb", "answers.parquet", "metrics.parquet", "run.json")
# Begun in this order, so that no core is idle for long while the last chapter runs.
LONGEST = (
    "monitor",
    "knowledge_base",
    "latent_knowledge",
    "multiplicity",
    "comparison",
)
LONGEST += ("calibration", "atlas", "real_models", "published")
ALONE = "calibration"  # is about the book's model alone where it is not bundled
KEY = "made_from"
JITTER = (
    0.02  # by which a server's log-probabilities may differ from one time to the next
)


@dataclass(frozen=True)
class Job:
    """One run that is to be made; its name is its folder below that of the runs."""

    name: str  # <slug>/<chapter>
    chapter: str  # or NOISE, or OTHERS
    model: str = ""  # empty where the chapter asks none
    words: tuple[str, ...] = ()  # the settings given, as name=value
    more: tuple[str, ...] = ()  # further folders that it leaves

    @property
    def folders(self) -> tuple[str, ...]:
        """Return all folders that it leaves."""
        return (self.name, *self.more)

    @property
    def early(self) -> bool:
        """Return whether it asks without a notebook, for chapters of other models to read."""
        return self.chapter in (NOISE, OTHERS)

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the files that make its run whole."""
        if self.early:
            return PARTS[1:]
        return (
            PARTS
            if self.model
            else tuple(part for part in PARTS if "answers" not in part)
        )


def kind(chapter: str, templates: Path = TEMPLATES) -> str:
    """Return what a chapter's parameters say that it is: it runs once, or on a model, or on all."""
    declared = settings.declared(templates / f"{chapter}.ipynb")
    if "model" not in declared:
        return "synthesis"
    return "single" if "models" in declared else "measure"


def family(shown: str, others: Sequence[str] = ()) -> dict[str, str]:
    """Return the models of the grid by the names of their folders, the book's model last."""
    names = [
        name for name in others or checkpoints.bundled() if slug(name) != slug(shown)
    ]
    return {slug(name): name for name in [*names, shown]}


def plan(
    chapters: Iterable[str],
    shown: str,
    others: Sequence[str] = (),
    given: Iterable[str] = (),
    *,
    alike: bool = False,
) -> list[Job]:
    """Return the runs of chapters on the models of a grid, those that ask models first."""
    kinds = {chapter: kind(chapter) for chapter in chapters}
    given, found = list(given), []
    measures = [chapter for chapter, what in kinds.items() if what == "measure"]
    for folder, model in family(shown, others).items():
        if alike or folder == slug(shown):  # else measured without a notebook
            found += [
                Job(
                    f"{folder}/{chapter}",
                    chapter,
                    model,
                    tuple(fitting(chapter, given)),
                )
                for chapter, what in kinds.items()
                if what != "synthesis"
            ]
        elif measures:
            places = [f"{folder}/{chapter}" for chapter in measures]
            taken = [
                word
                for word in given
                if any(fitting(each, [word]) for each in measures)
            ]
            words = tuple(
                word for word in taken if word.partition("=")[0] != "prompt_format"
            )
            found.append(Job(places[0], OTHERS, model, words, tuple(places[1:])))
    syntheses = [chapter for chapter, what in kinds.items() if what == "synthesis"]
    made = {chapter: tuple(fitting(chapter, given)) for chapter in syntheses}
    if ALONE in made and slug(shown) not in checkpoints.bundled():
        named = any(word.startswith("models=") for word in made[ALONE])
        made[ALONE] += () if named else (f"models={shown}",)
    return found + [
        Job(f"{SYNTHESIS}/{name}", name, "", taken) for name, taken in made.items()
    ]


def fitting(chapter: str, given: Iterable[str]) -> list[str]:
    """Return the words among ``name=value`` that are not for other chapters alone."""
    return settings.fitting(TEMPLATES / f"{chapter}.ipynb", given)


def reads_runs(job: Job) -> bool:
    """Return whether a job reads the finished runs of others, and so begins after them."""
    return not job.model and "runs_dir" in settings.declared(
        TEMPLATES / f"{job.chapter}.ipynb"
    )


def needs_runs(job: Job) -> bool:
    """Return whether a job is about finished runs, chosen by its ``models``; others do without."""
    declared = settings.declared(TEMPLATES / f"{job.chapter}.ipynb")
    return reads_runs(job) and "models" in declared


def priority(job: Job) -> int:
    """Return a number, the greater the sooner a job begins: what others show, then the longest."""
    length = LONGEST[::-1].index(job.chapter) + 1 if job.chapter in LONGEST else 0
    return length + job.early * 2 * len(LONGEST)


def noise(model: str) -> Job:
    """Return the job that makes a model's runs of the noise floor."""
    from notebooks.analysis.noise import VARIANTS  # slow: not for those who need none

    first, *others = (f"noise/{variant}/{slug(model)}/monitor" for variant in VARIANTS)
    return Job(first, NOISE, model, more=tuple(others))


def made_from(job: Job, runs: Path, templates: Path = TEMPLATES) -> dict[str, Any]:
    """Return what a job would be made from now: settings, and hashes of all that it reads."""
    makers, values = [templates / f"{job.chapter}.ipynb"], {}
    makers.append(templates / "claims" / f"{job.chapter}.yaml")
    if job.early:
        makers = [HERE / f"{job.chapter}.py"]
    if job.chapter == OTHERS:
        notebooks = [templates / f"{Path(folder).name}.ipynb" for folder in job.folders]
        values = {each.stem: others.values(each, job.words) for each in notebooks}
        given = values
        named = [value for own in values.values() for value in own.values()]
    else:
        if not job.early:
            values = settings.declared(makers[0]) | settings.read(makers[0], job.words)
        given = {name: value for name, value in values.items() if name not in FIXED}
        named = list(given.values())
    texts = [
        text
        for value in named
        for text in (value if isinstance(value, list) else [value])
    ]
    texts += _bases(job.model)
    outside = [
        ROOT / Path(t).expanduser()
        for t in (job.model, *texts)
        if t and isinstance(t, str)
    ]
    found = {
        "settings": json.loads(json.dumps(given, default=environment.plain)),
        "files": digest(files(*CODE, *makers, *outside)),
    }
    found |= {"commit": commit} if (commit := checkpoints.commit(job.model)) else {}
    found |= {"versions": identity.versions()} if job.model else {}
    found |= _served(job.model) if address.is_address(job.model) else {}
    return found | ({"runs": _read(runs)} if "runs_dir" in values else {})


def _bases(model: str) -> list[str]:
    """Return the folders of the models that an adapter in a folder rests on."""
    folder = ROOT / Path(model).expanduser()
    if not model or not (folder / adapters.CONFIG).is_file():
        return []
    base = adapters.base(folder, model)
    return [base, *_bases(base)] if base != model else []


@functools.cache
def _served(model: str) -> dict[str, Any]:
    """Return what tells the model on a server from another of its name, asked once a process."""
    from helpers.models.server import connect  # slow: not for those who need none

    server = connect.load(model).model
    return {"server": [server.version, server.tokenizer], "sample": list(server.sample)}


def files(*places: Path) -> set[Path]:
    """Return files, and those in folders, what Python compiled left out."""
    found = {file for place in places for file in (place, *place.rglob("*"))}
    return {
        file for file in found if file.is_file() and "__pycache__" not in file.parts
    }


def digest(paths: Iterable[Path], top: Path | None = None) -> str:
    """Return a hash of files' content and names, below `top` where given, in whatever order."""
    # Below `top` a link counts by its own name: what it leads to may lie elsewhere.
    found = sorted({path.absolute() if top else path.resolve() for path in paths})
    name = shown if top is None else (lambda file: file.relative_to(top.absolute()))
    stats = {file: file.stat() for file in found}
    lines = [
        f"{name(f)} {_hash(f, s.st_size, s.st_mtime_ns)}" for f, s in stats.items()
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@functools.cache
def _hash(file: Path, size: int, time: int) -> str:
    """Return the hash of a file, read once in this process while its size and time are the same."""
    return f"{size} {time}" if size > LARGE else download.checksum([file])


def is_current(job: Job, runs: Path) -> bool:
    """Return whether the job's run is there, whole, and made from what it would be made from."""
    made = made_from(job, runs)
    return all(
        _alike(_signed(runs / folder, job.parts), made) for folder in job.folders
    )


def _alike(signed: dict[str, Any] | None, made: dict[str, Any]) -> bool:
    """Tell whether a run was made from the same, a server's numbers aside that differ a little."""
    one, other = ((each or {}).get("sample", []) for each in (signed, made))
    near = len(one) == len(other) and all(
        abs(a - b) <= JITTER for a, b in zip(one, other)
    )
    return near and {**(signed or {}), "sample": []} == {**made, "sample": []}


def sign(folder: Path, made: dict[str, Any]) -> None:
    """Write into a run's manifest what it was made from."""
    path = folder / "run.json"
    manifest = json.loads(path.read_text(encoding="utf-8")) | {KEY: made}
    part = folder / f".run.json.{os.getpid()}.tmp"
    part.write_text(
        json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
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
    return digest([*finished(runs), *runs.glob("noise/*/*/*/run.json")], runs)
