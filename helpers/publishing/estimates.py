"""What a sweep will cost, before it starts: tokens from the probes, seconds from a calibration.

The probes of a chapter are those of a run with the same settings on any model, the pilot; where
there is none, the chapter runs once on the smallest bundled model. Each model is then loaded,
answers a sample of them, and is timed: what a run takes is what the pilot took, and the difference
between the two models' work. Times hold for the machine on which they were measured.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import UserError, models, runs
from helpers.models import LanguageModel, checkpoints, tokens
from helpers.models.checkpoints import slug
from helpers.probing import generate, score, score_and_generate, scoring
from helpers.publishing import jobs, settings
from helpers.publishing.jobs import TEMPLATES
from helpers.publishing.sweeps import Sweep

SAMPLE = 30  # items whose probes a model is timed on
PILOTS = ".pilot"


@dataclass(frozen=True)
class Cost:
    """What one model's answers to a chapter's probes take, and how long it takes to load."""

    probes: int
    tokens: int
    seconds: float


def estimate(sweep: Sweep) -> pd.DataFrame:
    """Return what each run of a sweep takes."""
    names = [name for name in sweep.chapters if jobs.kind(name) != "synthesis"]
    pilots = {name: _pilot(sweep, name) for name in names}
    costs: dict[str, dict[str, Cost]] = {}
    _loaded(min(checkpoints.bundled(), key=_size, default=sweep.models[0]), ())  # imports, once
    asked = dict.fromkeys([*(p.manifest["model"]["name"] for p in pilots.values()), *sweep.models])
    for model in asked:
        lm, seconds = _loaded(model, sweep.given)
        costs[model] = {name: _cost(lm, pilots[name].folder, seconds) for name in names}
    rows = []
    for model in sweep.models:
        for name, pilot in pilots.items():
            own, base = costs[model][name], costs[pilot.manifest["model"]["name"]][name]
            total = max(own.seconds, pilot.seconds + own.seconds - base.seconds)
            measured = _measured(sweep, model, name)
            row = {"model": model, "chapter": name, "probes": own.probes, "tokens": own.tokens}
            rows.append(row | {"seconds": total, "measured": measured})
    table = pd.DataFrame(rows)
    return table.assign(error=table["seconds"] / table["measured"] - 1)


def report(table: pd.DataFrame) -> str:
    """Return an estimate as lines for the terminal, with its sum.

    >>> row = {"model": "m", "chapter": "monitor", "probes": 20, "tokens": 1500, "seconds": 12.3}
    >>> print(report(pd.DataFrame([{**row, "measured": 10.0, "error": 0.23}])))
    model chapter  probes  tokens seconds measured error
        m monitor      20    1500      12       10  +23%
    1 run: 1500 tokens, about 0.2 minutes one after another on this machine
    """
    formats = {"seconds": "{:.0f}", "measured": "{:.0f}", "error": "{:+.0%}"}
    shown = {
        name: [text.format(value) if value == value else "" for value in table[name]]
        for name, text in formats.items()
    }
    total, count = table["seconds"].sum() / 60, len(table)
    return (
        f"{table.assign(**shown).to_string(index=False)}\n"
        f"{count} run{'s' * (count > 1)}: {table['tokens'].sum()} tokens, about {total:.1f} "
        "minutes one after another on this machine"
    )


def _pilot(sweep: Sweep, chapter: str) -> Any:
    """Return the row, as ``runs.load`` gives it, of a run whose probes are the sweep's."""
    found = _alike(sweep, chapter, sweep.runs)
    if found.empty:
        smallest = min(checkpoints.bundled(), key=_size, default=sweep.models[0])
        folder = sweep.runs / PILOTS
        call = [sys.executable, "-m", "helpers", "run", chapter, "--model", smallest]
        call += ["--runs", str(folder), "--set", *jobs.fitting(chapter, sweep.given)]
        print(f"The probes of {chapter} are not known yet: it runs on {smallest}", file=sys.stderr)
        done = subprocess.run(call, cwd=runs.ROOT, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise UserError(done.stderr.strip().splitlines()[-1].removeprefix("error: "))
        found = _alike(sweep, chapter, folder)
    return next(found.sort_values("seconds").itertuples())


def _alike(sweep: Sweep, chapter: str, folder: Path) -> pd.DataFrame:
    """Return the finished runs of a chapter that have the sweep's settings."""
    template = TEMPLATES / f"{chapter}.ipynb"
    given = settings.read(template, jobs.fitting(chapter, sweep.given))
    wanted = settings.declared(template) | given
    free = {name: value for name, value in wanted.items() if name not in settings.FIXED}
    found = runs.load(folder).query("chapter == @chapter")
    same = [all(told.get(k) == v for k, v in free.items()) for told in found["parameters"]]
    return found[pd.Series(same, found.index, dtype=bool)]


def _size(model: str) -> int:
    return sum(file.stat().st_size for file in checkpoints.find(model).weights)


def _loaded(model: str, given: tuple[str, ...]) -> tuple[LanguageModel, float]:
    """Return a model, as the settings say, and how long it took."""
    began = time.monotonic()
    trusted = "trust_remote_code=yes" in given
    lm = models.load(model, chat="prompt_format=chat" in given, trust_remote_code=trusted)
    return lm, time.monotonic() - began


def _cost(lm: LanguageModel, pilot: Path, loading: float) -> Cost:
    """Count what the probes of a pilot take of a model, and time it on a sample of them."""
    answers = runs.answers(pilot)
    scored = answers[answers["continuation"].notna()] if "continuation" in answers else answers[:0]
    said, together = _said(answers), "anchor_logprobs" in answers
    few = _sample(answers["item"])
    longest = _longest(lm, said) if len(said) else 0
    count, seconds = longest * len(said), loading
    if len(scored):
        part = scored[scored["item"].isin(few)].drop(columns=["logprobs", "tokens", "read"])
        score(lm, part[:2], progress=False)  # the first pass of a model is slower
        whole, some = (scoring.work(lm, table)["forwarded"] for table in (scored, part))
        ask = partial(score, lm, part)
        if together:
            ask = partial(score_and_generate, lm, part, part["text"].notna(), longest)
        seconds += _timed(partial(ask, progress=False)) * whole / max(1, some)
        count += whole
    if len(said) and not together:
        part = said[said["item"].isin(few)]
        generate(lm, list(part["prompt"][:1]), 1, progress=False)
        took = _timed(lambda: generate(lm, list(part["prompt"]), longest, progress=False))
        seconds += took * len(said) / max(1, len(part))
        count += _read(lm, said)
    return Cost(len(scored) + len(said), count, seconds)


def _said(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the prompts that were continued; a text beside a continuation is an option's text."""
    generated = "continuation" not in answers or "anchor_logprobs" in answers
    if not generated or "text" not in answers:
        return answers[:0]
    return answers[answers["text"].notna()].drop_duplicates("prompt")


def _sample(items: pd.Series) -> set[str]:
    """Return items evenly spread over all."""
    names = list(items.unique())
    return set(names[:: max(1, len(names) // SAMPLE)][:SAMPLE])


def _timed(work: Callable[[], object]) -> float:
    """Return the shorter of two times: what else a machine does makes times longer only."""
    took = []
    for _ in range(2):
        began = time.monotonic()
        work()
        took.append(time.monotonic() - began)
    return min(took)


def _longest(lm: LanguageModel, said: pd.DataFrame) -> int:
    """Return how many tokens the pilot's longest text has for a model, at least 1."""
    return max(1, *(len(lm.tokenizer(text).input_ids) for text in said["text"]))


def _read(lm: LanguageModel, said: pd.DataFrame) -> int:
    """Count the tokens of prompts that are to be continued."""
    return sum(len(lm.tokenizer(text).input_ids) for text in tokens.read(lm, list(said["prompt"])))


def _measured(sweep: Sweep, model: str, chapter: str) -> float:
    """Return the seconds of a run that is there with the sweep's settings, or not a number."""
    found = _alike(sweep, chapter, sweep.runs)
    own = found[[Path(folder).parent.name == slug(model) for folder in found["folder"]]]
    return float(own["seconds"].iloc[0]) if len(own) else float("nan")
