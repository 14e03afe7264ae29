"""Make the book of one model: check what is asked for, run chapters, render pages."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from book.tools import jobs, parameters, render, runner, suitability
from helpers import UserError
from helpers.models import checkpoints, model_packages, server_address
from helpers.models.checkpoints import model_slug
from helpers.models.server import session
from helpers.runs import PROJECT_FOLDER, SYNTHESIS, store


def settings_of_named_chapters(
    chapters: Sequence[str], words: Iterable[str]
) -> dict[str, Any]:
    """Return the settings that words give chapters (all by default), each typed.

    Chapters that do not exist, and settings that none of them takes, are refused.
    """
    names = chapters or render.chapter_names()
    templates = [jobs.TEMPLATES / f"{name}.ipynb" for name in names]
    return parameters.settings_of_chapters(templates, words)


def check_models(models: Sequence[str], settings: Mapping[str, Any]) -> None:
    """Refuse at once models that are not there; those on the hub are fetched."""
    trusted = settings.get("trust_remote_code", False)
    for name in models:
        if server_address.is_server_address(name):
            session.models_on_server(
                server_address.parse_server_address(name),
                server_address.limits_from_environment(),
            )
        else:
            checkpoints.find_checkpoint(name, code=trusted)


def runnable_chapters_and_reasons(
    names: Sequence[str], settings: Mapping[str, Any]
) -> tuple[list[str], dict[str, str]]:
    """Return the chapters that can be run on their data, and why others cannot be."""
    runnable = []
    reasons = {}
    for name in names:
        own = parameters.declared_parameters(jobs.TEMPLATES / f"{name}.ipynb")
        own |= jobs.settings_for_chapter(name, settings)
        reason = ""
        if "dataset" in own:
            relations = own.get("relations", ())
            reason = suitability.unsuitability_reason(name, own["dataset"], relations)
        if reason:
            reasons[name] = reason
        else:
            runnable.append(name)
    for name, reason in reasons.items():
        print(f"The chapter {name} is left out: {reason}", file=sys.stderr)
    if reasons and all(jobs.chapter_kind(name) == "synthesis" for name in runnable):
        first_reason = next(iter(reasons.values()))
        raise UserError(f"No chapter can be run: {first_reason}")
    return runnable, reasons


def settings_with_model_defaults(
    model: str, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return settings, and what they leave open of a packaged model's own."""
    defaults = model_packages.packaged_models().get(model, {}).get("book", {})
    added = {name: defaults[name] for name in defaults if name not in settings}
    if added:
        words = " ".join(f"{name}={value}" for name, value in added.items())
        print(
            f"{model} is asked less than other models unless SET says more: {words}.",
            file=sys.stderr,
        )
    return added | dict(settings)


def noise_floor_jobs(needed: Iterable[jobs.Job], model: str) -> list[jobs.Job]:
    """Return the runs of the noise floor, if the comparison is among the book's."""
    if not any(job.chapter == "comparison" for job in needed):
        return []
    bundled = checkpoints.bundled_models()
    if model not in bundled:  # of a large model the floor would cost too much
        model = min(bundled, default=model)
    return [jobs.noise_floor_job(model)]


def make_book(
    needed: Sequence[jobs.Job],
    chapters: Sequence[str],
    reasons: Mapping[str, str],
    model: str,
    runs: Path,
    cores: int | None,
) -> None:
    """Make runs that are missing or out of date; render the book, failed runs or not.

    In the place of a chapter that is left out stands the sentence in ``reasons``.
    """
    user = "sweep or make book"
    with (
        store.lock_folder(runs, user),
        store.lock_folder(render.FRONT_PAGE.parents[1], user),
    ):
        table = runner.make_runs(needed, runs, cores)
        not_done = table[table["state"] != "done"]
        failures = not_done.set_index("run")["why"]
        reasons = dict(reasons)
        for chapter in chapters:
            for folder in (model_slug(model), SYNTHESIS):
                if f"{folder}/{chapter}" in failures:
                    reasons[chapter] = failures[f"{folder}/{chapter}"]
        render.place_chapters(model, runs, reasons)
        render.render_book(runs / model_slug(model) / "book.log")
    front_page = render.FRONT_PAGE.relative_to(PROJECT_FOLDER)
    print(f"The book is ready: open {front_page}", file=sys.stderr)
    if len(not_done):
        sentences = "; ".join(not_done["run"] + ": " + not_done["why"])
        raise UserError(
            f"{len(not_done)} of {len(table)} runs failed, "
            f"and the book says so in their place. {sentences}"
        )
