"""What a chapter on a model asks of a cluster: a table to edit, and a model's size."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from helpers import UserError
from helpers.models import checkpoints, hub

MEBIBYTES_PER_GIBIBYTE = 1024


def read_resource_table(path: Path) -> dict[str, Any]:
    """Return a table of resources, of which every size and chapter can be asked."""
    try:
        table = yaml.safe_load(path.read_text(encoding="utf-8"))
        for chapter in table["minutes"]:
            for size in table["sizes"].values():
                job_resources(table, chapter, size["up_to"])
        job_resources(table, "other", None)
    except (OSError, yaml.YAMLError) as error:
        raise UserError(
            f"{path} cannot be read: {' '.join(str(error).split())}."
        ) from error
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise UserError(
            f"{path} is wrong at {error}: it needs sizes, each with up_to, gpus, cpus "
            "and memory_gb, and minutes of each chapter, and of other, for every size."
        ) from error
    return table


def job_resources(
    table: dict[str, Any], chapter: str, billions: float | None
) -> dict[str, int]:
    """Return what a chapter on a model of a size asks for."""
    name = _size_name(table["sizes"], billions)
    size = table["sizes"][name]
    minutes = table["minutes"]
    return {
        "gpu": int(size["gpus"]),
        "cpus": max(1, int(size["cpus"])),
        "mem_mb": int(size["memory_gb"] * MEBIBYTES_PER_GIBIBYTE),
        "runtime": max(1, round(minutes.get(chapter, minutes["other"])[name])),
    }


def _size_name(sizes: dict[str, Any], billions: float | None) -> str:
    """Return the smallest size that a model fits in; the largest if none is known."""

    def limit(name: str) -> float:
        return sizes[name]["up_to"]

    ordered = sorted(sizes, key=limit)
    if billions is not None:
        for name in ordered:
            if billions <= limit(name):
                return name
    return ordered[-1]


@cache
def billions_of_parameters(model: str) -> float | None:
    """Return a model's parameters in billions, from headers of weights, or None."""
    if not model:
        return 0.0
    from helpers.models import placement  # torch: only where there is a table

    try:
        on_hub = checkpoints.repository_and_revision(model)
        if on_hub is None:
            weights = checkpoints.find_checkpoint(model).weights
            return placement.count_parameters(weights) / 1e9
        return hub.parameter_count_on_hub(*on_hub) / 1e9
    except Exception:  # no reason to stop: the model's run will tell
        return None
