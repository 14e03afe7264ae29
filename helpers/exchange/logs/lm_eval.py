"""Logs of lm-evaluation-harness: what `--log_samples` writes."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from helpers import UserError
from helpers.exchange.logs.log import (
    Log,
    LoggedAnswer,
    LogOrigin,
    Record,
    log_of_answers,
    parse_mark,
)
from helpers.io import files

NEEDED_KEYS = ("doc_hash", "target", "arguments", "resps", "filtered_resps")
FILE_NAME_PATTERN = re.compile(r"samples_(.+?)_(\d{4}-\d\d-\d\dT[\d.:-]+)")
# How log-likelihoods choose an option, and the metric of lm-eval that chooses so.
METRIC_OF_RULE = {"sum": "acc", "per_character": "acc_norm", "per_byte": "acc_bytes"}


def read_lm_eval_log(path: Path, lines: list[Record], rule: str, repeats: bool) -> Log:
    """Read the lines of a log."""
    for line in lines:
        files.check_keys(line, NEEDED_KEYS, line["where"])
    task, model = _task_and_model(path)
    origin = LogOrigin(path, "lm-evaluation-harness", task, model)
    return log_of_lines(origin, lines, rule, repeats)


def _task_and_model(path: Path) -> tuple[str, str]:
    """Return the task by the file's name, and the model by the results beside it."""
    match = FILE_NAME_PATTERN.fullmatch(path.stem)
    if not match:
        return path.stem, ""
    task, stamp = match.groups()
    results_path = path.with_name(f"results_{stamp}.json")
    if not results_path.is_file():
        return task, ""
    results = files.parse_json(files.read_text(results_path), results_path)
    model = results.get("model_name") or ""
    version = (results.get("config") or {}).get("model_sha") or ""
    if model and version:
        return task, f"{model}@{version}"
    return task, model


def log_of_lines(
    origin: LogOrigin, lines: list[Record], rule: str, repeats: bool
) -> Log:
    """Return lines as a log; the marked answer to a prompt counts, or all do."""
    filters = list(dict.fromkeys(line.get("filter", "none") for line in lines))
    lines = [line for line in lines if line.get("filter", "none") == filters[0]]
    answers = []
    for line in lines:
        answers.append(LoggedAnswer(line["doc_hash"], 1, _answer(line, rule)))
    log = log_of_answers(origin, answers, repeats)
    name = origin.path.name
    if len(filters) > 1:
        log.notes.append(
            f"{name} has answers by the filters {', '.join(filters)}: the first."
        )
    if not repeats and any(map(_has_several_answers, lines)):
        log.notes.append(
            f"{name} has several answers to a prompt: the one it marks counts."
        )
    return log


def _has_several_answers(line: Record) -> bool:
    """Return whether a document was answered several times."""
    responses = line["resps"][0]
    return isinstance(responses, list) and len(responses) > 1


def _answer(line: Record, rule: str) -> Record:
    """Return the likeliest option of a document, or its generated answer."""
    responses = line["filtered_resps"]
    if isinstance(responses[0], str):
        return _generated_answer(line)
    is_pair = isinstance(responses[0], list) and len(responses[0]) == 2
    if is_pair and len(responses) > 1:
        return _likeliest_option(line, rule)
    raise UserError(
        f"{line['where']} has neither options nor one generated answer: multiplicity "
        "needs tasks of the output type multiple_choice or generate_until."
    )


def _requests(line: Record) -> list[list[Any]]:
    """Return (prompt, continuation) of each request; older versions log lists."""
    requests = line["arguments"]
    if isinstance(requests, list):
        return requests
    return [[request["arg_0"], request.get("arg_1")] for request in requests.values()]


def _likeliest_option(line: Record, rule: str) -> Record:
    """Return the likeliest option of a document."""
    options = []
    sums = []
    prompts = set()
    # A foreign log may have more requests than responses: its target is checked below.
    for request, response in zip(_requests(line), line["filtered_resps"], strict=False):
        if not request[0]:  # lm-eval's own baseline
            continue
        sums.append(float(response[0]))
        prompt, option = request
        prompts.add(prompt)
        options.append(str(option).strip())
    if len(prompts) != 1:
        raise UserError(
            f"{line['where']} puts its options into the prompt, and such a log does "
            "not say which one is correct: use a task whose options follow the prompt."
        )
    answer = _correct_option(line, options)
    scores = _scores_by_metric(line, np.array(sums), options)
    _check_metric(line, scores, answer)
    chosen_by = scores[METRIC_OF_RULE[rule]]
    option = int(np.argmax(chosen_by))
    return {
        "prompt": prompts.pop(),
        "options": options,
        "option": option,
        "answer": answer,
        "text": options[option],
        "right": option == answer,
        "tied": (chosen_by == chosen_by.max()).sum() > 1,
    }


def _scores_by_metric(
    line: Record, sums: np.ndarray, options: list[str]
) -> dict[str, np.ndarray]:
    """Return the options' scores by which each metric of lm-eval chooses."""
    # NaN is not at most 0 either.
    if not (sums <= 0).all() or np.isneginf(sums).all():
        raise UserError(
            f"{line['where']} has scores that are no log-probabilities "
            f"({sums.max():g}): each is a number of at most 0, and one at least is "
            "finite; run the task again."
        )
    n_characters = [max(len(text), 1) for text in options]
    n_bytes = [max(len(text.encode()), 1) for text in options]
    return {
        "acc": sums,
        "acc_norm": sums / n_characters,
        "acc_bytes": sums / n_bytes,
    }


def _check_metric(line: Record, scores: dict[str, np.ndarray], answer: int) -> None:
    """Refuse a document whose target was misread: its first metric says otherwise."""
    logged = [metric for metric in scores if line.get(metric) in (0, 1)]
    if not logged:
        return
    metric = logged[0]
    best = np.flatnonzero(scores[metric] == scores[metric].max())
    if len(best) == 1 and (best[0] == answer) != line[metric]:
        raise UserError(
            f"{line['where']} has {metric} {line[metric]:g}, against its scores and "
            f"its target {str(line['target'])[:40]!r}: the log does not say clearly "
            "which option is correct."
        )


def _correct_option(line: Record, options: list[str]) -> int:
    """Return the number of the correct option; lm-eval logs a number or its text."""
    target = str(line["target"]).strip()
    if target.isdecimal() and int(target) < len(options):
        return int(target)
    if target in options:
        return options.index(target)
    raise UserError(
        f"{line['where']} has the target {target[:40]!r}, which is not one of its "
        f"{len(options)} options: multiplicity needs exactly one correct option."
    )


def _generated_answer(line: Record) -> Record:
    """Return a document's generated answer, right or wrong by the first metric."""
    metrics = line.get("metrics") or []
    metric = next(iter(metrics), "")
    if "exact_match" in metrics:
        metric = "exact_match"
    text = line["filtered_resps"][0]
    others = _other_answers(line, text)
    return {
        "prompt": str(_requests(line)[0][0]),
        "options": [],
        "target": str(line["target"]),
        "text": text,
        "right": parse_mark(line.get(metric), metric, line["where"]),
        "repeats": [(other, None) for other in others],
    }


def _other_answers(line: Record, text: str) -> list[str]:
    """Return the other answers to a document; none where a filter has changed them."""
    responses = line["resps"][0]
    if not isinstance(responses, list):
        return []
    texts = [str(response).strip() for response in responses]
    if text.strip() not in texts:
        return []
    texts.remove(text.strip())
    return texts
