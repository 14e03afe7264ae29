"""Logs of lm-evaluation-harness, Inspect, lighteval and Every Eval Ever, joined by document."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from helpers import UserError
from helpers.exchange.logs import every_eval_ever, inspect_ai, lighteval, lm_eval
from helpers.exchange.logs.log import Joined, Log, Record
from helpers.io import files

LOG_RULES = tuple(lm_eval.METRIC_OF_RULE)
LOG_COLUMNS = ["item", "relation", "variation", "option", "answer", "text", "right"]


@files.reraise_as_malformed_file("One of the logs")
def read_logs(paths: Sequence[str | Path], rule: str = "sum") -> Joined:
    """Read several logs of one task, each with other prompts, as one table of choices.

    The first is the default prompt. By `rule` log-likelihoods choose an option
    (`lm_eval.METRIC_OF_RULE`), in a tie the first. `item` is the document's hash, `right` the
    log's own mark where answers are texts (`option` and `answer` are -1 then);
    the notes say what is left out.
    """
    logs, shared, notes = _joined(paths, rule)
    asked = Counter(tuple(log.rows[item]["prompt"] for item in shared) for log in logs)
    if len(asked) < len(logs):
        if logs[0].kind == "choices" and logs[0].tool in (
            "lm-evaluation-harness",
            "lighteval",
        ):
            raise UserError(
                "Two of the logs have the same prompts, so they are one run: give runs with other "
                "few-shot seeds, prompts or templates."
            )
        notes.append(
            f"{len(logs)} logs have {len(asked)} different prompts; the rest repeat one."
        )
    rows = []
    for item in shared:
        for variation, log in enumerate(logs):
            row = _numbered(log, item, logs[0].rows[item])
            rows.append(
                {"item": item, "relation": logs[0].task, "variation": variation} | row
            )
    return _table(rows, LOG_COLUMNS, logs, notes)


@files.reraise_as_malformed_file("One of the logs")
def read_repeated_answers(paths: Sequence[str | Path]) -> Joined:
    """Read all answers to a prompt a document: `text`, its mark, and the others as `repeats`."""
    logs, shared, notes = _joined(paths, LOG_RULES[0], repeats=True)
    said = [
        tuple((log.rows[i]["text"], *log.rows[i]["repeats"]) for i in shared)
        for log in logs
    ]
    if len(set(said)) < len(said):
        raise UserError(
            "Two of the logs hold the same answers to all prompts, so they are one run, or runs of "
            "one seed, or greedy: give sampled runs with other seeds."
        )
    rows = []
    for item in shared:
        found = [_numbered(log, item, logs[0].rows[item]) for log in logs]
        if len({row["prompt"] for row in found}) > 1:
            raise UserError(
                "The logs have different prompts, and repeated answers are those to one prompt: "
                "give runs of the same task."
            )
        said = [
            each
            for row in found
            for each in ((row["text"], row["right"]), *row["repeats"])
        ]
        rows.append(
            {"item": item, "relation": logs[0].task} | found[0] | {"repeats": said[1:]}
        )
    if not any(row["repeats"] for row in rows):
        raise UserError(
            "The logs hold no repeated answers that can be compared: sample several, with repeats "
            "(and no filter that changes them) in lm-evaluation-harness or epochs in Inspect, or "
            "give several runs of one prompt."
        )
    return _table(rows, [*LOG_COLUMNS[:2], *LOG_COLUMNS[5:], "repeats"], logs, notes)


def _table(
    rows: list[Record], columns: list[str], logs: list[Log], notes: list[str]
) -> Joined:
    table = pd.DataFrame(rows)[columns]
    return Joined(table, notes, logs[0].model, logs[0].kind)


def _joined(
    paths: Sequence[str | Path], rule: str, repeats: bool = False
) -> tuple[list[Log], list[str], list[str]]:
    """Return logs that belong together, the documents that all of them hold, and notes."""
    if rule not in LOG_RULES:
        raise UserError(
            f"A log holds sums of log-probabilities, not tokens: rule is {' or '.join(LOG_RULES)}, "
            f"not {rule!r}."
        )
    paths = [Path(path) for path in paths]
    if len({path.resolve() for path in paths}) < len(paths):
        raise UserError("A log is named twice: name each file once.")
    logs = []
    for path in paths:
        with files.reraise_as_malformed_file(path):
            logs += _logs(path, rule, repeats)
    if not logs:
        raise UserError("No log is named: name its file.")
    notes = [note for log in logs for note in log.notes]
    notes += _alike(logs)
    shared = [item for item in logs[0].rows if all(item in log.rows for log in logs)]
    everything = set().union(*(log.rows for log in logs))
    if not shared:
        raise UserError(
            "The logs share no document: give runs of one task on the same data."
        )
    if lost := len(everything) - len(shared):
        notes.append(
            f"{lost} of {len(everything)} documents are left out, because some log lacks them."
        )
    return logs, shared, notes


def _logs(path: Path, rule: str, repeats: bool) -> list[Log]:
    """Read a file of any tool: one log, or one of each variation that it tells apart."""
    if path.suffix in (".eval", ".json"):
        return [inspect_ai.read_inspect_log(path, repeats)]
    if path.suffix == ".parquet":
        return [lighteval.read_lighteval_log(path, rule, repeats)]
    if path.suffix != ".jsonl":
        raise UserError(
            f"{path} is no log that can be read: give samples_*.jsonl of lm-evaluation-harness or "
            "Every Eval Ever, .eval of Inspect or details_*.parquet of lighteval."
        )
    lines = files.read_json_lines(path)
    if not lines:
        raise UserError(f"{path} is empty: give a file that its tool has finished.")
    if "evaluation_id" in lines[0]:
        return every_eval_ever.read_every_eval_ever_logs(path, lines, repeats)
    return [lm_eval.read_lm_eval_log(path, lines, rule, repeats)]


def _alike(logs: list[Log]) -> list[str]:
    """Refuse logs of two tools, models or kinds of answers; say which names are unknown."""
    for what, values in (
        ("tools", {log.tool for log in logs}),
        ("models", {log.model for log in logs} - {""}),
        ("kinds of answers", {log.kind for log in logs}),
    ):
        if len(values) > 1:
            raise UserError(
                f"The logs are of different {what} ({', '.join(sorted(values))}): give runs of "
                "one model on one task."
            )
    notes = []
    if nameless := sum(not log.model for log in logs):
        notes.append(
            f"{nameless} of {len(logs)} logs do not name their model: its results_*.json is not "
            "beside the samples, so nothing shows that it is the same model."
        )
    names = sorted({log.task for log in logs})
    if len(names) > 1:
        notes.append(
            f"The tasks have different names ({', '.join(names)}) and the same documents."
        )
    return notes


def _numbered(log: Log, item: str, first: Record) -> Record:
    """Return an answer with its options numbered as in the first log."""
    row, known = log.rows[item], first["options"]
    options = row["options"]
    if len(options) != len(known):
        raise UserError(
            f"{log.path} has {len(options)} options for a document where another log has "
            f"{len(known)}: give runs of one task."
        )
    number = {text: place for place, text in enumerate(known)}
    if set(options) == set(known) and len(number) == len(options):
        places = [number[text] for text in options]
    else:  # letters here, texts there
        places = list(range(len(options)))
    places.append(len(options))  # no option chosen
    option, answer = (
        places[row[name]] if options else -1 for name in ("option", "answer")
    )
    same = answer == first["answer"] if options else row["target"] == first["target"]
    if not same:
        raise UserError(
            f"{log.path} has another correct answer to a document than the first log: the task "
            "has changed, or its options are in an order that the log does not tell."
        )
    return row | {"option": option, "answer": answer}
