"""Med-HALT, reasoning with fake questions: the right answer is to say "I do not know".

Source: Pal, Umapathi and Sankarasubbu 2023. ``options`` is a Python dict in a cell; there is no
column with the answer. Ten of the 1,858 rows are left out, nine without an option "I do not know"
(in any case, with or without a full stop) and one with a single option; where that option stands
twice, the last one counts and the other is dropped. A file with JSON or Python options and a column
``correct_index`` (or ``cop``), as the other reasoning files of Med-HALT have, is read too.
"""

import ast
import re
from pathlib import Path

from helpers import UserError
from helpers.datasets import files
from helpers.datasets.multiple_choice import benchmark

COMMIT = "3dfe1e4efa4f565a610e90328500b14c16c1e81c"
SOURCE = benchmark.Source(
    name="medhalt",
    title="Med-HALT, reasoning (fake questions)",
    licence="",
    url=f"https://github.com/medhalt/medhalt/tree/{COMMIT}/medhalt/datasets",
    version=COMMIT,
    citation="Pal, Umapathi and Sankarasubbu (2023). Med-HALT. CoNLL 2023.",
    base=f"https://raw.githubusercontent.com/medhalt/medhalt/{COMMIT}/medhalt/datasets/",
    files={
        "reasoning_fake.csv": "dda54bf6dd053854af5878acd44ed3ff8ae57dcfa8b202c3164cf853ad0faefe"
    },
)
PATTERNS = ("reasoning_*.csv",)
UNKNOWN = "i do not know"
ANSWERS = ("correct_index", "cop")


def read(paths: list[Path]) -> benchmark.Benchmark:
    """Read the reasoning files; an item's relation is its medical subject."""
    found = [_rows(path) for path in paths]
    items = benchmark.table((item for items, _ in found for item in items), paths[0])
    return benchmark.Benchmark(
        items=items,
        pool=items.head(0),
        style="medhalt",
        kinds=("options",),
        n_shots=0,
        about=SOURCE.about(paths, sum(n for _, n in found)),
    )


def _rows(path: Path) -> tuple[list[dict], int]:
    """Return the items of a file and its number of rows."""
    rows, found = files.csv_rows(path, ("question", "options")), []
    for number, row in enumerate(rows):
        options = parse(row["options"], row["where"])
        column = next((name for name in ANSWERS if row.get(name)), None)
        if column is None:
            options, answer = unknown_last(options)
        else:
            answer = int(row[column]) if row[column].isdigit() else -1
        if column is None and (answer < 0 or len(options) < 2):
            continue  # nothing to choose, or no answer that the study would call right
        topic = row.get("subject_name") or ""
        name = f"{path.stem}-{number:04d}"
        question = row["question"].strip()
        values = (name, topic, question, options, answer)
        found.append(dict(zip(benchmark.COLUMNS, values), where=row["where"]))
    return found, len(rows)


def parse(cell: str, where: str) -> list[str]:
    """Take the Python dict of a cell apart, in the order of its numbers.

    >>> parse("{'1': 'No', '0': 'Yes', 'correct answer': 'No'}", "row 1")
    ['Yes', 'No']
    """
    try:
        found = ast.literal_eval(cell)
    except (ValueError, SyntaxError):
        found = None
    if not isinstance(found, dict):
        raise UserError(f"{where}: `options` must be a dict such as {{'0': 'Yes', '1': 'No'}}.")
    named = [(str(key), str(text).strip()) for key, text in found.items()]
    numbered = sorted((int(key), text) for key, text in named if key.isdigit())
    return [text for _, text in numbered if text]


def unknown_last(options: list[str]) -> tuple[list[str], int]:
    """Return the options with one "I do not know", at its last place, and that place or -1.

    >>> unknown_last(["a", "I do not know.", "I Do Not Know"])
    (['a', 'I Do Not Know'], 1)
    >>> unknown_last(["a", "b"])
    (['a', 'b'], -1)
    """
    places = [n for n, text in enumerate(options) if _is_unknown(text)]
    if not places:
        return options, -1
    kept = [text for n, text in enumerate(options) if n not in places[:-1]]
    return kept, places[-1] - len(places) + 1


def _is_unknown(text: str) -> bool:
    return re.sub(r"[^a-z ]", "", text.casefold()).strip() == UNKNOWN
