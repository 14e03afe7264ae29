"""Runs that hold a chapter's answers about a small panel, made without the chapter's notebook."""

import json
import shutil
from pathlib import Path

import pandas as pd

from book.tools import chapters, parameters
from helpers import datasets, models, runs
from helpers.runs.panel import panel_answers, panel_asking
from helpers.studies import STUDIES

PANEL_SIZE = 24
SMALL_SETTINGS = {
    "monitor": {"n_frames": 3},
    "knowledge_base": {"n_choices": 3, "max_new_tokens": 12},
    "latent_knowledge": {"n_choices": 12, "n_examples": 20, "separator": "space"},
    "multiplicity": {"n_variations": 4},
}


def save_panel_run(folder: Path, chapter: str, lm, **changed) -> Path:
    """Ask a chapter's panel, save what stands for the chapter's run, and return its folder."""
    given = parameters.declared_parameters(chapters.TEMPLATES / f"{chapter}.ipynb")
    given |= {"model": lm.name, "n_panel": PANEL_SIZE}
    given |= SMALL_SETTINGS[chapter]
    run = runs.start(chapter, given | changed, folder / lm.slug / chapter)
    entry = panel_asking.ask_panel(run, lm)
    answers = pd.DataFrame({"item": ["a"]})
    if entry:
        answers = pd.read_parquet(run.folder / panel_answers.PANEL_FILE)
    source = datasets.source_record(run.parameters["dataset"] if entry else "atlas")
    described = {"model": models.describe_model(lm), "dataset": source}
    extra = {"panel": entry}
    return runs.save(
        run, answers=answers, metrics=answers[["item"]], **described, extra=extra
    )


def save_panel_runs_of_models(
    folder: Path, names: tuple[str, ...] = ("atlas-xs", "atlas-s")
) -> Path:
    """Ask the panel of every chapter of some models; return the folder of the runs."""
    for name in names:
        lm = models.load(name)
        for chapter in STUDIES:
            save_panel_run(folder, chapter, lm)
    return folder


def copy_runs_of_first_facts(folder: Path, to: Path, n: int) -> Path:
    """Copy runs whose panels hold only the first n facts; return the folder of the copies."""
    asked = None
    for manifest in folder.glob("*/*/run.json"):
        told = json.loads(manifest.read_text())
        if not told.get("panel"):
            continue
        answers = pd.read_parquet(manifest.parent / panel_answers.PANEL_FILE)
        asked = asked or list(dict.fromkeys(answers["item"]))[:n]
        place = to / manifest.parent.relative_to(folder)
        place.mkdir(parents=True)
        forms = None
        if (manifest.parent / panel_answers.FORMS_FILE).is_file():
            forms = pd.read_parquet(manifest.parent / panel_answers.FORMS_FILE)
            forms = forms[forms["item"].isin(asked)]
        told["panel"] |= panel_answers.save_panel_answers(
            place, answers[answers["item"].isin(asked)], {}, forms
        )
        (place / "run.json").write_text(json.dumps(told))
        shutil.copy(manifest.parent / "metrics.parquet", place)
    return to
