"""Published question files, read as they are, and the choice of Zheng et al. 2024: SeenQA.

Known forms, told by their fields: NQ-open (`question`, `answer`), FlashRAG
(`golden_answers`), TriviaQA (`Question`, `Answer`) and PopQA (`possible_answers`). Kept
are questions without "why", with one answer of at most five words that does not change
with time, by a rule or a judge.
"""

import hashlib
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from helpers import UserError, reraise_as_user_error
from helpers.datasets.registry import (
    DATA_FOLDER,
    SOURCE_RECORD_FIELDS,
    SOURCES,
    dataset_names_of_kind,
    fetch_dataset,
    fetch_files,
)
from helpers.io import files, network, user_cache

PUBLISHED_SOURCES = dataset_names_of_kind("questions")
FILE_ENDINGS = (".jsonl", ".json", ".tsv", ".csv")
NEEDED_FIELDS = "it needs a question and answer, golden_answers, Answer.Value, or obj and possible_answers"
LONGEST_ANSWER = 5  # words of an answer

ChangeJudge = Callable[[Sequence[str]], Sequence[bool]]

_WORDS = (DATA_FOLDER / "changing.txt").read_text("utf-8").splitlines()
_CHANGING = re.compile("|".join(line for line in _WORDS if line[0] != "#"))
_YEAR = re.compile(r"\b(?:1[0-9]|20)\d\d\b")
_PLACES = "country|city|town|state|continent|county|place|island|capital|province|river"
# The first that fits a question tells its type of answer.
_TYPES = {
    "time": r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|decade|century)\b",
    "number": r"\bhow (?:many|much|old|long|tall|far)\b",
    "person": r"\bwho(?:m|se)?\b|\bwhos\b",
    "location": rf"\bwhere\b|\b(?:what|which) (?:\w+ )?(?:{_PLACES})\b|\bcapital of\b",
}


def draw_seen_questions(
    sources: Sequence[str | Path] = PUBLISHED_SOURCES,
    n: int = 1000,
    seed: int = 0,
    judge: ChangeJudge | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return `n` seen questions of each source, and those that were left over, for shots."""
    if n < 1 or seed < 0:
        raise UserError(
            f"n is {n} and the seed {seed}: give at least 1 question and seed 0."
        )
    asked, rest = [], []
    for source in sources:
        table = factoid_questions(read_questions(source))
        changing = (judge or answers_change_with_time)(table["question"].tolist())
        table = table[~np.asarray(changing, dtype=bool)].drop(columns="n_answers")
        said = zip(table["question"], table["answers"])
        table = table.assign(
            type=[answer_type(text, known[0]) for text, known in said], seen=True
        )
        if len(table) < 2:
            raise UserError(
                f"Of {source} fewer than two questions are left after filtering: give a file with "
                "more short questions of fact."
            )
        name = table["group"].iloc[0]
        order = np.random.default_rng([seed, zlib.crc32(name.encode())]).permutation(
            len(table)
        )
        many = min(n, len(table) - max(1, len(table) // 5))
        asked.append(table.iloc[sorted(order[:many])])
        rest.append(table.iloc[sorted(order[many:])])
    if not asked:
        raise UserError("No source of questions is given: name at least one.")
    return tuple(pd.concat(parts, ignore_index=True) for parts in (asked, rest))


def factoid_questions(table: pd.DataFrame) -> pd.DataFrame:
    """Keep questions without "why" that have one answer, of five words and a letter or figure."""
    why = table["question"].str.contains(r"\bwhy\b", case=False, regex=True)
    short = table["answers"].map(
        lambda answers: len(answers[0].split()) <= LONGEST_ANSWER
    )
    short &= table["answers"].map(lambda answers: any(c.isalnum() for c in answers[0]))
    return table[~why & (table["n_answers"] == 1) & short].reset_index(drop=True)


def answers_change_with_time(asked: Sequence[str]) -> list[bool]:
    """Tell of each question whether its words say that its answer may change; a year says not."""
    plain = [re.sub(r"[^\w\s]", "", question.casefold()) for question in asked]
    return [bool(_CHANGING.search(text)) and not _YEAR.search(text) for text in plain]


def answer_type(question: str, answer: str) -> str:
    """Guess the type of an answer: number, person, time, location or other."""
    figures = re.fullmatch(r"[\d.,]+", answer)
    for kind, pattern in _TYPES.items():
        if re.search(pattern, question.casefold()) or (kind == "number" and figures):
            return kind
    return "other"


def read_questions(source: str | Path) -> pd.DataFrame:
    """Read the questions behind a name, an address or a path."""
    name, paths = find_question_files(source)
    rows: dict[str, tuple] = {}
    for path in paths:
        with files.reraise_as_malformed_file(path):
            for record in files.read_records(path):
                inside = record.get("Data")  # TriviaQA's are in one object
                for number, row in enumerate(
                    inside if isinstance(inside, list) else [record], 1
                ):
                    where = (
                        record["where"]
                        if row is record
                        else f"{path}, question {number}"
                    )
                    question, answers, n_answers = _parse(row, name, where)
                    rows.setdefault(question, (question, answers, n_answers))
    if not rows:
        raise UserError(f"{source} holds no question: give a file with at least one.")
    table = [(f"{name}-{i:05d}", name, *row) for i, row in enumerate(rows.values())]
    return pd.DataFrame(
        table, columns=["item", "group", "question", "answers", "n_answers"]
    )


def find_question_files(source: str | Path) -> tuple[str, list[Path]]:
    """Return the name of a source and its files, fetched first where they are elsewhere."""
    text = network.check_for_secrets(str(source))
    if text in PUBLISHED_SOURCES:
        return text, [fetch_dataset(text) / file for file in SOURCES[text].files]
    if text.startswith(("http://", "https://")):
        file = Path(urlsplit(text).path)
        folder = f"questions/{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        instead = "download it and give the path of the file"
        return file.stem, [
            fetch_files(folder, {text: ""}, file.name, text, instead) / file.name
        ]
    path = Path(text).expanduser()
    if not path.exists():
        raise UserError(
            f"There is no question file or folder {source}: give a path, an address, or one of "
            f"{', '.join(PUBLISHED_SOURCES)}."
        )
    paths = (
        [path]
        if path.is_file()
        else sorted(p for p in path.iterdir() if p.suffix in FILE_ENDINGS)
    )
    if not paths:
        raise UserError(
            f"The folder {path} holds no file ending in {', '.join(FILE_ENDINGS)}."
        )
    return (path.stem if path.is_file() else path.resolve().name), paths


def question_source_record(sources: Sequence[str | Path]) -> dict[str, str]:
    """Return the record of a run's manifest: SeenQA's, made of its sources' records."""
    found = []
    for source in map(str, sources):
        name, paths = find_question_files(source)
        known = (
            SOURCES[source].about("")
            if source in PUBLISHED_SOURCES
            else dict.fromkeys(SOURCE_RECORD_FIELDS, "")
        )
        own = {
            "name": name,
            "url": known["url"] or source,
            "checksum": user_cache.checksum_of_files(paths),
        }
        found.append(known | own)
    joined = {
        key: "; ".join(each[key] for each in found)
        for key in (*SOURCE_RECORD_FIELDS, "checksum")
    }
    title = "SeenQA: " + ", ".join(each["name"] for each in found)
    return joined | {"name": "seen_qa", "title": title, "version": ""}


def _parse(row: dict, name: str, where: str) -> tuple[str, list[str], int]:
    """Return question, answers and number of different answers of one record."""
    question, value = row.get("question", row.get("Question")), row.get("Answer")
    meta = row.get("metadata") if isinstance(row.get("metadata"), dict) else row
    with reraise_as_user_error(
        f"{where} is in no known form",
        NEEDED_FIELDS,
        KeyError,
        TypeError,
        AttributeError,
    ):
        if isinstance(value, dict):
            answers, others = [value["Value"], *value.get("Aliases", [])], []
        elif "obj" in meta:
            given = row.get("golden_answers", row.get("possible_answers", []))
            given = files.parse_json(given, where) if isinstance(given, str) else given
            own = [meta["obj"], *files.parse_json(meta.get("o_aliases") or "[]", where)]
            known = {text.casefold() for text in own}
            others = [text for text in given if text.casefold() not in known]
            answers = [*own, *others]
        else:
            answers = (
                row["golden_answers"] if "golden_answers" in row else row["answer"]
            )
            answers = answers.split("; ") if isinstance(answers, str) else list(answers)
            # TriviaQA's lists are aliases of one answer; elsewhere they may be
            # different answers.
            others = [] if "trivia" in name.casefold() else answers[1:]
    texts = [question, *answers]
    if not all(isinstance(text, str) for text in texts) or not str(question).strip():
        raise UserError(f"{where} needs a question and answers that are texts.")
    answers = list(dict.fromkeys(text.strip() for text in answers if text.strip()))
    if not answers:
        raise UserError(
            f'{where}, "{question}", has no answer: add one or take the record out.'
        )
    different = {text.casefold() for text in [answers[0], *others]}
    question = question.strip()
    # Some conversions of TriviaQA have left the quoting of CSV in their texts.
    quoted = len(question) > 2 and question[0] == question[-1] == '"'
    if quoted and '"' not in question[1:-1].replace('""', ""):
        question = question[1:-1].replace('""', '"').strip()
    return question, answers, len(different)
