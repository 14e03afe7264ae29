"""Measure a model by studies, without a notebook: ask, compute, save a run of each."""

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from helpers import UserError, datasets, models, probing, runs, studies
from helpers.models import LanguageModel
from helpers.probing import format_choice
from helpers.runs import store
from helpers.runs.panel import panel_asking
from helpers.studies import STUDIES, member, settings_for_function

MEASURED_FOLDER = runs.RUNS_FOLDER / "measured"
N_DIGITS = 8  # of a checksum that tells data sets of one name apart
# What a run takes besides its study's own settings.
COMMON_RUN_SETTINGS = {
    "prompt_format": "",
    "device": "",
    "dtype": "",
    "trust_remote_code": False,
    "n_panel": 0,
    "seed": 0,
    "n_bootstrap": 1000,
}


class MeasuredRun(NamedTuple):
    """One run: its study's name, its folder, and the summary of its facts."""

    study: str
    folder: Path
    summary: pd.DataFrame


def default_run_settings(name: str) -> dict[str, Any]:
    """Return the settings of a run of a study, with their defaults."""
    if name not in STUDIES:
        raise UserError(f"There is no study {name}: choose from {', '.join(STUDIES)}.")
    return COMMON_RUN_SETTINGS | studies.default_settings(STUDIES[name])


def measure_model(
    model: str,
    names: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    folder: str | Path = MEASURED_FOLDER,
) -> Iterator[MeasuredRun]:
    """Measure a model by one study after another, and save a run of each.

    Parameters
    ----------
    model : str
        As for `helpers.models.load`.
    names : sequence of str
        Studies; by default all.
    settings : mapping, optional
        Those of a run (:func:`default_run_settings`); each study takes its own.
    folder : str or Path
        The runs go to its folders of the model and the study; those on another data set
        than the study's own to folders of the model on that data set.

    Yields
    ------
    MeasuredRun
        As soon as it is saved. A study that fails stops no other.

    Raises
    ------
    UserError
        For a study or a setting that there is not, before a model is loaded; in the
        end, if studies failed.
    """
    settings = dict(settings or {})
    defaults = {name: default_run_settings(name) for name in names or STUDIES}
    _check_names(settings, defaults)
    lm = _model_for_settings(model, settings)
    failures = []
    for name, run_settings in defaults.items():
        for setting, value in settings.items():
            if setting in run_settings:
                run_settings[setting] = value
        place = Path(folder) / _folder_of_model(lm, name, run_settings) / name
        try:
            with store.lock_folder(place):
                note = _note_on_replaced_run(place, run_settings)
                measured_run = measure_by_study(name, lm, run_settings, place)
        except UserError as error:
            failures.append(f"{name}: {error}")
        else:
            if note:
                print(note, file=sys.stderr)
            yield measured_run
    if failures:
        raise UserError(" ".join(failures))


def _check_names(
    settings: Mapping[str, Any], defaults: Mapping[str, Mapping[str, Any]]
) -> None:
    """Refuse a setting that none of the studies takes."""
    known: set[str] = set().union(*defaults.values())
    for name in settings:
        if name not in known:
            names = ", ".join(sorted(known))
            raise UserError(f"No study takes {name}: they take {names}.")


def _model_for_settings(name: str, settings: Mapping[str, Any]) -> LanguageModel:
    """Load the model as settings of a run say, and say where it runs."""
    complete: dict[str, Any] = {**COMMON_RUN_SETTINGS, **settings}
    lm = models.load(
        name,
        device=complete["device"] or None,
        dtype=complete["dtype"],
        trust_remote_code=complete["trust_remote_code"],
    )
    if isinstance(lm, models.Local):
        number_format = lm.quantization or lm.number_format
        print(f"{lm.name} runs on {lm.device} in {number_format}.", file=sys.stderr)
    return lm


def _folder_of_model(lm: LanguageModel, name: str, settings: Mapping[str, Any]) -> str:
    """Return what the folder of a model's runs on a data set is called."""
    dataset = settings.get("dataset", "")
    if dataset == default_run_settings(name).get("dataset", ""):
        return lm.slug
    path = os.path.expanduser(dataset)
    slug = re.sub(r"[^A-Za-z0-9_-]", "_", Path(path).stem)[:40]
    if os.path.exists(path):  # False for a name that is too long, where Path raises
        place = os.path.realpath(path)
        slug = f"{slug}-{hashlib.sha256(place.encode()).hexdigest()[:N_DIGITS]}"
    return f"{lm.slug}-on-{slug}"


def _note_on_replaced_run(place: Path, settings: Mapping[str, Any]) -> str:
    """Return what to say of a run with other settings that a new one replaces."""
    try:
        before = store.load_manifest(place)["parameters"]
    except UserError:  # there is none, or it cannot be read
        return ""
    changed = []
    for name in settings:
        # As texts: a tuple comes back as a list.
        if name in before and _json(before[name]) != _json(settings[name]):
            changed.append(name)
    if not changed:
        return ""
    return f"{place}: the run with another {', '.join(changed)} is replaced."


def _json(value: object) -> str:
    """Return a setting as a manifest holds it."""
    return json.dumps(value, default=str)


def measure_by_study(
    name: str, lm: LanguageModel, settings: Mapping[str, Any], folder: Path
) -> MeasuredRun:
    """Measure a loaded model by one study, and save the run.

    `settings` are all that :func:`default_run_settings` names.
    """
    study = STUDIES[name]
    member(study, "check")(settings)
    run = runs.start(name, {**settings, "model": lm.name}, folder)
    lm = _model_in_format(study, lm, settings, run.cache)
    settings_to_ask = {**settings, "cache": run.cache}
    choose = member(study, "settings_chosen_on_model")
    with probing.work_counter(lm) as work:
        chosen = choose(lm, **settings_for_function(choose, settings_to_ask))
        settings_to_ask |= chosen
        answers = study.ask(lm, **settings_for_function(study.ask, settings_to_ask))
    facts = study.facts(answers, **settings_for_function(study.facts, settings))
    summary = study.summary(
        facts, n_resamples=settings["n_bootstrap"], seed=settings["seed"]
    )
    is_whole = summary["relation"] == "all"
    level = is_whole.map({True: "run", False: "relation"})
    source = member(study, "source")(settings, lm.name)
    panel = panel_asking.ask_panel(run, lm, chosen) if "dataset" in settings else None
    runs.save(
        run,
        answers=answers,
        metrics=summary.assign(level=level),
        model=models.describe_model(lm),
        dataset=source,
        extra={
            "scoring": probing.scoring_method(lm),
            "panel": panel,
            "work": dict(work),
            **chosen,
        },
    )
    return MeasuredRun(name, run.folder, summary)


def _model_in_format(
    study: studies.Study, lm: LanguageModel, settings: Mapping[str, Any], cache: Path
) -> LanguageModel:
    """Return the model with the prompt format that is wanted, or that suits it best."""
    prompt_format = settings["prompt_format"]
    if not member(study, "WRAPPED"):
        return format_choice.model_with_bare_or_chat_format(lm, prompt_format)
    dataset = settings["dataset"]
    seed = settings["seed"]
    facts = datasets.load(dataset, n=settings["n_facts"] or None, seed=seed)
    choice = format_choice.choose_prompt_format(
        lm,
        prompt_format,
        dataset,
        facts,
        seed,
        rule=settings["match"],
        cache=cache,
    )
    return choice.lm
