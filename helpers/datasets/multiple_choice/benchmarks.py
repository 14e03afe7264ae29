"""The readers of six published benchmarks; how their studies ask them is in ``sources.toml``."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import UserError
from helpers.datasets.multiple_choice.items import (
    ITEM_COLUMNS,
    Benchmark,
    item_table,
    split_cell_into_texts,
)
from helpers.datasets.registry import DATA_FOLDER, SOURCES
from helpers.io import files
from helpers.io.user_cache import checksum_of_files

# FACTOR's texts before the sentences: short ones, as the multiplicity study asks; those
# that the authors' own script reads (so spelt); and those spelt right.
CONTEXT_COLUMNS = ("context", "turncated_prefixes", "truncated_prefixes")
SENTENCE_COLUMNS = (
    "completion",
    "contradiction_0",
    "contradiction_1",
    "contradiction_2",
)
BEST_ANSWER_COLUMNS = ("Category", "Question", "Best Answer", "Incorrect Answers")
ANSWER_COLUMNS = ("correct_index", "cop")  # columns of Med-HALT
FEVER_LABELS, TRUE_FALSE_LABELS = ("SUPPORTS", "REFUTES"), ("True", "False")

BENCHMARKS_OF_SEVERAL_FILES = (
    "factor",
    "medhalt",
    "truefalse",
)  # whose files are asked together

Rows = list[dict[str, Any]]


def read_benchmark(name: str, paths: list[Path]) -> Benchmark:
    """Read a benchmark from its files; a training set beside them is for demonstrations."""
    source = SOURCES[name]
    train = [path for path in paths if path.name.startswith("train")][:1]
    asked = [path for path in paths if path not in train] or train
    if name not in BENCHMARKS_OF_SEVERAL_FILES:
        asked = sorted(asked, key=lambda path: path.suffix != ".json")[:1]
    items, many = _items(name, asked)
    if name == "truthfulqa":  # QA_PRIMER of its study's code, Apache-2.0
        shown = pd.read_csv(
            DATA_FOLDER / "truthfulqa_primer.csv", keep_default_na=False
        )
        rows = enumerate(zip(shown["question"], shown["answer"]))
        primer = [
            _item(f"primer-{n}", "", asked, [said], 0) for n, (asked, said) in rows
        ]
        pool = pd.DataFrame(primer).drop(columns="where")
    elif source.n_shots:
        pool = (_items(name, train)[0] if train else items).assign(relation="")
    else:
        pool = items.head(0)
    about = source.about(checksum_of_files(sorted({*asked, *train}))) | {
        "rows": str(many)
    }
    return Benchmark(
        items, pool, source.style, source.variations, source.n_shots, about
    )


def _items(name: str, paths: list[Path]) -> tuple[pd.DataFrame, int]:
    """Return the items of some files, and the number of rows in these."""
    columns, items_of = READERS[name, paths[0].suffix]
    found = {path: files.read_records(path, columns) for path in paths}
    items = (item for path, rows in found.items() for item in items_of(path, rows))
    where = paths[0].parent if len(paths) > 1 else paths[0]
    return item_table(items, where), sum(map(len, found.values()))


def _item(*values: Any, where: str = "", **more: Any) -> dict[str, Any]:
    return dict(zip(ITEM_COLUMNS, values)) | more | {"where": where}


def _mc1(_: Path, rows: Rows) -> Iterator[dict]:
    """Yield TruthfulQA's questions from ``mc_task.json`` (MC1)."""
    for number, one in enumerate(rows):
        marks = list(one["mc1_targets"].values())
        options = [option.strip() for option in one["mc1_targets"]]
        answer = marks.index(1) if marks.count(1) == 1 else -1
        head = (f"truthfulqa-{number:04d}", "", one["question"].strip())
        yield _item(*head, options, answer, where=one["where"])


def _best_and_incorrect(_: Path, rows: Rows) -> Iterator[dict]:
    """Take the best answer and all incorrect ones as options; empty parts are dropped."""
    for number, row in enumerate(rows):
        incorrect = [
            part.strip() for part in row["Incorrect Answers"].split(";") if part.strip()
        ]
        options = [row["Best Answer"].strip(), *incorrect]
        head = (f"truthfulqa-{number:04d}", row["Category"], row["Question"].strip())
        yield _item(*head, options, 0, where=row["where"])


def _continued(path: Path, rows: Rows) -> Iterator[dict]:
    """Yield FACTOR's texts: which of four sentences goes on with one; relations are the files."""
    column = next((name for name in CONTEXT_COLUMNS if rows and name in rows[0]), None)
    if rows and column is None:
        raise UserError(
            f"{path} lacks the text before the sentences: {' or '.join(CONTEXT_COLUMNS)}."
        )
    topic = path.name.partition("_factor")[0]
    for number, row in enumerate(rows):
        options = [row[name].strip() for name in SENTENCE_COLUMNS]
        other = split_cell_into_texts(row.get("paraphrases") or "")
        head = (f"{topic}-{number:04d}", topic, row[column].strip())
        yield _item(*head, options, 0, paraphrases=other, where=row["where"])


def _fake_questions(path: Path, rows: Rows) -> Iterator[dict]:
    """Yield Med-HALT's questions; a fake one, without a column for it, asks for "I do not know"."""
    for number, row in enumerate(rows):
        told = files.parse_python_literal(row["options"])
        if not isinstance(told, dict):
            raise UserError(
                f"{row['where']}: `options` must be a dict such as {{'0': 'Yes', '1': 'No'}}."
            )
        named = [(str(key), str(text).strip()) for key, text in told.items()]
        numbered = sorted((int(key), text) for key, text in named if key.isdecimal())
        options = [text for _, text in numbered if text]
        column = next((name for name in ANSWER_COLUMNS if row.get(name)), None)
        if column is None:
            options, answer = options_with_unknown_last(options)
        else:
            answer = int(row[column]) if row[column].isdecimal() else -1
        if column is None and (answer < 0 or len(options) < 2):
            continue  # nothing to choose, or no answer that the study would call right
        head = (
            f"{path.stem}-{number:04d}",
            row.get("subject_name") or "",
            row["question"].strip(),
        )
        yield _item(*head, options, answer, where=row["where"])


def options_with_unknown_last(options: list[str]) -> tuple[list[str], int]:
    """Return the options with one "I do not know", at its last place, and that place or -1.

    >>> options_with_unknown_last(["a", "I do not know.", "I Do Not Know"])
    (['a', 'I Do Not Know'], 1)
    """
    letters = [re.sub(r"[^a-z ]", "", text.casefold()).strip() for text in options]
    places = [n for n, text in enumerate(letters) if text == "i do not know"]
    if not places:
        return options, -1
    kept = [text for n, text in enumerate(options) if n not in places[:-1]]
    return kept, places[-1] - len(places) + 1


def _five_options(_: Path, rows: Rows) -> Iterator[dict]:
    """Yield CommonsenseQA's questions, in the original's form or the hub's."""
    for number, one in enumerate(rows, 1):
        nested = isinstance(one["question"], dict)  # the original; the hub's is flat
        stem, about = ("stem", one["question"]) if nested else ("question", one)
        files.check_keys(about, ("choices", stem), one["where"])
        choices = about["choices"]
        if nested:
            choices = {
                key: [choice[key] for choice in choices] for key in ("label", "text")
            }
        labels, key = choices["label"], one["answerKey"]
        options = [text.strip() for text in choices["text"]]
        answer = labels.index(key) if key in labels else -1
        name = str(one.get("id", f"commonsenseqa-{number:05d}"))
        yield _item(name, "", about[stem].strip(), options, answer, where=one["where"])


def _supported_or_refuted(_: Path, rows: Rows) -> Iterator[dict]:
    """Yield FEVER's claims, but for those with "not enough info"."""
    told = [one for one in rows if one["label"] in FEVER_LABELS]
    for _number, claim, label, one in _judged(told, "claim"):
        yield _item(
            str(one["id"]),
            "",
            claim,
            list(FEVER_LABELS),
            FEVER_LABELS.index(label),
            where=one["where"],
        )


def _true_or_false(path: Path, rows: Rows) -> Iterator[dict]:
    """Yield the statements of True-False; relations are its topics."""
    topic = path.name.partition("_true_false")[0]
    for number, statement, label, row in _judged(rows, "statement"):
        head = (f"{topic}-{number:05d}", topic, statement, list(TRUE_FALSE_LABELS))
        yield _item(*head, {"1": 0, "0": 1}.get(label, -1), where=row["where"])


def _judged(rows: Rows, key: str) -> Iterator[tuple[int, str, str, dict]]:
    """Yield number, text, label and first row of each text, but for texts with both labels."""
    first: dict[str, dict] = {}
    labels: dict[str, set[str]] = {}
    for row in rows:
        first.setdefault(row[key].strip(), row)
        labels.setdefault(row[key].strip(), set()).add(row["label"].strip())
    for number, (text, row) in enumerate(first.items()):
        if len(labels[text]) == 1:
            yield number, text, *labels[text], row


# By benchmark and ending: the columns that a file must have, and what makes items of
# its rows.
READERS: dict[
    tuple[str, str], tuple[tuple[str, ...], Callable[[Path, Rows], Iterator[dict]]]
] = {
    ("truthfulqa", ".json"): (("question", "mc1_targets"), _mc1),
    ("truthfulqa", ".csv"): (BEST_ANSWER_COLUMNS, _best_and_incorrect),
    ("factor", ".csv"): (SENTENCE_COLUMNS, _continued),
    ("medhalt", ".csv"): (("question", "options"), _fake_questions),
    ("commonsenseqa", ".jsonl"): (("question", "answerKey"), _five_options),
    ("fever", ".jsonl"): (("id", "claim", "label"), _supported_or_refuted),
    ("truefalse", ".csv"): (("statement", "label"), _true_or_false),
}
