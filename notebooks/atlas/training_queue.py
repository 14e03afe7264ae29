"""Train the runs of `training_runs.csv`, one after another.

``python -m notebooks.atlas.training_queue FOLDER`` writes each model to FOLDER/RUN. It
can be stopped at any time; started again, it goes on from the last checkpoint.
"""

import argparse
import hashlib
import json
import shutil
import sys
from functools import partial
from pathlib import Path

import pandas as pd

from notebooks.atlas.exit_status import exit_status_of_work
from notebooks.atlas.recipe import RecipeOptions, load_recipe, read_recipe_changes
from notebooks.atlas.train import train_model

TRAINING_RUNS_TABLE = Path(__file__).with_name("training_runs.csv")
CHANGES_FOLDER = Path(__file__).with_name("changes")
# What decides the first stage, which reads no text: runs that agree in it share it.
DECIDES_COPYING = ("shape", "copying", "first", "start", "threads")


def training_runs_to_make() -> pd.DataFrame:
    """Return the runs in their order: ``run, size, seed, start, change``."""
    return pd.read_csv(TRAINING_RUNS_TABLE, keep_default_na=False)


def recipe_of_run(size: str, seed: int, start: int, change: str) -> RecipeOptions:
    """Return the recipe of a run; `change` names a file of the folder `changes`."""
    changes = {}
    if change:
        changes = read_recipe_changes(CHANGES_FOLDER / f"{change}.toml")
    return load_recipe(size, seed, start, **changes)


def train_run(name: str, recipe: RecipeOptions, folder: Path) -> None:
    """Train a run unless it is there, with a first stage that another has finished."""
    out = folder / name
    if (out / "training.json").is_file():
        return
    work = folder / "work" / name
    copying = work / "copying.pt"
    shared_copying = folder / "work" / f"copying-{_copying_key(recipe)}.pt"
    if shared_copying.is_file() and not copying.is_file():
        work.mkdir(parents=True, exist_ok=True)
        shutil.copy(shared_copying, copying)
    train_model(recipe, out, work, resume=True)
    shutil.copy(copying, shared_copying)
    shutil.rmtree(work)


def _copying_key(recipe: RecipeOptions) -> str:
    """Return a name for all that decides a recipe's first stage."""
    decisive = {name: recipe[name] for name in DECIDES_COPYING}
    text = json.dumps(decisive, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.atlas.training_queue")
    parser.add_argument("folder", type=Path, help="folder for the trained models")
    options = parser.parse_args(arguments)
    return exit_status_of_work(partial(_train_all, options.folder))


def _train_all(folder: Path) -> None:
    """Train all runs into a folder."""
    for run in training_runs_to_make().itertuples():
        print(run.run, file=sys.stderr, flush=True)
        recipe = recipe_of_run(run.size, run.seed, run.start, run.change)
        train_run(run.run, recipe, folder)


if __name__ == "__main__":
    sys.exit(main())
