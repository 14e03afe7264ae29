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


def variable_words(name: str, given: Mapping[str, str]) -> list[str]:
    """Return the words of a variable that is a list; none of them may be taken for an option."""
    try:
        found = shlex.split(given.get(name, ""))
    except ValueError as error:
        raise UserError(
            f"{name}={given[name]} has an open quote or escape: close it."
        ) from error
    if odd := [word for word in found if word.startswith("-") and name != "ARGS"]:
        raise UserError(
            f"{name} holds {odd[0]}, which is an option: write ./{odd[0]} for a file."
        )
    return found


def target_commands(target: str, given: Mapping[str, str]) -> list[list[str]]:
    """Return what a target runs, one after the other, as words after ``python -m book.tools``."""
    chapters = variable_words("CHAPTERS", given)
    models = variable_words("MODELS", given)
    settings = variable_words("SET", given)
    model = f"--model={given.get('MODEL', '')}"
    many = ["--models", *models]
    if given.get("CORES"):
        many.append(f"--cores={given['CORES']}")
    if target == "book":
        return [["book", *chapters, model, *many, "--set", *settings]]
    if target == "sweep":
        many.append(f"--profile={given.get('PROFILE', '')}")
        if given.get("DRY"):
            many.append("--dry-run")
        return [["sweep", *chapters, *many, "--set", *settings]]
    if target == "knowledge":
        each = [f"--model={name}" for name in models or BUNDLED_ATLAS_MODELS]
        return [["run", "knowledge_base", name, "--set", *settings] for name in each]
    if target == "questions":
        fixed = ["dataset=seen_qa", f"sources={given.get('SOURCES', '')}", "n_seen=100"]
        run = ["run", "knowledge_base", model, "--runs=runs/questions", "--set", *fixed]
        return [[*run, "n_unseen=5", *settings]]
    if target == "benchmarks":
        names = variable_words("BENCHMARKS", given)
        return [_benchmark(name, model, settings) for name in dict.fromkeys(names)]
    if target == "course" and given.get("SEED"):
        return [["course", f"--seed={given['SEED']}"]]
    if target == "course":
        return [["course"]]
    return [[target, model]]


def _benchmark(name: str, model: str, settings: Sequence[str]) -> list[str]:
    """Return the command that runs the multiplicity chapter on one benchmark."""
    stem = Path(name).name.removesuffix(".csv") or "benchmark"
    fixed = [f"dataset={name}", "n_items=50"]
    run = ["run", "multiplicity", model, f"--runs=runs/benchmarks/{stem}"]
    return [*run, "--set", *fixed, *settings]


def main(target: str, *rest: str) -> int:
    """Run a target's commands up to the first that fails; of a module, run it with ARGS."""
    try:
        if target == "-m":
            given = [sys.executable, target, *rest, *variable_words("ARGS", os.environ)]
            os.execv(sys.executable, given)
        return next(
            filter(None, map(tools.main, target_commands(target, os.environ))), 0
        )
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
