"""The readers of six published benchmarks; how their studies ask them is in ``sources.toml``.

Each reader takes the benchmark's files and returns the items, the demonstrations, the number of
rows in the files, and the files that it used.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import UserError
from helpers.datasets import files
from helpers.datasets.download import checksum
from helpers.datasets.multiple_choice.items import COLUMNS, Benchmark, table
from helpers.datasets.registry import DATA, SOURCES

# FACTOR's texts before the sentences: short ones, as the multiplicity study asks; those that the
# authors' own script reads (so spelt); and those spelt right.
CONTEXTS = ("context", "turncated_prefixes", "truncated_prefixes")
SENTENCES = ("completion", "contradiction_0", "contradiction_1", "contradiction_2")
ANSWERS = ("correct_index", "cop")  # columns of Med-HALT
FEVER, TRUE_FALSE = ("SUPPORTS", "REFUTES"), ("True", "False")

Read = tuple[pd.DataFrame, pd.DataFrame, int, list[Path]]


def read(name: str, paths: list[Path]) -> Benchmark:
    """Read a benchmark from its files."""
    items, pool, rows, used = READERS[name](paths)
    source = SOURCES[name]
    about = source.about(checksum(sorted(used))) | {"rows": str(rows)}
    return Benchmark(items, pool, source.style, source.variations, source.n_shots, about)


def _item(*values: Any, where: str = "", **more: Any) -> dict[str, Any]:
    return dict(zip(COLUMNS, values)) | more | {"where": where}


def truthfulqa(paths: list[Path]) -> Read:
    """Read TruthfulQA: ``mc_task.json`` (MC1) if it is there, else ``TruthfulQA.csv``.

    The demonstrations are the six of its study, in its order (QA_PRIMER of its code, Apache-2.0).
    """
    path = next((path for path in paths if path.suffix == ".json"), paths[0])
    items = table(_mc1(path) if path.suffix == ".json" else _best_and_incorrect(path), path)
    shown = enumerate(files.csv_rows(DATA / "truthfulqa_primer.csv", ("question", "answer")))
    pool = [_item(f"primer-{n}", "", row["question"], [row["answer"]], 0) for n, row in shown]
    return items, pd.DataFrame(pool).drop(columns="where"), len(items), [path]


def _mc1(path: Path) -> Iterator[dict]:
    for number, one in enumerate(files.parse_json(files.read_text(path), path)):
        files.need(one, ("question", "mc1_targets"), f"{path}, item {number}")
        marks = list(one["mc1_targets"].values())
        options = [option.strip() for option in one["mc1_targets"]]
        answer = marks.index(1) if marks.count(1) == 1 else -1
        yield _item(f"truthfulqa-{number:04d}", "", one["question"].strip(), options, answer)


def _best_and_incorrect(path: Path) -> Iterator[dict]:
    """Take the best answer and all incorrect ones as options; empty parts are dropped."""
    columns = ("Category", "Question", "Best Answer", "Incorrect Answers")
    for number, row in enumerate(files.csv_rows(path, columns)):
        incorrect = [part.strip() for part in row["Incorrect Answers"].split(";") if part.strip()]
        options = [row["Best Answer"].strip(), *incorrect]
        head = (f"truthfulqa-{number:04d}", row["Category"], row["Question"].strip())
        yield _item(*head, options, 0, where=row["where"])


def factor(paths: list[Path]) -> Read:
    """Read FACTOR's files: which of four sentences goes on with a text; relations are the files.

    Some texts end in a space and no sentence begins with one: here the space is the sentence's. A
    column ``paraphrases`` (a JSON list of texts) gives other wordings of the text.
    """
    rows = [row for path in paths for row in _continued(path)]
    items = table(rows, paths[0].parent if len(paths) > 1 else paths[0])
    return items, items.head(0), len(rows), paths


def _continued(path: Path) -> Iterator[dict]:
    found = files.csv_rows(path, SENTENCES)
    column = next((name for name in CONTEXTS if found and name in found[0]), None)
    if found and column is None:
        raise UserError(f"{path} lacks the text before the sentences: {' or '.join(CONTEXTS)}.")
    topic = path.name.partition("_factor")[0]
    for number, row in enumerate(found):
        options = [row[name].strip() for name in SENTENCES]
        other = _paraphrases(row.get("paraphrases"), row["where"])
        head = (f"{topic}-{number:04d}", topic, row[column].strip())
        yield _item(*head, options, 0, paraphrases=other, where=row["where"])


def _paraphrases(cell: str | None, where: str) -> list[str]:
    if not cell:
        return []
    texts = files.parse_json(cell, where)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise UserError(f'{where}: `paraphrases` must be a JSON list of texts, as ["...", "..."].')
    return texts


def medhalt(paths: list[Path]) -> Read:
    """Read Med-HALT's reasoning files; an item's relation is its medical subject.

    Fake questions have no column with the answer: it is to say "I do not know". Of the 1,858 rows
    ten are left out, nine without that option and one with a single option. The other reasoning
    files have a column ``correct_index`` or ``cop``.
    """
    found = {path: files.csv_rows(path, ("question", "options")) for path in paths}
    rows = (item for path, lines in found.items() for item in _fake_questions(path, lines))
    items = table(rows, paths[0])
    return items, items.head(0), sum(map(len, found.values())), paths


def _fake_questions(path: Path, rows: list[dict]) -> Iterator[dict]:
    for number, row in enumerate(rows):
        options = options_of(row["options"], row["where"])
        column = next((name for name in ANSWERS if row.get(name)), None)
        if column is None:
            options, answer = unknown_last(options)
        else:
            answer = int(row[column]) if row[column].isdecimal() else -1
        if column is None and (answer < 0 or len(options) < 2):
            continue  # nothing to choose, or no answer that the study would call right
        head = (f"{path.stem}-{number:04d}", row.get("subject_name") or "", row["question"].strip())
        yield _item(*head, options, answer, where=row["where"])


def options_of(cell: str, where: str) -> list[str]:
    """Take the Python dict of a cell apart, in the order of its numbers."""
    found = files.literal(cell)
    if not isinstance(found, dict):
        raise UserError(f"{where}: `options` must be a dict such as {{'0': 'Yes', '1': 'No'}}.")
    named = [(str(key), str(text).strip()) for key, text in found.items()]
    numbered = sorted((int(key), text) for key, text in named if key.isdecimal())
    return [text for _, text in numbered if text]


def unknown_last(options: list[str]) -> tuple[list[str], int]:
    """Return the options with one "I do not know", at its last place, and that place or -1.

    >>> unknown_last(["a", "I do not know.", "I Do Not Know"])
    (['a', 'I Do Not Know'], 1)
    """
    letters = [re.sub(r"[^a-z ]", "", text.casefold()).strip() for text in options]
    places = [n for n, text in enumerate(letters) if text == "i do not know"]
    if not places:
        return options, -1
    kept = [text for n, text in enumerate(options) if n not in places[:-1]]
    return kept, places[-1] - len(places) + 1


def _five_options(lines: list[dict]) -> Iterator[dict]:
    """Yield CommonsenseQA's questions, in the original's form or the hub's."""
    for number, one in enumerate(lines, 1):
        files.need(one, ("question", "answerKey"), one["where"])
        nested = isinstance(one["question"], dict)  # the original; the hub's is flat
        stem, about = ("stem", one["question"]) if nested else ("question", one)
        files.need(about, ("choices", stem), one["where"])
        choices = about["choices"]
        if nested:
            choices = {key: [choice[key] for choice in choices] for key in ("label", "text")}
        labels, key = choices["label"], one["answerKey"]
        options, answer = [text.strip() for text in choices["text"]], -1
        answer = labels.index(key) if key in labels else -1
        name = str(one.get("id", f"commonsenseqa-{number:05d}"))
        yield _item(name, "", about[stem].strip(), options, answer, where=one["where"])


def _supported_or_refuted(lines: list[dict]) -> Iterator[dict]:
    """Yield FEVER's claims, but for those with "not enough info"."""
    for one in lines:
        files.need(one, ("id", "claim", "label"), one["where"])
    told = [one for one in lines if one["label"] in FEVER]
    for _, claim, label, one in _judged(told, "claim"):
        yield _item(str(one["id"]), "", claim, list(FEVER), FEVER.index(label), where=one["where"])


def _with_training(paths: list[Path], items_of: Callable[[list[dict]], Iterator[dict]]) -> Read:
    """Read JSON lines to ask; the training set beside them, if there, is for demonstrations."""
    train = [path for path in paths if path.name.startswith("train")][:1]
    asked = [path for path in paths if not path.name.startswith("train")][:1] or train
    lines = files.json_lines(asked[0])
    items = pool = table(items_of(lines), asked[0])
    if train:
        pool = table(items_of(files.json_lines(train[0])), train[0])
    return items, pool, len(lines), [*asked, *train]


def truefalse(paths: list[Path]) -> Read:
    """Read the statements of True-False; relations are its topics, demonstrations of any topic."""
    found = {path: files.csv_rows(path, ("statement", "label")) for path in paths}
    rows = (row for path, lines in found.items() for row in _true_or_false(lines, path))
    items = table(rows, paths[0].parent)
    return items, items.assign(relation=""), sum(map(len, found.values())), paths


def _true_or_false(lines: list[dict], path: Path) -> Iterator[dict]:
    topic = path.name.partition("_true_false")[0]
    for number, statement, label, row in _judged(lines, "statement"):
        head = (f"{topic}-{number:05d}", topic, statement, list(TRUE_FALSE))
        yield _item(*head, {"1": 0, "0": 1}.get(label, -1), where=row["where"])


def _judged(rows: list[dict], key: str) -> Iterator[tuple[int, str, str, dict]]:
    """Yield number, text, label and first row of each text, but for texts with both labels."""
    first: dict[str, dict] = {}
    labels: dict[str, set[str]] = {}
    for row in rows:
        first.setdefault(row[key].strip(), row)
        labels.setdefault(row[key].strip(), set()).add(row["label"].strip())
    for number, (text, row) in enumerate(first.items()):
        if len(labels[text]) == 1:
            yield number, text, *labels[text], row


READERS: dict[str, Callable[[list[Path]], Read]] = {
    "truthfulqa": truthfulqa,
    "factor": factor,
    "medhalt": medhalt,
    "commonsenseqa": partial(_with_training, items_of=_five_options),
    "fever": partial(_with_training, items_of=_supported_or_refuted),
    "truefalse": truefalse,
}
