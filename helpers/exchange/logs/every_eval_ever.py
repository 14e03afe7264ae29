"""Instance files of Every Eval Ever, ours and those that its converters write."""

from collections import Counter, defaultdict
from pathlib import Path

from helpers import UserError
from helpers.exchange.logs import inspect_ai
from helpers.exchange.logs.formats import EXCHANGE_FORMATS, flat_record
from helpers.exchange.logs.log import (
    Log,
    Record,
    as_list,
    mark_of_value,
    number_or_none,
)

ANSWER_PATHS = EXCHANGE_FORMATS["every_eval_ever"]["answer"]
NEEDED_FIELDS = ("model", "task", "item", "target", "right")


def read_every_eval_ever_logs(
    path: Path, lines: list[Record], metric: str, repeats: bool
) -> list[Log]:
    """Read a log of each variation of the prompt: the lines of the first metric.

    A metric goes by the id of its result.
    """
    rows = [_flat_row(line) for line in lines]
    for row in rows:
        absent = [name for name in NEEDED_FIELDS if row[name] is None]
        if absent or not (row["texts"] or row["chosen"]):
            raise UserError(f"{row['where']} lacks {', '.join(absent) or 'an answer'}.")
    if len({row["model"] for row in rows}) > 1:
        raise UserError(
            f"{path} holds answers of several models: give one file a model."
        )
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    if metric and metric not in measures:
        listed = ", ".join(filter(None, measures)) or "no name for any"
        raise UserError(f"{path} has no metric {metric!r}: it has {listed}.")
    measure = metric or measures[0]
    by_variation: defaultdict[str, list[Record]] = defaultdict(list)
    for row in rows:
        if row["measure"] == measure:
            variation = (row["about"] or {}).get("variation", "")
            by_variation[variation].append(row)
    logs = []
    for rows_of_variation in by_variation.values():
        logs.append(_log_of_rows(path, rows_of_variation, repeats))
    if len(measures) > 1 and not metric:
        logs[0].notes.append(
            f"{path.name} is marked by {', '.join(map(str, measures))}: {measure} "
            "counts; --metric names another."
        )
    return logs


def _flat_row(line: Record) -> Record:
    """Return a line by our names, with the place where it stands.

    Before version 0.3 the reference and the answer were texts, not lists.
    """
    row = flat_record(ANSWER_PATHS, line) | {"where": line["where"]}
    for name in ("texts", "options", "chosen"):
        row[name] = as_list(row[name])
    if row["target"] is not None:
        row["target"] = as_list(row["target"])
    return row


def _log_of_rows(path: Path, rows: list[Record], repeats: bool) -> Log:
    """Return rows as a log, further answers to an item as its later epochs."""
    epochs: Counter[str] = Counter()
    samples = []
    for row in rows:
        epochs[row["item"]] += 1
        samples.append(_inspect_sample(row, epochs[row["item"]]))
    evaluation = {"task": rows[0]["task"], "model": rows[0]["model"]}
    return inspect_ai.log_of_samples(
        path, "Every Eval Ever", evaluation, samples, "", repeats
    )


def _inspect_sample(row: Record, epoch: int) -> Record:
    """Return a row as Inspect would have logged it."""
    extracted = []
    for choice in row["chosen"]:
        if choice.get("is_terminal"):
            extracted.append(choice["extracted_value"])
    answer = (extracted or row["texts"])[-1]
    is_right = mark_of_value(row["right"])
    if is_right is None:
        raise UserError(
            f"{row['where']} has {str(row['right'])[:40]} for is_correct, neither "
            "right nor wrong: give true or false."
        )
    options = row["options"]
    target = row["target"]
    if options:
        _check_score(row)
        answer = _letter(answer, options)
        target = [_letter(text, options) for text in target]
        # A text around the letter: the mark tells which option it names.
        if len(answer) != 1 and is_right:
            answer = target[0]
    # Rows of two data sets may have one name: ours say what they are about.
    identity = (row["about"] or {}).get("identity")
    named = {"identity": identity} if identity else {}
    return named | {
        "id": identity or row["item"],
        "epoch": epoch,
        "input": row["read"] or row["prompt"],
        "question": row["prompt"],
        "metadata": row["about"],
        "choices": options,
        "target": target,
        "scores": {"is_correct": {"value": is_right, "answer": answer}},
        "output": {},
    }


def _check_score(row: Record) -> None:
    """Refuse a choice that is right in part, for several options are correct then."""
    score = number_or_none(row["score"])
    if score is not None and 0 < score < 1:
        raise UserError(
            f"{row['where']} has the score {score:.3g}, neither right nor wrong: "
            "several of its options are correct, and one correct option is needed."
        )


def _letter(text: str, options: list[str]) -> str:
    """Return the letter of an option that is named by its text, number or letter."""
    texts = [option.strip() for option in options]
    text = text.strip()
    if text in texts:
        return chr(ord("A") + texts.index(text))
    if text.isdecimal() and int(text) < len(options):
        return chr(ord("A") + int(text))
    return text
