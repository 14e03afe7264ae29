"""Keep what training runs of one recipe answer to the panel.

``python -m notebooks.atlas.training_runs FOLDER...`` measures folders that
`train` wrote.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import UserError, datasets, models
from helpers.metrics import choices
from helpers.models import LanguageModel
from helpers.studies import STUDIES, settings_for_function
from notebooks.atlas.exit_status import exit_status_of_work
from notebooks.kit.trained_answers import (
    PROMPT_COLUMNS,
    TRAINING_RUNS_FILE,
    load_training_runs,
)

KEY_COLUMNS = ["model", "start", "weights", "study", "item", "relation", "stratum"]
SETTINGS_OF_ALL_RUNS = {"separator": "space"}  # or each run would choose its own


def measure_trained_models(
    folders: Iterable[Path], facts: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Ask each trained model the panel's facts by all studies: rows of the file."""
    if facts is None:
        facts = datasets.panel_facts()
    tables = [_answers_of_model(folder, facts) for folder in folders]
    return pd.concat(tables, ignore_index=True)


def runs_with_new_answers(
    found: pd.DataFrame, path: Path = TRAINING_RUNS_FILE
) -> pd.DataFrame:
    """Return what is kept with new answers, which take the place of the same runs'."""
    if not path.is_file():
        return found
    kept = load_training_runs(path)
    run_columns = ["model", "start"]
    kept_runs = pd.MultiIndex.from_frame(kept[run_columns])
    new_runs = pd.MultiIndex.from_frame(found[run_columns])
    is_replaced = kept_runs.isin(new_runs)
    whole = pd.concat([kept[~is_replaced], found], ignore_index=True)
    return whole.sort_values(run_columns, kind="stable", ignore_index=True)


def _answers_of_model(folder: Path, facts: pd.DataFrame) -> pd.DataFrame:
    """Return a trained model's figures by all studies, one row a study and fact."""
    report = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    recipe = report["recipe"]
    name = f"atlas-{recipe['size']}"
    exposure = datasets.training_exposure(folder.name, folder.parent)
    if not exposure.equals(datasets.training_exposure(name)):
        raise UserError(
            f"{folder} read another text than {name}: train it with the same --seed."
        )
    # What it read is looked up by the name.
    lm = replace(models.load(str(folder)), name=name)
    table = pd.concat([_figures_of_study(study, lm, facts) for study in STUDIES])
    table = table.assign(
        model=name, start=recipe.get("start", 0), weights=lm.weights_sha[:8]
    )
    return table[[*KEY_COLUMNS, *table.columns.difference(KEY_COLUMNS, sort=False)]]


def _figures_of_study(
    name: str, lm: LanguageModel, facts: pd.DataFrame
) -> pd.DataFrame:
    """Return a study's figures of each fact, as small numbers."""
    study = STUDIES[name]
    settings = settings_for_function(study.ask, SETTINGS_OF_ALL_RUNS)
    answers = study.ask(lm, facts, **settings)
    figures = study.facts(answers)
    verdicts = study.verdict(figures.drop(columns="seen", errors="ignore"))
    columns: list[str] = []
    for measure in study.MEASURES:
        columns.extend(measure.columns)
    columns = list(dict.fromkeys(columns))
    stratum = figures.get("stratum", figures["relation"])
    table = figures[["item", "relation"]].assign(study=name, stratum=stratum)
    table[columns] = figures[columns].astype(np.float32)
    table[["known", "score"]] = verdicts[["known", "score"]].astype(np.float32)
    if "variation" not in answers:
        return table
    right = choices.chosen_options(answers).pivot_table("right", "item", "variation")
    right = right.set_axis(PROMPT_COLUMNS, axis="columns")
    return table.join(right.astype(np.float32), on="item")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.atlas.training_runs")
    parser.add_argument(
        "folders", nargs="+", type=Path, help="folders of trained models"
    )
    parser.add_argument("--out", type=Path, default=TRAINING_RUNS_FILE)
    options = parser.parse_args(arguments)
    return exit_status_of_work(partial(_measure_and_keep, options.folders, options.out))


def _measure_and_keep(folders: Iterable[Path], path: Path) -> None:
    """Measure trained models and write their answers beside those that are kept."""
    answers = measure_trained_models(folders)
    runs_with_new_answers(answers, path).to_parquet(path, index=False)


if __name__ == "__main__":
    sys.exit(main())
