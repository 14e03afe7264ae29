"""The book's commands, ``python -m book.tools COMMAND``; targets of the Makefile call them."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from helpers import UserError, cli
from helpers.runs import RUNS

ARGUMENTS: dict[str, dict[str, Any]] = {
    "chapter": {"metavar": "CHAPTER", "help": "a notebook of notebooks/"},
    "chapters": {"metavar": "CHAPTER", "nargs": "*", "help": "all by default"},
    "--model": cli.ARGUMENTS["name"] | {"default": "atlas-m"},
    "--models": {
        "metavar": "MODEL",
        "nargs": "*",
        "default": [],
        "help": "models to compare",
    },
    "--runs": cli.ARGUMENTS["--runs"] | {"default": RUNS},
    "--set": cli.ARGUMENTS["--set"],
    "--settings": {
        "metavar": "JSON",
        "type": json.loads,
        "default": {},
        "help": "settings already typed, as other commands hand them on",
    },
    "--cores": {"metavar": "N", "type": int, "help": "all by default"},
    "--profile": {"default": "", "help": "one of notebooks/profiles, or a folder"},
    "--dry-run": {"action": "store_true", "help": "say what it would make"},
    "--facts": {"metavar": "N", "type": int, "default": 5, "help": "of each relation"},
    "--folder": {"type": Path, "help": "where to write; build/course by default"},
    "--seed": {"type": int, "help": "draws other numbers for hidden tests and quizzes"},
    "--templates": {
        "metavar": "FOLDER",
        "type": Path,
        "help": "of the chapters' notebooks",
    },
}


def run(args: argparse.Namespace) -> None:
    """Execute one chapter."""
    from book.tools import chapters, parameters

    templates = args.templates or chapters.TEMPLATES
    template = templates / f"{args.chapter}.ipynb"
    settings = parameters.settings_of_chapters([template], args.set) | args.settings
    chapters.run(args.chapter, args.model, settings, args.runs, templates)


def others(args: argparse.Namespace) -> None:
    """Measure a model as the chapters do, without notebooks."""
    from book.tools import book_making, chapters
    from helpers.studies import STUDIES

    names = args.chapters or list(STUDIES)
    settings = book_making.settings_from_words(names, args.set) | args.settings
    chapters.measure(args.model, names, settings, args.runs)


def noise(args: argparse.Namespace) -> None:
    """Measure how far a model lies from itself."""
    from book.tools import jobs, noise_floor_runs
    from helpers.runs import store

    job = jobs.noise(args.model)
    made = jobs.made_from(job, args.runs.resolve())
    with store.alone(args.runs / job.name, "run"):
        for folder in noise_floor_runs.run(args.model, args.runs, args.facts):
            jobs.sign(folder, made)
            print(folder, file=sys.stderr)


def book(args: argparse.Namespace) -> None:
    """Make the book of a model, repeating only what changed."""
    from book.tools import book_making

    settings = book_making.settings_from_words(args.chapters, args.set)
    book_making.book(
        args.chapters, args.model, settings, args.cores, args.runs, args.models
    )


def sweep(args: argparse.Namespace) -> None:
    """Run chapters on many models, here or on a cluster."""
    from book.tools import sweeps

    runs, planned = (
        args.runs.resolve(),
        sweeps.plan(args.models, args.chapters, args.set),
    )
    profile = sweeps.profile(args.profile)
    if args.dry_run:
        sweeps.tell_plan(planned, runs)
        return
    table = sweeps.run(planned, runs, args.cores, profile)
    print(sweeps.report(table))
    if wrong := (table["state"] != "done").sum():
        raise UserError(
            f"The sweep lacks {wrong} of {len(table)} runs: mend what the sentences above name; "
            "the same command makes these alone."
        )


def course(args: argparse.Namespace) -> None:
    """Write and check the exercises, and print the slides."""
    from book.tools.course import course_files, downloads, slides, weeks

    folder = args.folder or course_files.FOLDER
    print(
        course_files.make(folder, args.templates or course_files.TEMPLATES, args.seed)
    )
    if args.folder is None:
        downloads.notebooks(weeks.of_the_book(), downloads.COPIES)
    print(slides.make(folder / slides.FOLDER))


def pdf(args: argparse.Namespace) -> None:
    """Print the rendered book as one PDF."""
    from book.tools import pdf
    from helpers.runs import shown

    print(
        f"The book is printed: {shown(pdf.print_page(pdf.single(), pdf.FILE))}",
        file=sys.stderr,
    )


def links(args: argparse.Namespace) -> int:
    """Ask the book's external links whether they still lead somewhere."""
    from book.tools import links

    status, text = links.tell(links.ask())
    print(text)
    return status


COMMANDS: cli.Commands = {
    "run": (run, "chapter --model --runs --set --settings --templates"),
    "others": (others, "chapters --model --runs --set --settings"),
    "noise": (noise, "--model --runs --facts"),
    "book": (book, "chapters --model --models --runs --set --cores"),
    "sweep": (sweep, "chapters --models --runs --set --cores --profile --dry-run"),
    "course": (course, "--folder --seed --templates"),
    "pdf": (pdf, ""),
    "links": (links, ""),
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    about = "Make the book What Language Models Know."
    return cli.parser("python -m book.tools", about, COMMANDS, ARGUMENTS)


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit status."""
    return cli.run(parser(), COMMANDS, arguments)


if __name__ == "__main__":
    sys.exit(main())
