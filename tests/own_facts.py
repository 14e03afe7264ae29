"""Facts of one's own, in the format that the data page documents."""

import json
from collections.abc import Sequence
from pathlib import Path


def write_own_facts(
    folder: Path,
    n: int,
    relation: str = "author",
    wrong: Sequence[str] = ("Ibsen", "Dante"),
    n_objects: int = 6,
) -> Path:
    """Write `n` facts of a relation with one question, and return their folder."""
    folder.mkdir(exist_ok=True)
    rows = [
        {
            "subject": f"book {k}",
            "object": f"writer {k % n_objects}",
            "taxonomy": list(wrong),
        }
        for k in range(n)
    ]
    lines = map(json.dumps, [{"relations": ["Who wrote [X]?"]}, *rows])
    (folder / f"{relation}.json").write_text("\n".join(lines), encoding="utf-8")
    return folder
