"""What the chapters' runs say of the panel's facts: saved beside a run, and found again."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import UserError, datasets, reraise_failed_write, runs
from helpers.models.checkpoints import bundled_models, model_slug
from helpers.prompts import labels
from helpers.studies import STUDIES

PANEL_FILE = "panel.parquet"

PANEL_RUN_COLUMNS = [
    *(
        "model",
        "chapter",
        "dataset",
        "n_facts",
        "seed",
        "finished",
        "commit",
        "weights",
    ),
    *(
        "n_parameters",
        "probes",
        "tokens",
        "forwarded",
        "left_out",
        "folder",
        "settings",
        "version",
    ),
]
COLUMNS_THAT_MUST_AGREE = {  # column: what it means if it differs, and among which runs it must not
    "checksum": ("other data", None),
    "n_facts": ("a panel of another size", None),
    "version": ("another version of the helpers", None),
    "settings": ("other settings", "chapter"),
    "weights": ("other weights of this model", "model"),
}


def save_panel_answers(
    folder: Path, answers: pd.DataFrame, about: dict[str, Any]
) -> dict[str, Any]:
    """Write the answers about the panel into a run's folder, before the run itself is saved."""
    path = folder / PANEL_FILE
    with reraise_failed_write(path, "make room, then run again"):
        answers.to_parquet(path, index=False)
    return {"n_facts": int(answers["item"].nunique()), "sha256": _sha256(path), **about}


def candidate_models(folder: str | Path, dataset: str = "atlas") -> list[str]:
    """Return the models whose runs may be read: the bundled ones; on other data, those that ran."""
    if dataset == "atlas":
        return bundled_models()
    name, table = datasets.source_record(dataset)["name"], runs.load(folder)
    names = dict.fromkeys(table.loc[table["dataset"] == name, "model"])
    return [model for model in names if model not in bundled_models()] or list(names)


def panel_runs(
    folder: str | Path, models: Sequence[str], seed: int = 0, dataset: str = "atlas"
) -> pd.DataFrame:
    """List the runs of the four chapters, each in its usual place, that asked the panel."""
    every, source = (
        runs.load(folder).to_dict("records"),
        datasets.source_record(dataset),
    )
    there = {(run["folder"].parent.name, run["folder"].name): run for run in every}
    places = {
        (model_slug(model), chapter): model for model in models for chapter in STUDIES
    }
    rows = [
        _row(there[at], seed, source) | {"model": places[at]}
        for at in places
        if at in there
    ]
    return _alike(
        pd.DataFrame(rows, columns=None if rows else [*PANEL_RUN_COLUMNS, "checksum"])
    )


def models_with_all_runs(table: pd.DataFrame) -> list[str]:
    """Return the models that all four chapters have asked the panel, the smallest first."""
    there = (
        table[table["left_out"] == ""].groupby("model", sort=False)["chapter"].agg(set)
    )
    size = table.groupby("model")["n_parameters"].max()
    whole = [model for model, chapters in there.items() if chapters == set(STUDIES)]
    return sorted(whole, key=lambda model: (size[model], model))


def remarks_on_missing_runs(
    table: pd.DataFrame,
    models: Sequence[str],
    folder: str | Path,
    dataset: str = "atlas",
) -> list[str]:
    """Say in sentences which models lack a run."""
    good = table[table["left_out"] == ""]
    said = []
    if not models:
        made = command_of_run(next(iter(STUDIES)), "MODEL", folder, dataset)
        said.append(
            f"No run in {folder} is about {dataset}: `{made}`, and the other chapters too."
        )
    for model in models:
        there = set(good.loc[good["model"] == model, "chapter"])
        if missing := [chapter for chapter in STUDIES if chapter not in there]:
            said.append(
                f"{model} is not read; a run is missing: "
                f"`{command_of_run(missing[0], model, folder, dataset)}`"
                + (f", and likewise {', '.join(missing[1:])}." if missing[1:] else ".")
            )
    return said


def panel_answers(folder: str | Path) -> pd.DataFrame:
    """Return a run's answers about the panel."""
    path = Path(folder) / PANEL_FILE
    entry = runs.load_manifest(folder).get("panel")
    if not entry or not path.is_file():
        raise UserError(
            f"{folder} holds no answers about the panel: run the chapter once more."
        )
    if _sha256(path) != entry["sha256"]:
        raise UserError(
            f"{path} is not of the run in its folder: run the chapter once more."
        )
    return labels.add_columns(pd.read_parquet(path))


def command_of_run(
    chapter: str, model: str, folder: str | Path, dataset: str = "atlas"
) -> str:
    """Return the command that makes a run."""
    given = "" if dataset == "atlas" else f" --set dataset={dataset}"
    return f"python -m book.tools run {chapter} --model {model} --runs {folder}{given}"


def _row(run: dict[str, Any], seed: int, source: dict[str, str]) -> dict[str, Any]:
    manifest, told = run["manifest"], run["manifest"].get("panel") or {}
    row = {
        key: run[key]
        for key in ("model", "chapter", "dataset", "seed", "finished", "folder")
    }
    row |= {
        key: told.get(key, 0) for key in ("n_facts", "tokens", "forwarded", "probes")
    }
    row |= {key: told.get(key) for key in ("settings", "version")}
    row["commit"] = (manifest.get("commit") or "")[:7]
    row["weights"] = (manifest["model"].get("weights_sha") or "")[:8]
    row["n_parameters"] = manifest["model"].get("n_parameters") or 0
    row["checksum"] = manifest["dataset"].get("checksum")
    own = source["name"] != "atlas"
    if (
        own and told
    ):  # of models that are not bundled, each is asked in the form that suits it
        row["settings"] = {
            k: v for k, v in told["settings"].items() if k != "prompt_format"
        }
    reasons = {
        f"it is about {row['dataset']}, not {source['name']}": row["dataset"]
        != source["name"],
        "it did not ask the panel": not told,
        f"{source['name']} has changed since; run it again": own
        and row["checksum"] != source["checksum"],
        f"its seed is {row['seed']}, not {seed}": row["seed"] != seed,
    }
    return row | {
        "left_out": next((text for text, holds in reasons.items() if holds), "")
    }


def _alike(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out runs whose data, panel or weights are not those of the newest ones."""
    good = table[table["left_out"] == ""].sort_values("finished")
    for name, (what, by) in COLUMNS_THAT_MUST_AGREE.items():
        for place, row in good.iterrows():
            like = good if by is None else good[good[by] == row[by]]
            if row[name] != like[name].iloc[-1] and not table.loc[place, "left_out"]:
                table.loc[place, "left_out"] = (
                    f"it has {what} than the newest run; run it again"
                )
    return table[PANEL_RUN_COLUMNS]


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
