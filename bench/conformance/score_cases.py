"""Score the cases with one tool.

``python bench/conformance/score_cases.py TOOL --models FOLDER`` runs in an environment
of the tool; each tool is asked in the way that its documentation shows, with options
that make it sum log-probabilities of the text as given. Every case is scored alone and
again among others, in reverse order.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import operator
import os
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS_FILE = HERE / "results.csv"
RESULT_FIELDS = ("tool", "version", "case", "alone", "batched", "error")
BATCH_SIZE = 8  # of cases that are scored among others
TextPairs = list[tuple[str, str]]
# Sums of prompts and continuations, or of whole texts (whose prompts are None).
PairScorer = Callable[[TextPairs, int], list[float]]


def helpers_scorer(folder: str, whole: bool) -> PairScorer:
    """Return `helpers.probing`'s score, each pair an item of its own."""
    import pandas as pd

    from helpers import models, probing

    model = models.load(folder)

    def score_texts(pairs: TextPairs, size: int) -> list[float]:
        texts = [text for _, text in pairs]
        table = probing.score_sentences(model, texts, progress=False, batch_size=size)
        return list(table["logprob"])

    def score_continuations(pairs: TextPairs, size: int) -> list[float]:
        probes = pd.DataFrame(pairs, columns=["prompt", "continuation"])
        probes = probes.assign(item=range(len(pairs)), variant="", option=0)
        table = probing.score(model, probes, progress=False, batch_size=size)
        return [sum(logprobs) for logprobs in table["logprobs"]]

    return score_texts if whole else score_continuations


def lm_eval_scorer(folder: str, whole: bool) -> PairScorer:
    """Return lm-evaluation-harness' loglikelihood, or the rolling one."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    peer = HFLM(pretrained=folder, device="cpu", dtype="float32", batch_size=1)

    def score_texts(pairs: TextPairs, size: int) -> list[float]:
        peer.batch_size_per_gpu = size
        requests = []
        for place, (_, text) in enumerate(pairs):
            requests.append(Instance("loglikelihood_rolling", {}, (text,), place))
        return peer.loglikelihood_rolling(requests, disable_tqdm=True)

    def score_continuations(pairs: TextPairs, size: int) -> list[float]:
        peer.batch_size_per_gpu = size
        requests = []
        for place, pair in enumerate(pairs):
            requests.append(Instance("loglikelihood", {}, pair, place))
        answers = peer.loglikelihood(requests, disable_tqdm=True)
        return [total for total, _ in answers]

    return score_texts if whole else score_continuations


def minicons_scorer(folder: str, whole: bool) -> PairScorer:
    """Return the scores of minicons' IncrementalLMScorer, without its separator."""
    from minicons.scorer import IncrementalLMScorer

    peer = IncrementalLMScorer(folder, "cpu")

    def total(logprobs: Any) -> float:  # a tensor, whose package is the tool's
        return logprobs.sum().item()

    def score_batch(batch: TextPairs) -> list[float]:
        prompts = [prompt for prompt, _ in batch]
        texts = [text for _, text in batch]
        if whole:
            return peer.sequence_score(texts, reduction=total)
        return peer.conditional_score(prompts, texts, separator="", reduction=total)

    def run(pairs: TextPairs, size: int) -> list[float]:
        scores: list[float] = []
        for start in range(0, len(pairs), size):
            scores += score_batch(pairs[start : start + size])
        return scores

    return run


def lm_pub_quiz_scorer(folder: str, whole: bool) -> PairScorer:
    """Return LM Pub Quiz' Evaluator, which scores the answer or the statement."""
    from lm_pub_quiz import Evaluator

    peer = Evaluator.from_model(
        folder, model_type="CLM", conditional_score=not whole, capitalize=False
    )

    def run(pairs: TextPairs, size: int) -> list[float]:
        scores: list[float] = []
        for prompt, group in itertools.groupby(pairs, key=operator.itemgetter(0)):
            scores += peer.score_answers(
                template=f"{prompt}[Y]",
                answers=[text for _, text in group],
                batch_size=size,
                reduction="sum",
            )
        return scores

    return run


def lighteval_scorer(folder: str, whole: bool) -> PairScorer:
    """Return lighteval's loglikelihood, or the rolling one."""
    from lighteval.models.transformers import transformers_model
    from lighteval.tasks.requests import Doc

    config = transformers_model.TransformersModelConfig(
        model_name=folder,
        device="cpu",
        dtype="float32",
        batch_size=8,
        override_chat_template=False,
    )
    peer = transformers_model.TransformersModel(config)
    method = peer.loglikelihood_rolling if whole else peer.loglikelihood
    uncached = method.__wrapped__  # without its cache of answers

    def document(place: int, prompt: str, text: str) -> Doc:
        if whole:  # its own tasks give whole texts as a question without choices
            return Doc(query=text, choices=None, gold_index=0, id=str(place))
        return Doc(query=prompt, choices=[text], gold_index=0, id=str(place))

    def run(pairs: TextPairs, size: int) -> list[float]:
        peer.config.batch_size = size
        docs = []
        for place, (prompt, text) in enumerate(pairs):
            docs.append(document(place, prompt, text))
        return [answer.logprobs[0] for answer in uncached(peer, docs)]

    return run


# name: (adapter, the package whose version counts)
TOOLS = {
    "ours": (helpers_scorer, None),
    "lm-evaluation-harness": (lm_eval_scorer, "lm-eval"),
    "minicons": (minicons_scorer, "minicons"),
    "lm-pub-quiz": (lm_pub_quiz_scorer, "lm-pub-quiz"),
    "lighteval": (lighteval_scorer, "lighteval"),
}


def scores_and_errors(
    run: PairScorer, pairs: TextPairs, size: int
) -> list[tuple[float | None, str]]:
    """Return each pair's score, or none and the error; a failing batch is halved."""
    if not pairs:
        return []
    try:
        scores = [float(score) for score in run(pairs, size)]
    except Exception as error:  # whatever a tool raises at a case is its answer
        if len(pairs) == 1:
            return [(None, type(error).__name__)]
        half = len(pairs) // 2
        first = scores_and_errors(run, pairs[:half], size)
        return first + scores_and_errors(run, pairs[half:], size)
    answers: list[tuple[float | None, str]] = []
    for score in scores:
        if math.isfinite(score):
            answers.append((score, ""))
        else:
            answers.append((None, str(score)))
    return answers


def tool_results(
    tool: str, models: Path, cases: list[dict], once: bool
) -> list[dict[str, str | float]]:
    """Return one record a case: its score alone and among others, or the error."""
    adapter, package = TOOLS[tool]
    version = metadata.version(package) if package else ""
    names = dict.fromkeys(case["model"] for case in cases)
    records = []
    for name, whole in itertools.product(names, (False, True)):
        part = _cases_of(cases, name, whole)
        if not part or not (models / name).is_dir():
            continue
        run = adapter(str(models / name), whole)
        pairs = [(case["prompt"], case["continuation"]) for case in part]
        batched = scores_and_errors(run, pairs[::-1], BATCH_SIZE)[::-1]
        if once:
            alone = batched
        else:
            alone = [scores_and_errors(run, [pair], 1)[0] for pair in pairs]
        for case, (score, error), (batched_score, _) in zip(
            part, alone, batched, strict=True
        ):
            record = {
                "tool": tool,
                "version": version,
                "case": case["case"],
                "alone": _rounded(score),
                "batched": "" if once else _rounded(batched_score),
                "error": error,
            }
            records.append(record)
    return records


def _cases_of(cases: list[dict], model: str, whole: bool) -> list[dict]:
    """Return a model's cases, those that are whole texts or the others."""
    part = []
    for case in cases:
        is_whole = "sentence" in case["group"]
        if case["model"] == model and is_whole == whole:
            part.append(case)
    return part


def _rounded(score: float | None) -> float | str:
    if score is None:
        return ""
    return round(score, 5)


def read_cases(path: Path) -> list[dict]:
    """Return the cases of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main(arguments: list[str] | None = None) -> None:
    """Score all cases with a tool and put its rows into the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument(
        "--models", type=Path, required=True, help="folder that make.py wrote"
    )
    parser.add_argument("--cases", type=Path, default=HERE / "cases.jsonl")
    parser.add_argument("--results", type=Path, default=RESULTS_FILE)
    parser.add_argument(
        "--once", action="store_true", help="among others only, not alone"
    )
    settings = parser.parse_args(arguments)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    rows: list[dict] = []
    if settings.results.is_file():
        with settings.results.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["tool"] != settings.tool]
    cases = read_cases(settings.cases)
    rows += tool_results(settings.tool, settings.models, cases, settings.once)
    tools = list(TOOLS)
    rows.sort(key=lambda row: (tools.index(row["tool"]), row["case"]))
    with settings.results.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, RESULT_FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
