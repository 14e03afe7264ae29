"""The one shape of all questions with options, and your own from a table.

A CSV, TSV or Parquet file or JSON lines have the columns ``question, options, answer``:
``options`` is a list, or texts parted by "|" (:mod:`helpers.datasets.cells`) or lines;
``answer`` is the text of the correct option or its number from 0. Optional: ``item`` (a
name), ``relation`` (a topic) and ``paraphrases`` (other wordings, as options are).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.datasets import fact_identity
from helpers.datasets.cells import cell_text, cell_texts
from helpers.datasets.registry import record_of_own_files
from helpers.io import files
from helpers.io.user_cache import checksum_of_files

ITEM_COLUMNS = ("item", "relation", "question", "options", "answer")
CSV_COLUMNS = ("question", "options", "answer")
OPTIONAL_COLUMNS = ("item", "relation", "paraphrases")
FACT_KEYS = {"relations", "subject", "object", "taxonomy"}  # of files of facts
TABLE_ENDINGS = (".csv", ".tsv", ".parquet")
# A whole number from a column in which another cell was empty, such as "1.0".
_FRACTION_OF_NOTHING = re.compile(r"(?<=\d)\.0+$")
N_SHOTS = 6  # demonstrations before your own questions


@dataclass(frozen=True)
class Benchmark:
    """A set of questions with options.

    `items` have a unique ``item``, a ``relation`` (topic, "" if there are none),
    ``question``, ``options`` (list of texts) and ``answer`` (number of the correct one,
    from 0), perhaps ``paraphrases``, or the facts' own columns. `pool` holds
    demonstrations in the same columns; one whose relation is not "" serves that alone.
    `style` is one of `helpers.prompts.prompt_texts.QUESTION_STYLES`, `kinds` are the
    variations that can be made, the study's own first, and `n_shots` its number of
    demonstrations. `about` and `notes` are for a run's manifest and its reader.
    """

    items: pd.DataFrame
    pool: pd.DataFrame
    style: str
    kinds: tuple[str, ...]
    n_shots: int
    about: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def sample(self, n: int | None, seed: int) -> "Benchmark":
        """Return the benchmark with n items drawn at random; None keeps all.

        The items for a smaller n are among those for a larger one.
        """
        if n is not None and n < 1:
            raise UserError(f"The number of items must be at least 1, not {n}.")
        if n is None or n >= len(self.items):
            return self
        order = np.random.default_rng(seed).permutation(len(self.items))
        items = self.items.iloc[sorted(order[:n])]
        return replace(self, items=items.reset_index(drop=True))


def item_table(rows: Iterable[Mapping[str, Any]], where: Path | str) -> pd.DataFrame:
    """Return items as a table; refuse one without two options and a correct one."""
    rows = list(rows)
    if not rows:
        raise UserError(f"{where} holds no questions.")
    names = set()
    for row in rows:
        place = row.get("where") or f"{where}: item {row['item']}"
        _check_item(row, place)
        if row["item"] in names:
            raise UserError(
                f"{place} repeats the item's name {row['item']}; give each its own."
            )
        names.add(row["item"])
    return pd.DataFrame(rows).drop(columns="where", errors="ignore")


def _check_item(row: Mapping[str, Any], place: str) -> None:
    """Refuse an item that cannot be asked or has no correct option."""
    options = row["options"]
    if len(options) < 2:
        raise UserError(
            f"{place} has one option only; give two or more, or leave it out."
        )
    for option in options:
        if not isinstance(option, str) or not option.strip():
            raise UserError(f"{place} has an empty option; give each a text.")
    if not 0 <= row["answer"] < len(options):
        raise UserError(
            f"{place} has no correct option; give as its answer one of "
            f"{', '.join(options)}."
        )
    if not str(row["question"]).strip():
        raise UserError(f"{place} has no question.")


def holds_own_questions(path: Path) -> bool:
    """Tell whether a file is a table, or JSON lines of other things than facts."""
    ending = path.suffix.casefold()
    if ending in TABLE_ENDINGS:
        return True
    if ending not in (".json", ".jsonl"):
        return False
    first = files.first_json_object(path)
    if first:
        return FACT_KEYS.isdisjoint(first)
    # A list of records in one file; facts are never written so.
    is_file = path.is_file()
    return is_file and next(files.read_lines(path), "").lstrip().startswith("[")


def read_own_questions(path: Path) -> Benchmark:
    """Read your own questions; demonstrations are the other questions of the file."""
    records = files.read_records(path, CSV_COLUMNS, OPTIONAL_COLUMNS)
    rows = []
    for number, record in enumerate(records):
        rows.append(_item_of_row(number, record))
    items = item_table(rows, path)
    fact_identity.check_names_of_relations(items["relation"], path.name)
    fact_identity.check_one_key_a_question(items, path.name)
    items, notes = fact_identity.questions_once(items, path.name)
    kinds: tuple[str, ...] = ("demonstrations", "order", "options")
    if "paraphrases" in items:
        n_paraphrases = items["paraphrases"].map(len)
        if n_paraphrases.min() > 0:
            kinds = ("paraphrases", *kinds)
    checksum = checksum_of_files([path])
    return Benchmark(
        items=items,
        pool=items.assign(relation=""),
        style="question",
        kinds=kinds,
        n_shots=N_SHOTS,
        about=record_of_own_files(path.stem, path, checksum),
        notes=notes,
    )


def _item_of_row(number: int, row: dict[str, Any]) -> dict[str, Any]:
    """Return the item in a row of a table."""
    where = row["where"]
    options = cell_texts(row["options"], where, keep_lines=True)
    if len(options) == 1:  # parted by line breaks, as a spreadsheet's cell can be
        options = list(filter(None, options[0].splitlines()))
    keys = list(map(_option_key, options))
    for place, key in enumerate(keys):
        first = keys.index(key)
        if first < place and options[place]:
            raise UserError(
                f"{where} lists the option {options[first]!r} twice, the second time "
                f"as {options[place]!r}: list each once."
            )
    answer = cell_text(row["answer"], where, keep_lines=True)
    item = {
        "item": cell_text(row.get("item"), where) or f"row-{number:04d}",
        "relation": cell_text(row.get("relation"), where),
        "question": cell_text(row["question"], where, keep_lines=True),
        "options": options,
        "answer": _place_of_answer(answer, options),
    }
    if "paraphrases" in row:
        paraphrases = cell_texts(row["paraphrases"], where, keep_lines=True)
        item["paraphrases"] = list(filter(None, paraphrases))
    item["where"] = where
    return item


def _option_key(text: str) -> str:
    """Return what spellings of an option share, but for case, space and a full stop."""
    return fact_identity.folded_text(text).removesuffix(".").rstrip()


def _place_of_answer(answer: str, options: list[str]) -> int:
    """Return the place of an option, given as its text or its number; -1 for none."""
    if answer in options:
        return options.index(answer)
    number = _FRACTION_OF_NOTHING.sub("", answer)
    if number.isdecimal() and int(number) < len(options):
        return int(number)
    keys = list(map(_option_key, options))
    key = _option_key(answer)
    return keys.index(key) if key in keys else -1
