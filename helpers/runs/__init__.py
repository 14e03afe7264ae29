"""Finished runs: kept, found again, compared, and asked the panel of facts."""

from helpers.runs.store import (
    PROJECT_FOLDER,
    RUNS_FOLDER,
    SYNTHESIS,
    Run,
    load,
    load_answers,
    load_manifest,
    load_metrics,
    parameters,
    path_from_project,
    save,
    settings_of_run,
    start,
)

__all__ = [
    "PROJECT_FOLDER",
    "RUNS_FOLDER",
    "SYNTHESIS",
    "Run",
    "load",
    "load_answers",
    "load_manifest",
    "load_metrics",
    "parameters",
    "path_from_project",
    "save",
    "settings_of_run",
    "start",
]
