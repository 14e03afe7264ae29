"""Published question files, read as they are: NQ-open, TriviaQA, PopQA and conversions of them.

Known forms, told by their fields: NQ-open (`question`, `answer` as a list), FlashRAG (`question`,
`golden_answers`, for PopQA with `metadata`), TriviaQA (`Question`, `Answer` with `Value` and
`Aliases`), PopQA (`question`, `obj`, `possible_answers` as JSON in a string). Files end in .jsonl,
.json, .tsv or .csv.
"""

import csv
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd

from helpers import UserError
from helpers.datasets import download
from helpers.datasets.files import json_lines, parse_json, read_text

COLUMNS = ["item", "group", "question", "answers", "n_answers"]
ENDINGS = (".jsonl", ".json", ".tsv", ".csv")
_HUB = "https://huggingface.co/datasets/{repository}/resolve/{revision}/{path}"
_NQ = (
    "https://raw.githubusercontent.com/google-research-datasets/natural-questions/"
    "fb26a3073b1fe636c97302890a27b491d6530130/nq_open/NQ-open.dev.jsonl"
)


@dataclass(frozen=True)
class Published:
    """Where a published file is: its address at one commit, its SHA-256 if known, its licence."""

    url: str
    sha256: str | None
    licence: str
    citation: str


PUBLISHED = {
    "nq_open": Published(
        _NQ,
        "f15567f38099f3615f5b8a685c0aef449c11ad90d3da3735e8d1b98115b40616",
        "CC BY-SA 3.0",
        "Kwiatkowski et al. (2019). Natural Questions. TACL 7. Open version: Lee et al. (2019).",
    ),
    "triviaqa": Published(
        _HUB.format(
            repository="RUC-NLPIR/FlashRAG_datasets",
            revision="87aab18c372ee7714a7288c7d660423c7ee96dde",
            path="triviaqa/test.jsonl",
        ),
        None,
        "as told by its authors; conversion CC BY-SA 4.0",
        "Joshi et al. (2017). TriviaQA. ACL 2017.",
    ),
    "popqa": Published(
        _HUB.format(
            repository="akariasai/PopQA",
            revision="098765c79ea10a2cb19c828324e33281b8336ec0",
            path="test.tsv",
        ),
        None,
        "MIT",
        "Mallen et al. (2023). When Not to Trust Language Models. ACL 2023.",
    ),
}


def read(source: str | Path) -> pd.DataFrame:
    """Read the questions behind a name, an address or a path."""
    name, files = find(source)
    rows: dict[str, tuple] = {}
    for path in files:
        for number, row in enumerate(_rows(path), 1):
            question, answers, n_answers = _parse(row, name, f"{path}, record {number}")
            rows.setdefault(question, (question, answers, n_answers))
    table = [(f"{name}-{i:05d}", name, *row) for i, row in enumerate(rows.values())]
    if not table:
        raise UserError(f"{source} holds no question: give a file with at least one.")
    return pd.DataFrame(table, columns=COLUMNS)


def find(source: str | Path) -> tuple[str, list[Path]]:
    """Return the name of a source and its files, fetched first where they are elsewhere."""
    text = str(source)
    if text in PUBLISHED:
        found = PUBLISHED[text]
        return text, [_fetch(found.url, text, found.sha256)]
    if text.startswith("hub:"):
        path, _, revision = text.removeprefix("hub:").partition("@")
        owner, name, *inside = path.split("/")
        if not inside:
            raise UserError(
                f"{text} names no file on the hub: write hub:owner/name/path@revision, such as "
                "hub:akariasai/PopQA/test.tsv@main."
            )
        url = _HUB.format(
            repository=f"{owner}/{name}", revision=revision or "main", path="/".join(inside)
        )
        return name, [_fetch(url, name, None)]
    if text.startswith(("http://", "https://")):
        return Path(urlsplit(text).path).stem, [_fetch(text, "address", None)]
    path = Path(text).expanduser()
    if not path.exists():
        raise UserError(
            f"There is no question file or folder {source}: give a path, an address, or one of "
            f"{', '.join(PUBLISHED)}."
        )
    files = [path] if path.is_file() else sorted(p for p in path.iterdir() if p.suffix in ENDINGS)
    if not files:
        raise UserError(f"The folder {path} holds no file ending in {', '.join(ENDINGS)}.")
    return (path.stem if path.is_file() else path.resolve().name), files


def checksum(source: str | Path) -> str:
    """Return the SHA-256 of the files of a source, one after the other."""
    return download.checksum(find(source)[1])


def _fetch(url: str, name: str, sha256: str | None) -> Path:
    """Fetch a file into the user's cache, once."""
    import pooch

    file = Path(urlsplit(url).path).name
    place = f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{file}"
    folder = pooch.os_cache(download.CACHE_NAME) / "questions" / name
    known = f"sha256:{sha256}" if sha256 else None
    instead = "download it and give the path of the file"
    return Path(
        download.tried(lambda: pooch.retrieve(url, known, place, folder), file, url, instead)
    )


def _rows(path: Path) -> list[dict]:
    """Return the records of a file as dicts."""
    if path.suffix == ".jsonl":
        return json_lines(path)
    text = read_text(path)
    if path.suffix in (".tsv", ".csv"):
        separator = "\t" if path.suffix == ".tsv" else ","
        return list(csv.DictReader(text.splitlines(keepends=True), delimiter=separator))
    value = parse_json(text, path)
    rows = value.get("Data", [value]) if isinstance(value, dict) else value
    if not all(isinstance(row, dict) for row in rows):
        raise UserError(f"{path} must hold one JSON object a question.")
    return rows


def _parse(row: dict, name: str, where: str) -> tuple[str, list[str], int]:
    """Return question, answers and number of different answers of one record."""
    question, value = row.get("question", row.get("Question")), row.get("Answer")
    meta = row.get("metadata") if isinstance(row.get("metadata"), dict) else row
    try:
        if isinstance(value, dict):
            answers, others = [value["Value"], *value.get("Aliases", [])], []
        elif "obj" in meta:
            given = row.get("golden_answers", row.get("possible_answers", []))
            given = json.loads(given) if isinstance(given, str) else given
            own = [meta["obj"], *json.loads(meta.get("o_aliases") or "[]")]
            known = {text.casefold() for text in own}
            others = [text for text in given if text.casefold() not in known]
            answers = [*own, *others]
        else:
            answers = row["golden_answers"] if "golden_answers" in row else row["answer"]
            answers = answers.split("; ") if isinstance(answers, str) else list(answers)
            # TriviaQA's lists are aliases of one answer; elsewhere they may be different answers.
            others = [] if "trivia" in name.casefold() else answers[1:]
    except (KeyError, TypeError, json.JSONDecodeError):
        raise UserError(
            f"{where} is in no known form: it needs a question and answer, golden_answers, "
            "Answer.Value, or obj and possible_answers."
        ) from None
    texts = [question, *answers]
    if not all(isinstance(text, str) for text in texts) or not str(question).strip():
        raise UserError(f"{where} needs a question and answers that are texts.")
    answers = list(dict.fromkeys(text.strip() for text in answers if text.strip()))
    if not answers:
        raise UserError(f'{where}, "{question}", has no answer: add one or take the record out.')
    different = {text.casefold() for text in [answers[0], *others]}
    return _unquoted(question.strip()), answers, len(different)


def _unquoted(question: str) -> str:
    """Undo the quoting of CSV, which some conversions of TriviaQA have left in their texts."""
    inner = question[1:-1]
    if (
        len(question) > 2
        and question[0] == question[-1] == '"'
        and '"' not in inner.replace('""', "")
    ):
        return inner.replace('""', '"').strip()
    return question
