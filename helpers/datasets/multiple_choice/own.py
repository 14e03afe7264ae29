"""Your own questions: a CSV with the columns question, options and answer.

``options`` is a JSON list, or texts parted by "|"; ``answer`` is the text of the correct option
or its number from 0. Optional: ``item`` (a name), ``relation`` (a topic) and ``paraphrases``
(other wordings of the question, written as the options are).
"""

import json
from pathlib import Path

from helpers import UserError
from helpers.datasets import download, files
from helpers.datasets.multiple_choice import benchmark

COLUMNS = ("question", "options", "answer")


def read(paths: list[Path]) -> benchmark.Benchmark:
    """Read one CSV file; demonstrations are its other questions."""
    path = paths[0]
    items = benchmark.table(
        [_row(n, row) for n, row in enumerate(files.csv_rows(path, COLUMNS))], path
    )
    kinds = ("demonstrations", "order", "options")
    if "paraphrases" in items and items["paraphrases"].map(len).min() > 0:
        kinds = ("paraphrases", *kinds)
    again = items["question"].duplicated()
    notes = ()
    if again.any():
        first = items.loc[again, "question"].iloc[0]
        notes = (f'Questions that {path.name} repeats: {again.sum()}, such as "{first}".',)
    about = {"name": path.stem, "title": path.name, "url": str(path.resolve()), "licence": ""}
    about |= {"version": "", "citation": "", "checksum": download.checksum([path])}
    return benchmark.Benchmark(items, items.assign(relation=""), "question", kinds, 6, about, notes)


def _row(number: int, row: dict[str, str]) -> dict:
    options = texts(row["options"])
    answer = row["answer"].strip()
    double = next((text for text in options if options.count(text) > 1), None)
    if double:
        raise UserError(f"{row['where']} lists the option {double!r} twice: list each once.")
    place = options.index(answer) if answer in options else -1
    if place < 0 and answer.isdigit() and int(answer) < len(options):
        place = int(answer)
    if place < 0 and len(options) > 1:
        raise UserError(
            f"{row['where']} has the answer {answer!r}, which is none of its options "
            f"{', '.join(options)}: write one of them, or its number from 0."
        )
    found = {
        "item": row.get("item") or f"row-{number:04d}",
        "relation": row.get("relation") or "",
        "question": row["question"].strip(),
        "options": options,
        "answer": place,
        "where": row["where"],
    }
    return found | (
        {"paraphrases": texts(row["paraphrases"] or "")} if "paraphrases" in row else {}
    )


def texts(cell: str) -> list[str]:
    """Take a cell apart: a JSON list, or texts parted by "|".

    >>> texts('["Bern", "Basel"]'), texts("Bern | Basel")
    (['Bern', 'Basel'], ['Bern', 'Basel'])
    """
    if cell.lstrip().startswith("["):
        try:
            return [str(text).strip() for text in json.loads(cell)]
        except json.JSONDecodeError:
            pass  # no list after all: a text that begins with a bracket
    return [part.strip() for part in cell.split("|") if part.strip()]
