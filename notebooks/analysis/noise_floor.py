"""The noise floor: how far a model lies from itself, measured as the board compares two models."""

from pathlib import Path

import numpy as np
import pandas as pd

from helpers import runs
from helpers.studies import STUDIES, model_comparison
from notebooks.kit import runs_against_papers

FOLDER = "noise"
USUAL = "usual"
VARIANTS = {  # what differs from the usual run: seed of the wrong hints, dtype, prompts at a time
    USUAL: {"hints": 0, "dtype": "float32", "batch_size": None},
    "hints": {"hints": 1, "dtype": "float32", "batch_size": None},
    "dtype": {"hints": 0, "dtype": "bfloat16", "batch_size": None},
    "batch": {"hints": 0, "dtype": "float32", "batch_size": 8},
}
LABELS = {USUAL: "as usual", "hints": "other wrong hints"}
LABELS |= {"dtype": "half precision (bfloat16)", "batch": "eight prompts at a time"}
NONE = "No model was asked again here. This asks one:\n\n    make noise MODEL=...\n"


def found(folder: Path) -> dict[str, dict[str, Path]]:
    """Return label of the model to variant to folder, for models with a usual run and one more."""
    table: dict[str, dict[str, Path]] = {}
    for variant in VARIANTS:
        for row in runs.load(folder / FOLDER / variant).itertuples():
            name = row.model.rstrip("/").rpartition("/")[2]
            table.setdefault(name, {})[variant] = row.folder
    return {
        name: paths
        for name, paths in table.items()
        if USUAL in paths and len(paths) > 1
    }


def compare(
    paths: dict[str, Path], n_resamples: int = 1000, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a model's variants minus its usual run, and what became of each prompt."""
    tables = {
        name: runs_against_papers.facts("monitor", path) for name, path in paths.items()
    }
    rows, words, keys = [], [], ["item", "variant", "prompt"]
    for name in [variant for variant in paths if variant != USUAL]:
        for measure in STUDIES["monitor"].MEASURES:
            gap = model_comparison.difference(
                tables[name], tables[USUAL], measure, n_resamples, seed
            )
            rows.append(
                {"variant": LABELS[name], "measure": measure.name} | gap._asdict()
            )
        one, other = (runs.answers(paths[each]) for each in (name, USUAL))
        both = one[[*keys, "logprobs", "text"]].merge(other, on=keys)
        pairs = zip(both["logprobs_x"], both["logprobs_y"])
        largest = max(
            (np.abs(np.subtract(a, b)).max() for a, b in pairs), default=np.nan
        )
        changed = (both["text_x"] != both["text_y"]).mean()
        words.append((LABELS[name], len(both), largest, changed))
    columns = ["variant", "measure", "estimate", "low", "high", "n"]
    told = pd.DataFrame(words, columns=["variant", "prompts", "largest", "changed"])
    return pd.DataFrame(rows)[columns], told


def farthest(compared: dict[str, pd.DataFrame]) -> dict[str, object]:
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
