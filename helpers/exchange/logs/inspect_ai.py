"""Logs of Inspect: an archive (`.eval`) or one file (`.json`)."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from helpers import UserError, printable_line
from helpers.exchange.logs.log import (
    NO_OPTION,
    Log,
    LoggedAnswer,
    LogOrigin,
    Record,
    as_list,
    log_of_answers,
    marked_row,
)
from helpers.exchange.logs.logged_documents import question_of_document
from helpers.io import files

MEMBER_PATTERN = r"header\.json$|_journal/start\.json$|samples/"
# An archive that was cut short has its start, but no header. With the status of each.
HEADER_MEMBERS = {"header.json": "success", "_journal/start.json": "started"}


def read_inspect_log(path: Path, metric: str, repeats: bool) -> Log:
    """Read a log, an archive or one file: its first epoch, or all with `repeats`."""
    if path.suffix == ".eval":
        header, samples = _parts_of_archive(path)
    else:
        header, samples = _parts_of_file(path)
    status = header.get("status", "success")
    if not samples:
        raise UserError(
            f"{path} holds no samples, and its run has the status {status}: give a run "
            "that came to its end."
        )
    evaluation = header["eval"]
    log = log_of_samples(path, "Inspect", evaluation, samples, metric, repeats)
    if status != "success":
        n_samples = (evaluation.get("dataset") or {}).get("samples") or "unknown"
        log.notes.append(
            f"{path.name} is of a run that did not come to its end (its status is "
            f"{printable_line(status)}): {len(log.rows)} documents with a score count, "
            f"of a data set of {n_samples}."
        )
    return log


def _parts_of_archive(path: Path) -> tuple[Record, list[Record]]:
    """Return the header of an archive, and its samples."""
    members = {}
    for name, text in files.read_zip_texts(path, MEMBER_PATTERN).items():
        members[name] = files.parse_json(text, f"{path}, {name}")
    headers = []
    for name, status in HEADER_MEMBERS.items():
        if name in members:
            headers.append({"status": status} | members.pop(name))
    if not headers:
        raise UserError(f"{path} is no log of Inspect, or is damaged.")
    return headers[0], list(members.values())


def _parts_of_file(path: Path) -> tuple[Record, list[Record]]:
    """Return the header of a log in one file, and its samples."""
    log = files.parse_json(files.read_text(path), path)
    if not isinstance(log, dict):
        raise UserError(f"{path} is no log of Inspect.")
    files.check_keys(log, ("eval", "samples"), str(path))
    return log, log["samples"]


def log_of_samples(
    path: Path,
    tool: str,
    evaluation: Record,
    samples: list[Record],
    metric: str,
    repeats: bool,
) -> Log:
    """Return samples as a log, in the order of the data set where it is known."""
    ids = (evaluation.get("dataset") or {}).get("sample_ids") or []
    places = {name: place for place, name in enumerate(ids)}

    def place_in_dataset(sample: Record) -> int:
        return places.get(sample["id"], len(places))

    # An archive is in the order in which its samples were finished.
    samples = sorted(samples, key=place_in_dataset)
    answers = [_logged_answer(sample, str(path), metric) for sample in samples]
    revision = (evaluation.get("model_args") or {}).get("revision")
    name = [evaluation["model"]]
    if revision:
        name.append(str(revision))
    origin = LogOrigin(path, tool, evaluation["task"], "@".join(name))
    return log_of_answers(origin, answers, repeats)


def _logged_answer(sample: Record, path: str, metric: str) -> LoggedAnswer:
    """Return a sample's answer, its document by a hash, for Inspect has only an id."""
    epoch = sample["epoch"]
    where = f"{path}, sample {sample['id']}"
    if epoch > 1:
        where += f" of epoch {epoch}"
    scores = sample.get("scores")
    if not scores and sample.get("score"):  # versions of 2024 had one scorer
        scores = {"score": sample["score"]}
    if not scores or sample.get("error"):
        return LoggedAnswer("", epoch, None)
    values, score_of_metric = _marks_by_metric(scores)
    mark = marked_row(values, metric, where)
    score = score_of_metric[mark["metric"]]
    options = as_list(sample.get("choices"))
    target = as_list(sample["target"])
    messages = (sample.get("messages") or [])[:-1]
    asked = [message.get("content") for message in messages]
    row = {
        "prompt": json.dumps(asked or _texts_of_messages(sample["input"])),
        "options": options,
        "target": target,
        "question": _question(sample),
        "is_named": "identity" in sample,
        "about": sample.get("metadata") or {},
        **mark,
    }
    if not options:
        row["text"] = score.get("answer")
        if row["text"] is None:
            row["text"] = _completion(sample["output"])
        return LoggedAnswer(_hash([sample["id"], target]), epoch, row)
    answer = _option_of_letter(target, options)
    option = _option_of_letter([score.get("answer") or ""], options)
    if answer == len(options):
        raise UserError(
            f"{where} has the target {target}: it needs one letter of its choices."
        )
    if (option == answer) != row["right"]:
        raise UserError(
            f"{where} is marked {score['value']}, against its answer and its target."
        )
    row["answer"] = answer
    row["option"] = option
    row["text"] = [*options, NO_OPTION][option]
    document = _hash([sample["id"], sorted(options), options[answer]])
    return LoggedAnswer(document, epoch, row)


def _question(sample: Record) -> str:
    """Return what was asked as a text of JSON, of messages without their ids."""
    asked = sample["question"] if "question" in sample else sample["input"]
    question = question_of_document(_texts_of_messages(asked))
    return question.removeprefix("[").removesuffix("]")


def _texts_of_messages(messages: str | list[Record]) -> list[str]:
    """Return what messages, or one text, say."""
    if isinstance(messages, str):
        return [messages]
    return [message["content"] for message in messages]


def _completion(output: Record) -> str:
    """Return the text of an answer, which older versions have in its message alone."""
    if "completion" in output or not output.get("choices"):
        return output.get("completion") or ""
    content = output["choices"][0]["message"]["content"]
    if isinstance(content, str):
        return content
    return json.dumps(content)


def _marks_by_metric(scores: Record) -> tuple[Record, Record]:
    """Return each scorer's mark, or marks, and the score that holds it, by name."""
    values = {}
    score_of_metric = {}
    for scorer, score in scores.items():
        marks = {scorer: score["value"]}
        if isinstance(score["value"], dict):
            marks = {f"{scorer}/{name}": mark for name, mark in score["value"].items()}
        for name, mark in marks.items():
            values[name] = mark
            score_of_metric[name] = score
    return values, score_of_metric


def _option_of_letter(letters: list[str], options: list[str]) -> int:
    """Return the number of a letter's option; the number of options if it is none."""
    if len(letters) != 1 or len(letters[0].strip()) != 1:
        return len(options)
    number = ord(letters[0].strip()) - ord("A")
    if 0 <= number < len(options):
        return number
    return len(options)


def _hash(parts: list[Any]) -> str:
    """Return a hash of what names a document."""
    return sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
