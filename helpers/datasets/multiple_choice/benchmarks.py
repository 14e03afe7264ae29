"""The readers of six published benchmarks; ``sources.toml`` says how to ask them."""

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import UserError
from helpers.datasets import fact_identity
from helpers.datasets.cells import cell_texts
from helpers.datasets.multiple_choice.items import Benchmark, item_table
from helpers.datasets.registry import DATA_FOLDER, SOURCES
from helpers.io import files
from helpers.io.user_cache import checksum_of_files
from helpers.metrics.canonical import comparison_key

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
FEVER_LABELS = ("SUPPORTS", "REFUTES")
TRUE_FALSE_LABELS = ("True", "False")

# Their files are asked together.
BENCHMARKS_OF_SEVERAL_FILES = ("factor", "medhalt", "truefalse")

Rows = list[dict[str, Any]]
Items = Iterator[dict[str, Any]]


def read_benchmark(name: str, paths: list[Path]) -> Benchmark:
    """Read a benchmark; a training set beside its files is for demonstrations."""
    source = SOURCES[name]
    train = [path for path in paths if path.name.startswith("train")]
    train = train[:1]
    asked = [path for path in paths if path not in train] or train
    if name not in BENCHMARKS_OF_SEVERAL_FILES:
        asked = _preferred_file(asked)
    items, n_rows = _read_items(name, asked)
    items, notes = fact_identity.without_contradicted_questions(items, name)
    if name == "truthfulqa":
        pool = _truthfulqa_primer()
    elif source.n_shots and train:
        train_items, _ = _read_items(name, train)
        pool = train_items.assign(relation="")
    elif source.n_shots:
        pool = items.assign(relation="")
    else:
        pool = items.head(0)
    used = sorted({*asked, *train})
    about = source.about(checksum_of_files(used))
    about["rows"] = str(n_rows)
    return Benchmark(
        items=items,
        pool=pool,
        style=source.style,
        kinds=source.variations,
        n_shots=source.n_shots,
        about=about,
        notes=notes,
    )


def _preferred_file(paths: list[Path]) -> list[Path]:
    """Return a list of one file: the first that is JSON, or else the first."""
    json_files = [path for path in paths if path.suffix == ".json"]
    return (json_files or paths)[:1]


def _truthfulqa_primer() -> pd.DataFrame:
    """Return TruthfulQA's demonstrations: QA_PRIMER of its code (Apache-2.0)."""
    primer = pd.read_csv(DATA_FOLDER / "truthfulqa_primer.csv", keep_default_na=False)
    return pd.DataFrame(
        {
            "item": [f"primer-{number}" for number in range(len(primer))],
            "relation": "",
            "question": primer["question"],
            "options": [[answer] for answer in primer["answer"]],
            "answer": 0,
        }
    )


def _read_items(name: str, paths: list[Path]) -> tuple[pd.DataFrame, int]:
    """Return the items of some files, and the number of rows in these."""
    columns, items_of = READERS[name, paths[0].suffix]
    rows_of_path = {path: files.read_records(path, columns) for path in paths}
    items: list[dict[str, Any]] = []
    n_rows = 0
    for path, rows in rows_of_path.items():
        items.extend(items_of(path, rows))
        n_rows += len(rows)
    where = paths[0].parent if len(paths) > 1 else paths[0]
    return item_table(items, where), n_rows


def _item(
    row: dict[str, Any],
    name: str,
    relation: str,
    question: str,
    options: list[str],
    answer: int,
) -> dict[str, Any]:
    """Return the item of a row."""
    return {
        "item": name,
        "relation": relation,
        "question": question,
        "options": options,
        "answer": answer,
        "where": row["where"],
    }


def _mc1(_: Path, rows: Rows) -> Items:
    """Yield TruthfulQA's questions from ``mc_task.json`` (MC1)."""
    for number, row in enumerate(rows):
        name = f"truthfulqa-{number:04d}"
        targets = row["mc1_targets"]
        if targets.keys() == {"choices", "labels"}:  # the hub's form
            targets = dict(zip(targets["choices"], targets["labels"], strict=True))
        marks = list(targets.values())
        options = [option.strip() for option in targets]
        answer = marks.index(1) if marks.count(1) == 1 else -1
        question = row["question"].strip()
        yield _item(row, name, "", question, options, answer)


def _best_and_incorrect(_: Path, rows: Rows) -> Items:
    """Yield TruthfulQA's questions, with the best answer and all incorrect ones."""
    for number, row in enumerate(rows):
        name = f"truthfulqa-{number:04d}"
        category = row["Category"]
        options = [row["Best Answer"].strip()]
        for part in row["Incorrect Answers"].split(";"):
            if part.strip():  # the cell may end in a semicolon
                options.append(part.strip())
        question = row["Question"].strip()
        yield _item(row, name, category, question, options, 0)


def _continued(path: Path, rows: Rows) -> Items:
    """Yield FACTOR's texts, each with four sentences to continue it."""
    if not rows:
        return
    column = _context_column(path, rows[0])
    topic = path.name.partition("_factor")[0]  # each file is a relation
    for number, row in enumerate(rows):
        name = f"{topic}-{number:04d}"
        options = [row[column].strip() for column in SENTENCE_COLUMNS]
        cell = row.get("paraphrases")
        texts = cell_texts(cell, row["where"], keep_lines=True)
        paraphrases = list(filter(None, texts))
        text = row[column].strip()
        item = _item(row, name, topic, text, options, 0)
        yield item | {"paraphrases": paraphrases}


def _context_column(path: Path, row: dict[str, Any]) -> str:
    """Return the name of the column of texts before the sentences."""
    for name in CONTEXT_COLUMNS:
        if name in row:
            return name
    raise UserError(
        f"{path} lacks the text before the sentences: {' or '.join(CONTEXT_COLUMNS)}."
    )


def _fake_questions(path: Path, rows: Rows) -> Items:
    """Yield Med-HALT's questions.

    One in a file without a column for the answer is fake, and asks for "I do not know".
    """
    for number, row in enumerate(rows):
        options = _numbered_options(row)
        cell = _answer_cell(row)
        if cell:
            answer = int(cell) if cell.isdecimal() else -1
        else:
            options, answer = options_with_unknown_last(options)
            if answer < 0 or len(options) < 2:
                # Nothing to choose, or no answer that the study would call right.
                continue
        name = f"{path.stem}-{number:04d}"
        topic = row.get("subject_name") or ""
        question = row["question"].strip()
        yield _item(row, name, topic, question, options, answer)


def _answer_cell(row: dict[str, Any]) -> str:
    """Return what a row of Med-HALT has for its answer; "" if it has nothing."""
    for column in ANSWER_COLUMNS:
        if row.get(column):
            return row[column]
    return ""


def _numbered_options(row: dict[str, Any]) -> list[str]:
    """Return Med-HALT's options in the order of their numbers, without empty ones."""
    cell = files.parse_python_literal(row["options"])
    if cell is None:
        with contextlib.suppress(UserError):
            cell = files.parse_json(row["options"], row["where"])
    if not isinstance(cell, dict):
        raise UserError(
            f"{row['where']}: `options` must be a dict such as "
            "{'0': 'Yes', '1': 'No'}."
        )
    numbered = []
    for key, value in cell.items():
        number = str(key)
        text = str(value).strip()
        if number.isdecimal() and value is not None:
            numbered.append((int(number), text))
    return [text for _, text in sorted(numbered) if text]


def options_with_unknown_last(options: list[str]) -> tuple[list[str], int]:
    """Return options with one "I do not know", at its last place; that place, or -1.

    >>> options_with_unknown_last(["a", "I do not know.", "I Do Not Know"])
    (['a', 'I Do Not Know'], 1)
    """
    places = []
    for place, text in enumerate(options):
        letters = re.sub(r"[^a-z ]", "", text.casefold())
        if letters.strip() == "i do not know":
            places.append(place)
    if not places:
        return options, -1
    *earlier, last = places
    distinct = [text for place, text in enumerate(options) if place not in earlier]
    return distinct, last - len(earlier)


def _five_options(_: Path, rows: Rows) -> Items:
    """Yield CommonsenseQA's questions, in the original's form or the hub's."""
    for number, row in enumerate(rows, 1):
        if isinstance(row["question"], dict):  # the original
            nested = row["question"]
            files.check_keys(nested, ("choices", "stem"), row["where"])
            labels = [choice["label"] for choice in nested["choices"]]
            texts = [choice["text"] for choice in nested["choices"]]
            question = nested["stem"]
        else:  # the hub's
            files.check_keys(row, ("choices",), row["where"])
            labels = row["choices"]["label"]
            texts = row["choices"]["text"]
            question = row["question"]
        key = row["answerKey"]
        answer = labels.index(key) if key in labels else -1
        options = [text.strip() for text in texts]
        name = str(row.get("id", f"commonsenseqa-{number:05d}"))
        yield _item(row, name, "", question.strip(), options, answer)


def _supported_or_refuted(_: Path, rows: Rows) -> Items:
    """Yield FEVER's claims, but for those with "not enough info"."""
    decided = [row for row in rows if row["label"] in FEVER_LABELS]
    for _number, claim, label, row in _judged(decided, "claim"):
        name = str(row["id"])
        options = list(FEVER_LABELS)
        answer = options.index(label)
        yield _item(row, name, "", claim, options, answer)


def _true_or_false(path: Path, rows: Rows) -> Items:
    """Yield the statements of True-False; relations are its topics."""
    topic = path.name.partition("_true_false")[0]
    answers = {"1": 0, "0": 1}
    for number, statement, label, row in _judged(rows, "statement"):
        name = f"{topic}-{number:05d}"
        options = list(TRUE_FALSE_LABELS)
        answer = answers.get(label, -1)
        yield _item(row, name, topic, statement, options, answer)


def _judged(rows: Rows, key: str) -> Iterator[tuple[int, str, str, dict[str, Any]]]:
    """Yield number, text, label and first row of each text that has one label only."""
    first: dict[str, dict[str, Any]] = {}
    labels: dict[str, set[str]] = {}
    for row in rows:
        spelling = comparison_key(row[key])
        label = row["label"].strip()
        first.setdefault(spelling, row)
        labels.setdefault(spelling, set()).add(label)
    for number, (spelling, row) in enumerate(first.items()):
        if len(labels[spelling]) == 1:
            (label,) = labels[spelling]
            yield number, row[key].strip(), label, row


# By benchmark and ending: the columns that a file must have, and what makes items of
# its rows.
Reader = Callable[[Path, Rows], Items]
READERS: dict[tuple[str, str], tuple[tuple[str, ...], Reader]] = {
    ("truthfulqa", ".json"): (("question", "mc1_targets"), _mc1),
    ("truthfulqa", ".csv"): (BEST_ANSWER_COLUMNS, _best_and_incorrect),
    ("factor", ".csv"): (SENTENCE_COLUMNS, _continued),
    ("medhalt", ".csv"): (("question", "options"), _fake_questions),
    ("commonsenseqa", ".jsonl"): (("question", "answerKey"), _five_options),
    ("fever", ".jsonl"): (("id", "claim", "label"), _supported_or_refuted),
    ("truefalse", ".csv"): (("statement", "label"), _true_or_false),
}
