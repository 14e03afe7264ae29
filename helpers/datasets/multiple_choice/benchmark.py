"""The one shape of all benchmarks: items, demonstrations, and how the study asked them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.datasets.download import checksum

COLUMNS = ("item", "relation", "question", "options", "answer")


@dataclass(frozen=True)
class Benchmark:
    """A set of questions with options.

    Parameters
    ----------
    items : DataFrame
        ``item`` (unique name), ``relation`` (topic, "" if there are none), ``question``,
        ``options`` (list of texts), ``answer`` (number of the correct one, from 0); perhaps
        ``paraphrases`` (list of texts) or the atlas's own columns.
    pool : DataFrame
        Demonstrations in the same columns; one whose ``relation`` is not "" serves that alone.
    style : str
        How a question is put, one of `helpers.prompts.formats.STYLES`.
    kinds : tuple of str
        Kinds of variation that can be made, the study's own first.
    n_shots : int
        Demonstrations in the study.
    about : dict
        Where it comes from, for a run's manifest.
    notes : tuple of str
        Sentences on what a reader should know of the data.
    """

    items: pd.DataFrame
    pool: pd.DataFrame
    style: str
    kinds: tuple[str, ...]
    n_shots: int
    about: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def sample(self, n: int | None, seed: int) -> "Benchmark":
        """Return the benchmark with n items drawn at random, in their order; None keeps all.

        The items for a smaller n are among those for a larger one. The pool stays whole.
        """
        if n is not None and n < 1:
            raise UserError(f"The number of items must be at least 1, not {n}.")
        if n is None or n >= len(self.items):
            return self
        places = np.random.default_rng(seed).permutation(len(self.items))[:n]
        return replace(self, items=self.items.iloc[sorted(places)].reset_index(drop=True))


@dataclass(frozen=True)
class Source:
    """Where a benchmark's files are, and what a run's manifest tells of them.

    `version` is a commit, `base` what file names are put behind, `files` maps a name to its
    SHA-256, "" where we do not know it, and `patterns` are the names that copies of them may have.
    """

    name: str
    title: str
    licence: str
    url: str
    version: str
    citation: str
    base: str
    files: Mapping[str, str]
    patterns: Sequence[str]

    def about(self, paths: Iterable[Path], rows: int) -> dict[str, str]:
        """Return the record of a run's manifest, with the number of rows in the files."""
        keys = ("name", "title", "licence", "url", "version", "citation")
        known = {key: getattr(self, key) for key in keys}
        return known | {"checksum": checksum(sorted(paths)), "rows": str(rows)}


def table(rows: Iterable[Mapping[str, Any]], where: Path | str) -> pd.DataFrame:
    """Return items as a table, each checked: two options or more, and a correct one among them.

    >>> row = {"item": "1", "relation": "", "question": "Up?", "options": ["no"], "answer": 0}
    >>> table([row], "my.csv")
    Traceback (most recent call last):
        ...
    helpers.UserError: my.csv: item 1 has one option only; give two or more, or leave it out.
    """
    rows = list(rows)
    if not rows:
        raise UserError(f"{where} holds no questions.")
    names = set()
    for row in rows:
        name = row.get("where") or f"{where}: item {row['item']}"
        if len(row["options"]) < 2:
            raise UserError(f"{name} has one option only; give two or more, or leave it out.")
        if not all(isinstance(text, str) and text.strip() for text in row["options"]):
            raise UserError(f"{name} has an empty option; give each a text.")
        if not 0 <= row["answer"] < len(row["options"]):
            raise UserError(f"{name} has no correct option; name one of its options as the answer.")
        if not str(row["question"]).strip():
            raise UserError(f"{name} has no question.")
        if row["item"] in names:
            raise UserError(f"{name} repeats the item's name {row['item']}; give each its own.")
        names.add(row["item"])
    return pd.DataFrame(rows).drop(columns="where", errors="ignore")
