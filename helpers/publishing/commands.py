"""The command line, ``python -m helpers COMMAND``: what each command takes, and what it calls.

Imports stand inside the commands, so that help costs nothing. A mistake of the user's ends in one
sentence on stderr and status 2.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from helpers import UserError

Call = Callable[[argparse.Namespace], int | None]
COMMANDS: dict[str, tuple[Call, tuple[str, ...]]] = {}
OWN = ("others", "times", "opening")  # what the project itself calls: not listed
ARGUMENTS: dict[str, dict[str, Any]] = {
    "chapter": {"metavar": "CHAPTER", "help": "a notebook of notebooks/"},
    "chapters": {"metavar": "CHAPTER", "nargs": "*", "help": "all by default"},
    "archives": {"metavar": "FILE", "nargs": "+", "help": "as pack wrote them"},
    "files": {"metavar": "FILE", "nargs": "+", "help": "samples_*.jsonl of lm-eval, or .eval"},
    "name": {"metavar": "MODEL", "help": "bundled name, folder, hub id or a server's address"},
    "place": {"metavar": "RUN", "type": Path, "help": "a model's folder, such as runs/atlas-m"},
    "studies": {"metavar": "STUDY", "nargs": "*", "help": "all by default"},
    "--model": {"default": "atlas-m", "help": "bundled name, folder, hub id or a server's address"},
    "--models": {"metavar": "MODEL", "nargs": "*", "default": [], "help": "models to compare"},
    "--runs": {"metavar": "FOLDER", "type": Path, "help": "of the runs; runs by default"},
    "--set": {"metavar": "name=value", "nargs": "*", "default": [], "help": "settings"},
    "--study": {
        "default": "multiplicity",
        "choices": ["multiplicity", "knowledge_base"],
        "help": "multiplicity of several prompts, or knowledge_base of repeated answers to one",
    },
    "--json": {"action": "store_true", "help": "print one object, without intervals"},
    "--cores": {"metavar": "N", "type": int, "help": "all by default"},
    "--profile": {"default": "", "help": "one of notebooks/profiles, or a folder"},
    "--dry-run": {"action": "store_true", "help": "say what it would make"},
    "--facts": {"metavar": "N", "type": int, "default": 5, "help": "of each relation"},
    "--folder": {"type": Path, "help": "where to write; one in build by default"},
    "--table": {"metavar": "FILE", "type": Path, "help": "where to write; the book's by default"},
    "--templates": {"metavar": "FOLDER", "type": Path, "help": "of the chapters' notebooks"},
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    args = parser().parse_args(arguments)
    try:
        return COMMANDS[args.command][0](args) or 0
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:  # a light install
        if error.name is None or error.name.startswith("helpers"):
            raise
        print(
            f"error: {args.command} needs the package {error.name}: install the book's packages, "
            "in a clone, with make install or pip install '.[book]'.",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print("error: Interrupted: the same command goes on where this stopped.", file=sys.stderr)
        return 130


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="python -m helpers",
        description="Measure what language models know. COMMAND --help says what a command takes.",
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (call, arguments) in COMMANDS.items():
        summary = call.__doc__.rstrip(".")
        summary = summary[0].lower() + summary[1:]
        listed = {} if name in OWN else {"help": summary}
        added = commands.add_parser(name, description=call.__doc__, **listed)
        for argument in arguments:
            added.add_argument(argument, **ARGUMENTS[argument])
    return top


def _command(*arguments: str) -> Callable[[Call], Call]:
    """Register a function as a command; its docstring is the command's help."""

    def register(call: Call) -> Call:
        COMMANDS[call.__name__] = (call, arguments)
        return call

    return register


def _described(folder: Path) -> Any:
    """Return what is made public of the runs in a folder."""
    from helpers.runs import sharing

    return sharing.describe(folder)


def _results() -> Path:
    """Return where cards and archives go by default."""
    from helpers.runs import ROOT

    return ROOT / "build" / "results"


def _need_sources(*folders: str) -> None:
    """Refuse a command where the book's sources, which are not installed, are not at hand."""
    from importlib.metadata import PackageNotFoundError, metadata

    from helpers.runs import ROOT

    missing = [f"{name}/" for name in folders if not (ROOT / name).is_dir()]
    if not missing:
        return
    try:
        address = metadata("what-language-models-know")["Project-URL"].partition(", ")[2]
    except PackageNotFoundError:
        address = "the repository's address"
    raise UserError(
        f"{ROOT} has no {' and no '.join(missing)}: this command needs the book's sources, so run "
        f"it in a clone (git clone {address})."
    )


def _given(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the folders and files that were given; for the others, what is called knows best."""
    return {name: getattr(args, name) for name in names if getattr(args, name) is not None}


@_command("name", "studies", "--runs", "--set")
def measure(args: argparse.Namespace) -> None:
    """Measure a model and print the results with intervals."""
    from helpers.publishing import settings
    from helpers.runs import measuring, shown
    from helpers.studies import STUDIES

    names = args.studies or list(STUDIES)
    taken = {key: value for name in names for key, value in measuring.declared(name).items()}
    given = settings.take(args.set, taken, "The studies have")
    folder = {"folder": args.runs} if args.runs else {}
    for study, place, summary in measuring.measure(args.name, names, given, **folder):
        whole = summary[summary["relation"] == "all"].drop(columns="relation")
        table = whole[["measure", "estimate", "low", "high", "n"]].to_string(
            index=False, float_format="{:.3f}".format
        )
        print(f"{study}, with intervals of 95%\n{table}\nThe run is in {shown(place)}.", flush=True)


@_command("files", "--study", "--json", "--set")
def logs(args: argparse.Namespace) -> None:
    """Measure multiplicity or consistency in logs of other tools."""
    import json

    from helpers.publishing import settings
    from helpers.studies import STUDIES

    study = STUDIES[args.study]
    given = settings.take(args.set, study.from_logs.__kwdefaults__, "Logs have")
    found = study.from_logs(args.files, **given)
    for note in found.attrs["notes"]:
        print(f"note: {note}", file=sys.stderr)
    if args.json:
        print(json.dumps(study.of_logs(found)))
        return
    shown = study.summary_of_logs(found)[["measure", "estimate", "low", "high", "n"]]
    heading = f"{study.TITLE} over {found.attrs['asked']}, with intervals of 95%"
    print(f"{heading}\n{shown.to_string(index=False, float_format='{:.3f}'.format)}")


@_command("place", "--folder")
def card(args: argparse.Namespace) -> None:
    """Write a one-page report of a model's runs."""
    from helpers.publishing import card
    from helpers.runs import shown

    for path in card.write(_described(args.place).record, args.folder or _results()):
        print(shown(path))


@_command("place", "--folder")
def pack(args: argparse.Namespace) -> None:
    """Write a model's runs as an archive that others can verify."""
    from helpers.runs import sharing, shown

    print(shown(sharing.pack(_described(args.place), args.folder or _results())))


@_command("archives")
def verify(args: argparse.Namespace) -> None:
    """Check archives of runs, and compute their measures again."""
    from helpers.runs import sharing

    refused = []
    for path in args.archives:
        try:
            shared, found = sharing.verify(path)
        except UserError as error:
            refused.append(str(error))
            continue
        name = "".join(filter(str.isprintable, shared.record["model"]["name"]))
        for run in found:
            print(
                f"{Path(path).name}, {name}, {run.study}: "
                f"{run.measures} measures hold, from {run.answers:,} answers"
            )
    if refused:
        raise UserError(" ".join(refused))


@_command("chapter", "--model", "--runs", "--set", "--templates")
def run(args: argparse.Namespace) -> None:
    """Execute one chapter."""
    if args.templates is None:
        _need_sources("notebooks")
    from helpers.publishing import chapters

    chapters.run(args.chapter, args.model, args.set, **_given(args, "runs", "templates"))


@_command("chapters", "--model", "--runs", "--set")
def others(args: argparse.Namespace) -> None:
    """Measure a model as the chapters do, without notebooks."""
    _need_sources("notebooks")
    from helpers.models.checkpoints import slug
    from helpers.publishing import jobs, locks, others
    from helpers.runs import RUNS
    from helpers.studies import STUDIES

    runs, words = (args.runs or RUNS).resolve(), tuple(args.set)
    names = args.chapters or list(STUDIES)
    first, *more = (f"{slug(args.model)}/{name}" for name in names)
    made = jobs.made_from(jobs.Job(first, jobs.OTHERS, args.model, words, tuple(more)), runs)
    templates = [jobs.TEMPLATES / f"{name}.ipynb" for name in names]
    with locks.logged(runs / first):
        for folder in others.run(args.model, templates, words, runs):
            jobs.sign(folder, made)


@_command("chapters", "--model", "--models", "--runs", "--set", "--cores")
def book(args: argparse.Namespace) -> None:
    """Make the book of a model, repeating only what changed."""
    _need_sources("notebooks", "book")
    from helpers.publishing import publish
    from helpers.runs import RUNS

    runs = args.runs or RUNS
    publish.book(args.chapters, args.model, args.set, args.cores, runs, args.models)


@_command("chapters", "--models", "--runs", "--set", "--cores", "--profile", "--dry-run")
def sweep(args: argparse.Namespace) -> None:
    """Run chapters on many models, here or on a cluster."""
    _need_sources("notebooks")
    from helpers.publishing import sweeps
    from helpers.runs import RUNS

    asked = (args.models, args.chapters, args.set, args.runs or RUNS, args.profile, args.cores)
    sweeps.main(sweeps.prepare(*asked), args.dry_run)


@_command("chapters", "--models", "--runs", "--set")
def estimate(args: argparse.Namespace) -> None:
    """Say what a sweep costs."""
    _need_sources("notebooks")
    from helpers.publishing import estimates, sweeps
    from helpers.runs import RUNS

    sweep = sweeps.prepare(args.models, args.chapters, args.set, args.runs or RUNS)
    print(estimates.report(estimates.estimate(sweep)))


@_command("--model", "--runs", "--facts")
def noise(args: argparse.Namespace) -> None:
    """Measure how far a model lies from itself."""
    from helpers.publishing import jobs, noise
    from helpers.runs import RUNS

    runs = args.runs or RUNS
    made = jobs.made_from(jobs.noise(args.model), runs.resolve())
    for folder in noise.run(args.model, runs, args.facts):
        jobs.sign(folder, made)
        print(folder, file=sys.stderr)


@_command("--folder", "--templates")
def course(args: argparse.Namespace) -> None:
    """Write and check the exercises, and print the slides."""
    _need_sources("notebooks", "book")
    from helpers.publishing.course import downloads, sheets, slides, weeks

    folder = args.folder or sheets.FOLDER
    print(sheets.make(folder, **_given(args, "templates")))
    if args.folder is None:
        downloads.notebooks(weeks.of_the_book(), downloads.COPIES)
    print(slides.make(folder / slides.FOLDER))


@_command("chapters", "--model", "--table")
def times(args: argparse.Namespace) -> None:
    """Measure what chapters take, from nothing."""
    _need_sources("notebooks", "book")
    from helpers.publishing.course import times

    times.update(args.chapters, args.model, **_given(args, "table"))


@_command()
def pdf(args: argparse.Namespace) -> None:
    """Print the rendered book as one PDF."""
    _need_sources("notebooks", "book")
    from helpers.publishing import pdf
    from helpers.runs import ROOT

    made = pdf.print_page(pdf.single(), pdf.OUT / pdf.NAME)
    print(f"The book is printed: {made.relative_to(ROOT)}", file=sys.stderr)


@_command()
def links(args: argparse.Namespace) -> int:
    """Ask the book's external links whether they still lead somewhere."""
    _need_sources("notebooks", "book")
    from helpers.publishing import links

    status, text = links.tell(links.ask())
    print(text)
    return status


@_command()
def opening(args: argparse.Namespace) -> None:
    """Write the cell that installs the package into every chapter."""
    _need_sources("notebooks")
    from helpers.publishing import opening

    for name in opening.write():
        print(name)
