"""Measure a model by studies, without a notebook: ask, compute, save a run of each."""

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from helpers import UserError, datasets, models, probing, runs
from helpers.models import LanguageModel
from helpers.probing import prompt_formats
from helpers.runs import store
from helpers.runs.panel import asking
from helpers.studies import STUDIES, fitting, settings

FOLDER = runs.RUNS / "measured"
# What a run takes besides its study's own settings.
ALSO = {
    "prompt_format": "",
    "device": "",
    "dtype": "",
    "trust_remote_code": False,
    "n_panel": 0,
}
ALSO |= {"seed": 0, "n_bootstrap": 1000}


class Measured(NamedTuple):
    """One run: its study's name, its folder, and the summary of its facts."""

    study: str
    folder: Path
    summary: pd.DataFrame


def declared(name: str) -> dict[str, Any]:
    """Return the settings of a run of a study, with their defaults."""
    if name not in STUDIES:
        raise UserError(f"There is no study {name}: choose from {', '.join(STUDIES)}.")
    return ALSO | settings(STUDIES[name])


def measure(
    model: str,
    names: Sequence[str] = (),
    given: Mapping[str, Any] | None = None,
    folder: str | Path = FOLDER,
) -> Iterator[Measured]:
    """Measure a model by one study after another, and save a run of each; none stops another."""
    failed, given, chosen = [], dict(given or {}), list(names or STUDIES)
    known = {name: declared(name) for name in chosen}
    for setting in given:
        if not any(setting in each for each in known.values()):
            every = sorted(set().union(*known.values()))
            raise UserError(f"No study takes {setting}: they take {', '.join(every)}.")
    of = {
        name: given.get(name, ALSO[name])
        for name in ("device", "dtype", "trust_remote_code")
    }
    lm = models.load(model, **of | {"device": of["device"] or None})
    if lm.at_hand:
        number = str(lm.dtype).removeprefix("torch.")
        print(
            f"{lm.name} runs on {lm.device} in {lm.quantization or number}.",
            file=sys.stderr,
        )
    for name in chosen:
        values = known[name] | {k: v for k, v in given.items() if k in known[name]}
        place = Path(folder) / lm.slug / name
        try:
            with store.alone(place):
                _tell_replaced(place, values)
                found = measure_one(name, lm, values, place)
        except UserError as error:
            failed.append(f"{name}: {error}")
        else:
            yield found
    if failed:
        raise UserError(" ".join(failed))


def _tell_replaced(place: Path, values: Mapping[str, Any]) -> None:
    """Say that a run with other settings gives way to the one that begins, if one is there."""
    with contextlib.suppress(UserError):
        before = store.manifest(place)["parameters"]
        text = partial(json.dumps, default=str)  # a tuple comes back as a list
        kept = [name for name in values if name in before]
        if other := [name for name in kept if text(before[name]) != text(values[name])]:
            print(
                f"{place}: the run with another {', '.join(other)} is replaced.",
                file=sys.stderr,
            )


def measure_one(
    name: str, lm: LanguageModel, given: Mapping[str, Any], folder: Path
) -> Measured:
    """Measure a loaded model by one study, with all that :func:`declared` names, and save it."""
    study = STUDIES[name]
    run = runs.start(name, given | {"model": lm.name}, folder)
    wanted = given["prompt_format"]
    if getattr(study, "WRAPPED", False):
        few = datasets.load(
            given["dataset"], n=given["n_facts"] or None, seed=given["seed"]
        )
        asked = (given["dataset"], few, given["seed"], given["match"], run.cache)
        lm = prompt_formats.choose(lm, wanted, *asked).lm
    else:
        lm = prompt_formats.own(lm, wanted)
    asked_with = given | {"cache": run.cache}
    chosen: dict[str, Any] = {}
    with probing.metered(lm) as work:
        if hasattr(study, "choose"):
            chosen = study.choose(lm, **fitting(study.choose, asked_with))
        answers = study.ask(lm, **fitting(study.ask, asked_with | chosen))
    facts = study.facts(answers, **fitting(study.facts, given))
    summary = study.summary(facts, n_resamples=given["n_bootstrap"], seed=given["seed"])
    level = summary["relation"].eq("all").map({True: "run", False: "relation"})
    if hasattr(study, "source"):
        source = study.source(given, lm.name)
    else:
        source = datasets.source(given["dataset"])
    panel = asking.ask(run, lm, chosen) if "dataset" in given else None
    runs.save(
        run,
        answers=answers,
        metrics=summary.assign(level=level),
        model=models.describe(lm),
        dataset=source,
        extra={
            "scoring": probing.method(lm),
            "panel": panel,
            "work": dict(work),
            **chosen,
        },
    )
    return Measured(name, run.folder, summary)
