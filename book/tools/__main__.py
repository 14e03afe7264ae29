"""The book's commands, ``python -m book.tools COMMAND``, which the Makefile calls."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from helpers import UserError, cli
from helpers.runs import RUNS_FOLDER

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
    "--runs": cli.ARGUMENTS["--runs"] | {"default": RUNS_FOLDER},
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


def run_chapter_command(args: argparse.Namespace) -> None:
    """Execute one chapter."""
    from book.tools import chapters, parameters

    templates = args.templates or chapters.TEMPLATES
    template = templates / f"{args.chapter}.ipynb"
    settings = parameters.settings_of_chapters([template], args.set) | args.settings
    chapters.run_chapter(args.chapter, args.model, settings, args.runs, templates)


def measure_model(args: argparse.Namespace) -> None:
    """Measure a model as the chapters do, without notebooks."""
    from book.tools import book_making, chapters
    from helpers.studies import STUDIES

    names = args.chapters or list(STUDIES)
    settings = book_making.settings_of_named_chapters(names, args.set) | args.settings
    chapters.measure(args.model, names, settings, args.runs)


def measure_noise_floor(args: argparse.Namespace) -> None:
    """Measure how far a model lies from itself."""
    from book.tools import jobs, noise_floor_runs
    from helpers.runs import store

    job = jobs.noise_floor_job(args.model)
    fingerprint = jobs.job_fingerprint(job, args.runs.resolve())
    with store.lock_folder(args.runs / job.name, "run"):
        folders = noise_floor_runs.make_noise_floor_runs(
            args.model, args.runs, args.facts
        )
        for folder in folders:
            jobs.write_job_fingerprint(folder, fingerprint)
            print(folder, file=sys.stderr)


def run_book_command(args: argparse.Namespace) -> None:
    """Make the book of a model, repeating only what changed."""
    from book.tools import book_making, jobs, render

    settings = book_making.settings_of_named_chapters(args.chapters, args.set)
    book_making.check_models([args.model, *args.models], settings)
    settings = book_making.settings_with_model_defaults(args.model, settings)
    chapters, reasons = book_making.runnable_chapters_and_reasons(
        args.chapters or render.chapter_names(), settings
    )
    measured = [args.model] if args.chapters else args.models
    needed = jobs.plan_jobs(chapters, args.model, measured, settings)
    needed += book_making.noise_floor_jobs(needed, args.model)
    runs = args.runs.resolve()
    book_making.make_book(needed, chapters, reasons, args.model, runs, args.cores)


def run_sweep(args: argparse.Namespace) -> None:
    """Run chapters on many models, here or on a cluster."""
    from book.tools import sweeps

    runs = args.runs.resolve()
    planned = sweeps.plan_sweep_jobs(args.models, args.chapters, args.set)
    profile = sweeps.profile_folder(args.profile)
    if args.dry_run:
        sweeps.print_sweep_plan(planned, runs)
        return
    table = sweeps.run_sweep(planned, runs, args.cores, profile)
    print(sweeps.sweep_report(table))
    lacking = (table["state"] != "done").sum()
    if lacking:
        raise UserError(
            f"The sweep lacks {lacking} of {len(table)} runs: mend what the sentences "
            "above name; the same command makes these alone."
        )


def make_course(args: argparse.Namespace) -> None:
    """Write and check the exercises, and print the slides."""
    from book.tools.course import course_files, downloads, slides, weeks

    folder = args.folder or course_files.COURSE_FOLDER
    templates = args.templates or course_files.TEMPLATES
    print(course_files.make_course(folder, templates, args.seed))
    if args.folder is None:
        planned = weeks.weeks_of_book()
        downloads.write_week_notebooks(planned, downloads.WEEK_NOTEBOOKS_FOLDER)
    print(slides.make_slides(folder / slides.SLIDES_FOLDER))


def print_book_as_pdf(args: argparse.Namespace) -> None:
    """Print the rendered book as one PDF."""
    from book.tools import pdf
    from helpers.runs import path_from_project

    file = pdf.print_page_as_pdf(pdf.render_single_page(), pdf.BOOK_PDF)
    print(f"The book is printed: {path_from_project(file)}", file=sys.stderr)


def check_external_links(args: argparse.Namespace) -> int:
    """Ask the book's external links whether they still lead somewhere."""
    from book.tools import links

    status, text = links.exit_status_and_report(links.check_external_links())
    print(text)
    return status


COMMANDS: cli.Commands = {
    "run": (run_chapter_command, "chapter --model --runs --set --settings --templates"),
    "others": (measure_model, "chapters --model --runs --set --settings"),
    "noise": (measure_noise_floor, "--model --runs --facts"),
    "book": (run_book_command, "chapters --model --models --runs --set --cores"),
    "sweep": (run_sweep, "chapters --models --runs --set --cores --profile --dry-run"),
    "course": (make_course, "--folder --seed --templates"),
    "pdf": (print_book_as_pdf, ""),
    "links": (check_external_links, ""),
}


def command_line_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    about = "Make the book What Language Models Know."
    return cli.argument_parser("python -m book.tools", about, COMMANDS, ARGUMENTS)


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit status."""
    return cli.run_command(command_line_parser(), COMMANDS, arguments)


if __name__ == "__main__":
    sys.exit(main())
