"""Make tasks for lm-evaluation-harness and Inspect from a run's prompts.

    python -m bench.plugins.make_tasks runs/measured/atlas-s build/plugins

The folder is one to copy and needs none of this project: the prompts are data, and
`knowledge_measures.py` has the measures. MONITOR compares an object token by token, so
the tasks are for models with the run's tokenizer.
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
from helpers.metrics import anchors, matching
from helpers.models import LanguageModel, tokens
from helpers.studies import STUDIES

HERE = Path(__file__).parent
MATCHING_MODULES = ("matching.py", "answer_text.py", "thoughts.py")
MATCHING_LISTS = ("answer_marks.csv", "abbreviations.txt", "lead_ins.txt", "notes.txt")
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
    document_makers = {
        "monitor": monitor_documents,
        "multiplicity": multiplicity_documents,
    }
    paths = []
    for name, make_documents in document_makers.items():
        if name not in shared.record["runs"]:
            continue
        _check_settings(name, shared.record["runs"][name]["parameters"])
        documents = make_documents(shared.answers(name, "the archive"), lm)
        paths.append(_write_documents(folder / f"{name}.jsonl", documents))
    paths.append(_write_measures(folder / "measures.json"))
    for name in COPIED_FILES:
        paths.append(Path(shutil.copy(HERE / name, folder)))
    return [*paths, *_write_matching(folder)]


def _check_settings(name: str, parameters: dict[str, Any]) -> None:
    """Raise an error where a run's settings are not those that the tasks compute."""
    for setting, value in TASK_SETTINGS[name].items():
        if parameters.get(setting, value) != value:
            raise UserError(
                f"The tasks compute {name} with {TASK_SETTINGS[name]}: measure it so."
            )


def _write_documents(path: Path, documents: Iterator[dict[str, Any]]) -> Path:
    lines = [json.dumps(document, ensure_ascii=False) for document in documents]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _write_measures(path: Path) -> Path:
    computed = {name: measures(name) for name in TASK_SETTINGS}
    path.write_text(json.dumps(computed), encoding="utf-8")
    return path


def _write_matching(folder: Path) -> list[Path]:
    """Write the project's rules of matching as modules that import none of it."""
    metrics = Path(matching.__file__).parent
    paths = []
    for name in MATCHING_MODULES:
        source = (metrics / name).read_text(encoding="utf-8")
        source = source.replace(
            "from helpers import UserError", "UserError = ValueError"
        )
        paths.append(folder / name)
        paths[-1].write_text(source.replace("helpers.metrics.", ""), encoding="utf-8")
    for name in MATCHING_LISTS:
        paths.append(Path(shutil.copy(metrics / name, folder)))
    return paths


def measures(name: str) -> dict[str, bool | None]:
    """Return the measures that the tasks of a study compute: whether more is better."""
    computed = {}
    for measure in STUDIES[name].MEASURES:
        if measure.name in knowledge_measures.COMPUTED[name]:
            computed[measure.name] = measure.higher
    return computed


def measures_left_out(name: str) -> list[str]:
    """Return the study's measures that the tasks do not compute."""
    names = []
    for measure in STUDIES[name].MEASURES:
        if measure.name not in knowledge_measures.COMPUTED[name]:
            names.append(measure.name)
    return names


def monitor_documents(
    answers: pd.DataFrame, lm: LanguageModel
) -> Iterator[dict[str, Any]]:
    """Yield a document a fact: its prompts' token ids and where the object starts."""
    answers = answers[answers["context"].isin(anchors.PAPER)]
    groups = list(zip(answers["item"], answers["variant"], strict=True))
    token_rows = tokens.rows_of_continuations(
        lm, list(answers["prompt"]), list(answers["continuation"]), groups
    )
    answers = answers.assign(
        ids=[list(row.ids) for row in token_rows],
        start=[row.start for row in token_rows],
    )
    for item, rows in answers.groupby("item", sort=False):
        object_ids = set()
        for ids, start in zip(rows["ids"], rows["start"], strict=True):
            object_ids.add(tuple(ids[start:]))
        yield {
            "item": item,
            "object": rows["object"].iloc[0],
            "aligned": len(object_ids) == 1,
            "prompts": rows[PROMPT].to_dict("records"),
        }


def multiplicity_documents(
    answers: pd.DataFrame, lm: LanguageModel
) -> Iterator[dict[str, Any]]:
    """Yield a document a question: its prompts, and each one's options and lengths."""
    first_kind = answers["kind"].iloc[0]
    answers = answers[answers["kind"] == first_kind].sort_values("option")
    for item, rows in answers.groupby("item", sort=False):
        prompts = []
        for _, options in rows.groupby("variation"):
            prompt = {
                "prompt": options["prompt"].iloc[0],
                "options": options["continuation"].tolist(),
                "lengths": options["tokens"].map(len).tolist(),
            }
            prompts.append(prompt)
        yield {
            "item": item,
            "answer": int(rows["answer"].iloc[0]),
            "prompts": prompts,
        }


def main(arguments: list[str] | None = None) -> None:
    """Write the tasks and name their files, and the measures that they leave out."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "run", type=Path, help="a model's folder of runs, or an archive"
    )
    parser.add_argument("folder", type=Path, help="where to write")
    settings = parser.parse_args(arguments)
    for path in write_tasks(settings.run, settings.folder):
        print(path)
    for name in TASK_SETTINGS:
        for measure in measures_left_out(name):
            print(f"The tasks do not compute {measure} of {name}: they leave it out.")


if __name__ == "__main__":
    main()
