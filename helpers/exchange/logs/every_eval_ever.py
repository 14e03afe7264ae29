"""Instance files of Every Eval Ever, ours and those that its converters write."""

from collections import Counter
from pathlib import Path

from helpers import UserError
from helpers.exchange.logs import inspect_ai
from helpers.exchange.logs.formats import EXCHANGE_FORMATS, flat_record
from helpers.exchange.logs.log import Log, Record

ANSWER_PATHS = EXCHANGE_FORMATS["every_eval_ever"]["answer"]


def read_every_eval_ever_logs(
    path: Path, lines: list[Record], repeats: bool
) -> list[Log]:
    """Read a log of each variation of the prompt in a file, the first metric's lines alone."""
    rows = [
        flat_record(ANSWER_PATHS, line) | {"where": line["where"]} for line in lines
    ]
    for row in rows:
        needed = ("model", "task", "item", "target", "right")
        absent = [name for name in needed if row[name] is None]
        if absent or not (row["texts"] or row["chosen"]):
            raise UserError(f"{row['where']} lacks {', '.join(absent) or 'an answer'}.")
    if len({row["model"] for row in rows}) > 1:
        raise UserError(
            f"{path} holds answers of several models: give one file a model."
        )
    first = rows[0]["measure"]
    by_variation: dict[str, list[Record]] = {}
    for row in rows:
        if row["measure"] == first:
            by_variation.setdefault(
                (row["about"] or {}).get("variation", ""), []
            ).append(row)
    logs = []
    for part in by_variation.values():
        seen: Counter[str] = Counter()
        samples = []
        for row in part:
            seen[row["item"]] += 1
            samples.append(_sample(row, seen[row["item"]]))
        about = {"task": part[0]["task"], "model": part[0]["model"]}
        logs.append(
            inspect_ai.log_of_samples(path, "Every Eval Ever", about, samples, repeats)
        )
    return logs


def _sample(row: Record, epoch: int) -> Record:
    said = [
        each["extracted_value"]
        for each in row["chosen"] or ()
        if each.get("is_terminal")
    ]
    answer, options = (said or row["texts"])[-1], row["options"] or []
    target = row["target"]
    if options:
        answer, target = (
            _letter(answer, options),
            [_letter(text, options) for text in target],
        )
    return {
        "id": row["item"],
        "epoch": epoch,
        "input": row["read"] or row["prompt"],
        "choices": options,
        "target": target,
        "scores": {"is_correct": {"value": bool(row["right"]), "answer": answer}},
        "output": {},
    }


def _letter(text: str, options: list[str]) -> str:
    """Return the letter of an option that is named by its text, its number or its letter."""
    known = [each.strip() for each in options]
    text = text.strip()
    if text in known:
        return chr(ord("A") + known.index(text))
    return (
        chr(ord("A") + int(text))
        if text.isdecimal() and int(text) < len(options)
        else text
    )
