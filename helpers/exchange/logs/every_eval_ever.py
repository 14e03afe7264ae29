"""Instance files of Every Eval Ever, ours and those that its converters write."""

from collections import Counter, defaultdict
from pathlib import Path

from helpers import UserError
from helpers.exchange.logs import inspect_ai
from helpers.exchange.logs.formats import EXCHANGE_FORMATS, flat_record
from helpers.exchange.logs.log import Log, Record

ANSWER_PATHS = EXCHANGE_FORMATS["every_eval_ever"]["answer"]
NEEDED_FIELDS = ("model", "task", "item", "target", "right")


def read_every_eval_ever_logs(
    path: Path, lines: list[Record], repeats: bool
) -> list[Log]:
    """Read a log of each variation of the prompt: the lines of the first metric."""
    rows = [_flat_row(line) for line in lines]
    for row in rows:
        absent = [name for name in NEEDED_FIELDS if row[name] is None]
        if absent or not (row["texts"] or row["chosen"]):
            raise UserError(f"{row['where']} lacks {', '.join(absent) or 'an answer'}.")
    if len({row["model"] for row in rows}) > 1:
        raise UserError(
            f"{path} holds answers of several models: give one file a model."
        )
    by_variation: defaultdict[str, list[Record]] = defaultdict(list)
    for row in rows:
        if row["measure"] == rows[0]["measure"]:
            variation = (row["about"] or {}).get("variation", "")
            by_variation[variation].append(row)
    logs = []
    for rows_of_variation in by_variation.values():
        logs.append(_log_of_rows(path, rows_of_variation, repeats))
    return logs


def _flat_row(line: Record) -> Record:
    """Return a line by our names, with the place where it stands."""
    return flat_record(ANSWER_PATHS, line) | {"where": line["where"]}


def _log_of_rows(path: Path, rows: list[Record], repeats: bool) -> Log:
    """Return rows as a log, further answers to an item as its later epochs."""
    epochs: Counter[str] = Counter()
    samples = []
    for row in rows:
        epochs[row["item"]] += 1
        samples.append(_inspect_sample(row, epochs[row["item"]]))
    evaluation = {"task": rows[0]["task"], "model": rows[0]["model"]}
    return inspect_ai.log_of_samples(
        path, "Every Eval Ever", evaluation, samples, repeats
    )


def _inspect_sample(row: Record, epoch: int) -> Record:
    """Return a row as Inspect would have logged it."""
    extracted = []
    for choice in row["chosen"] or ():
        if choice.get("is_terminal"):
            extracted.append(choice["extracted_value"])
    answer = (extracted or row["texts"])[-1]
    options = row["options"] or []
    target = row["target"]
    if options:
        answer = _letter(answer, options)
        target = [_letter(text, options) for text in target]
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
    """Return the letter of an option that is named by its text, number or letter."""
    texts = [option.strip() for option in options]
    text = text.strip()
    if text in texts:
        return chr(ord("A") + texts.index(text))
    if text.isdecimal() and int(text) < len(options):
        return chr(ord("A") + int(text))
    return text
