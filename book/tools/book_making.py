"""Make the book of one model: check what is asked for, have its chapters run, render the pages."""

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


def settings_from_words(
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
    """Return the chapters that can be run on their data, and for each other a sentence why not."""
    why = {}
    for name in names:
        own = parameters.declared_parameters(jobs.TEMPLATES / f"{name}.ipynb")
        own |= jobs.settings_for_chapter(name, settings)
        if "dataset" in own:
            relations = own.get("relations", ())
            why[name] = suitability.unsuitability_reason(
                name, own["dataset"], relations
            )
    why = {name: sentence for name, sentence in why.items() if sentence}
    kept = [name for name in names if name not in why]
    for name, sentence in why.items():
        print(f"The chapter {name} is left out: {sentence}", file=sys.stderr)
    if why and all(jobs.chapter_kind(name) == "synthesis" for name in kept):
        raise UserError(f"No chapter can be run: {next(iter(why.values()))}")
    return kept, why


def settings_with_model_defaults(
    model: str, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Return settings with those that a model from a package begins with, unless given."""
    own = model_packages.packaged_models().get(model, {}).get("book", {})
    added = {name: own[name] for name in own if name not in settings}
    if added:
        told = " ".join(f"{name}={value}" for name, value in added.items())
        print(
            f"{model} is asked less than other models unless SET says more: {told}.",
            file=sys.stderr,
        )
    return added | dict(settings)


def make_book(
    names: Sequence[str],
    model: str,
    settings: Mapping[str, Any],
    cores: int | None,
    runs: Path,
    models: Sequence[str] = (),
) -> None:
    """Run what is missing or out of date, and render the book, whatever becomes of the runs."""
    check_models([model, *models], settings)
    runs, settings = runs.resolve(), settings_with_model_defaults(model, settings)
    kept, why = runnable_chapters_and_reasons(names or render.chapter_names(), settings)
    needed = jobs.plan_jobs(kept, model, [model] if names else models, settings)
    if any(job.chapter == "comparison" for job in needed):
        known = (
            checkpoints.bundled_models()
        )  # of a large model the floor would cost too much
        needed.append(
            jobs.noise_floor_job(model if model in known else min(known, default=model))
        )
    what = "sweep or make book"
    with (
        store.lock_folder(runs, what),
        store.lock_folder(render.FRONT_PAGE.parents[1], what),
    ):
        table = runner.make_runs(needed, runs, cores)
        wrong = table[table["state"] != "done"]
        shown_runs = {
            f"{place}/{name}": name
            for name in kept
            for place in (model_slug(model), SYNTHESIS)
        }
        failed = wrong[wrong["run"].isin(shown_runs)]
        why |= dict(zip(failed["run"].map(shown_runs), failed["why"]))
        render.place_chapters(model, runs, why)
        render.render_book(runs / model_slug(model) / "book.log")
    print(
        f"The book is ready: open {render.FRONT_PAGE.relative_to(PROJECT_FOLDER)}",
        file=sys.stderr,
    )
    if len(wrong):
        told = "; ".join(wrong["run"] + ": " + wrong["why"])
        raise UserError(
            f"{len(wrong)} of {len(table)} runs failed, and the book says so in their place. {told}"
        )
