"""The same findings in other models: what each chapter found there, kept as a table.

``python -m notebooks.kit.replications FOLDER`` keeps what the runs in a folder found,
in the place of what is kept of the same models and chapters.
"""

import argparse
import json
import sys
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
MARK_BY_DECISION = {
    "holds": "●",
    "opposite": "◆",
    "undecided": "○",
    "equivalent": "○",
    "undefined": "–",
}
NOTE = (
    '<p class="note-below">Small print: the same question put to other models'
    " (● it holds there, ◆ the opposite holds, ○ we cannot tell, – it cannot be"
    " measured). All of them had been looked at when the sentences were written; only"
    " a model that is added later tests them.</p>"
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


def strip_html(
    found: pd.DataFrame, digits: int = 1, scale: float = 100.0, unit: str = ""
) -> str:
    """Write one mark and one number for each model, as a line of small print.

    >>> found = pd.DataFrame({"model": ["atlas-xs"], "decision": ["holds"],
    ...     "estimate": [0.05], "low": [0.02], "high": [0.08]})
    >>> strip_html(found)
    '<small class="strip">● atlas-xs 5.0 [2.0, 8.0]</small>'
    """
    parts = []
    for row in found.itertuples():
        part = f"{MARK_BY_DECISION[row.decision]} {escape(row.model)}"
        if row.decision != "undefined":
            number = result_tables.interval(
                row.estimate, row.low, row.high, digits, scale
            )
            part += f" {number}"
        parts.append(part)
    if not parts:
        return ""
    return f'<small class="strip">{"; ".join(parts)}{escape(unit)}</small>'


def claims_by_model(found: pd.DataFrame) -> pd.DataFrame:
    """Return what is found in each model, one row a claim, to be read.

    >>> found = pd.DataFrame({"claim": ["one_is_enough"], "model": ["atlas-xs"],
    ...     "decision": ["holds"], "estimate": [0.05], "low": [0.02], "high": [0.08]})
    >>> claims_by_model(found)
                what             atlas-xs
    0  one is enough  ● 0.05 [0.02, 0.08]
    """
    cells = []
    for row in found.itertuples():
        mark = MARK_BY_DECISION[row.decision]
        number = ""
        if row.decision != "undefined":
            number = result_tables.interval(row.estimate, row.low, row.high, 2, 1)
        cells.append(f"{mark} {number}".strip())
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
