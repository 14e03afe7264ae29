"""Logs of Inspect: an archive (`.eval`) or one file (`.json`)."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from helpers import UserError
from helpers.exchange.logs.log import (
    NO_OPTION,
    Log,
    LoggedAnswer,
    Record,
    log_of_answers,
    parse_mark,
)
from helpers.io import files


def read_inspect_log(path: Path, repeats: bool) -> Log:
    """Read a log, an archive of JSON files or one such file; of the first epoch, or of all."""
    if path.suffix != ".eval":
        said = files.parse_json(files.read_text(path), path)
        if not isinstance(said, dict):
            raise UserError(f"{path} is no log of Inspect.")
        files.check_keys(said, ("eval", "samples"), str(path))
        return log_of_samples(path, "Inspect", said["eval"], said["samples"], repeats)
    members = files.read_zip_texts(
        path, r"header\.json$|_journal/start\.json$|samples/"
    )
    parsed = {
        name: files.parse_json(text, f"{path}, {name}")
        for name, text in members.items()
    }
    # One that was cut short has its start, but no header.
    heads = [
        parsed.pop(n) for n in ("header.json", "_journal/start.json") if n in parsed
    ]
    if not heads:
        raise UserError(f"{path} is no log of Inspect, or is damaged.")
    return log_of_samples(
        path, "Inspect", heads[0]["eval"], list(parsed.values()), repeats
    )


def log_of_samples(
    path: Path, tool: str, about: Record, samples: list[Record], repeats: bool
) -> Log:
    """Return samples as a log."""
    ids = (about.get("dataset") or {}).get("sample_ids") or []
    place = {
        name: number for number, name in enumerate(ids)
    }  # an archive is in order of finishing
    samples = sorted(samples, key=lambda sample: place.get(sample["id"], len(place)))
    answers = [_answered(sample, str(path)) for sample in samples]
    extra = about.get("model_args") or {}
    model = "@".join(
        [about["model"], *(str(extra[k]) for k in ("revision",) if extra.get(k))]
    )
    return log_of_answers((path, tool, about["task"], model), answers, repeats)


def _answered(sample: Record, path: str) -> LoggedAnswer:
    """Return a sample's hash, epoch and answer; Inspect has no hash of documents, but an id."""
    epoch = sample["epoch"]
    where = f"{path}, sample {sample['id']}{f' of epoch {epoch}' * (epoch > 1)}"
    if not sample.get("scores"):
        return "", epoch, None
    scorer, score = next(iter(sample["scores"].items()))
    options, target = sample.get("choices") or [], sample["target"]
    target = [target] if isinstance(target, str) else list(target)
    asked = [each.get("content") for each in (sample.get("messages") or [])[:-1]]
    row = {
        "prompt": json.dumps(asked or [sample["input"]]),
        "options": options,
        "target": target,
    }
    row["right"] = parse_mark(score["value"], scorer, where)
    if not options:
        said = score.get("answer")
        row["text"] = (
            said if said is not None else sample["output"].get("completion", "")
        )
        return _hash([sample["id"], target]), epoch, row
    answer, option = (
        _letter(target, options),
        _letter([score.get("answer") or ""], options),
    )
    if answer == len(options):
        raise UserError(
            f"{where} has the target {target}: it needs one letter of its choices."
        )
    if (option == answer) != row["right"]:
        raise UserError(
            f"{where} is marked {score['value']}, against its answer and its target."
        )
    row |= {"answer": answer, "option": option, "text": [*options, NO_OPTION][option]}
    return _hash([sample["id"], sorted(options), options[answer]]), epoch, row


def _letter(said: list[str], options: list[str]) -> int:
    """Return the number of a letter's option, and the number of options if it is none."""
    letter = said[0].strip() if len(said) == 1 else ""
    place = ord(letter) - ord("A") if len(letter) == 1 else -1
    return place if 0 <= place < len(options) else len(options)


def _hash(parts: list[Any]) -> str:
    """Return a hash of what names a document."""
    return sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
