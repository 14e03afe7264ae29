"""The one shape of all questions with options, and your own from a CSV file.

The CSV has the columns ``question, options, answer``: ``options`` is a JSON list, or
texts parted by "|"; ``answer`` is the text of the correct option or its number from 0.
Optional: ``item`` (a name), ``relation`` (a topic) and ``paraphrases`` (other wordings,
written as the options are).
"""

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.datasets.registry import record_of_own_files
from helpers.io import files
from helpers.io.user_cache import checksum_of_files

ITEM_COLUMNS = ("item", "relation", "question", "options", "answer")
CSV_COLUMNS = ("question", "options", "answer")


@dataclass(frozen=True)
class Benchmark:
    """A set of questions with options.

    `items` have a unique ``item``, a ``relation`` (topic, "" if there are none),
    ``question``, ``options`` (list of texts) and ``answer`` (number of the correct one,
    from 0), perhaps ``paraphrases``, or the facts' own columns. `pool` holds
    demonstrations in the same columns; one whose relation is not "" serves that alone.
    `style` is one of `helpers.prompts.prompt_texts.QUESTION_STYLES`, `kinds` are the variations that
    can be made, the study's own first, and `n_shots` its number of demonstrations.
    `about` and `notes` are for a run's manifest and its reader.
    """

    items: pd.DataFrame
    pool: pd.DataFrame
    style: str
    kinds: tuple[str, ...]
    n_shots: int
    about: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def sample(self, n: int | None, seed: int) -> "Benchmark":
        """Return the benchmark with n items drawn at random, fewer among more; None keeps all."""
        if n is not None and n < 1:
            raise UserError(f"The number of items must be at least 1, not {n}.")
        if n is None or n >= len(self.items):
            return self
        places = np.random.default_rng(seed).permutation(len(self.items))[:n]
        return replace(
            self, items=self.items.iloc[sorted(places)].reset_index(drop=True)
        )


def item_table(rows: Iterable[Mapping[str, Any]], where: Path | str) -> pd.DataFrame:
    """Return items as a table, each checked: two options or more, and a correct one among them."""
    rows = list(rows)
    if not rows:
        raise UserError(f"{where} holds no questions.")
    names = set()
    for row in rows:
        name = row.get("where") or f"{where}: item {row['item']}"
        if len(row["options"]) < 2:
            raise UserError(
                f"{name} has one option only; give two or more, or leave it out."
            )
        if not all(isinstance(text, str) and text.strip() for text in row["options"]):
            raise UserError(f"{name} has an empty option; give each a text.")
        if not 0 <= row["answer"] < len(row["options"]):
            known = ", ".join(row["options"])
            raise UserError(
                f"{name} has no correct option; give as its answer one of {known}."
            )
        if not str(row["question"]).strip():
            raise UserError(f"{name} has no question.")
        if row["item"] in names:
            raise UserError(
                f"{name} repeats the item's name {row['item']}; give each its own."
            )
        names.add(row["item"])
    return pd.DataFrame(rows).drop(columns="where", errors="ignore")


def read_question_csv(path: Path) -> Benchmark:
    """Read your own questions; demonstrations are the other questions of the file."""
    items = item_table(
        [_row(n, row) for n, row in enumerate(files.read_csv_rows(path, CSV_COLUMNS))],
        path,
    )
    kinds = ("demonstrations", "order", "options")
    if "paraphrases" in items and items["paraphrases"].map(len).min() > 0:
        kinds = ("paraphrases", *kinds)
    again = items["question"].duplicated()
    notes = ()
    if again.any():
        first = items.loc[again, "question"].iloc[0]
        notes = (
            f'Questions that {path.name} repeats: {again.sum()}, such as "{first}".',
        )
    about = record_of_own_files(path.stem, path, checksum_of_files([path]))
    return Benchmark(
        items, items.assign(relation=""), "question", kinds, 6, about, notes
    )


def _row(number: int, row: dict[str, str]) -> dict:
    options = split_cell_into_texts(row["options"])
    answer = row["answer"].strip()
    plain = [text.casefold() for text in options]
    if double := next(
        (text for text in options if plain.count(text.casefold()) > 1), None
    ):
        raise UserError(
            f"{row['where']} lists the option {double!r} twice, or in other case: list each once."
        )
    place = options.index(answer) if answer in options else -1
    if place < 0 and answer.isdecimal() and int(answer) < len(options):
        place = int(answer)
    name, topic = row.get("item") or f"row-{number:04d}", row.get("relation") or ""
    values = dict(
        zip(ITEM_COLUMNS, (name, topic, row["question"].strip(), options, place))
    )
    if "paraphrases" in row:
        values["paraphrases"] = split_cell_into_texts(row["paraphrases"] or "")
    return values | {"where": row["where"]}


def split_cell_into_texts(cell: str) -> list[str]:
    """Take a cell apart: a JSON list, or texts parted by "|"."""
    if cell.lstrip().startswith("["):
        with contextlib.suppress(
            UserError
        ):  # no list after all: a text that begins with a bracket
            return [str(text).strip() for text in files.parse_json(cell, "the cell")]
    return [part.strip() for part in cell.split("|") if part.strip()]
