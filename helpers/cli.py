"""The command line: what each command takes, and what it calls.

Imports stand inside the commands, so that help costs nothing; a user's mistake ends in
status 2.
"""

import argparse
import errno
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers import UserError, printable_line
from helpers.settings import settings_from_words

if TYPE_CHECKING:
    import pandas as pd

# The function of each command, and the names of its arguments.
Commands = Mapping[str, tuple[Callable[[argparse.Namespace], int | None], str]]
ARGUMENTS: dict[str, dict[str, Any]] = {
    "archives": {"metavar": "FILE", "nargs": "+", "help": "as pack wrote them"},
    "files": {"metavar": "FILE", "nargs": "+", "help": "of lm-eval, Inspect, ..."},
    "name": {
        "metavar": "MODEL",
        "help": "bundled name, folder, hub id or a server's address",
    },
    "model": {
        "metavar": "MODEL",
        "nargs": "?",
        "help": "as measure takes it, weights not needed",
    },
    "place": {
        "metavar": "RUN",
        "type": Path,
        "help": "a model's folder, such as runs/atlas-m",
    },
    "studies": {"metavar": "STUDY", "nargs": "*", "help": "all by default"},
    "--runs": {
        "metavar": "FOLDER",
        "type": Path,
        "help": "of the runs; runs by default",
    },
    "--set": {"metavar": "name=value", "nargs": "*", "default": [], "help": "settings"},
    "--questions": {
        "metavar": "TEMPLATE",
        "nargs": "+",
        "help": "of facts in a table, dataset=facts.csv: 'RELATION=Who wrote [X]?'",
    },
    "--study": {
        "default": "multiplicity",
        "choices": ["multiplicity", "knowledge_base"],
        "help": "knowledge_base: of repeated answers to one prompt",
    },
    "--metric": {"default": "", "help": "which of a log's metrics says what is right"},
    "--json": {"action": "store_true", "help": "print one object, without intervals"},
    "run": {
        "metavar": "RUN",
        "type": Path,
        "help": "a model's folder of runs, or an archive",
    },
    "--beside": {
        "metavar": "RUN",
        "type": Path,
        "help": "of another model, on the same facts",
    },
    "logs --beside": {
        "metavar": "FILE",
        "nargs": "+",
        "action": "append",
        "help": "logs of another model to compare with; again for a third",
    },
    "logs --folder": {
        "type": Path,
        "help": "where to write the table; nowhere by default",
    },
    "--margin": {
        "default": "",
        "help": "a difference within it is as good as none",
    },
    "--width": {
        "type": float,
        "default": 0.1,
        "help": "of an interval, bound to bound; 0.1",
    },
    "--difference": {"type": float, "default": 0.1, "help": "between two models; 0.1"},
    "--organization": {"default": "unknown", "help": "who measured"},
    "--wordings": {"type": int, "help": "of each fact, or samples; as in the run"},
    "scores": {
        "metavar": "SCORES",
        "type": Path,
        "help": "a CSV of model, fact, score; larger is surer that the fact is known",
    },
    "--split": {
        "default": "all",
        "choices": ["all", "choosing", "reporting"],
        "help": "half of the facts: choose a measure on one, report the other",
    },
    "--csv": {"action": "store_true", "help": "print the whole table as CSV"},
    "--agree": {"action": "store_true", "help": "agree to them, once for all runs"},
    "--folder": {"type": Path, "help": "where to write; one in build by default"},
}
# What a light install may lack is a library; a lack of these is a fault of ours.
OWN_PACKAGES = ("helpers", "book", "notebooks")
# Of a stream that takes no more: a full disk, a closed descriptor, a broken device.
FAILED_OUTPUT_ERRORS = (errno.ENOSPC, errno.EBADF, errno.EIO)


def print_model_measures(args: argparse.Namespace) -> None:
    """Measure a model and print the results with intervals."""
    from helpers import datasets
    from helpers.runs import measuring, path_from_project
    from helpers.studies import STUDIES, summary_text

    names = args.studies or list(STUDIES)
    defaults: dict[str, Any] = {}
    for name in names:
        defaults |= measuring.default_run_settings(name)
    settings = settings_from_words(args.set, defaults, "The studies have")
    folder = args.runs or measuring.MEASURED_FOLDER
    if args.questions:
        dataset = datasets.write_dataset_of_table(
            settings.get("dataset", ""), args.questions, folder / "datasets"
        )
        settings["dataset"] = str(dataset)
    runs = measuring.measure_model(args.name, names, settings, folder)
    for study, place, summary in runs:
        of_all_facts = summary[summary["relation"] == "all"]
        print(f"{study}, with intervals of 95 %")
        print(summary_text.summary_as_text(of_all_facts, STUDIES[study].MEASURES))
        _print_unanswered(of_all_facts)
        print(f"The run is in {path_from_project(place)}.")
        print(end="", flush=True)


def print_log_measures(args: argparse.Namespace) -> None:
    """Measure logs of other tools, or compare two models' logs."""
    import json

    from helpers.exchange import knowledge_base_of_logs, multiplicity_of_logs
    from helpers.studies import summary_text

    studies = {
        "multiplicity": multiplicity_of_logs,
        "knowledge_base": knowledge_base_of_logs,
    }
    study = studies[args.study]
    if args.json and args.folder:
        raise UserError("--json prints and --folder writes: give one of them.")
    if args.beside and args.study != "multiplicity":
        raise UserError("--beside compares answers to prompts: leave --study out.")
    if args.beside:
        print_log_differences(args)
        return
    defaults = study.from_logs.__kwdefaults__
    settings = settings_from_words(_words_of_logs(args), defaults, "Logs have")
    log = study.from_logs(args.files, **settings)
    for note in log.notes:
        print(f"note: {printable_line(note)}", file=sys.stderr)
    if args.json:
        print(json.dumps(study.measures_of_logs(log)))
        return
    print(f"{study.TITLE} over {log.asked}, with intervals of 95 %")
    summary = study.summary_of_logs(log)
    print(summary_text.summary_as_text(summary))
    if args.folder:
        _write_table(summary, args.study, args.folder)


def print_log_differences(args: argparse.Namespace) -> None:
    """Compare the logs of two models or more on the same documents."""
    from helpers.exchange import differences_of_logs

    compare = differences_of_logs.differences_of_logs
    defaults: dict[str, Any] = compare.__kwdefaults__ or {}
    settings = settings_from_words(_words_of_logs(args), defaults, "Two logs have")
    compared = compare(args.files, args.beside, **settings)
    for note in compared.notes:
        print(f"note: {printable_line(note)}", file=sys.stderr)
    if args.json:
        print(compared.table.to_json(orient="records", double_precision=15))
        return
    for _, rows in compared.table.groupby("beside", sort=False):
        model, beside = rows[["model", "beside"]].iloc[0]
        print(f"{model} (first) and {beside} (second), with intervals of 95 %")
        shown = rows.drop(columns=["model", "beside"])
        print(shown.to_string(index=False, float_format="{:.3f}".format, na_rep="-"))
    print("difference: first minus second. detectable: found in four of five samples.")
    if args.folder:
        _write_table(compared.table, "differences", args.folder)


def _words_of_logs(args: argparse.Namespace) -> list[str]:
    """Return the settings of logs as words, those with an option of their own too."""
    words = list(args.set)
    for name in ("metric", "margin"):
        value = getattr(args, name)
        if value:
            words.append(f"{name}={value}")
    return words


def _write_table(table: "pd.DataFrame", name: str, folder: Path) -> None:
    """Write a table as CSV, Markdown and LaTeX, and print the files' names."""
    from helpers.io import exported_tables
    from helpers.runs import path_from_project

    for path in exported_tables.export_table(table, name, folder):
        print(path_from_project(path))


def print_grades(args: argparse.Namespace) -> None:
    """Grade a measure of your own by models whose reading of each fact is known."""
    from helpers.exchange import grading

    scores = grading.read_scores(args.scores)
    grades = grading.grade_measure(scores, split=args.split, title=args.scores.stem)
    if args.csv:
        print(grades.to_csv(index=False), end="")
        return
    print(grading.grades_in_words(grades))


def write_card_files(args: argparse.Namespace) -> None:
    """Write a one-page report of a model's runs."""
    from helpers import exchange
    from helpers.exchange import report_card
    from helpers.runs import path_from_project

    record = exchange.describe_runs(args.place).record
    folder = args.folder or _results_folder()
    for path in report_card.write_report_card(record, folder):
        print(path_from_project(path))


def write_run_archive(args: argparse.Namespace) -> None:
    """Write a model's runs as an archive that others can verify."""
    from helpers import exchange
    from helpers.runs import path_from_project

    shared = exchange.describe_runs(args.place)
    folder = args.folder or _results_folder()
    print(path_from_project(exchange.pack_archive(shared, folder)))


def verify_archives(args: argparse.Namespace) -> None:
    """Check archives of runs, and compute their measures again."""
    from helpers import exchange

    refusals = []
    for path in args.archives:
        try:
            shared, runs = exchange.verify_archive(path)
        except UserError as error:
            refusals.append(str(error))
            continue
        file = printable_line(Path(path).name)
        model = printable_line(shared.record["model"]["name"])
        for run in runs:
            print(
                f"{file}, {model}, {run.study}: "
                f"{run.measures} measures hold, from {run.answers:,} answers"
            )
            if run.added:
                print(
                    f"It was packed before {', '.join(run.added)}: "
                    "computed from its answers."
                )
            if run.recomputed:
                print(
                    f"Made by older definitions: {', '.join(run.recomputed)} "
                    "computed anew from its answers."
                )
    if refusals:
        raise UserError(" ".join(refusals))


def write_exported_runs(args: argparse.Namespace) -> None:
    """Write runs in the format Every Eval Ever."""
    from helpers import exchange
    from helpers.runs import path_from_project

    shared = exchange.shared_runs(args.run)
    folder = args.folder or _results_folder()
    for path in exchange.export_runs(shared, folder, args.organization):
        print(path_from_project(path))


def print_facts_needed(args: argparse.Namespace) -> None:
    """Say how many facts an interval or a difference needs, from finished runs."""
    from helpers import exchange

    plan = exchange.facts_needed_by_measure(
        args.run, args.beside, args.width, args.difference, args.wordings
    )
    plan["paired"] = plan["paired"].replace(0, "none")
    whole_number = "{:,.0f}".format
    text = plan.to_string(
        index=False,
        float_format="{:.3f}".format,
        formatters={"for_width": whole_number, "for_difference": whole_number},
    )
    print(text)
    print(
        f"Facts for an interval {args.width:g} wide, and to tell a difference of "
        f"{args.difference:g} in four of five samples. inf: more than 100,000."
    )


def print_devices(args: argparse.Namespace) -> None:
    """Say what devices there are, and whether a model fits."""
    from helpers.exchange import devices

    defaults: dict[str, Any] = {"device": "", "dtype": "", "tokens": 1_000_000}
    settings = settings_from_words(args.set, defaults, "This command has")
    settings = defaults | settings
    for line in devices.device_descriptions():
        print(line)
    if args.model:
        need = devices.device_need_of_model(
            args.model, settings["device"] or None, settings["dtype"] or None
        )
        tokens = settings["tokens"]
        seconds = devices.estimated_reading_seconds(
            need.parameters, tokens, need.device, need.number
        )
        print(need)
        print(f"Reading {tokens:,} tokens would take about {seconds:.3g} seconds.")


def print_model_terms(args: argparse.Namespace) -> None:
    """Show the terms of a model that packages carry, or agree to them."""
    from helpers.models import model_packages

    if args.agree:
        model_packages.agree_to_terms(args.name)
    print(model_packages.terms_of_model(args.name))


LOGS_ARGUMENTS = "files --beside --study --metric --margin --json --folder --set"
COMMANDS: Commands = {
    "measure": (print_model_measures, "name studies --runs --questions --set"),
    "terms": (print_model_terms, "name --agree"),
    "devices": (print_devices, "model --set"),
    "logs": (print_log_measures, LOGS_ARGUMENTS),
    "grade": (print_grades, "scores --split --csv"),
    "card": (write_card_files, "place --folder"),
    "pack": (write_run_archive, "place --folder"),
    "verify": (verify_archives, "archives"),
    "export": (write_exported_runs, "run --organization --folder"),
    "plan": (print_facts_needed, "run --beside --width --difference --wordings"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    return run_command(argument_parser(), COMMANDS, arguments)


def run_command(
    top: argparse.ArgumentParser,
    commands: Commands,
    arguments: Sequence[str] | None = None,
) -> int:
    """Parse the words of a command line, run its command and return the exit status."""
    args = top.parse_args(arguments)
    if args.command is None:
        top.print_help()
        return 0
    call, _ = commands[args.command]
    if sys.flags.optimize > 1:
        print(
            "error: python -OO takes away texts that libraries need: leave -OO out.",
            file=sys.stderr,
        )
        return 2
    try:
        status = call(args) or 0
        print(end="", flush=True)  # what cannot be written is told here, not at exit
        return status
    except UserError as error:
        print(f"error: {printable_line(error)}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:  # a light install
        if error.name is None or error.name.partition(".")[0] in OWN_PACKAGES:
            raise
        print(
            f"error: {args.command} needs the package {error.name}: install the book's "
            "packages, in a clone, with make install or pip install '.[book]'.",
            file=sys.stderr,
        )
        return 2
    except BrokenPipeError:  # the reader of the pipe has enough
        _discard_further_output()
        return 0
    except OSError as error:
        if error.filename is not None or error.errno not in FAILED_OUTPUT_ERRORS:
            raise
        _discard_further_output()
        print(
            f"error: The output cannot be written ({error.strerror}): make room, or "
            "write it elsewhere. Finished runs are kept.",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print(
            "error: Interrupted: the same command goes on where this stopped.",
            file=sys.stderr,
        )
        return 130


def _discard_further_output() -> None:
    """Let what is still to be printed go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def argument_parser(
    prog: str = "python -m helpers",
    about: str = "Measure what language models know.",
    commands: Commands = COMMANDS,
    arguments: Mapping[str, dict[str, Any]] = ARGUMENTS,
) -> argparse.ArgumentParser:
    """Return the parser of a command line."""
    about += " COMMAND --help says what a command takes."
    top = argparse.ArgumentParser(prog=prog, description=about)
    subparsers = top.add_subparsers(dest="command", metavar="COMMAND")
    for name, (call, names_of_arguments) in commands.items():
        description = str(call.__doc__)
        summary = description[0].lower() + description[1:].rstrip(".")
        parser = subparsers.add_parser(name, description=description, help=summary)
        for argument in names_of_arguments.split():
            own = arguments.get(f"{name} {argument}")
            parser.add_argument(argument, **(own or arguments[argument]))
    return top


def _print_unanswered(summary: "pd.DataFrame") -> None:
    """Say in how many of the texts no answer can be found, if there are any."""
    share = summary.get("unanswered", [0.0])
    if max(share) > 0:
        print(
            f"In {100 * max(share):.3g} % of the texts there is no answer (none, or "
            "thoughts that do not end); they count as not right."
        )


def _results_folder() -> Path:
    """Return where cards and archives go by default."""
    from helpers.runs import PROJECT_FOLDER

    return PROJECT_FOLDER / "build" / "results"
