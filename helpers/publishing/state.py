"""Whether a finished run is the one that would be made now.

What decides lies in its ``run.json`` (``made_from``): settings, a hash of the code, the data and
the weights, the commit of a model on the hub, and, for a chapter that reads runs, a hash of those.
So it does not matter how a run was started, nor where its folder has been moved or copied to.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from helpers.models import checkpoints
from helpers.models.checkpoints import WEIGHTS
from helpers.publishing import checksums, settings
from helpers.publishing.grid import TEMPLATES, Job
from helpers.runs import ROOT, SYNTHESIS, environment

KEY = "made_from"


def wanted(job: Job, runs: Path, templates: Path = TEMPLATES) -> dict[str, Any]:
    """Return what a job would be made from now."""
    template = templates / f"{job.chapter}.ipynb"
    declared = settings.declared(template) if template.is_file() else {}
    given = declared | (settings.read(template, job.words) if declared else {})
    given = {name: value for name, value in given.items() if name not in settings.FIXED}
    found = {
        "settings": json.loads(json.dumps(given, default=environment.plain)),
        "files": checksums.digest([template, *sources(job.model, job.words, job.chapter)]),
    }
    found |= {"commit": commit} if (commit := checkpoints.commit(job.model)) else {}
    return found | ({"runs": _read(runs)} if "runs_dir" in declared else {})


def is_current(job: Job, runs: Path) -> bool:
    """Return whether the job's run is there, whole, and made from what it would be made from."""
    made = wanted(job, runs)
    return all(_made_from(runs / folder, job.parts) == made for folder in job.folders)


def sign(folder: Path, made: dict[str, Any]) -> None:
    """Write into a run's manifest what it was made from."""
    path = folder / "run.json"
    manifest = json.loads(path.read_text(encoding="utf-8")) | {KEY: made}
    part = folder / f".run.json.{os.getpid()}.tmp"
    part.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)


def sources(model: str, words: Iterable[str], chapter: str = "") -> list[Path]:
    """Return the files that a chapter's result depends on: code, data, weights, local datasets.

    How the bundled models are made, and all of their weights, count for the chapter about it.
    """
    helpers, template = ROOT / "helpers", TEMPLATES / f"{chapter}.ipynb"
    made = template.is_file() and "helpers.atlas" in template.read_text(encoding="utf-8")
    code = {p for p in helpers.rglob("*.py") if made or not p.is_relative_to(helpers / "atlas")}
    given = [
        WEIGHTS if made else WEIGHTS / model,
        Path(model).expanduser(),
        *(Path(word.partition("=")[2]) for word in words),
    ]
    outside = [path for path in given if path.name and path.exists()]
    data = [helpers / "datasets" / "data", *outside]
    files = {p for path in data for p in ([path] if path.is_file() else path.rglob("*"))}
    return sorted(code | {p for p in files if p.is_file()})


def _made_from(folder: Path, parts: Iterable[str]) -> dict[str, Any] | None:
    """Return what a run says that it was made from; None where a part of it is missing."""
    if not all((folder / part).is_file() for part in parts):
        return None
    try:
        return json.loads((folder / "run.json").read_text(encoding="utf-8")).get(KEY)
    except (OSError, ValueError, AttributeError):
        return None


def _read(runs: Path) -> str:
    """Return a hash of all finished runs of models, and of those of the noise floor."""
    found = [*runs.glob("*/*/run.json"), *runs.glob("noise/*/*/*/run.json")]
    kept = [path for path in found if path.relative_to(runs).parts[0] != SYNTHESIS]
    return checksums.digest(kept, runs)
