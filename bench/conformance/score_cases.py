"""Score the cases with one tool: ``python bench/conformance/score_cases.py TOOL --models FOLDER``.

Runs in an environment of the tool; each tool is asked in the way that its documentation
shows, with options that make it sum log-probabilities of the text as given. Every case
is scored alone and again among others, in reverse order.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import os
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
RESULTS_FILE = HERE / "results.csv"
RESULT_FIELDS = ("tool", "version", "case", "alone", "batched", "error")
TextPairs = list[tuple[str, str]]
# Sums of prompts and continuations, or of whole texts (whose prompts are None).
PairScorer = Callable[[TextPairs, int], list[float]]


def helpers_scorer(folder: str, whole: bool) -> PairScorer:
    """Return `helpers.probing`'s score, each pair an item of its own."""
    import pandas as pd

    from helpers import models, probing

    model = models.load(folder)

    def run(pairs: TextPairs, size: int) -> list[float]:
        texts = [said for _, said in pairs]
        if whole:
            found = probing.score_sentences(
                model, texts, progress=False, batch_size=size
            )
            return list(found["logprob"])
        probes = pd.DataFrame({"prompt": [p for p, _ in pairs], "continuation": texts})
        named = probes.assign(item=range(len(pairs)), variant="", option=0)
        found = probing.score(model, named, progress=False, batch_size=size)
        return [sum(values) for values in found["logprobs"]]

    return run


def lm_eval_scorer(folder: str, whole: bool) -> PairScorer:
    """Return lm-evaluation-harness' loglikelihood, or the rolling one."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    peer = HFLM(pretrained=folder, device="cpu", dtype="float32", batch_size=1)
    kind = "loglikelihood_rolling" if whole else "loglikelihood"

    def run(pairs: TextPairs, size: int) -> list[float]:
        peer.batch_size_per_gpu = size
        asked = [
            Instance(
                request_type=kind, doc={}, arguments=pair[1:] if whole else pair, idx=i
            )
            for i, pair in enumerate(pairs)
        ]
        found = getattr(peer, kind)(asked, disable_tqdm=True)
        return found if whole else [total for total, _ in found]

    return run


def minicons_scorer(folder: str, whole: bool) -> PairScorer:
    """Return the scores of minicons' IncrementalLMScorer, without its separator."""
    from minicons.scorer import IncrementalLMScorer

    peer = IncrementalLMScorer(folder, "cpu")

    def run(pairs: TextPairs, size: int) -> list[float]:
        found: list[float] = []
        for at in range(0, len(pairs), size):
            prompts, texts = (list(part) for part in zip(*pairs[at : at + size]))
            told = {"reduction": lambda x: x.sum().item()}
            if whole:
                found += peer.sequence_score(texts, **told)
            else:
                found += peer.conditional_score(prompts, texts, separator="", **told)
        return found

    return run


def lm_pub_quiz_scorer(folder: str, whole: bool) -> PairScorer:
    """Return the scores of LM Pub Quiz' Evaluator, of the answer or of the statement."""
    from lm_pub_quiz import Evaluator

    told = {"model_type": "CLM", "conditional_score": not whole, "capitalize": False}
    peer = Evaluator.from_model(folder, **told)

    def run(pairs: TextPairs, size: int) -> list[float]:
        found: list[float] = []
        for prompt, group in itertools.groupby(pairs, key=lambda pair: pair[0]):
            answers = [said for _, said in group]
            told = {"template": f"{prompt}[Y]", "answers": answers, "batch_size": size}
            found += peer.score_answers(**told, reduction="sum")
        return found

    return run


def lighteval_scorer(folder: str, whole: bool) -> PairScorer:
    """Return lighteval's loglikelihood, or the rolling one."""
    from lighteval.models.transformers import transformers_model
    from lighteval.tasks.requests import Doc

    settings = {
        "model_name": folder,
        "device": "cpu",
        "dtype": "float32",
        "batch_size": 8,
    }
    config = transformers_model.TransformersModelConfig(
        **settings, override_chat_template=False
    )
    peer = transformers_model.TransformersModel(config)
    kind = peer.loglikelihood_rolling if whole else peer.loglikelihood
    kind = kind.__wrapped__  # without its cache of answers

    def run(pairs: TextPairs, size: int) -> list[float]:
        peer.config.batch_size = size
        # Its own tasks give whole texts as a question without choices.
        asked = [(said, None) if whole else (prompt, [said]) for prompt, said in pairs]
        docs = [
            Doc(query=query, choices=choices, gold_index=0, id=str(i))
            for i, (query, choices) in enumerate(asked)
        ]
        return [answer.logprobs[0] for answer in kind(peer, docs)]

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
    """Return each pair's score, or none and the error; a batch that fails is scored by halves."""
    if not pairs:
        return []
    try:
        found = [(float(value), "") for value in run(pairs, size)]
    except Exception as error:  # whatever a tool raises at a case is its answer
        if len(pairs) > 1:
            half = len(pairs) // 2
            return scores_and_errors(run, pairs[:half], size) + scores_and_errors(
                run, pairs[half:], size
            )
        return [(None, type(error).__name__)]
    return [
        (value, "") if math.isfinite(value) else (None, str(value))
        for value, _ in found
    ]


def tool_results(
    tool: str, models: Path, cases: list[dict], once: bool
) -> list[dict[str, str | float]]:
    """Return one record a case: its score alone and among others, or the error."""
    adapter, package = TOOLS[tool]
    version = metadata.version(package) if package else ""
    records = []
    for name, whole in itertools.product(
        dict.fromkeys(c["model"] for c in cases), (False, True)
    ):
        part = [
            c
            for c in cases
            if c["model"] == name and ("sentence" in c["group"]) == whole
        ]
        if not part or not (models / name).is_dir():
            continue
        run = adapter(str(models / name), whole)
        pairs = [(case["prompt"], case["continuation"]) for case in part]
        batched = scores_and_errors(run, pairs[::-1], 8)[::-1]
        alone = (
            batched
            if once
            else [scores_and_errors(run, [pair], 1)[0] for pair in pairs]
        )
        for case, (value, error), (other, _) in zip(part, alone, batched, strict=True):
            shown = [
                "" if v is None else round(v, 5)
                for v in (value, None if once else other)
            ]
            records.append(
                dict(zip(RESULT_FIELDS, (tool, version, case["case"], *shown, error)))
            )
    return records


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
    kept: list[dict] = []
    if settings.results.is_file():
        with settings.results.open(encoding="utf-8", newline="") as file:
            kept = [row for row in csv.DictReader(file) if row["tool"] != settings.tool]
    cases = read_cases(settings.cases)
    rows = kept + tool_results(settings.tool, settings.models, cases, settings.once)
    rows.sort(key=lambda row: (list(TOOLS).index(row["tool"]), row["case"]))
    with settings.results.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, RESULT_FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
