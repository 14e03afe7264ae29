"""Details of lighteval: a Parquet file a task, read as lines of lm-eval."""

import json
from hashlib import sha256
from pathlib import Path

from helpers import UserError
from helpers.exchange.logs import lm_eval
from helpers.exchange.logs.formats import EXCHANGE_FORMATS, flat_record
from helpers.exchange.logs.log import Log, LogOrigin, Record, as_list
from helpers.io import files

ANSWER_PATHS = EXCHANGE_FORMATS["lighteval"]["answer"]


def read_lighteval_log(path: Path, rule: str, metric: str, repeats: bool) -> Log:
    """Read details; the folders above the run's name the model."""
    rows = []
    for record in files.read_records(path):
        row = flat_record(ANSWER_PATHS, record) | {"where": record["where"]}
        rows.append(row)
    if not rows or not all(map(_is_finished, rows)):
        raise UserError(f"{path} is no file of details that lighteval has finished.")
    stamp = path.parent.name
    task = path.stem.removeprefix("details_").removesuffix(f"_{stamp}")
    lines = [_line(row) for row in rows]
    origin = LogOrigin(path, "lighteval", task, _model_of_folders(path))
    return lm_eval.log_of_lines(origin, lines, rule, metric, repeats)


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
