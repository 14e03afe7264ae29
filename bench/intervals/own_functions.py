"""Ask the tools' own functions for what the formulas give.

``python -m bench.intervals.own_functions`` needs lm-evaluation-harness, Inspect,
lighteval and HELM beside this project's requirements. It asks them for the first
samples of each design and writes ``own_functions.csv``.
"""

from __future__ import annotations

import sys
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd

from bench.intervals import simulate_intervals

OWN_FUNCTIONS_FILE = Path(__file__).parent / "own_functions.csv"
N_SAMPLES = 3
HELM_METRICS = "helm.benchmark.metrics"
# What HELM's module imports and its test of two models does not use.
NOT_USED = (
    "bert_score",
    "spacy",
    "spacy.cli",
    f"{HELM_METRICS}.evaluate_reference_metrics",
    f"{HELM_METRICS}.summac.model_summac",
)


class StandIn(ModuleType):
    """A module that has every name, none of which is used."""

    def __getattr__(self, name: str) -> None:
        """Return nothing, whatever is imported."""


def lm_eval_error(scores: np.ndarray, clusters: np.ndarray | None) -> list[float]:
    """Return lm-evaluation-harness's standard error of a mean."""
    return [import_module("lm_eval.api.metrics").mean_stderr(scores.tolist())]


def lighteval_error(scores: np.ndarray, clusters: np.ndarray | None) -> list[float]:
    """Return lighteval's standard error of a mean."""
    return [import_module("lighteval.metrics.utils.stderr").mean_stderr(scores)]


def inspect_numbers(
    name: str, scores: np.ndarray, clusters: np.ndarray | None
) -> list[float]:
    """Return what one of Inspect's metrics says, by clusters where there are any."""
    scorer = import_module("inspect_ai.scorer")
    samples = []
    for item, value in enumerate(scores.tolist()):
        labels = None
        if clusters is not None:
            labels = {"cluster": int(clusters[item])}
        score = scorer.Score(value=value)
        samples.append(scorer.SampleScore(score=score, sample_metadata=labels))
    cluster = None if clusters is None else "cluster"
    said = getattr(scorer, name)(cluster=cluster)(samples)
    if isinstance(said, dict):
        return [said["lower"], said["upper"]]
    return [said]


def helm_p_value(better: np.ndarray, worse: np.ndarray) -> list[float]:
    """Return HELM's p-value, with stand-ins for what its module loads besides."""
    for name in NOT_USED:
        sys.modules[name] = StandIn(name)
    module = import_module(f"{HELM_METRICS}.summarization_metrics")
    np.random.seed(simulate_intervals.SEED)  # noqa: NPY002 (HELM draws from it)
    return [float(module._paired_bootstrap_test(better, worse))]


def numbers_of_sample(
    scores: np.ndarray, clusters: np.ndarray | None
) -> dict[tuple[str, str], list[float]]:
    """Return each function's numbers of a sample of one model, or of two."""
    first = scores[0]
    numbers = {
        ("lm_eval", "mean_stderr"): lm_eval_error(first, clusters),
        ("lighteval", "mean_stderr"): lighteval_error(first, clusters),
    }
    for name in ("stderr", "ci", "ci_wilson"):
        numbers["inspect_ai", name] = inspect_numbers(name, first, clusters)
    if len(scores) == 2:
        worse, better = sorted(scores, key=np.mean)
        numbers["crfm-helm", "_paired_bootstrap_test"] = helm_p_value(better, worse)
    return numbers


def main() -> None:
    """Write what the functions say of the first samples of each design."""
    rows = []
    for number, design in simulate_intervals.read_designs().iterrows():
        scores = simulate_intervals.simulated_scores(number)
        labels = simulate_intervals.cluster_labels(design["n"], design["clusters"])
        for sample in range(N_SAMPLES):
            said = numbers_of_sample(scores[:, sample], labels)
            for (tool, function), numbers in said.items():
                row = {
                    "tool": tool,
                    "version": metadata.version(tool),
                    "function": function,
                    "design": number,
                    "sample": sample,
                    "number": numbers[0],
                }
                if len(numbers) > 1:
                    row["upper"] = numbers[1]
                rows.append(row)
    table = pd.DataFrame(rows)
    table.to_csv(OWN_FUNCTIONS_FILE, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
