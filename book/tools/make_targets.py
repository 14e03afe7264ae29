"""The commands behind targets of the Makefile, whose variables come by the environment.

No shell reads their values: texts are taken as they are, lists parted into words as a
shell would.
"""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from book.tools import __main__ as tools
from helpers import UserError

BUNDLED_ATLAS_MODELS = ("atlas-xs", "atlas-s", "atlas-m", "atlas-m-chat")


def variable_words(name: str, variables: Mapping[str, str]) -> list[str]:
    """Return the words of a variable that is a list; an option is refused."""
    try:
        words = shlex.split(variables.get(name, ""))
    except ValueError as error:
        raise UserError(
            f"{name}={variables[name]} has an open quote or escape: close it."
        ) from error
    if name == "ARGS":
        return words
    for word in words:
        if word.startswith("-"):
            raise UserError(
                f"{name} holds {word}, which is an option: write ./{word} for a file."
            )
    return words


def target_commands(target: str, variables: Mapping[str, str]) -> list[list[str]]:
    """Return what a target runs in order, as words after ``python -m book.tools``."""
    chapters = variable_words("CHAPTERS", variables)
    models = variable_words("MODELS", variables)
    settings = variable_words("SET", variables)
    model = f"--model={variables.get('MODEL', '')}"
    grid = ["--models", *models]
    if variables.get("CORES"):
        grid.append(f"--cores={variables['CORES']}")
    if target == "book":
        return [["book", *chapters, model, *grid, "--set", *settings]]
    if target == "sweep":
        grid.append(f"--profile={variables.get('PROFILE', '')}")
        if variables.get("DRY"):
            grid.append("--dry-run")
        return [["sweep", *chapters, *grid, "--set", *settings]]
    if target == "knowledge":
        return [
            ["run", "knowledge_base", f"--model={name}", "--set", *settings]
            for name in models or BUNDLED_ATLAS_MODELS
        ]
    if target == "questions":
        run = ["run", "knowledge_base", model, "--runs=runs/questions", "--set"]
        usual = ["dataset=seen_qa", f"sources={variables.get('SOURCES', '')}"]
        usual += ["n_seen=100", "n_unseen=5"]
        return [[*run, *_settings_with_usual(settings, usual)]]
    if target == "benchmarks":
        names = dict.fromkeys(variable_words("BENCHMARKS", variables))
        return [_benchmark_command(name, model, settings) for name in names]
    if target == "course" and variables.get("SEED"):
        return [["course", f"--seed={variables['SEED']}"]]
    if target == "course":
        return [["course"]]
    return [[target, model]]


def _benchmark_command(name: str, model: str, settings: Sequence[str]) -> list[str]:
    """Return the command that runs the multiplicity chapter on one benchmark."""
    stem = Path(name).name.removesuffix(".csv") or "benchmark"
    run = ["run", "multiplicity", model, f"--runs=runs/benchmarks/{stem}"]
    usual = [f"dataset={name}", "n_items=50"]
    return [*run, "--set", *_settings_with_usual(settings, usual)]


def _settings_with_usual(settings: Sequence[str], usual: Sequence[str]) -> list[str]:
    """Return a user's settings after the usual ones that these do not set."""
    names = {word.partition("=")[0] for word in settings}
    left = [word for word in usual if word.partition("=")[0] not in names]
    return [*left, *settings]


def main(target: str, *rest: str) -> int:
    """Run a target's commands up to the first that fails; run a module with ARGS."""
    try:
        if target == "-m":
            words = variable_words("ARGS", os.environ)
            os.execv(sys.executable, [sys.executable, target, *rest, *words])
        for command in target_commands(target, os.environ):
            status = tools.main(command)
            if status:
                return status
        return 0
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
