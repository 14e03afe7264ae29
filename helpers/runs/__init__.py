"""Finished runs: kept, found again, compared, and asked the panel of facts."""

from helpers.runs.store import (
    ROOT,
    RUNS,
    SYNTHESIS,
    Run,
    answers,
    load,
    manifest,
    metrics,
    parameters,
    save,
    settings_of_run,
    shown,
    start,
)

__all__ = [
    "ROOT",
    "RUNS",
    "SYNTHESIS",
    "Run",
    "answers",
    "load",
    "manifest",
    "metrics",
    "parameters",
    "save",
    "settings_of_run",
    "shown",
    "start",
]
