"""The noise floor: how far a model lies from itself, measured as the board compares two models.

``python -m helpers.publishing.noise --model atlas-m`` asks a model MONITOR's prompts about the same
facts four times: as usual, with other wrong hints, in numbers of half the width, and eight prompts
at a time. Its runs go to ``runs/noise/<variant>/<model>/monitor``.

The board compares models on the same facts, in pairs, and its intervals say what another sample of
facts would change. They are silent on choices that are the same for both models and should not
matter: the draw of wrong hints and how the machine computes. Each variant changes one of these and
is compared with the usual run by the board's own paired difference, so that facts play no part. Two
models may be off in opposite directions, so a choice moves their difference by at most the sum of
the two models' floors.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import UserError, runs
from helpers.metrics import anchors, monitor
from helpers.models.checkpoints import slug
from helpers.publishing import state
from helpers.publishing.grid import Job
from helpers.runs.comparison import board, facts
from helpers.studies import STUDIES

FOLDER = "noise"
USUAL = "usual"
VARIANTS = {  # what differs from the usual run: seed of the wrong hints, dtype, prompts at a time
    USUAL: {"hints": 0, "dtype": "float32", "batch_size": None},
    "hints": {"hints": 1, "dtype": "float32", "batch_size": None},
    "dtype": {"hints": 0, "dtype": "bfloat16", "batch_size": None},
    "batch": {"hints": 0, "dtype": "float32", "batch_size": 8},
}
TOLD = {
    USUAL: "as usual",
    "hints": "other wrong hints",
    "dtype": "half the width (bfloat16)",
    "batch": "eight prompts at a time",
}


def run(model: str, folder: Path, n_facts: int = 5) -> list[Path]:
    """Ask a model about the same facts in every variant and save a run of each."""
    if n_facts < 1:
        raise UserError(f"n_facts is {n_facts}: ask at least one fact of each relation.")
    return [
        _one(model, folder / FOLDER / name / slug(model) / "monitor", n_facts, **variant)
        for name, variant in VARIANTS.items()
    ]


def _one(
    model: str, folder: Path, n_facts: int, hints: int, dtype: str, batch_size: int | None
) -> Path:
    """Ask once and save."""
    from helpers import datasets, models, probing, prompts  # torch: not for those who only read

    parameters = {"model": model, "dataset": "atlas", "n_facts": n_facts, "seed": 0}
    parameters |= {"hints": hints, "match": "exact_match", "anchor_mode": "teacher_forced"}
    parameters |= {"alphas": list(monitor.EQUAL), "dtype": dtype, "batch_size": batch_size}
    started = runs.start("monitor", parameters, folder)
    lm = models.load(model, dtype=dtype)
    asked = datasets.load("atlas", n=n_facts, seed=0)
    wrong = datasets.load("atlas", seed=hints).set_index("fact")["distractors"]
    asked["distractors"] = asked["fact"].map(wrong)
    frames = datasets.frames("atlas", asked["relation"].unique())
    probes = prompts.monitor(asked, frames, 7)
    how = {"batch_size": batch_size, "progress": False}
    answers = probing.score(lm, probes, **how)
    answers["text"] = probing.generate(lm, probes, **how)["text"]
    scores = monitor.fact_scores(answers, anchors.known_facts(answers))
    return runs.save(
        started,
        answers=answers,
        metrics=scores.drop(columns=["known"]),
        model=models.describe(lm),
        dataset=datasets.source("atlas"),
    )


def files(model: str) -> list[str]:
    """Return the manifests of a model's noise runs, seen from the folder of the runs.

    >>> files("atlas-s")[1]
    'noise/hints/atlas-s/monitor/run.json'
    """
    return [f"{FOLDER}/{name}/{slug(model)}/monitor/run.json" for name in VARIANTS]


def job(model: str) -> Job:
    """Return the job that makes a model's noise runs."""
    first, *others = (file.removesuffix("/run.json") for file in files(model))
    return Job(first, "noise", model, early=True, more=tuple(others))


def found(folder: Path) -> dict[str, dict[str, Path]]:
    """Return the noise runs there are: label of the model to variant to folder.

    Parameters
    ----------
    folder : Path
        The folder over the runs.
    """
    table: dict[str, dict[str, Path]] = {}
    for variant in VARIANTS:
        for row in runs.load(folder / FOLDER / variant).itertuples():
            name = row.model.rstrip("/").rpartition("/")[2]
            table.setdefault(name, {})[variant] = row.folder
    return {name: paths for name, paths in table.items() if USUAL in paths and len(paths) > 1}


def compare(
    paths: dict[str, Path], n_resamples: int = 1000, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare a model's variants with its usual run, as the board compares two models.

    Parameters
    ----------
    paths : dict
        Variant to the folder of its run, as in :func:`found`.
    n_resamples, seed : int
        Of the bootstrap within relations.

    Returns
    -------
    DataFrame
        ``variant, measure, estimate`` (variant minus usual, paired), ``low, high, n`` facts that
        count for both.
    DataFrame
        ``variant, prompts`` (that both were asked), ``largest`` (largest difference of a
        log-probability) and ``changed`` (share of answers that read otherwise).
    """
    tables = {name: facts.read("monitor", path) for name, path in paths.items()}
    rows, words = [], []
    for name in [variant for variant in paths if variant != USUAL]:
        for measure in STUDIES["monitor"].MEASURES:
            gap = board.difference(tables[name], tables[USUAL], measure, n_resamples, seed)
            rows.append({"variant": TOLD[name], "measure": measure.name} | gap._asdict())
        words.append({"variant": TOLD[name]} | _answers(paths[name], paths[USUAL]))
    columns = ["variant", "measure", "estimate", "low", "high", "n"]
    return pd.DataFrame(rows)[columns], pd.DataFrame(words)


def _answers(path: Path, usual: Path) -> dict[str, float]:
    """Compare two runs prompt by prompt."""
    keys = ["item", "variant", "prompt"]
    columns = [*keys, "logprobs", "text"]
    both = runs.answers(path)[columns].merge(runs.answers(usual)[columns], on=keys)
    gaps = [np.abs(np.subtract(a, b)).max() for a, b in zip(both["logprobs_x"], both["logprobs_y"])]
    return {
        "prompts": len(both),
        "largest": max(gaps, default=float("nan")),
        "changed": (both["text_x"] != both["text_y"]).mean(),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs; a user's mistake ends in one sentence on stderr and status 2."""
    parser = argparse.ArgumentParser(prog="python -m helpers.publishing.noise", description=__doc__)
    parser.add_argument("--model", default="atlas-m", help="bundled name, folder or hub id")
    parser.add_argument("--runs", type=Path, default=runs.RUNS, help="folder of the runs")
    parser.add_argument("--facts", type=int, default=5, help="facts of each relation")
    args = parser.parse_args(arguments)
    try:
        made = state.wanted(job(args.model), args.runs.resolve())
        for folder in run(args.model, args.runs, args.facts):
            state.sign(folder, made)
            print(folder, file=sys.stderr)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
