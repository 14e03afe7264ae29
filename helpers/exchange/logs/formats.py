"""Other formats of answers and runs as data: which of their paths holds what (`formats.toml`)."""

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
    """Return values nested as a format has them; those that are None or not given are left out."""
    found: dict[str, Any] = {}
    for path, name in paths.items():
        if values.get(name) is None:
            continue
        *above, last = path.split(".")
        place = found
        for part in above:
            place = place.setdefault(part, {})
        place[last] = values[name]
    return found


def flat_record(paths: Mapping[str, str], record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a format's record by our names, None where it has nothing."""
    found = {}
    for path, name in paths.items():
        value: Any = record
        for part in path.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        found[name] = value
    return found
