"""The same findings in other models: what each chapter found there, kept as a table.

``python -m notebooks.kit.replications FOLDER`` keeps what the runs in a folder found,
in the place of what is kept of the same models and chapters.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from html import escape
from pathlib import Path

import pandas as pd

from helpers import UserError, runs
from notebooks.kit.plots import result_tables

REPLICATIONS_FILE = Path(__file__).with_name("replications.csv")
COLUMNS = [
    "chapter",
    "claim",
    "model",
    "decision",
    "estimate",
    "low",
    "high",
    "n",
    "dataset",
    "seed",
    "weights",
    "torch",
]
# Findings that are not about the model that a chapter asked.
NOT_OF_ONE_MODEL = ("paper_UR_higher_tuned", "larger_holds_smaller")
# Models that had been looked at when the sentences were written.
LOOKED_AT = ("atlas-xs", "atlas-s", "atlas-m", "atlas-m-chat", "smollm2")
NOTE = "Small print: what the same chapter found in other models, on the same data set."
NOTE_ON_MODELS_LOOKED_AT = (
    " {} had been looked at when the sentences were written, so none is a test of them."
)


def findings_of_runs(folder: Path) -> pd.DataFrame:
    """Return what the finished runs in a folder found: a row a model and claim."""
    rows = []
    for path in sorted(folder.glob("*/*/findings.json")):
        if not (path.parent / "run.json").is_file():
            continue
        manifest = runs.load_manifest(path.parent)
        about_run = _description_of_run(manifest)
        if about_run is None:
            continue
        for finding in json.loads(path.read_text(encoding="utf-8")):
            if finding["claim"] not in NOT_OF_ONE_MODEL:
                rows.append({**finding, **about_run})
    if not rows:
        raise UserError(f"No finished run in {folder} asked a model.")
    return pd.DataFrame(rows)[COLUMNS]


def _description_of_run(manifest: dict) -> dict[str, object] | None:
    """Return what tells a run from others; nothing for one that asked no model."""
    settings = manifest["parameters"]
    if "model" not in settings:
        return None
    return {
        "chapter": manifest["chapter"],
        "model": settings["model"],
        "dataset": settings.get("dataset", ""),
        "seed": settings["seed"],
        "weights": str(manifest["model"].get("weights_sha", ""))[:8],
        "torch": manifest["versions"]["torch"],
    }


def keep_findings(found: pd.DataFrame, path: Path = REPLICATIONS_FILE) -> None:
    """Write findings beside those kept of other models and chapters."""
    if path.is_file():
        kept = load_replications(path)
        run_columns = ["model", "chapter"]
        new_runs = pd.MultiIndex.from_frame(found[run_columns])
        is_replaced = pd.MultiIndex.from_frame(kept[run_columns]).isin(new_runs)
        found = pd.concat([kept[~is_replaced], found], ignore_index=True)
    found = found.sort_values(["chapter", "claim", "model"], kind="stable")
    found.to_csv(path, index=False, float_format="%.6g")


def load_replications(path: Path | None = None) -> pd.DataFrame:
    """Return what the chapters found in the models at hand."""
    path = path or REPLICATIONS_FILE
    if not path.is_file():
        return pd.DataFrame(columns=COLUMNS)
    return pd.read_csv(path, dtype={"weights": str, "dataset": str})


def findings_in_other_models(run_folder: Path | str) -> pd.DataFrame:
    """Return what a run's chapter found in other models on the same data set."""
    kept = load_replications()
    about_run = None
    if (Path(run_folder) / "run.json").is_file():
        about_run = _description_of_run(runs.load_manifest(run_folder))
    if about_run is None:
        return kept.iloc[:0]
    is_same_chapter = kept["chapter"] == about_run["chapter"]
    is_same_dataset = kept["dataset"].fillna("") == about_run["dataset"]
    is_other_model = kept["model"] != about_run["model"]
    return kept[is_same_chapter & is_same_dataset & is_other_model]


def answer_of_other_model(own_decision: str, decision: str) -> str:
    """Say how another model's decision stands to that of the sentence above it.

    >>> answer_of_other_model("opposite", "opposite")
    'the same'
    >>> answer_of_other_model("undecided", "holds")
    'decided there'
    """
    if decision == "undefined":
        return "not measurable"
    if decision == own_decision:
        return "the same"
    if decision in ("undecided", "equivalent"):
        return {"undecided": "cannot tell", "equivalent": "no difference"}[decision]
    if own_decision in ("undecided", "equivalent", "undefined"):
        return "decided there"
    return "the opposite"


def strip_html(
    found: pd.DataFrame,
    own_decision: str,
    *,
    digits: int = 1,
    scale: float = 100.0,
    unit: str = " points",
    null: float = 0.0,
) -> str:
    """Write what a claim is in each other model, as a line of small print.

    Where the sentence above says the opposite, its number is turned round, and so are
    these.

    >>> found = pd.DataFrame({"model": ["atlas-xs"], "decision": ["holds"],
    ...     "estimate": [0.05], "low": [0.02], "high": [0.08]})
    >>> strip_html(found, "holds")
    '<small class="strip">atlas-xs: the same, 5.0 [2.0, 8.0] points</small>'
    """
    parts = []
    for row in found.itertuples():
        part = f"{row.model}: {answer_of_other_model(own_decision, row.decision)}"
        if row.decision != "undefined":
            bounds = (row.estimate, row.low, row.high)
            if own_decision == "opposite" and not null:
                bounds = (-row.estimate, -row.high, -row.low)
            part += f", {result_tables.interval(*bounds, digits, scale)}{unit}"
        if row.decision != "undefined" and null:
            part += f" against {scale * null:g}"
        parts.append(escape(part))
    return f'<small class="strip">{"; ".join(parts)}</small>'


def note_html(models: Iterable[str]) -> str:
    """Explain the small print, and which of these models test nothing.

    >>> "atlas-xs had been looked at" in note_html(["atlas-xs", "mine"])
    True
    """
    text = NOTE
    looked_at = [model for model in LOOKED_AT if model in set(models)]
    if looked_at:
        text += NOTE_ON_MODELS_LOOKED_AT.format(", ".join(looked_at))
    return f'<p class="note-below">{text}</p>'


def claims_by_model(found: pd.DataFrame) -> pd.DataFrame:
    """Return what is found in each model, one row a claim, to be read.

    >>> found = pd.DataFrame({"claim": ["one_is_enough"], "model": ["atlas-xs"],
    ...     "decision": ["holds"], "estimate": [0.05], "low": [0.02], "high": [0.08]})
    >>> claims_by_model(found)
                what                 atlas-xs
    0  one is enough  holds 0.05 [0.02, 0.08]
    """
    cells = []
    for row in found.itertuples():
        number = ""
        if row.decision != "undefined":
            number = result_tables.interval(row.estimate, row.low, row.high, 2, 1)
        cells.append(f"{row.decision} {number}".strip())
    labels = found["claim"].str.replace("_", " ")
    table = found.assign(what=labels, cell=cells)
    wide = table.pivot_table("cell", "what", "model", aggfunc="first", sort=False)
    return wide.fillna("").rename_axis(columns=None).reset_index()


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m notebooks.kit.replications")
    parser.add_argument("folder", type=Path, help="folder of runs")
    options = parser.parse_args(arguments)
    try:
        keep_findings(findings_of_runs(options.folder))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
