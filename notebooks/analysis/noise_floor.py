"""The noise floor: how far a model lies from itself, measured as the board compares two models."""

from pathlib import Path

import numpy as np
import pandas as pd

from helpers import runs
from helpers.studies import STUDIES, model_comparison
from notebooks.kit import runs_against_papers

NOISE_FOLDER = "noise"
USUAL_VARIANT = "usual"
RUN_VARIANTS = {  # what differs from the usual run: seed of the wrong hints, dtype, prompts at a time
    USUAL_VARIANT: {"hints": 0, "dtype": "float32", "batch_size": None},
    "hints": {"hints": 1, "dtype": "float32", "batch_size": None},
    "dtype": {"hints": 0, "dtype": "bfloat16", "batch_size": None},
    "batch": {"hints": 0, "dtype": "float32", "batch_size": 8},
}
VARIANT_LABELS = {USUAL_VARIANT: "as usual", "hints": "other wrong hints"}
VARIANT_LABELS |= {
    "dtype": "half precision (bfloat16)",
    "batch": "eight prompts at a time",
}
MESSAGE_NO_RUNS = (
    "No model was asked again here. This asks one:\n\n    make noise MODEL=...\n"
)


def folders_of_repeated_runs(folder: Path) -> dict[str, dict[str, Path]]:
    """Return label of the model to variant to folder, for models with a usual run and one more."""
    table: dict[str, dict[str, Path]] = {}
    for variant in RUN_VARIANTS:
        for row in runs.load(folder / NOISE_FOLDER / variant).itertuples():
            name = row.model.rstrip("/").rpartition("/")[2]
            table.setdefault(name, {})[variant] = row.folder
    return {
        name: paths
        for name, paths in table.items()
        if USUAL_VARIANT in paths and len(paths) > 1
    }


def differences_from_usual_run(
    paths: dict[str, Path], n_resamples: int = 1000, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a model's variants minus its usual run, and what became of each prompt."""
    tables = {
        name: runs_against_papers.facts_of_run("monitor", path)
        for name, path in paths.items()
    }
    rows, words, keys = [], [], ["item", "variant", "prompt"]
    for name in [variant for variant in paths if variant != USUAL_VARIANT]:
        for measure in STUDIES["monitor"].MEASURES:
            gap = model_comparison.measure_difference(
                tables[name], tables[USUAL_VARIANT], measure, n_resamples, seed
            )
            rows.append(
                {"variant": VARIANT_LABELS[name], "measure": measure.name}
                | gap._asdict()
            )
        one, other = (runs.load_answers(paths[each]) for each in (name, USUAL_VARIANT))
        both = one[[*keys, "logprobs", "text"]].merge(other, on=keys)
        pairs = zip(both["logprobs_x"], both["logprobs_y"])
        largest = max(
            (np.abs(np.subtract(a, b)).max() for a, b in pairs), default=np.nan
        )
        changed = (both["text_x"] != both["text_y"]).mean()
        words.append((VARIANT_LABELS[name], len(both), largest, changed))
    columns = ["variant", "measure", "estimate", "low", "high", "n"]
    told = pd.DataFrame(words, columns=["variant", "prompts", "largest", "changed"])
    return pd.DataFrame(rows)[columns], told


def farthest_change_of_monitor(compared: dict[str, pd.DataFrame]) -> dict[str, object]:
    """Return the change of MONITOR whose interval reaches farthest from 0, as ``most`` says."""
    ends = ["estimate", "low", "high"]
    parts = [far.assign(who=who) for who, far in compared.items() if len(far)]
    nothing = pd.DataFrame(columns=["who", "variant", "measure", *ends, "n"])
    rows = pd.concat(parts or [nothing], ignore_index=True)
    rows = rows[rows["measure"] == "MONITOR"].dropna(subset=["estimate"])
    if rows.empty:
        return {
            "who": "",
            "variant": "",
            **dict.fromkeys([*ends, "most"], np.nan),
            "n": 0,
        }
    reach = rows[ends].abs().max(axis=1)
    return rows.loc[reach.idxmax()].to_dict() | {"most": float(reach.max())}
