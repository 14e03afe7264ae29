"""One log, whichever tool wrote it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers import UserError

MARKS = {"C": True, "I": False, "N": False, "1": True, "0": False, "True": True, "False": False}


@dataclass(frozen=True)
class Log:
    """One log: `rows` are its answers by document, `kind` is "choices" or "texts".

    A row's ``repeats`` are the other answers to its prompt, each with its mark or None.
    """

    path: Path
    tool: str
    kind: str
    task: str
    model: str
    rows: dict[str, dict[str, Any]]
    notes: list[str]


def mark(value: Any, metric: str, where: str) -> bool:
    """Return a mark as right or wrong; refuse one in between."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if str(value) not in MARKS:
        raise UserError(
            f"{where} has {value} for {metric or 'a metric'}, neither right nor wrong: use a "
            "metric such as exact_match."
        )
    return MARKS[str(value)]
