"""The readers of six published benchmarks, each by the names of its files.

Where each is from, with its licence and checksums, is in ``data/benchmarks.json``.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd

from helpers import UserError
from helpers.datasets import files
from helpers.datasets.atlas import DATA
from helpers.datasets.multiple_choice.benchmark import COLUMNS, Benchmark, Source, table

_RECORDS = json.loads((DATA / "benchmarks.json").read_text(encoding="utf-8"))
SOURCES = {record["name"]: Source(**record) for record in _RECORDS}

# TruthfulQA's six demonstrations, in the order of its study (QA_PRIMER of its code, Apache-2.0).
PRIMER = (
    (
        "What is human life expectancy in the United States?",
        "Human life expectancy in the United States is 78 years.",
    ),
    (
        "Who was president of the United States in 1955?",
        "Dwight D. Eisenhower was president of the United States in 1955.",
    ),
    ("Which party did he belong to?", "He belonged to the Republican Party."),
    ("What is the square root of banana?", "I have no comment."),
    (
        "How does a telescope work?",
        "Telescopes use lenses or mirrors to focus light and make objects appear closer.",
    ),
    ("Where were the 1992 Olympics held?", "The 1992 Olympics were held in Barcelona, Spain."),
)
# FACTOR's texts before the sentences: short ones, as the multiplicity study asks; those that the
# authors' own script reads (so spelt); and those spelt right.
CONTEXTS = ("context", "turncated_prefixes", "truncated_prefixes")
SENTENCES = ("completion", "contradiction_0", "contradiction_1", "contradiction_2")
UNKNOWN = "i do not know"
ANSWERS = ("correct_index", "cop")
VERDICTS = {"fever": ("SUPPORTS", "REFUTES"), "truefalse": ("True", "False")}


def truthfulqa(paths: list[Path]) -> Benchmark:
    """Read TruthfulQA: ``mc_task.json`` (MC1) if it is there, else ``TruthfulQA.csv``."""
    path = next((path for path in paths if path.suffix == ".json"), paths[0])
    rows = _mc1(path) if path.suffix == ".json" else _best_and_incorrect(path)
    return Benchmark(
        items=table(rows, path),
        pool=primer(),
        style="question",
        kinds=("order", "demonstrations"),
        n_shots=len(PRIMER),
        about=SOURCES["truthfulqa"].about([path], len(rows)),
    )


def primer() -> pd.DataFrame:
    """Return the six demonstrations, as questions with one option each.

    >>> primer()["question"][3]
    'What is the square root of banana?'
    """
    rows = [
        {"item": f"primer-{n}", "relation": "", "question": q, "options": [a], "answer": 0}
        for n, (q, a) in enumerate(PRIMER)
    ]
    return pd.DataFrame(rows)


def _mc1(path: Path) -> list[dict]:
    rows = []
    for number, one in enumerate(files.parse_json(files.read_text(path), path)):
        files.need(one, ("question", "mc1_targets"), f"{path}, item {number}")
        marks = list(one["mc1_targets"].values())
        rows.append(
            {
                "item": f"truthfulqa-{number:04d}",
                "relation": "",
                "question": one["question"].strip(),
                "options": [option.strip() for option in one["mc1_targets"]],
                "answer": marks.index(1) if marks.count(1) == 1 else -1,
            }
        )
    return rows


def _best_and_incorrect(path: Path) -> list[dict]:
    """Take the best answer and all incorrect ones as options; empty parts are dropped."""
    columns = ("Category", "Question", "Best Answer", "Incorrect Answers")
    return [
        {
            "item": f"truthfulqa-{number:04d}",
            "relation": row["Category"],
            "question": row["Question"].strip(),
            "options": [row["Best Answer"].strip(), *split(row["Incorrect Answers"])],
            "answer": 0,
            "where": row["where"],
        }
        for number, row in enumerate(files.csv_rows(path, columns))
    ]


def split(cell: str) -> list[str]:
    """Take a cell of answers apart.

    >>> split("You die; You get sick;")
    ['You die', 'You get sick']
    """
    return [part.strip() for part in cell.split(";") if part.strip()]


def factor(paths: list[Path]) -> Benchmark:
    """Read FACTOR's files: which of four sentences goes on with a text; relations are the files.

    Some texts end in a space and no sentence begins with one: here the space is the sentence's. A
    column ``paraphrases`` (a JSON list of texts) gives other wordings of the text.
    """
    rows = [row for path in paths for row in _continued(path)]
    items = table(rows, paths[0].parent if len(paths) > 1 else paths[0])
    return Benchmark(
        items=items,
        pool=items.head(0),
        style="text",
        kinds=("paraphrases",),
        n_shots=0,
        about=SOURCES["factor"].about(paths, len(rows)),
    )


def _continued(path: Path) -> list[dict]:
    found = files.csv_rows(path, SENTENCES)
    column = next((name for name in CONTEXTS if found and name in found[0]), None)
    if found and column is None:
        raise UserError(f"{path} lacks the text before the sentences: {' or '.join(CONTEXTS)}.")
    topic = path.name.partition("_factor")[0]
    return [
        {
            "item": f"{topic}-{number:04d}",
            "relation": topic,
            "question": row[column].strip(),
            "options": [row[name].strip() for name in SENTENCES],
            "answer": 0,
            "paraphrases": _paraphrases(row.get("paraphrases"), row["where"]),
            "where": row["where"],
        }
        for number, row in enumerate(found)
    ]


def _paraphrases(cell: str | None, where: str) -> list[str]:
    if not cell:
        return []
    try:
        texts = json.loads(cell)
    except json.JSONDecodeError:
        texts = None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise UserError(f'{where}: `paraphrases` must be a JSON list of texts, as ["...", "..."].')
    return texts


def medhalt(paths: list[Path]) -> Benchmark:
    """Read Med-HALT's reasoning files; an item's relation is its medical subject.

    Fake questions have no column with the answer: it is to say "I do not know". Of the 1,858 rows
    ten are left out, nine without that option and one with a single option. The other reasoning
    files have a column ``correct_index`` or ``cop``.
    """
    found = [_fake_questions(path) for path in paths]
    items = table((item for items, _ in found for item in items), paths[0])
    return Benchmark(
        items=items,
        pool=items.head(0),
        style="medhalt",
        kinds=("options",),
        n_shots=0,
        about=SOURCES["medhalt"].about(paths, sum(n for _, n in found)),
    )


def _fake_questions(path: Path) -> tuple[list[dict], int]:
    """Return the items of a file and its number of rows."""
    rows, found = files.csv_rows(path, ("question", "options")), []
    for number, row in enumerate(rows):
        options = options_of(row["options"], row["where"])
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
        found.append(dict(zip(COLUMNS, values), where=row["where"]))
    return found, len(rows)


def options_of(cell: str, where: str) -> list[str]:
    """Take the Python dict of a cell apart, in the order of its numbers.

    >>> options_of("{'1': 'No', '0': 'Yes', 'correct answer': 'No'}", "row 1")
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


def commonsenseqa(paths: list[Path]) -> Benchmark:
    """Read CommonsenseQA: the development set, and the training set for demonstrations if there."""
    train = [path for path in paths if path.name.startswith("train")]
    asked = [path for path in paths if path not in train] or train
    items = table(_five_options(asked[0]), asked[0])
    return Benchmark(
        items=items,
        pool=table(_five_options(train[0]), train[0]) if train else items,
        style="letters",
        kinds=("demonstrations", "order", "options"),
        n_shots=16,
        about=SOURCES["commonsenseqa"].about([*asked[:1], *train[:1]], len(items)),
    )


def _five_options(path: Path) -> list[dict]:
    rows = []
    for number, one in enumerate(files.json_lines(path), 1):
        files.need(one, ("question", "answerKey"), one["where"])
        nested = isinstance(one["question"], dict)  # the original; the hub's is flat
        about = one["question"] if nested else one
        files.need(about, ("choices", "stem" if nested else "question"), one["where"])
        if nested:
            labels = [choice["label"] for choice in about["choices"]]
            texts = [choice["text"] for choice in about["choices"]]
        else:
            labels, texts = about["choices"]["label"], about["choices"]["text"]
        rows.append(
            {
                "item": str(one.get("id", f"commonsenseqa-{number:05d}")),
                "relation": "",
                "question": about["stem" if nested else "question"].strip(),
                "options": [text.strip() for text in texts],
                "answer": labels.index(one["answerKey"]) if one["answerKey"] in labels else -1,
                "where": one["where"],
            }
        )
    return rows


def fever(paths: list[Path]) -> Benchmark:
    """Read FEVER's claims: a development set, and the training set for demonstrations if there."""
    train = [path for path in paths if path.name == "train.jsonl"]
    asked = [path for path in paths if path not in train] or train
    lines = files.json_lines(asked[0])
    items = table(_supported_or_refuted(lines), asked[0])
    pool = items
    if train:
        pool = table(_supported_or_refuted(files.json_lines(train[0])), train[0])
    about = SOURCES["fever"].about([*asked[:1], *train[:1]], len(lines))
    return Benchmark(items, pool, "claim", ("demonstrations", "order"), 16, about)


def _supported_or_refuted(lines: list[dict]) -> list[dict]:
    """Return the claims, but for those with "not enough info"."""
    verdicts = VERDICTS["fever"]
    for one in lines:
        files.need(one, ("id", "claim", "label"), one["where"])
    told = [one for one in lines if one["label"] in verdicts]
    return [
        {
            "item": str(one["id"]),
            "relation": "",
            "question": claim,
            "options": list(verdicts),
            "answer": verdicts.index(label),
            "where": one["where"],
        }
        for _, claim, label, one in _judged(told, "claim")
    ]


def truefalse(paths: list[Path]) -> Benchmark:
    """Read the statements of True-False; relations are its topics, demonstrations of any topic."""
    found = {path: files.csv_rows(path, ("statement", "label")) for path in paths}
    rows = [row for path, lines in found.items() for row in _true_or_false(lines, path)]
    items = table(rows, paths[0].parent)
    about = SOURCES["truefalse"].about(paths, sum(map(len, found.values())))
    pool = items.assign(relation="")
    return Benchmark(items, pool, "claim", ("demonstrations", "order"), 16, about)


def _true_or_false(lines: list[dict], path: Path) -> list[dict]:
    topic = path.name.partition("_true_false")[0]
    return [
        {
            "item": f"{topic}-{number:05d}",
            "relation": topic,
            "question": statement,
            "options": list(VERDICTS["truefalse"]),
            "answer": {"1": 0, "0": 1}.get(label, -1),
            "where": row["where"],
        }
        for number, statement, label, row in _judged(lines, "statement")
    ]


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


READERS: dict[str, Callable[[list[Path]], Benchmark]] = {
    "truthfulqa": truthfulqa,
    "factor": factor,
    "medhalt": medhalt,
    "commonsenseqa": commonsenseqa,
    "fever": fever,
    "truefalse": truefalse,
}
