"""Other formats of answers and runs as data: which path holds what (`formats.toml`)."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

EXCHANGE_FORMATS = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)


def nested_record(
    paths: Mapping[str, str], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return values nested as a format has them, without those that are None."""
    nested: dict[str, Any] = {}
    for path, name in paths.items():
        if values.get(name) is None:
            continue
        *parents, key = path.split(".")
        place = nested
        for parent in parents:
            place = place.setdefault(parent, {})
        place[key] = values[name]
    return nested


def flat_record(paths: Mapping[str, str], record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a format's record by our names, None where it has nothing."""
    flat = {}
    for path, name in paths.items():
        value: Any = record
        for key in path.split("."):
            value = value.get(key) if isinstance(value, Mapping) else None
        flat[name] = value
    return flat
