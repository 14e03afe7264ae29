"""Details of lighteval: a Parquet file a task, read as lines of lm-eval."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from helpers import UserError
from helpers.exchange.logs import lm_eval
from helpers.exchange.logs.formats import EXCHANGE_FORMATS, flat_record
from helpers.exchange.logs.log import (
    Log,
    LogOrigin,
    Record,
    as_list,
    number_or_none,
)
from helpers.io import files

ANSWER_PATHS = EXCHANGE_FORMATS["lighteval"]["answer"]
OLDER_PATHS = EXCHANGE_FORMATS["lighteval"]["older_answer"]
# Cells of older versions that may be Python's text of a value.
WRITTEN_VALUES = ("options", "answer", "gold", "predictions", "marks", "about")


def read_lighteval_log(path: Path, rule: str, metric: str, repeats: bool) -> Log:
    """Read details; the folders above the run's name the model."""
    rows = []
    for number, record in enumerate(files.read_records(path)):
        if "full_prompt" in record:
            row = _row_of_older_version(record, number)
        else:
            row = flat_record(ANSWER_PATHS, record)
        rows.append(row | {"where": record["where"]})
    if not rows or not all(map(_is_finished, rows)):
        raise UserError(f"{path} is no file of details that lighteval has finished.")
    stamp = path.parent.name
    task = path.stem.removeprefix("details_").removesuffix(f"_{stamp}")
    lines = [_line(row) for row in rows]
    origin = LogOrigin(path, "lighteval", task, _model_of_folders(path))
    return lm_eval.log_of_lines(origin, lines, rule, metric, repeats)


def _row_of_older_version(record: Record, number: int) -> Record:
    """Return a row by the names of today; its place is all that it has as an id."""
    row = flat_record(OLDER_PATHS, record)
    for name in WRITTEN_VALUES:
        if isinstance(row[name], str):
            row[name] = files.parse_python_literal(row[name])
    predictions = as_list(row.pop("predictions"))
    gold = as_list(row.pop("gold"))
    row |= {"id": str(number), "scores": None, "texts": predictions, "final": None}
    scores = list(map(_logprob, predictions))
    if row["options"] and len(scores) == len(row["options"]) and None not in scores:
        row |= {"scores": scores, "texts": None}
    elif gold:
        row |= {"options": gold, "answer": [0]}
    if row["texts"] and not isinstance(row["texts"][0], str):
        raise UserError(
            f"{record['where']} has {len(predictions)} predictions that are no texts, "
            f"for {len(as_list(row['options']))} options: one for each is needed."
        )
    return row


def _logprob(prediction: Any) -> float | None:
    """Return the score of an option, beside which may stand whether it is likeliest."""
    if isinstance(prediction, list | tuple) and prediction:
        prediction = prediction[0]
    return number_or_none(prediction)


def _is_finished(row: Record) -> bool:
    """Return whether a row has what every finished one has."""
    return row["answer"] is not None and row["prompt"] is not None


def _model_of_folders(path: Path) -> str:
    """Return the model: the folders between `details` and the run's own."""
    names: list[str] = []
    for folder in path.parent.parents:
        if folder.name == "details":
            return "/".join(reversed(names))
        names.append(folder.name)
    return ""


def _line(row: Record) -> Record:
    """Return a row as lm-evaluation-harness would have logged it."""
    gold = as_list(row["answer"])
    options = as_list(row["options"])
    correct = [options[number] for number in gold]
    document = [row["id"], sorted(options), correct]
    if not row["prompt"]:  # the options are sentences, worded as the prompt would be
        document = [row["id"], len(options), gold]
    doc_hash = sha256(json.dumps(document).encode()).hexdigest()
    about = row["about"] if isinstance(row["about"], dict) else {}
    line = {
        "doc_hash": doc_hash,
        "doc": {"query": row["prompt"]} | about,
        "where": row["where"],
    }
    marks = {}
    for name, mark in (row["marks"] or {}).items():
        if mark is not None:
            marks[name] = mark
    prompt = str(row["read"] or row["prompt"])
    texts = as_list(row["texts"])
    if row["scores"] and not texts:
        if len(gold) != 1:
            raise UserError(
                f"{row['where']} has {len(gold)} correct options: one is needed."
            )
        responses = [[score, False] for score in row["scores"]]
        return (
            line
            | {
                "target": gold[0],
                "arguments": [[prompt, text] for text in options],
                "resps": [[response] for response in responses],
                "filtered_resps": responses,
                "metrics": list(marks),
            }
            | marks
        )
    text = (as_list(row["final"]) or texts or [""])[0]
    line |= {
        "target": options[gold[0]],
        "arguments": [[prompt, None]],
        "resps": [texts],
        "filtered_resps": [text],
        "metrics": list(marks),
    }
    return line | marks
