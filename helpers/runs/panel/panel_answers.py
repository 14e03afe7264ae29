"""What the chapters' runs say of the panel's facts: saved beside a run, and read."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import UserError, datasets, reraise_failed_write, runs
from helpers.models.checkpoints import bundled_models, model_slug
from helpers.prompts import labels
from helpers.studies import STUDIES, settings_for_function

PANEL_FILE = "panel.parquet"
FORM_NAMES = {"qa": "question", "wp": "sentence"}  # by the kind of frame
FORMS_FILE = "panel_forms.parquet"  # of the plain question, beside MONITOR's answers

PANEL_RUN_COLUMNS = [
    "model",
    "chapter",
    "dataset",
    "n_facts",
    "seed",
    "finished",
    "commit",
    "weights",
    "n_parameters",
    "probes",
    "tokens",
    "forwarded",
    "left_out",
    "folder",
    "settings",
    "version",
]
# Column: what it means if it differs, and among which runs it must not.
COLUMNS_THAT_MUST_AGREE = {
    "checksum": ("other data", None),
    "n_facts": ("a panel of another size", None),
    "version": ("another version of the helpers", None),
    "settings": ("other settings", "chapter"),
    "weights": ("other weights of this model", "model"),
}


def save_panel_answers(
    folder: Path,
    answers: pd.DataFrame,
    about: dict[str, Any],
    forms: pd.DataFrame | None = None,
) -> dict[str, Any]:
    """Write the answers about the panel into a run's folder, before the run is saved.

    `forms` are those to the plain question's forms, if they were asked. What the run's
    manifest is to say of them is returned.
    """
    path = folder / PANEL_FILE
    with reraise_failed_write(path, "make room, then run again"):
        answers.to_parquet(path, index=False)
        if forms is not None:
            forms.to_parquet(folder / FORMS_FILE, index=False)
    n_facts = int(answers["item"].nunique())
    entry = {"n_facts": n_facts, "sha256": _sha256(path), **about}
    if forms is not None:
        entry["forms_sha256"] = _sha256(folder / FORMS_FILE)
    return entry


def candidate_models(folder: str | Path, dataset: str = "atlas") -> list[str]:
    """Return the models whose runs may be read: the bundled ones.

    On other data these are the models that ran, bundled ones only if no other did.
    """
    bundled = bundled_models()
    if dataset == "atlas":
        return bundled
    name = datasets.source_record(dataset)["name"]
    table = runs.load(folder)
    names = table.loc[table["dataset"] == name, "model"].unique().tolist()
    others = [model for model in names if model not in bundled]
    return others or names


def panel_runs(
    folder: str | Path, models: Sequence[str], seed: int = 0, dataset: str = "atlas"
) -> pd.DataFrame:
    """List the runs of the chapters, each in its usual place, that asked the panel.

    Returns
    -------
    DataFrame
        ``PANEL_RUN_COLUMNS``; ``left_out`` says why a run is not read, "" if it is.
    """
    source = datasets.source_record(dataset)
    runs_by_place = {}
    for run in runs.load(folder).to_dict("records"):
        place = (run["folder"].parent.name, run["folder"].name)
        runs_by_place[place] = run
    models_by_place = {}
    for model in models:
        for chapter in STUDIES:
            models_by_place[model_slug(model), chapter] = model
    rows = []
    for place, model in models_by_place.items():
        if place in runs_by_place:
            row = _row_of_run(runs_by_place[place], seed, source)
            rows.append(row | {"model": model})
    if not rows:
        return pd.DataFrame(columns=PANEL_RUN_COLUMNS)
    return _without_disagreeing_runs(pd.DataFrame(rows))


def models_with_all_runs(table: pd.DataFrame) -> list[str]:
    """Return the models that all chapters have asked the panel, the smallest first."""
    good = table[table["left_out"] == ""]
    chapters = good.groupby("model", sort=False)["chapter"].agg(set)
    sizes = table.groupby("model")["n_parameters"].max()
    whole = [model for model, names in chapters.items() if names == set(STUDIES)]

    def size_and_name(model: str) -> tuple[int, str]:
        return sizes[model], model

    return sorted(whole, key=size_and_name)


def remarks_on_missing_runs(
    table: pd.DataFrame,
    models: Sequence[str],
    folder: str | Path,
    dataset: str = "atlas",
) -> list[str]:
    """Say in sentences which models lack a run."""
    good = table[table["left_out"] == ""]
    remarks = []
    if not models:
        command = command_of_run(next(iter(STUDIES)), "MODEL", folder, dataset)
        remarks.append(
            f"No run in {folder} is about {dataset}: `{command}`, and the other "
            "chapters too."
        )
    for model in models:
        chapters = set(good.loc[good["model"] == model, "chapter"])
        missing = [chapter for chapter in STUDIES if chapter not in chapters]
        if not missing:
            continue
        first, *others = missing
        command = command_of_run(first, model, folder, dataset)
        remark = f"{model} is not read; a run is missing: `{command}`"
        if others:
            remark += f", and likewise {', '.join(others)}"
        remarks.append(f"{remark}.")
    return remarks


def panel_answers(folder: str | Path) -> pd.DataFrame:
    """Return a run's answers about the panel."""
    return labels.add_columns(_checked_table(folder, PANEL_FILE, "sha256"))


def facts_of_asked_panel(run: runs.Run, panel: dict[str, Any] | None) -> pd.DataFrame:
    """Return the facts of the panel that a run has just asked, as its study has them.

    `panel` is what `panel_asking.ask_panel` returned; without it there are none.
    """
    if panel is None:
        return pd.DataFrame({"item": [], "relation": []})
    answers = labels.add_columns(pd.read_parquet(run.folder / PANEL_FILE))
    study = STUDIES[run.chapter]
    return study.facts(answers, **settings_for_function(study.facts, run.parameters))


def panel_forms(folder: str | Path) -> pd.DataFrame:
    """Return a run's answers to the forms of the plain question."""
    return _checked_table(folder, FORMS_FILE, "forms_sha256")


def _checked_table(folder: str | Path, file: str, checksum: str) -> pd.DataFrame:
    """Read a table about the panel whose checksum is an entry of the manifest."""
    path = Path(folder) / file
    entry = runs.load_manifest(folder).get("panel") or {}
    if checksum not in entry or not path.is_file():
        raise UserError(
            f"{folder} holds no answers about the panel: run the chapter once more."
        )
    if _sha256(path) != entry[checksum]:
        raise UserError(
            f"{path} is not of the run in its folder: run the chapter once more."
        )
    return pd.read_parquet(path)


def command_of_run(
    chapter: str, model: str, folder: str | Path, dataset: str = "atlas"
) -> str:
    """Return the command that makes a run."""
    command = f"python -m book.tools run {chapter} --model {model} --runs {folder}"
    if dataset != "atlas":
        command += f" --set dataset={dataset}"
    return command


def _row_of_run(
    run: dict[str, Any], seed: int, source: dict[str, str]
) -> dict[str, Any]:
    """Return what the table says of a run, a row of `runs.load`."""
    manifest = run["manifest"]
    panel = manifest.get("panel") or {}
    settings = panel.get("settings")
    if panel and source["name"] != "atlas":
        # Of models that are not bundled, each is asked in the form that suits it.
        settings = dict(panel["settings"])
        settings.pop("prompt_format", None)
    return {
        "model": run["model"],
        "chapter": run["chapter"],
        "dataset": run["dataset"],
        "seed": run["seed"],
        "finished": run["finished"],
        "folder": run["folder"],
        "n_facts": panel.get("n_facts", 0),
        "tokens": panel.get("tokens", 0),
        "forwarded": panel.get("forwarded", 0),
        "probes": panel.get("probes", 0),
        "settings": settings,
        "version": panel.get("version"),
        "commit": (manifest.get("commit") or "")[:7],
        "weights": (manifest["model"].get("weights_sha") or "")[:8],
        "n_parameters": manifest["model"].get("n_parameters") or 0,
        "checksum": manifest["dataset"].get("checksum"),
        "left_out": _reason_to_leave_out(run, seed, source),
    }


def _reason_to_leave_out(run: dict[str, Any], seed: int, source: dict[str, str]) -> str:
    """Return why a run is not read whatever the others are, "" if it is."""
    manifest = run["manifest"]
    if run["dataset"] != source["name"]:
        return f"it is about {run['dataset']}, not {source['name']}"
    if not manifest.get("panel"):
        return "it did not ask the panel"
    checksum = manifest["dataset"].get("checksum")
    if source["name"] != "atlas" and checksum != source["checksum"]:
        return f"{source['name']} has changed since; run it again"
    if run["seed"] != seed:
        return f"its seed is {run['seed']}, not {seed}"
    return ""


def _without_disagreeing_runs(table: pd.DataFrame) -> pd.DataFrame:
    """Leave out runs whose data, panel or weights are not those of the newest ones."""
    good = table[table["left_out"] == ""].sort_values("finished")
    for name, (meaning, by) in COLUMNS_THAT_MUST_AGREE.items():
        for place, row in good.iterrows():
            comparable = good if by is None else good[good[by] == row[by]]
            newest = comparable[name].iloc[-1]
            if row[name] != newest and not table.loc[place, "left_out"]:
                reason = f"it has {meaning} than the newest run; run it again"
                table.loc[place, "left_out"] = reason
    return table[PANEL_RUN_COLUMNS]


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
