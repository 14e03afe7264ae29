"""Make tasks for lm-evaluation-harness and Inspect from a run's prompts: a folder to copy.

    python -m bench.plugins.make_tasks runs/measured/atlas-s build/plugins

The folder needs none of this project: the prompts are data, and `knowledge_measures.py` has the
measures. MONITOR compares an object token by token, so the tasks are for models with
the run's tokenizer.
"""

import argparse
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from bench.plugins import knowledge_measures
from helpers import UserError, exchange, models
from helpers.metrics import matching
from helpers.models import LanguageModel, tokens
from helpers.studies import STUDIES

HERE = Path(__file__).parent
COPIED_FILES = (
    "knowledge_measures.py",
    "lm_eval_tasks.py",
    "inspect_tasks.py",
    "monitor.yaml",
    "multiplicity.yaml",
)
# Of a prompt of MONITOR; `variant` is its label.
PROMPT = ["variant", "frame", "context", "prompt", "continuation", "ids", "start"]
# What the copied measures compute, and no other.
TASK_SETTINGS = {
    "monitor": {
        "match": "exact_match",
        "anchor_mode": "teacher_forced",
        "alphas": [1 / 3] * 3,
    },
    "multiplicity": {
        "rule": "mean",
        "tau": 0.75,
        "replacement": False,
        "correct_by": "majority",
    },
}


def write_tasks(place: Path, folder: Path) -> list[Path]:
    """Write the tasks of a run into a folder."""
    shared = exchange.shared_runs(place)
    lm = models.load(shared.record["model"]["name"], device="cpu")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, docs in (
        ("monitor", monitor_documents),
        ("multiplicity", multiplicity_documents),
    ):
        if name not in shared.record["runs"]:
            continue
        run = shared.record["runs"][name]
        given = TASK_SETTINGS[name] | run["parameters"]
        if {**given, **TASK_SETTINGS[name]} != given:
            raise UserError(
                f"The tasks compute {name} with {TASK_SETTINGS[name]}: measure it so."
            )
        rows = docs(shared.answers(name, "the archive"), lm)
        paths.append(folder / f"{name}.jsonl")
        paths[-1].write_text(
            "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        )
    paths.append(folder / "measures.json")
    paths[-1].write_text(
        json.dumps(dict(zip(TASK_SETTINGS, map(measures, TASK_SETTINGS))))
    )
    for name in COPIED_FILES:
        paths.append(Path(shutil.copy(HERE / name, folder)))
    rules = Path(matching.__file__).read_text(encoding="utf-8")
    paths.append(folder / "matching.py")
    paths[-1].write_text(
        rules.replace("from helpers import UserError", "UserError = ValueError")
    )
    return paths


def measures(name: str) -> dict[str, bool | None]:
    """Return the study's measures that the tasks compute, and whether more is better."""
    found = {}
    for measure in STUDIES[name].MEASURES:
        if measure.name in knowledge_measures.COMPUTED[name]:
            found[measure.name] = measure.higher
    return found


def measures_left_out(name: str) -> list[str]:
    """Return the study's measures that the tasks do not compute."""
    found = []
    for measure in STUDIES[name].MEASURES:
        if measure.name not in knowledge_measures.COMPUTED[name]:
            found.append(measure.name)
    return found


def monitor_documents(
    answers: pd.DataFrame, lm: LanguageModel
) -> Iterator[dict[str, Any]]:
    """Return a fact a row: what is read in each of its prompts, and where the object starts."""
    answers = answers[answers["context"] != "unrelated"]
    groups = list(zip(answers["item"], answers["variant"]))
    rows = tokens.rows_of_continuations(
        lm, list(answers["prompt"]), list(answers["continuation"]), groups
    )
    answers = answers.assign(
        ids=[list(row.ids) for row in rows], start=[row.start for row in rows]
    )
    for item, rows in answers.groupby("item", sort=False):
        cuts = {tuple(ids[start:]) for ids, start in zip(rows["ids"], rows["start"])}
        yield {
            "item": item,
            "object": rows["object"].iloc[0],
            "aligned": len(cuts) == 1,
            "prompts": rows[PROMPT].to_dict("records"),
        }


def multiplicity_documents(
    answers: pd.DataFrame, lm: LanguageModel
) -> Iterator[dict[str, Any]]:
    """Return a question a row: its prompts, the options in each, and their numbers of tokens."""
    answers = answers[answers["kind"] == answers["kind"].iloc[0]].sort_values("option")
    for item, rows in answers.groupby("item", sort=False):
        yield {
            "item": item,
            "answer": int(rows["answer"].iloc[0]),
            "prompts": [
                {
                    "prompt": part["prompt"].iloc[0],
                    "options": part["continuation"].tolist(),
                    "lengths": part["tokens"].map(len).tolist(),
                }
                for _, part in rows.groupby("variation")
            ],
        }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "run", type=Path, help="a model's folder of runs, or an archive"
    )
    parser.add_argument("folder", type=Path, help="where to write")
    args = parser.parse_args()
    for written in write_tasks(args.run, args.folder):
        print(written)
    for name in TASK_SETTINGS:
        for measure in measures_left_out(name):
            print(f"The tasks do not compute {measure} of {name}: they leave it out.")
