"""Logs of lm-evaluation-harness: what `--log_samples` writes."""

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from helpers import UserError
from helpers.exchange.logs.log import (
    NO_OPTION,
    Log,
    LoggedAnswer,
    LogOrigin,
    Record,
    as_list,
    log_of_answers,
    marked_row,
    number_or_none,
)
from helpers.exchange.logs.logged_documents import question_of_document
from helpers.io import files
from helpers.metrics.choices import ROUNDING

NEEDED_KEYS = ("target", "arguments", "resps", "filtered_resps")
# What a line holds beside its metrics, which older versions do not list.
OTHER_KEYS = (
    *NEEDED_KEYS,
    *("doc", "doc_id", "doc_hash", "prompt_hash", "target_hash"),
    *("filter", "metrics", "where"),
)
FILE_NAME_PATTERN = re.compile(r"samples_(.+?)_(\d{4}-\d\d-\d\dT[\d.:-]+)")
# How log-likelihoods choose an option, and the metric of lm-eval that chooses so.
METRIC_OF_RULE = {"sum": "acc", "per_character": "acc_norm", "per_byte": "acc_bytes"}
LOG_RULES = tuple(METRIC_OF_RULE)
RULE_OF_METRIC = {metric: rule for rule, metric in METRIC_OF_RULE.items()}
# Where documents hold their options, and mark each of them as true or false.
OPTION_FIELDS = ("choices", "options", "multiple_choice_targets")
MARK_FIELDS = ("labels", "is_correct", "multiple_choice_scores")
# Where documents list the numbers of all correct options, or their texts.
CORRECT_FIELDS = (
    *("gold_indices", "gold_index", "gold_idx", "gold", "golds"),
    *("answer_indices", "correct_indices", "answers", "correct_answers"),
)
# Where documents name the correct option, and how hidden test sets fill the place.
KEY_FIELDS = ("label", "answer", "answerKey", "answer_key", "gold", "target")
HIDDEN_KEYS = ("", "-1", "None", "?")


def read_lm_eval_log(
    path: Path, lines: list[Record], rule: str, metric: str, repeats: bool
) -> Log:
    """Read the lines of a log."""
    for line in lines:
        files.check_keys(line, NEEDED_KEYS, line["where"])
        if not line.get("doc_hash"):
            line["doc_hash"] = _document_hash(line)
    task, model = _task_and_model(path)
    origin = LogOrigin(path, "lm-evaluation-harness", task, model)
    return log_of_lines(origin, lines, rule, metric, repeats)


def _document_hash(line: Record) -> str:
    """Return the hash of a document, which the first versions do not log."""
    if not line.get("doc"):
        raise UserError(f"{line['where']} lacks doc_hash and doc: nothing names it.")
    text = json.dumps(line["doc"], indent=2, ensure_ascii=False)
    return sha256(text.encode()).hexdigest()


def _task_and_model(path: Path) -> tuple[str, str]:
    """Return the task by the file's name, and the model by the results beside it."""
    match = FILE_NAME_PATTERN.fullmatch(path.stem)
    if not match:
        return _task_and_model_of_older_log(path)
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


def _task_and_model_of_older_log(path: Path) -> tuple[str, str]:
    """Return the task and the model of a file that versions before 0.4.3 wrote.

    Its name is the model's arguments, which results.json holds, too, and the task.
    """
    results_path = path.with_name("results.json")
    if not results_path.is_file():
        return path.stem, ""
    results = files.parse_json(files.read_text(results_path), results_path)
    arguments = str((results.get("config") or {}).get("model_args") or "")
    start = re.sub("[/=]", "__", arguments) + "_"
    if arguments and path.stem.startswith(start):
        return path.stem.removeprefix(start), arguments
    return path.stem, ""


def log_of_lines(
    origin: LogOrigin, lines: list[Record], rule: str, metric: str, repeats: bool
) -> Log:
    """Return lines as a log; the marked answer to a prompt counts, or all do."""
    filters = list(dict.fromkeys(line.get("filter", "none") for line in lines))
    lines = [line for line in lines if line.get("filter", "none") == filters[0]]
    answers = []
    for line in lines:
        row = _answer(line, rule, metric) | _document(line) | {"filter": filters[0]}
        answers.append(LoggedAnswer(line["doc_hash"], 1, row))
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


def _document(line: Record) -> Record:
    """Return what was asked, apart from its prompt, and what is known of it."""
    document = line.get("doc") or line["doc_hash"]
    about = document if isinstance(document, Mapping) else {}
    return {"question": question_of_document(document), "about": about}


def _has_several_answers(line: Record) -> bool:
    """Return whether a document was answered several times."""
    responses = as_list(line["resps"])[0]
    return isinstance(responses, list) and len(responses) > 1


def _answer(line: Record, rule: str, metric: str) -> Record:
    """Return the likeliest option of a document, or its generated answer."""
    responses = as_list(line["filtered_resps"])
    if isinstance(responses[0], str):
        return _generated_answer(line, metric)
    is_pair = isinstance(responses[0], list) and len(responses[0]) == 2
    if is_pair and len(responses) > 1:
        return _likeliest_option(line, _rule_of_metric(line, rule, metric))
    raise UserError(
        f"{line['where']} has neither options nor one generated answer: multiplicity "
        "needs tasks of the output type multiple_choice or generate_until."
    )


def _rule_of_metric(line: Record, rule: str, metric: str) -> str:
    """Return the rule by which a metric chooses an option; without one, the rule."""
    if not metric:
        return rule
    if metric not in RULE_OF_METRIC:
        raise UserError(
            f"{line['where']} has options, and {metric!r} chooses none of them: name "
            f"one of {', '.join(RULE_OF_METRIC)}."
        )
    if rule not in (LOG_RULES[0], RULE_OF_METRIC[metric]):
        raise UserError(
            f"rule={rule} and metric={metric} choose options differently: give one."
        )
    return RULE_OF_METRIC[metric]


def _requests(line: Record) -> list[list[Any]]:
    """Return (prompt, continuation) of each request; older versions log lists."""
    requests = line["arguments"]
    if isinstance(requests, list):
        is_one_request = isinstance(requests[0], str)
        return [requests] if is_one_request else requests
    return [[request["arg_0"], request.get("arg_1")] for request in requests.values()]


def _likeliest_option(line: Record, rule: str) -> Record:
    """Return the likeliest option of a document."""
    prompt, options, sums = _scored_options(line)
    answers = _possible_answers(line, options)
    scores = _scores_by_metric(line, np.array(sums), options)
    _check_document(line, options, answers)
    metric = _metric_of_choice(line, scores)
    if metric:
        answers = _answers_by_metric(line, metric, scores[metric], answers)
    answer = answers[0]
    chosen_by = scores[METRIC_OF_RULE[rule]]
    is_best = chosen_by > chosen_by.max() - ROUNDING
    tied = bool(is_best.sum() > 1)
    option = len(options) if tied else int(np.argmax(chosen_by))
    return {
        "prompt": prompt,
        "options": options,
        "option": option,
        "answer": answer,
        "text": [*options, NO_OPTION][option],
        "right": option == answer,
        "tied": tied,
        "unconfirmed": not metric,
        "ambiguous": len(answers) > 1,
    }


def _scored_options(line: Record) -> tuple[str, list[str], list[float]]:
    """Return the prompt of a document, its options, and the sum of each."""
    requests = []
    for prompt, option in _requests(line):
        requests.append((_prompt_text(prompt), str(option).strip()))
    # Beside prompts that say something, an empty one is lm-eval's own baseline.
    has_prompt = any(prompt.strip() for prompt, _ in requests)
    options = []
    sums = []
    prompts = set()
    # A foreign log may have more requests than responses: its target is checked later.
    for request, response in zip(requests, line["filtered_resps"], strict=False):
        prompt, option = request
        if has_prompt and not prompt.strip():
            continue
        sums.append(float(response[0]))
        prompts.add(prompt)
        options.append(option)
    if len(prompts) != 1:
        raise UserError(
            f"{line['where']} puts its options into the prompt, and such a log does "
            "not say which one is correct: use a task whose options follow the prompt."
        )
    if has_prompt:
        return prompts.pop(), options, sums
    half = len(options) // 2
    if half > 1 and options[:half] == options[half:]:  # the baseline once more
        options = options[:half]
        sums = sums[:half]
    return json.dumps(options, ensure_ascii=False), options, sums


def _prompt_text(prompt: Any) -> str:
    """Return a prompt as text; chat models are logged with a list of messages."""
    if prompt is None or isinstance(prompt, str):
        return prompt or ""
    return json.dumps(prompt, ensure_ascii=False)


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


def _check_document(line: Record, options: list[str], answers: list[int]) -> None:
    """Refuse a document that calls other options correct than its target, or none."""
    document = line.get("doc")
    if not isinstance(document, Mapping):
        return
    _refuse_hidden_key(document, line["where"])
    for place in (document, *document.values()):
        if not isinstance(place, Mapping):
            continue
        for correct in _marked_options(place, options):
            if len(correct) > 1 or correct[0] not in answers:
                _refuse_several_keys(len(correct), line["where"])
        for name in CORRECT_FIELDS:
            correct = as_list(place.get(name))
            numbers = set(map(number_or_none, correct))
            texts = set(map(str.strip, map(str, correct)))
            if len(numbers) > 1 and numbers.issubset(range(len(options))):
                _refuse_several_keys(len(numbers), line["where"])
            if 1 < len(texts) < len(options) and texts.issubset(options):
                _refuse_several_keys(len(texts), line["where"])


def _refuse_hidden_key(document: Mapping[str, Any], where: str) -> None:
    """Refuse a document of a test set whose answers are not published."""
    names = list(filter(document.__contains__, KEY_FIELDS))
    keys = [document[name] for name in names]
    if keys and set(map(str.strip, map(str, keys))).issubset(HIDDEN_KEYS):
        raise UserError(
            f"{where} is of a test set whose answers are hidden ({names[0]} is "
            f"{keys[0]!r}), and its target only stands in for them: use the validation "
            "set."
        )


def _marked_options(
    place: Mapping[str, Any], options: list[str]
) -> Iterator[list[int]]:
    """Yield the options that a document marks as true, by each list of marks."""
    for names, marks in product(OPTION_FIELDS, MARK_FIELDS):
        texts = list(map(str.strip, map(str, as_list(place.get(names)))))
        numbers = list(map(number_or_none, as_list(place.get(marks))))
        if sorted(texts) != sorted(options) or len(numbers) != len(options):
            continue
        pairs = zip(texts, numbers, strict=True)
        correct = [options.index(text) for text, number in pairs if number == 1]
        if correct:
            yield correct


def _refuse_several_keys(number: int, where: str) -> None:
    raise UserError(
        f"{where} calls {number} of its options correct, and its target only stands in "
        "for them: multiplicity needs one correct option, which the target names."
    )


def _metric_of_choice(line: Record, scores: Mapping[str, np.ndarray]) -> str:
    """Return the first metric that chooses an option, "" if there is none.

    A metric that is a share has other correct options than the target: it is refused.
    """
    numbers = _numbers_by_metric(line)
    logged = [metric for metric in scores if metric in numbers]
    for metric in logged or numbers:
        if numbers[metric] not in (0, 1):
            raise UserError(
                f"{line['where']} has {numbers[metric]:.3g} for {metric}, neither "
                "right nor wrong: several of its options are correct, or part of one, "
                "and its target only stands in for them. Multiplicity needs a task "
                "with one correct option, and acc."
            )
    return next(iter(logged), "")


def _answers_by_metric(
    line: Record, metric: str, scores: np.ndarray, answers: list[int]
) -> list[int]:
    """Return the readings of the target that a metric goes by; refuse if none is."""
    number = _numbers_by_metric(line)[metric]
    best = np.flatnonzero(scores == scores.max())
    if len(best) > 1:
        return answers
    fitting = [answer for answer in answers if (best[0] == answer) == number]
    if not fitting:
        raise UserError(
            f"{line['where']} has {metric} {number:g}, against its scores and "
            f"its target {str(line['target'])[:40]!r}: the log does not say clearly "
            "which option is correct."
        )
    return fitting


def _numbers_by_metric(line: Record) -> dict[str, float]:
    """Return the metrics of a line that are numbers."""
    numbers = {}
    for name in _metric_names(line):
        number = number_or_none(line[name])
        if number is not None:
            numbers[name] = number
    return numbers


def _metric_names(line: Record) -> list[str]:
    """Return the metrics of a line, which older versions do not list."""
    listed = as_list(line.get("metrics") or []) or [
        key for key in line if key not in OTHER_KEYS
    ]
    names = dict.fromkeys([*listed, *RULE_OF_METRIC])
    return [name for name in names if line.get(name) is not None]


def _possible_answers(line: Record, options: list[str]) -> list[int]:
    """Return the number of the correct option, or both where a target can mean two.

    lm-eval logs a number or a text: "2" may be the third option and the text of
    another. The number stands first.
    """
    target = str(line["target"]).strip()
    answers = []
    if target.isdecimal() and int(target) < len(options):
        answers.append(int(target))
    is_text = isinstance(line["target"], str) or not answers
    if is_text and target in options and options.index(target) not in answers:
        answers.append(options.index(target))
    if answers:
        return answers
    if target in HIDDEN_KEYS:
        raise UserError(
            f"{line['where']} has the target {target!r}, as test sets have whose "
            "answers are hidden: use the validation set."
        )
    raise UserError(
        f"{line['where']} has the target {target[:40]!r}, which is not one of its "
        f"{len(options)} options: multiplicity needs exactly one correct option."
    )


def _generated_answer(line: Record, metric: str) -> Record:
    """Return a document's generated answer, right or wrong by a metric."""
    values = {name: line[name] for name in _metric_names(line)}
    if not metric and "exact_match" in values:
        metric = "exact_match"
    text = as_list(line["filtered_resps"])[0]
    others = _other_answers(line, text)
    row = {
        "prompt": _prompt_text(_requests(line)[0][0]),
        "options": [],
        "target": str(line["target"]),
        "text": text,
        "repeats": [(other, None) for other in others],
    }
    return row | marked_row(values, metric, line["where"])


def _other_answers(line: Record, text: str) -> list[str]:
    """Return the other answers to a document; none where a filter has changed them."""
    responses = as_list(line["resps"])[0]
    if not isinstance(responses, list):
        return []
    texts = [str(response).strip() for response in responses]
    if text.strip() not in texts:
        return []
    texts.remove(text.strip())
    return texts
