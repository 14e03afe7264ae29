"""Logs of lm-evaluation-harness: what `--log_samples` writes."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from helpers import UserError
from helpers.exchange.logs.log import Log, LogOrigin, Record, log_of_answers, parse_mark
from helpers.io import files

NEEDED_KEYS = ("doc_hash", "target", "arguments", "resps", "filtered_resps")
# How log-likelihoods choose an option, and the metric of lm-eval that chooses so.
METRIC_OF_RULE = {"sum": "acc", "per_character": "acc_norm", "per_byte": "acc_bytes"}


def read_lm_eval_log(path: Path, lines: list[Record], rule: str, repeats: bool) -> Log:
    """Read the lines of a log."""
    for line in lines:
        files.check_keys(line, NEEDED_KEYS, line["where"])
    return log_of_lines(
        (path, "lm-evaluation-harness", *_named(path)), lines, rule, repeats
    )


def log_of_lines(
    origin: LogOrigin, lines: list[Record], rule: str, repeats: bool
) -> Log:
    """Return lines as a log; of several answers to a prompt the marked one counts, or all do."""
    filters = list(dict.fromkeys(line.get("filter", "none") for line in lines))
    lines = [line for line in lines if line.get("filter", "none") == filters[0]]
    rows = [(line["doc_hash"], 1, _answered(line, rule)) for line in lines]
    found, name = log_of_answers(origin, rows, repeats), origin[0].name
    if len(filters) > 1:
        found.notes.append(
            f"{name} has answers by the filters {', '.join(filters)}: the first."
        )
    several = (
        isinstance(line["resps"][0], list) and len(line["resps"][0]) > 1
        for line in lines
    )
    if not repeats and any(several):
        found.notes.append(
            f"{name} has several answers to a prompt: the one it marks counts."
        )
    return found


def _answered(line: Record, rule: str) -> Record:
    """Return the likeliest option of a document, or its generated answer."""
    first = line["filtered_resps"][0]
    if isinstance(first, str):
        return _generated(line)
    if isinstance(first, list) and len(first) == 2 and len(line["filtered_resps"]) > 1:
        return _chosen(line, rule)
    raise UserError(
        f"{line['where']} has neither options nor one generated answer: multiplicity needs tasks "
        "of the output type multiple_choice or generate_until."
    )


def _arguments(line: Record) -> list[list[Any]]:
    """Return what each request was, as (prompt, continuation); older versions log lists."""
    asked = line["arguments"]
    if isinstance(asked, list):
        return asked
    return [[each["arg_0"], each.get("arg_1")] for each in asked.values()]


def _chosen(line: Record, rule: str) -> Record:
    """Return the likeliest option of a document."""
    asked = _arguments(line)
    pairs = [
        (a, float(score[0])) for a, score in zip(asked, line["filtered_resps"]) if a[0]
    ]
    prompts = {
        prompt for (prompt, _), _ in pairs
    }  # an empty one is lm-eval's own baseline
    if len(prompts) != 1:
        raise UserError(
            f"{line['where']} puts its options into the prompt, and such a log does not say which "
            "one is correct: use a task whose options follow the prompt."
        )
    options = [str(said).strip() for (_, said), _ in pairs]
    sums, answer = np.array([score for _, score in pairs]), _correct(line, options)
    if not (sums <= 0).all() or np.isneginf(sums).all():  # NaN is not at most 0 either
        raise UserError(
            f"{line['where']} has scores that are no log-probabilities ({sums.max():g}): each is a "
            "number of at most 0, and one at least is finite; run the task again."
        )
    scores = {"acc": sums, "acc_norm": sums / [max(len(text), 1) for text in options]}
    scores["acc_bytes"] = sums / [max(len(text.encode()), 1) for text in options]
    metric = next((name for name in scores if line.get(name) in (0, 1)), None)
    best = np.flatnonzero(scores[metric] == scores[metric].max()) if metric else ()
    if (
        len(best) == 1 and (best[0] == answer) != line[metric]
    ):  # then its target was misread
        raise UserError(
            f"{line['where']} has {metric} {line[metric]:g}, against its scores and its target "
            f"{str(line['target'])[:40]!r}: the log does not say clearly which option is correct."
        )
    chosen = scores[METRIC_OF_RULE[rule]]
    option = int(np.argmax(chosen))
    return {
        "prompt": prompts.pop(),
        "options": options,
        "option": option,
        "answer": answer,
        "text": options[option],
        "right": option == answer,
        "tied": (chosen == chosen.max()).sum() > 1,
    }


def _correct(line: Record, options: list[str]) -> int:
    """Return the number of the correct option; lm-eval logs it as a number or as its text."""
    target = str(line["target"]).strip()
    if target.isdecimal() and int(target) < len(options):
        return int(target)
    if target in options:
        return options.index(target)
    raise UserError(
        f"{line['where']} has the target {target[:40]!r}, which is not one of its {len(options)} "
        "options: multiplicity needs exactly one correct option."
    )


def _generated(line: Record) -> Record:
    """Return the generated answer of a document, right or wrong by the log's first metric."""
    metrics = line.get("metrics") or []
    metric = "exact_match" if "exact_match" in metrics else next(iter(metrics), "")
    said, others = line["filtered_resps"][0], []
    if isinstance(line["resps"][0], list):
        others = [str(text).strip() for text in line["resps"][0]]
        if said.strip() in others:
            others.remove(said.strip())
        else:  # a filter makes other texts, which cannot be compared with these
            others = []
    return {
        "prompt": str(_arguments(line)[0][0]),
        "options": [],
        "target": str(line["target"]),
        "text": said,
        "right": parse_mark(line.get(metric), metric, line["where"]),
        "repeats": [(text, None) for text in others],
    }


def _named(path: Path) -> tuple[str, str]:
    """Return the task by the file's name, and the model by the results that lie beside it."""
    found = re.fullmatch(r"samples_(.+?)_(\d{4}-\d\d-\d\dT[\d.:-]+)", path.stem)
    if not found:
        return path.stem, ""
    results = path.with_name(f"results_{found[2]}.json")
    if not results.is_file():
        return found[1], ""
    said = files.parse_json(files.read_text(results), results)
    name = said.get("model_name") or ""
    version = (said.get("config") or {}).get("model_sha") or ""
    return found[1], f"{name}@{version}" if name and version else name
