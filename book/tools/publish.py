"""Make the book of one model: check what is asked for, have its chapters run, render the pages."""

import difflib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from book.tools import jobs, render, runner, settings, suitability
from helpers import UserError
from helpers.models import address, checkpoints, packaged
from helpers.models.checkpoints import slug
from helpers.models.server import session
from helpers.runs import ROOT, SYNTHESIS, store


def check(
    names: Sequence[str], model: str, given: Iterable[str], models: Sequence[str] = ()
) -> None:
    """Refuse at once what would fail later; models on the hub are fetched."""
    given = list(given)
    check_settings(names, given)
    trusted = "trust_remote_code=yes" in given
    for name in [model, *models]:
        if address.is_address(name):
            session.models(address.parse(name), address.limits())
        else:
            checkpoints.find(name, code=trusted)


def check_settings(names: Sequence[str], given: Iterable[str]) -> None:
    """Refuse chapters that do not exist, and settings that none of them takes."""
    templates = [
        jobs.TEMPLATES / f"{name}.ipynb" for name in names or render.chapters()
    ]
    given, strange = list(given), set(given)
    for template in templates:
        taken = settings.fitting(template, given)
        settings.read(template, taken)
        strange -= set(taken)
    if strange:  # told by the first chapter with a parameter of much the same name
        word = min(strange)
        near = [word.partition("=")[0]]
        like = (
            t
            for t in templates
            if difflib.get_close_matches(*near, settings.declared(t), n=1)
        )
        settings.read(next(like, templates[0]), [word])


def suited(
    names: Sequence[str], given: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Return the chapters that can be run on their data, and for each other a sentence why not."""
    why = {}
    for name in names:
        template = jobs.TEMPLATES / f"{name}.ipynb"
        taken = settings.declared(template)
        taken |= settings.read(template, jobs.fitting(name, given))
        if "dataset" in taken:
            why[name] = suitability.unsuited(
                name, taken["dataset"], taken.get("relations", ())
            )
    why = {name: sentence for name, sentence in why.items() if sentence}
    kept = [name for name in names if name not in why]
    for name, sentence in why.items():
        print(f"The chapter {name} is left out: {sentence}", file=sys.stderr)
    if why and all(jobs.kind(name) == "synthesis" for name in kept):
        raise UserError(f"No chapter can be run: {next(iter(why.values()))}")
    return kept, why


def sized(model: str, given: Sequence[str]) -> list[str]:
    """Return settings with those that a model from a package begins with, unless given."""
    named = {word.partition("=")[0] for word in given}
    own = packaged.sources().get(model, {}).get("book", {})
    added = [f"{name}={value}" for name, value in own.items() if name not in named]
    if added:
        print(
            f"{model} is asked less than other models unless SET says more: {' '.join(added)}.",
            file=sys.stderr,
        )
    return [*added, *given]


def book(
    names: Sequence[str],
    model: str,
    given: Sequence[str],
    cores: int | None,
    runs: Path,
    models: Sequence[str] = (),
) -> None:
    """Run what is missing or out of date, and render the book, whatever becomes of the runs."""
    check(names, model, given, models)
    runs, given = runs.resolve(), sized(model, given)
    kept, why = suited(names or render.chapters(), given)
    needed = jobs.plan(kept, model, [model] if names else models, given)
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
