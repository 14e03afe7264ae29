"""Make the book of one model: check what is asked for, have its chapters run, render the pages."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from book.tools import jobs, parameters, render, runner, suitability
from helpers import UserError
from helpers.models import checkpoints, model_packages, server_address
from helpers.models.checkpoints import slug
from helpers.models.server import session
from helpers.runs import ROOT, SYNTHESIS, store


def settings_from_words(
    chapters: Sequence[str], words: Iterable[str]
) -> dict[str, Any]:
    """Return the settings that words give chapters (all by default), each typed.

    Chapters that do not exist, and settings that none of them takes, are refused.
    """
    names = chapters or render.chapters()
    templates = [jobs.TEMPLATES / f"{name}.ipynb" for name in names]
    return parameters.settings_of_chapters(templates, words)


def check_models(models: Sequence[str], settings: Mapping[str, Any]) -> None:
    """Refuse at once models that are not there; those on the hub are fetched."""
    trusted = settings.get("trust_remote_code", False)
    for name in models:
        if server_address.is_address(name):
            session.models(server_address.parse(name), server_address.limits())
        else:
            checkpoints.find(name, code=trusted)


def suited(
    names: Sequence[str], settings: Mapping[str, Any]
) -> tuple[list[str], dict[str, str]]:
    """Return the chapters that can be run on their data, and for each other a sentence why not."""
    why = {}
    for name in names:
        own = parameters.declared(jobs.TEMPLATES / f"{name}.ipynb")
        own |= jobs.fitting(name, settings)
        if "dataset" in own:
            relations = own.get("relations", ())
            why[name] = suitability.unsuited(name, own["dataset"], relations)
    why = {name: sentence for name, sentence in why.items() if sentence}
    kept = [name for name in names if name not in why]
    for name, sentence in why.items():
        print(f"The chapter {name} is left out: {sentence}", file=sys.stderr)
    if why and all(jobs.kind(name) == "synthesis" for name in kept):
        raise UserError(f"No chapter can be run: {next(iter(why.values()))}")
    return kept, why


def sized(model: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with those that a model from a package begins with, unless given."""
    own = model_packages.sources().get(model, {}).get("book", {})
    added = {name: own[name] for name in own if name not in settings}
    if added:
        told = " ".join(f"{name}={value}" for name, value in added.items())
        print(
            f"{model} is asked less than other models unless SET says more: {told}.",
            file=sys.stderr,
        )
    return added | dict(settings)


def book(
    names: Sequence[str],
    model: str,
    settings: Mapping[str, Any],
    cores: int | None,
    runs: Path,
    models: Sequence[str] = (),
) -> None:
    """Run what is missing or out of date, and render the book, whatever becomes of the runs."""
    check_models([model, *models], settings)
    runs, settings = runs.resolve(), sized(model, settings)
    kept, why = suited(names or render.chapters(), settings)
    needed = jobs.plan(kept, model, [model] if names else models, settings)
    if any(job.chapter == "comparison" for job in needed):
        known = checkpoints.bundled()  # of a large model the floor would cost too much
        needed.append(
            jobs.noise(model if model in known else min(known, default=model))
        )
    what = "sweep or make book"
    with store.alone(runs, what), store.alone(render.HTML.parents[1], what):
        table = runner.make(needed, runs, cores)
        wrong = table[table["state"] != "done"]
        shown_runs = {
            f"{place}/{name}": name
            for name in kept
            for place in (slug(model), SYNTHESIS)
        }
        failed = wrong[wrong["run"].isin(shown_runs)]
        why |= dict(zip(failed["run"].map(shown_runs), failed["why"]))
        render.place(model, runs, why)
        render.render(runs / slug(model) / "book.log")
    print(f"The book is ready: open {render.HTML.relative_to(ROOT)}", file=sys.stderr)
    if len(wrong):
        told = "; ".join(wrong["run"] + ": " + wrong["why"])
        raise UserError(
            f"{len(wrong)} of {len(table)} runs failed, and the book says so in their place. {told}"
        )
