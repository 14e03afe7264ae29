"""Keep what training runs of one recipe answer to the panel.

``python -m notebooks.atlas.training_runs FOLDER...`` measures folders that
`train` wrote.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import UserError, datasets, models
from helpers.metrics import choices
from helpers.models import LanguageModel
from helpers.studies import STUDIES, settings_for_function
from notebooks.atlas.exit_status import exit_status_of_work
from notebooks.kit.trained_answers import FILE, training_runs

KEY_COLUMNS = ["model", "start", "weights", "study", "item", "relation", "stratum"]
SETTINGS_OF_ALL_RUNS = {"separator": "space"}  # or each run would choose its own
PROMPT_COLUMN_START = (
    "prompt "  # begins the columns that say under which prompt a choice was right
)


def measure_trained_models(
    folders: Iterable[Path], facts: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Ask each trained model the panel's facts by all four studies: rows of the file."""
    facts = datasets.panel_facts() if facts is None else facts
    return pd.concat([_one(folder, facts) for folder in folders], ignore_index=True)


def runs_with_new_answers(found: pd.DataFrame, path: Path = FILE) -> pd.DataFrame:
    """Return what is kept together with new answers, which take the place of the same runs'."""
    if not path.is_file():
        return found
    kept, runs = training_runs(path), ["model", "start"]
    again = pd.MultiIndex.from_frame(kept[runs]).isin(
        pd.MultiIndex.from_frame(found[runs])
    )
    whole = pd.concat([kept[~again], found], ignore_index=True)
    return whole.sort_values(runs, kind="stable", ignore_index=True)


def _one(folder: Path, facts: pd.DataFrame) -> pd.DataFrame:
    recipe = json.loads((folder / "training.json").read_text(encoding="utf-8"))[
        "recipe"
    ]
    name = f"atlas-{recipe['size']}"
    if not datasets.training_exposure(folder.name, folder.parent).equals(
        datasets.training_exposure(name)
    ):
        raise UserError(
            f"{folder} read another text than {name}: train it with the same --seed."
        )
    lm = replace(
        models.load(str(folder)), name=name
    )  # what it read is looked up by the name
    parts = [_study(name, lm, facts) for name in STUDIES]
    about = {
        "model": name,
        "start": recipe.get("start", 0),
        "weights": lm.weights_sha[:8],
    }
    table = pd.concat(parts).assign(**about)
    return table[[*KEY_COLUMNS, *table.columns.difference(KEY_COLUMNS, sort=False)]]


def _study(name: str, lm: LanguageModel, facts: pd.DataFrame) -> pd.DataFrame:
    """Return a study's figures of each fact, as small numbers."""
    study = STUDIES[name]
    answers = study.ask(
        lm, facts, **settings_for_function(study.ask, SETTINGS_OF_ALL_RUNS)
    )
    found = study.facts(answers)
    verdicts = study.verdict(found.drop(columns="seen", errors="ignore"))[
        ["known", "score"]
    ]
    columns = list(dict.fromkeys(c for each in study.MEASURES for c in each.columns))
    stratum = found.get("stratum", found["relation"])
    table = found[["item", "relation"]].assign(study=name, stratum=stratum)
    table[columns] = found[columns].astype(np.float32)
    table[["known", "score"]] = verdicts.astype(np.float32)
    if "variation" not in answers:
        return table
    right = choices.chosen_options(answers).pivot_table("right", "item", "variation")
    right.columns = [
        f"{PROMPT_COLUMN_START}{number}" for number in range(right.shape[1])
    ]
    return table.join(right.astype(np.float32), on="item")


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.atlas.training_runs")
    parser.add_argument(
        "folders", nargs="+", type=Path, help="folders of trained models"
    )
    parser.add_argument("--out", type=Path, default=FILE)
    given = parser.parse_args(arguments)
    return exit_status_of_work(
        lambda: runs_with_new_answers(
            measure_trained_models(given.folders), given.out
        ).to_parquet(given.out, index=False)
    )


if __name__ == "__main__":
    sys.exit(main())
