"""The noise floor: how far a model lies from itself, as the board compares models."""

from pathlib import Path

import numpy as np
import pandas as pd

from helpers import runs
from helpers.prompts import prompt_formats
from helpers.studies import STUDIES, model_comparison
from notebooks.kit import runs_against_papers

NOISE_FOLDER = "noise"
USUAL_VARIANT = "usual"
# What differs from the usual run: seed of the wrong hints, dtype, prompts at a time
RUN_VARIANTS = {
    USUAL_VARIANT: {"hints": 0, "dtype": "float32", "batch_size": None},
    "hints": {"hints": 1, "dtype": "float32", "batch_size": None},
    "dtype": {"hints": 0, "dtype": "bfloat16", "batch_size": None},
    "batch": {"hints": 0, "dtype": "float32", "batch_size": 8},
}
VARIANT_LABELS = {
    USUAL_VARIANT: "as usual",
    "hints": "other wrong hints",
    "dtype": "half precision (bfloat16)",
    "batch": "eight prompts at a time",
}
MESSAGE_NO_RUNS = (
    "No model was asked again here. This asks one:\n\n    make noise MODEL=...\n"
)
INTERVAL_COLUMNS = ["estimate", "low", "high"]


def folders_of_repeated_runs(folder: Path) -> dict[str, dict[str, Path]]:
    """Return folders of runs by model and variant, the usual one and at least one."""
    folders: dict[str, dict[str, Path]] = {}
    for variant in RUN_VARIANTS:
        for run in runs.load(folder / NOISE_FOLDER / variant).itertuples():
            label = prompt_formats.model_title(run.model)
            folders.setdefault(label, {})[variant] = run.folder
    repeated = {}
    for label, by_variant in folders.items():
        if USUAL_VARIANT in by_variant and len(by_variant) > 1:
            repeated[label] = by_variant
    return repeated


def differences_from_usual_run(
    paths: dict[str, Path], n_resamples: int = 1000, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a model's variants minus its usual run, and what became of each prompt."""
    usual_facts = runs_against_papers.facts_of_run("monitor", paths[USUAL_VARIANT])
    usual_answers = runs.load_answers(paths[USUAL_VARIANT])
    differences = []
    changes = []
    for variant, path in paths.items():
        if variant == USUAL_VARIANT:
            continue
        label = VARIANT_LABELS[variant]
        facts = runs_against_papers.facts_of_run("monitor", path)
        for measure in STUDIES["monitor"].MEASURES:
            gap = model_comparison.measure_difference(
                facts, usual_facts, measure, n_resamples, seed
            )
            row = {"variant": label, "measure": measure.name, **gap._asdict()}
            differences.append(row)
        answers = runs.load_answers(path)
        changes.append(
            {"variant": label, **_changes_of_prompts(answers, usual_answers)}
        )
    columns = ["variant", "measure", *INTERVAL_COLUMNS, "n"]
    changed = pd.DataFrame(
        changes, columns=["variant", "prompts", "largest", "changed"]
    )
    return pd.DataFrame(differences)[columns], changed


def _changes_of_prompts(
    answers: pd.DataFrame, usual_answers: pd.DataFrame
) -> dict[str, float]:
    """Return how many prompts both have, and how far the answers differ.

    ``largest`` is of log-probabilities, ``changed`` the share of other texts.
    """
    keys = ["item", "variant", "prompt"]
    both = answers[[*keys, "logprobs", "text"]].merge(usual_answers, on=keys)
    sizes = []
    for own, usual in zip(both["logprobs_x"], both["logprobs_y"], strict=True):
        sizes.append(np.abs(np.subtract(own, usual)).max())
    return {
        "prompts": len(both),
        "largest": max(sizes, default=np.nan),
        "changed": (both["text_x"] != both["text_y"]).mean(),
    }


def farthest_change_of_monitor(compared: dict[str, pd.DataFrame]) -> dict[str, object]:
    """Return the change of MONITOR whose interval reaches farthest from 0.

    ``who`` is the model, ``most`` how far it reaches.
    """
    parts = [
        pd.DataFrame(columns=["who", "variant", "measure", *INTERVAL_COLUMNS, "n"])
    ]
    for label, differences in compared.items():
        if len(differences):
            parts.append(differences.assign(who=label))
    rows = pd.concat(parts[1:] or parts, ignore_index=True)
    rows = rows[rows["measure"] == "MONITOR"].dropna(subset=["estimate"])
    if rows.empty:
        nothing = dict.fromkeys([*INTERVAL_COLUMNS, "most"], np.nan)
        return {"who": "", "variant": "", **nothing, "n": 0}
    reach = rows[INTERVAL_COLUMNS].abs().max(axis=1)
    farthest = rows.loc[reach.idxmax()].to_dict()
    return farthest | {"most": float(reach.max())}
