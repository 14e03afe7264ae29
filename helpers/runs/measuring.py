"""Measure a model by studies, without a notebook: ask, compute, save a run of each."""

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
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
# What a run takes besides its study's own settings.
COMMON_RUN_SETTINGS = {
    "prompt_format": "",
    "device": "",
    "dtype": "",
    "trust_remote_code": False,
    "n_panel": 0,
}
COMMON_RUN_SETTINGS |= {"seed": 0, "n_bootstrap": 1000}


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
    """Measure a model by one study after another, and save a run of each; none stops another."""
    settings = dict(settings or {})
    defaults = {name: default_run_settings(name) for name in names or STUDIES}
    for name in settings:
        if not any(name in own for own in defaults.values()):
            every = sorted(set().union(*defaults.values()))
            raise UserError(f"No study takes {name}: they take {', '.join(every)}.")
    loading = {
        name: settings.get(name, COMMON_RUN_SETTINGS[name])
        for name in ("device", "dtype", "trust_remote_code")
    }
    lm = models.load(model, **loading | {"device": loading["device"] or None})
    if lm.at_hand:
        number = str(lm.dtype).removeprefix("torch.")
        print(
            f"{lm.name} runs on {lm.device} in {lm.quantization or number}.",
            file=sys.stderr,
        )
    failed = []
    for name, own in defaults.items():
        own |= {key: value for key, value in settings.items() if key in own}
        place = Path(folder) / lm.slug / name
        try:
            with store.lock_folder(place):
                _tell_replaced(place, own)
                measured = measure_by_study(name, lm, own, place)
        except UserError as error:
            failed.append(f"{name}: {error}")
        else:
            yield measured
    if failed:
        raise UserError(" ".join(failed))


def _tell_replaced(place: Path, settings: Mapping[str, Any]) -> None:
    """Say that a run with other settings gives way to the one that begins, if one is there."""
    with contextlib.suppress(UserError):
        before = store.load_manifest(place)["parameters"]
        text = partial(json.dumps, default=str)  # a tuple comes back as a list
        other = [
            name
            for name in settings
            if name in before and text(before[name]) != text(settings[name])
        ]
        if other:
            print(
                f"{place}: the run with another {', '.join(other)} is replaced.",
                file=sys.stderr,
            )


def measure_by_study(
    name: str, lm: LanguageModel, settings: Mapping[str, Any], folder: Path
) -> MeasuredRun:
    """Measure a loaded model by one study, with all that :func:`default_run_settings` names, and save it."""
    study = STUDIES[name]
    member(study, "check")(settings)
    run = runs.start(name, settings | {"model": lm.name}, folder)
    wanted = settings["prompt_format"]
    if getattr(study, "WRAPPED", False):
        few = datasets.load(
            settings["dataset"], n=settings["n_facts"] or None, seed=settings["seed"]
        )
        asked = (
            settings["dataset"],
            few,
            settings["seed"],
            settings["match"],
            run.cache,
        )
        lm = format_choice.choose_prompt_format(lm, wanted, *asked).lm
    else:
        lm = format_choice.model_with_bare_or_chat_format(lm, wanted)
    asked_with = settings | {"cache": run.cache}
    chosen: dict[str, Any] = {}
    with probing.work_counter(lm) as work:
        if hasattr(study, "settings_chosen_on_model"):
            chosen = study.settings_chosen_on_model(lm, **settings_for_function(study.settings_chosen_on_model, asked_with))
        answers = study.ask(lm, **settings_for_function(study.ask, asked_with | chosen))
    facts = study.facts(answers, **settings_for_function(study.facts, settings))
    summary = study.summary(
        facts, n_resamples=settings["n_bootstrap"], seed=settings["seed"]
    )
    level = summary["relation"].eq("all").map({True: "run", False: "relation"})
    if hasattr(study, "source"):
        source = study.source(settings, lm.name)
    else:
        source = datasets.source_record(settings["dataset"])
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
