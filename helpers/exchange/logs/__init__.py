"""Logs of lm-evaluation-harness, Inspect, lighteval, Every Eval Ever as one table."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from helpers import UserError
from helpers.exchange.logs import every_eval_ever, inspect_ai, lighteval, lm_eval
from helpers.exchange.logs.log import Joined, Log, Record
from helpers.exchange.logs.logged_documents import same_text, with_items_of_first
from helpers.io import files

LOG_COLUMNS = ["item", "relation", "variation", "option", "answer", "text", "right"]
REPEATS_COLUMNS = ["item", "relation", "text", "right", "repeats"]
# Their logs hold a prompt as the model read it, few-shot examples and all.
TOOLS_LOGGING_WHOLE_PROMPTS = ("lm-evaluation-harness", "lighteval")


@files.reraise_as_malformed_file("One of the logs")
def read_logs(
    paths: Sequence[str | Path], rule: str = "sum", metric: str = ""
) -> Joined:
    """Read several logs of one task, each with other prompts, as one table of choices.

    The first is the default prompt. By `rule` log-likelihoods choose an option
    (`lm_eval.METRIC_OF_RULE`), in a tie none: this is no answer, which is wrong and
    agrees with no other. `item` is the document's name in the first, `right` the log's
    own mark where answers are texts (`option` and `answer` are -1 then), by `metric` or
    the first that there is; the notes say what is left out.
    """
    return join_logs(with_items_of_first(load_logs(paths, rule, metric)))


def join_logs(logs: list[Log]) -> Joined:
    """Return logs of one task, each with other prompts, as one table of choices.

    A document has one name in all of them (:func:`with_items_of_first`).
    """
    shared, notes = _shared_documents(logs)
    different = {tuple(log.rows[item]["prompt"] for item in shared) for log in logs}
    if len(different) < len(logs):
        of_choices = logs[0].kind == "choices"
        if of_choices and logs[0].tool in TOOLS_LOGGING_WHOLE_PROMPTS:
            raise UserError(
                "Two of the logs have the same prompts, so they are one run: give runs "
                "with other few-shot seeds, prompts or templates."
            )
        notes.append(
            f"{len(logs)} logs have {len(different)} different prompts; "
            "the rest repeat one."
        )
    rows = []
    for item in shared:
        for variation, log in enumerate(logs):
            row = _numbered_row(log, item, logs[0].rows[item])
            n_options = len(log.rows[item]["options"])
            if n_options and row["option"] == n_options:
                row["option"] += 1 + variation  # no answer agrees with no other
            place = {"item": item, "relation": logs[0].task, "variation": variation}
            rows.append(place | row)
    table = pd.DataFrame(rows)[LOG_COLUMNS]
    return Joined(table, notes, logs[0].model, logs[0].kind)


@files.reraise_as_malformed_file("One of the logs")
def read_repeated_answers(paths: Sequence[str | Path], metric: str = "") -> Joined:
    """Read all answers to a prompt: `text`, its mark, and the others as `repeats`."""
    every_log = load_logs(paths, lm_eval.LOG_RULES[0], metric, repeats=True)
    logs = with_items_of_first(every_log)
    shared, notes = _shared_documents(logs)
    if len({_texts_of_log(log, shared) for log in logs}) < len(logs):
        raise UserError(
            "Two of the logs hold the same answers to all prompts, so they are one "
            "run, or runs of one seed, or greedy: give sampled runs with other seeds."
        )
    rows = []
    for item in shared:
        row = _row_with_repeats(logs, item)
        rows.append({"item": item, "relation": logs[0].task} | row)
    if not any(row["repeats"] for row in rows):
        raise UserError(
            "The logs hold no repeated answers that can be compared: sample several, "
            "with repeats (and no filter that changes them) in lm-evaluation-harness "
            "or epochs in Inspect, or give several runs of one prompt."
        )
    table = pd.DataFrame(rows)[REPEATS_COLUMNS]
    return Joined(table, notes, logs[0].model, logs[0].kind)


def _texts_of_log(log: Log, items: list[str]) -> tuple:
    """Return what a log holds as answers to some documents, to be compared."""
    texts = []
    for item in items:
        row = log.rows[item]
        texts.append((row["text"], *row["repeats"]))
    return tuple(texts)


def _row_with_repeats(logs: list[Log], item: str) -> Record:
    """Return the first answer to a document, with all others as its repeats."""
    rows = [_numbered_row(log, item, logs[0].rows[item]) for log in logs]
    if len({row["prompt"] for row in rows}) > 1:
        raise UserError(
            "The logs have different prompts, and repeated answers are those to one "
            "prompt: give runs of the same task."
        )
    answers = []
    for row in rows:
        answers.append((row["text"], row["right"]))
        answers.extend(row["repeats"])
    return rows[0] | {"repeats": answers[1:]}


def load_logs(
    paths: Sequence[str | Path], rule: str, metric: str, repeats: bool = False
) -> list[Log]:
    """Read logs, each as it is."""
    if rule not in lm_eval.LOG_RULES:
        raise UserError(
            "A log holds sums of log-probabilities, not tokens: rule is "
            f"{' or '.join(lm_eval.LOG_RULES)}, not {rule!r}."
        )
    if isinstance(paths, str | Path):
        paths = [paths]
    log_paths = [Path(path) for path in paths]
    if len({path.resolve() for path in log_paths}) < len(log_paths):
        raise UserError("A log is named twice: name each file once.")
    logs: list[Log] = []
    for path in log_paths:
        with files.reraise_as_malformed_file(path):
            logs.extend(_logs_of_file(path, rule, metric, repeats))
    if not logs:
        raise UserError("No log is named: name its file.")
    return logs


def _shared_documents(logs: list[Log]) -> tuple[list[str], list[str]]:
    """Return the documents that all of these logs hold, and notes on the logs."""
    notes = []
    for log in logs:
        notes.extend(log.notes)
    _check_same_model_and_tool(logs)
    notes.extend(_notes_on_names(logs))
    shared = list(logs[0].rows)
    every_item: set[str] = set()
    for log in logs:
        shared = [item for item in shared if item in log.rows]
        every_item.update(log.rows)
    if not shared:
        raise UserError(
            "The logs share no document: give runs of one task on the same data."
        )
    n_left_out = len(every_item) - len(shared)
    if n_left_out:
        notes.append(
            f"{n_left_out} of {len(every_item)} documents are left out, "
            "because some log lacks them."
        )
    return shared, notes


def _logs_of_file(path: Path, rule: str, metric: str, repeats: bool) -> list[Log]:
    """Read the log in a file of any tool, or the logs of its variations."""
    if path.suffix == ".parquet":
        return [lighteval.read_lighteval_log(path, rule, metric, repeats)]
    if path.suffix == ".eval" or (path.suffix == ".json" and not _holds_lines(path)):
        return [inspect_ai.read_inspect_log(path, metric, repeats)]
    if path.suffix not in (".json", ".jsonl"):
        raise UserError(
            f"{path} is no log that can be read: give samples_*.jsonl of "
            "lm-evaluation-harness or Every Eval Ever, .eval of Inspect or "
            "details_*.parquet of lighteval."
        )
    lines = files.read_json_lines(path)
    if not lines:
        raise UserError(f"{path} is empty: give a file that its tool has finished.")
    if "evaluation_id" in lines[0]:
        return every_eval_ever.read_every_eval_ever_logs(path, lines, metric, repeats)
    return [lm_eval.read_lm_eval_log(path, lines, rule, metric, repeats)]


def _holds_lines(path: Path) -> bool:
    """Return whether a JSON file holds a list or lines, as older lm-eval wrote."""
    first_line = next(filter(str.strip, files.read_lines(path)), "")
    if first_line.lstrip("\ufeff \t").startswith("["):
        return True
    first_object = files.first_json_object(path)
    return bool(first_object) and "eval" not in first_object


def _check_same_model_and_tool(logs: list[Log]) -> None:
    """Refuse logs of two tools, models or kinds of answers."""
    models = {log.model for log in logs} - {""}
    if len(models) > 1:
        raise UserError(
            f"The logs are of different models ({', '.join(sorted(models))}): give "
            "runs of one model on one task, or compare two models with --beside."
        )
    check_same_tool(logs)


def check_same_tool(logs: list[Log]) -> None:
    """Refuse logs of two tools, or with two kinds of answers."""
    values_by_name = {
        "tools": {log.tool for log in logs},
        "kinds of answers": {log.kind for log in logs},
    }
    for name, values in values_by_name.items():
        if len(values) > 1:
            raise UserError(
                f"The logs are of different {name} ({', '.join(sorted(values))}): give "
                "runs of one task by one tool."
            )


def _notes_on_names(logs: list[Log]) -> list[str]:
    """Return notes on models without a name, and on tasks with several."""
    notes = []
    n_nameless = [log.model for log in logs].count("")
    if n_nameless and len(logs) > 1:
        notes.append(
            f"{n_nameless} of {len(logs)} logs do not name their model: its "
            "results_*.json is not beside the samples, so nothing shows that it is the "
            "same model."
        )
    tasks = sorted({log.task for log in logs})
    if len(tasks) > 1:
        notes.append(
            f"The tasks have different names ({', '.join(tasks)}) "
            "and the same documents."
        )
    return notes


def _numbered_row(log: Log, item: str, first: Record) -> Record:
    """Return an answer with its options numbered as in the first log."""
    row = log.rows[item]
    options = row["options"]
    known = first["options"]
    if len(options) != len(known):
        raise UserError(
            f"{log.path} has {len(options)} options for a document where another log "
            f"has {len(known)}: give runs of one task."
        )
    if options:
        numbers = _numbers_in_first_log(options, known)
        option = numbers[row["option"]]
        answer = numbers[row["answer"]]
        same_answer = answer == first["answer"]
    else:
        option = -1
        answer = -1
        same_answer = same_text(row["target"], first["target"])
    if not same_answer:
        raise UserError(
            f"{log.path} has another correct answer to a document than the first log: "
            "the task has changed, or its options are in an order that the log does "
            "not tell."
        )
    return row | {"option": option, "answer": answer}


def _numbers_in_first_log(options: list[str], known: list[str]) -> list[int]:
    """Return the first log's number of each option, and last that of none chosen."""
    number_of_text = {text: number for number, text in enumerate(known)}
    if set(options) == set(known) and len(number_of_text) == len(options):
        numbers = [number_of_text[text] for text in options]
    else:  # letters here, texts there
        numbers = list(range(len(options)))
    numbers.append(len(options))  # no option chosen
    return numbers
