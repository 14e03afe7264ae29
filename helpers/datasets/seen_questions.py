"""Published question files, and SeenQA: questions chosen as by Zheng et al. 2024.

Known forms, told by their fields: NQ-open (`question`, `answer`), FlashRAG
(`golden_answers`), TriviaQA (`Question`, `Answer`), PopQA (`possible_answers`),
SimpleQA (`problem`, `answer`) and FreshQA (`answer_0`, `answer_1` ...). Kept are
questions without "why", with one answer of at most five words that does not change
with time, by a rule or a judge.
"""

import hashlib
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from helpers import UserError, reraise_as_user_error
from helpers.datasets.cells import (
    cell_text,
    cell_texts,
    list_in_cell,
    refuse_broken_list,
)
from helpers.datasets.registry import (
    DATA_FOLDER,
    SOURCE_RECORD_FIELDS,
    SOURCES,
    dataset_names_of_kind,
    fetch_dataset,
    fetch_files,
)
from helpers.io import files, network, user_cache
from helpers.metrics.canonical import comparison_key

PUBLISHED_SOURCES = dataset_names_of_kind("questions")
FILE_ENDINGS = files.RECORD_ENDINGS
NEEDED_FIELDS = (
    "it needs a question (or problem) and answer, answers, answer_0, golden_answers, "
    "Answer.Value, or obj and possible_answers"
)
QUESTION_FIELDS = ("question", "problem")
ANSWER_FIELDS = ("golden_answers", "answer", "answers")
NUMBERED_ANSWER = re.compile(r"answer_\d+")
LONGEST_ANSWER = 5  # words of an answer

ChangeJudge = Callable[[Sequence[str]], Sequence[bool]]

_WORDS = (DATA_FOLDER / "changing.txt").read_text("utf-8").splitlines()
_PATTERNS = [line for line in _WORDS if not line.startswith("#")]
_CHANGING = re.compile("|".join(_PATTERNS))
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
    """Return `n` seen questions of each source, and those left over, for shots."""
    if n < 1 or seed < 0:
        raise UserError(
            f"n is {n} and the seed {seed}: give at least 1 question and seed 0."
        )
    if isinstance(sources, str | Path):
        sources = [sources]
    asked = []
    rest = []
    for source in sources:
        table = _lasting_questions(source, judge or answers_change_with_time)
        if len(table) < 2:
            raise UserError(
                f"Of {source} fewer than two questions are left after filtering: give "
                "a file with more short questions of fact."
            )
        name = table["group"].iloc[0]
        name_number = zlib.crc32(name.encode())
        random = np.random.default_rng([seed, name_number])
        order = random.permutation(len(table))
        n_rest = max(1, len(table) // 5)
        n_asked = min(n, len(table) - n_rest)
        asked_places = sorted(order[:n_asked])
        other_places = sorted(order[n_asked:])
        asked.append(table.iloc[asked_places])
        rest.append(table.iloc[other_places])
    if not asked:
        raise UserError("No source of questions is given: name at least one.")
    asked_table = pd.concat(asked, ignore_index=True)
    rest_table = pd.concat(rest, ignore_index=True)
    return asked_table, rest_table


def _lasting_questions(source: str | Path, judge: ChangeJudge) -> pd.DataFrame:
    """Return a source's questions of fact whose answers last, with their types."""
    table = factoid_questions(read_questions(source))
    verdicts = judge(table["question"].tolist())
    is_changing = np.asarray(verdicts, dtype=bool)
    table = table[~is_changing].drop(columns="n_answers")
    types = []
    for row in table.itertuples():
        types.append(answer_type(row.question, row.answers[0]))
    return table.assign(type=types, seen=True)


def factoid_questions(table: pd.DataFrame) -> pd.DataFrame:
    """Keep questions without "why" that have one answer, a short one."""
    questions = table["question"].str
    asks_why = questions.contains(r"\bwhy\b", case=False, regex=True)
    is_short = table["answers"].map(_has_short_answer)
    has_one_answer = table["n_answers"] == 1
    suitable = table[~asks_why & has_one_answer & is_short]
    return suitable.reset_index(drop=True)


def _has_short_answer(answers: Sequence[str]) -> bool:
    """Tell whether the first answer has few words, and a letter or figure."""
    answer = answers[0]
    if len(answer.split()) > LONGEST_ANSWER:
        return False
    return any(character.isalnum() for character in answer)


def answers_change_with_time(questions: Sequence[str]) -> list[bool]:
    """Tell whether each question's words say that its answer may change; a year: no."""
    changing = []
    for question in questions:
        words = re.sub(r"[^\w\s]", "", question.casefold())
        names_year = _YEAR.search(words) is not None
        sounds_changing = _CHANGING.search(words) is not None
        changing.append(sounds_changing and not names_year)
    return changing


def answer_type(question: str, answer: str) -> str:
    """Guess the type of an answer: number, person, time, location or other."""
    is_number = re.fullmatch(r"[\d.,]+", answer)
    for kind, pattern in _TYPES.items():
        if re.search(pattern, question.casefold()):
            return kind
        if kind == "number" and is_number:
            return kind
    return "other"


def read_questions(source: str | Path) -> pd.DataFrame:
    """Read the questions behind a name, an address or a path."""
    name, paths = find_question_files(source)
    questions: dict[str, tuple[str, list[str], int]] = {}
    for path in paths:
        with files.reraise_as_malformed_file(path):
            for record, where in _question_records(path):
                question, answers, n_answers = _parse(record, name, where)
                key = comparison_key(question)
                if key in questions:
                    _, earlier, n_earlier = questions[key]
                    answers, n_answers = _answers_of_both(
                        (earlier, n_earlier), (answers, n_answers)
                    )
                questions[key] = (question, answers, n_answers)
    if not questions:
        raise UserError(f"{source} holds no question: give a file with at least one.")
    rows = []
    for number, row in enumerate(questions.values()):
        rows.append((f"{name}-{number:05d}", name, *row))
    columns = ["item", "group", "question", "answers", "n_answers"]
    return pd.DataFrame(rows, columns=columns)


def _answers_of_both(
    earlier: tuple[list[str], int], later: tuple[list[str], int]
) -> tuple[list[str], int]:
    """Join the answers of a question that is there twice, and their numbers.

    Answers that share a spelling are one answer with its aliases.
    """
    answers, n_answers = earlier
    more, n_more = later
    known = {comparison_key(text) for text in answers}
    added = [text for text in more if comparison_key(text) not in known]
    if len(added) < len(more):
        return [*answers, *added], max(n_answers, n_more)
    return [*answers, *added], n_answers + n_more


def _question_records(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each question's record in a file, and its place."""
    for record in files.read_records(path):
        questions = record.get("Data")
        if isinstance(questions, list):  # TriviaQA's are in one object
            for number, question in enumerate(questions, 1):
                yield question, f"{path}, question {number}"
        else:
            yield record, record["where"]


def find_question_files(source: str | Path) -> tuple[str, list[Path]]:
    """Return the name of a source and its files, fetched where they are elsewhere."""
    text = network.text_without_secrets(str(source))
    if text in PUBLISHED_SOURCES:
        folder = fetch_dataset(text)
        return text, [folder / file for file in SOURCES[text].files]
    if text.startswith(("http://", "https://")):
        return _fetch_address(text)
    path = Path(text).expanduser()
    if not path.exists():
        raise UserError(
            f"There is no question file or folder {source}: give a path, an address, "
            f"or one of {', '.join(PUBLISHED_SOURCES)}."
        )
    if path.is_file():
        return path.stem, [path]
    entries = sorted(path.iterdir())
    paths = [file for file in entries if file.suffix in FILE_ENDINGS]
    if not paths:
        raise UserError(
            f"The folder {path} holds no file ending in {', '.join(FILE_ENDINGS)}."
        )
    return path.resolve().name, paths


def _fetch_address(address: str) -> tuple[str, list[Path]]:
    """Fetch the file at an address, and return its name and place."""
    file = Path(urlsplit(address).path)
    digest = hashlib.sha256(address.encode()).hexdigest()
    folder = fetch_files(
        f"questions/{digest[:12]}",
        {address: ""},
        what=file.name,
        origin=address,
        instead="download it and give the path of the file",
    )
    return file.stem, [folder / file.name]


def question_source_record(sources: Sequence[str | Path]) -> dict[str, str]:
    """Return the record of a run's manifest: SeenQA's, made of its sources' records."""
    records = []
    for source in map(str, sources):
        name, paths = find_question_files(source)
        if source in PUBLISHED_SOURCES:
            record = SOURCES[source].about("")
        else:
            record = dict.fromkeys(SOURCE_RECORD_FIELDS, "")
        record["name"] = name
        record["url"] = record["url"] or source
        record["checksum"] = user_cache.checksum_of_files(paths)
        records.append(record)
    joined = {}
    for key in (*SOURCE_RECORD_FIELDS, "checksum"):
        joined[key] = "; ".join(record[key] for record in records)
    title = "SeenQA: " + ", ".join(record["name"] for record in records)
    return joined | {"name": "seen_qa", "title": title, "version": ""}


def _parse(row: dict[str, Any], name: str, where: str) -> tuple[str, list[str], int]:
    """Return question, answers and number of different answers of one record."""
    row = _with_small_names(row)
    fields = [name for name in QUESTION_FIELDS if name in row]
    question = cell_text(row[fields[0]] if fields else "", where)
    form_errors = (KeyError, TypeError, AttributeError)
    with reraise_as_user_error(
        f"{where} is in no known form", NEEDED_FIELDS, *form_errors
    ):
        answers, different = _answers_of_record(row, name, where)
    if not question:
        raise UserError(f"{where} needs a question and answers that are texts.")
    if not answers:
        raise UserError(
            f'{where}, "{question}", has no answer: add one or take the record out.'
        )
    # Counted as the file spells them, so that the questions that a seed draws stay.
    folded = {str(text).strip().casefold() for text in different}
    return _without_csv_quotes(question), answers, len(folded - {""})


def _answers_of_record(
    row: dict[str, Any], name: str, where: str
) -> tuple[list[str], list[Any]]:  # of texts, unless the file is malformed
    """Return all answers, and those that are different, as the file spells them.

    Aliases are not different.
    """
    value = row.get("answer")
    if isinstance(value, str) and value.lstrip().startswith("{"):
        spelt = files.parse_python_literal(value.strip())  # as pandas writes a dict
        if isinstance(spelt, dict):
            value = spelt
    if isinstance(value, dict):
        value = _with_small_names(value)
        aliases = cell_texts(value.get("aliases"), where)
        return _distinct_texts([value["value"], *aliases], where), [value["value"]]
    metadata = row.get("metadata")
    if not isinstance(metadata, dict):
        metadata = row
    if "obj" in metadata:
        possible = row.get("golden_answers", row.get("possible_answers", []))
        return _popqa_answers(metadata, possible, where)
    numbered = [key for key in row if NUMBERED_ANSWER.fullmatch(key)]
    if numbered and "answer" not in row:  # FreshQA's: ways to give one answer
        answers = _distinct_texts([row[key] for key in numbered], where)
        return answers, answers[:1]
    keys = [key for key in ANSWER_FIELDS if key in row]
    value = row[keys[0] if keys else "answer"]
    cells = list_in_cell(value)
    if cells is None:
        cells = [value]
        if isinstance(value, str) and "problem" not in row:
            refuse_broken_list(value, where)
            cells = cell_texts(value, where) if "|" in value else value.split("; ")
    answers = _distinct_texts(cells, where)
    # TriviaQA's lists are aliases of one answer; elsewhere they may be different
    # answers.
    if "trivia" in name.casefold():
        return answers, answers[:1]
    return answers, cells


def _with_small_names(record: dict[str, Any]) -> dict[str, Any]:  # of any file
    """Return a record under names in small letters, which TriviaQA's are not."""
    return {str(name).casefold(): value for name, value in record.items()}


def _distinct_texts(cells: Sequence[Any], where: str) -> list[str]:  # cells of any file
    """Return the texts of some cells, without empty ones, each once."""
    texts = [cell_text(cell, where) for cell in cells]
    return list(dict.fromkeys(filter(None, texts)))


def _popqa_answers(
    metadata: dict[str, Any], possible: Any, where: str
) -> tuple[list[str], list[str]]:
    """Return PopQA's object, aliases and possible answers; the first and the last."""
    aliases = cell_texts(metadata.get("o_aliases"), where)
    names = _distinct_texts([metadata["obj"], *aliases], where)
    folded_names = {text.casefold() for text in names}
    others = []
    for text in _distinct_texts(cell_texts(possible, where), where):
        if text.casefold() not in folded_names:
            others.append(text)
    return [*names, *others], [*names[:1], *others]


def _without_csv_quotes(question: str) -> str:
    """Take off the quoting of CSV, which some conversions of TriviaQA have left."""
    if len(question) < 3 or not question.startswith('"') or not question.endswith('"'):
        return question
    inner = question[1:-1]
    if '"' in inner.replace('""', ""):
        return question
    return inner.replace('""', '"').strip()
