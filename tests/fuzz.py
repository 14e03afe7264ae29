"""Every reader of strangers' files, given files that are broken in every way one can think of.

Each gives a table or one sentence, in bounded time and memory. ``python -m tests.fuzz
--minutes N`` goes on for as long as one likes and prints each input that does neither;
the tests take a few.
"""

import argparse
import contextlib
import datetime
import decimal
import io
import json
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from pathlib import Path
from unittest import mock

import httpx2
import numpy as np
import pandas as pd

from helpers import UserError, datasets, exchange
from helpers.datasets import cells, multiple_choice, seen_questions
from helpers.exchange import archive as archive_
from helpers.exchange import cooccurrence, logs
from helpers.metrics.canonical import comparison_key
from helpers.models import adapters, checkpoints
from helpers.models import server_address as addresses
from helpers.models.server import completions, session
from helpers.runs import store
from notebooks.analysis import lpaqa
from tests import tool_logs

SECONDS_PER_INPUT, MEMORY_BYTES = (
    60,
    3 * 2**30,
)  # for one input; more than the process has at its start
ODD_VALUES = [
    None,
    True,
    5,
    -1,
    1e400,
    float("nan"),
    "",
    " ",
    "²",
    "\ud800",
    "\x1b[2J\x00",
    "-" * 10**5,
]
ODD_VALUES += [
    "9" * 5000,
    "[" * 10**5,
    [],
    [[]],
    {},
    {"a": None},
    "x" * 10**5,
    10**400,
    -0.0,
    "nan",
]
ODD_BYTES = [
    b"[" * 10**5,
    b"9" * 5000,
    b'"',
    b"\\",
    b"\xff",
    b"\x00",
    b"\r",
    b",",
    b"NaN",
    b"\n",
]
ODD_BYTES += [
    b'"\\ud800"',
    b"-Infinity",
    b"null",
    "²".encode(),
    b"{",
    b"}",
    b"]",
    b"1e999",
    b"|",
]


def read_server_answer(path):
    """Let each reader of a server's answers read one."""
    asked = [
        ask({}, [1, 2])
        for ask in (completions.prompt_logprobs_request, completions.echo_request)
    ]
    asked += [
        completions.next_tokens_request({}, [1, 2], [1, 2]),
        completions.greedy_request({}, [1, 2], 1),
    ]
    address = addresses.parse_server_address("http://localhost:1#m")
    limits = addresses.ServerLimits(patience=0.01, tries=1)

    def answer(*_):
        return httpx2.Response(200), path.read_text(encoding="utf-8", errors="replace")

    for _, read in asked:
        with mock.patch.object(session.Session, "_answer", answer):
            session.ask_server(address, limits, completions.COMPLETIONS_PATH, {}, read)


def read_log(path):
    return logs.read_logs([path])


def read_runs(folder):
    return store.load(folder), store.load_manifest(folder / "m/monitor")


def count_documents(path):
    return sum(1 for _ in cooccurrence.read_corpus_documents(path))


SAMPLES_FOLDER = (
    Path(__file__).parent / "strangers"
)  # a folder of whole files for each reader
TABLES = "tables"  # odd tables of pandas, which no file holds
LOG_FILE_STAMP = f"{tool_logs.LOG_FILE_STAMP}.json"
# A reader: the file that is broken, what is given to it ("" is the folder), and what
# reads that.
READERS = {
    "facts": ("P1.json", "", datasets.load),
    "choices.csv": ("train.csv", "", datasets.load),
    "choices.jsonl": ("train.jsonl", "", datasets.load),
    "choices.parquet": ("train.parquet", "", datasets.load),
    "laureates": ("nobel.csv", "", datasets.load),
    "lama": ("P17.jsonl", "", datasets.load),
    "own": ("own.csv", "own.csv", multiple_choice.load_benchmark),
    "mc1": ("mc_task.json", "", multiple_choice.load_benchmark),
    "truthfulqa": ("TruthfulQA.csv", "", multiple_choice.load_benchmark),
    "factor": ("wiki_factor.csv", "", multiple_choice.load_benchmark),
    "medhalt": ("reasoning_fake.csv", "", multiple_choice.load_benchmark),
    "commonsenseqa": ("dev_rand_split.jsonl", "", multiple_choice.load_benchmark),
    "fever": ("shared_task_dev.jsonl", "", multiple_choice.load_benchmark),
    "truefalse": ("cities_true_false.csv", "", multiple_choice.load_benchmark),
    "popqa": ("q.jsonl", "q.jsonl", seen_questions.read_questions),
    "trivia": ("q.json", "q.json", seen_questions.read_questions),
    "tsv": ("q.tsv", "q.tsv", seen_questions.read_questions),
    "simpleqa": ("q.csv", "q.csv", seen_questions.read_questions),
    "freshqa": ("q.csv", "q.csv", seen_questions.read_questions),
    "lm_eval": (
        f"samples_t_{LOG_FILE_STAMP}l",
        f"samples_t_{LOG_FILE_STAMP}l",
        read_log,
    ),
    "lm_eval_results": (
        f"results_{LOG_FILE_STAMP}",
        f"samples_t_{LOG_FILE_STAMP}l",
        read_log,
    ),
    "lm_eval_texts": ("samples_t.jsonl", "samples_t.jsonl", read_log),
    "inspect": ("l.json", "l.json", read_log),
    "inspect_archive": ("l.eval", "l.eval", read_log),
    "corpus": ("c.jsonl", "c.jsonl", count_documents),
    "packed_corpus": ("c.txt.gz", "c.txt.gz", count_documents),
    "lpaqa": ("mine/P1.jsonl", "", lpaqa.read_lpaqa_prompts),
    "lpaqa_texts": ("manual_paraphrase/P1.txt", "", lpaqa.read_lpaqa_prompts),
    "archive": ("a.zip", "a.zip", exchange.verify_archive),
    "manifest": ("m/monitor/run.json", "", read_runs),
    "adapter": (
        "adapter_config.json",
        "",
        lambda folder: adapters.base_model_name(folder, "m"),
    ),
    "index": (
        checkpoints.WEIGHTS_INDEX_FILE,
        "",
        lambda folder: checkpoints.weight_files(folder, "m"),
    ),
    "answer": ("answer.json", "answer.json", read_server_answer),
}


def broken_bytes(data, chance):
    """Return bytes with one to three things wrong: in a value of their JSON, or anywhere."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        data = _value(data, chance) if chance.random() < 0.5 else _bytes(data, chance)
    return data


def _value(data, chance):
    """Put an odd value in the place of one of a JSON text's, or of a cell of a table."""
    lines = data.split(b"\n")
    place = chance.randrange(len(lines))
    try:
        value = json.loads(lines[place])
    except (ValueError, RecursionError):
        cells = lines[place].split(b",")
        odd = chance.choice([each for each in ODD_VALUES if isinstance(each, str)])
        cells[chance.randrange(len(cells))] = odd.encode("utf-8", "surrogatepass")
        lines[place] = b",".join(cells)
        return b"\n".join(lines)
    holder = top = [value]
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = chance.choice(keys)
        inner = holder[key]
        if not isinstance(inner, dict | list) or not inner or chance.random() < 0.15:
            break
        holder = inner
    if isinstance(holder, dict) and chance.random() < 0.2:
        del holder[key]
    else:
        holder[key] = chance.choice(ODD_VALUES)
    lines[place] = json.dumps(top[0]).encode()
    return b"\n".join(lines)


def _bytes(data, chance):
    """Cut, repeat, flip or put in bytes."""
    first, last = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    last = min(last, first + 200) if chance.random() < 0.8 else last
    middle = chance.choice((b"", data[first:last] * 2, chance.choice(ODD_BYTES)))
    if chance.random() < 0.3 and data:
        middle, last = bytes([chance.randrange(256)]), first + 1
    return data[:first] + middle + data[last:]


# What cells of a table may hold, beside the values above.
CELLS = [
    "Lima",
    " Peru\u00a0",
    "Co\u0302te",
    "U.S.A.",
    "\u200b",
    "می\u200cخواهم",
    "a|b",
]
CELLS += ["['a', 'b']", "['a' 'b']", '["a", null]', "('a', 'b')", "[a]", "[[[", "{'a'}"]
CELLS += [pd.NA, pd.NaT, pd.Timestamp("1969-07-20"), pd.Timedelta(3, "h"), 1.5, 5.0, 7]
CELLS += [pd.Timestamp("1969-07-20 20:17", tz="UTC"), datetime.date(1, 1, 1), 1j]
CELLS += [
    pd.Period("1969-07"),
    pd.Interval(0, 5),
    decimal.Decimal("1.50"),
    b"S\xc3\xa3o",
]
CELLS += [b"\xff", np.datetime64("0001-01-01"), np.timedelta64(2, "Y"), np.bool_(True)]
CELLS += [np.array(["a", "b"]), np.array("a"), np.array([[1, 2]]), ("a",), {"a", 1}]
CELLS += [
    ["a", None],
    [["a"], ["b", "c"]],
    [{}],
    np.float16(0.1),
    decimal.Decimal("NaN"),
]
CELLS += [
    float("inf"),
    range(3),
    pd.Series(["a", "b"]),
    frozenset(),
    object(),
    slice(1),
]
COLUMN_TYPES = ("object", "category", "string", "string[pyarrow]", "Float64", "bool")
TABLE_COLUMNS = ("subject", "object", "relation", "distractors", "exposure", "note")


def _odd_table(chance):
    """Return a table of facts whose cells, types, names and index are anything."""
    n_rows = chance.choice((0, 1, 2, 3, 6))
    values = CELLS + ODD_VALUES
    columns = {}
    for name in TABLE_COLUMNS:
        if chance.random() < 0.05:
            continue
        plain = chance.random() < 0.8
        column = [f"{name} {row}" if plain else "a" for row in range(n_rows)]
        if name == "exposure":
            column = list(range(n_rows))
        if name == "distractors":
            column = [
                chance.choice((["x", "y"], "x|y", "['x', 'y']", [])) for _ in column
            ]
        if n_rows and chance.random() < 0.4:
            column[chance.randrange(n_rows)] = chance.choice(values)
        columns[name] = pd.Series(column, dtype=object)
    table = pd.DataFrame(columns)
    for name in list(table):
        if chance.random() < 0.4:
            with contextlib.suppress(Exception):  # not every cell has every type
                table[name] = table[name].astype(chance.choice(COLUMN_TYPES))
    if chance.random() < 0.2 and len(table.columns):
        with contextlib.suppress(Exception):
            table = table.set_index(chance.choice(list(table)))
    if chance.random() < 0.1:
        table = pd.concat([table, table], axis=chance.choice((0, 1)))
    if chance.random() < 0.05:
        table.columns = pd.MultiIndex.from_product([["x"], table.columns])
    return table.sample(frac=1, random_state=chance.randrange(99))


def write_odd_table(seed, folder):
    """Write an odd table as a data set, as a quiz and as questions, and read each."""
    chance = random.Random(seed)
    table = _odd_table(chance)
    templates = [["[X]?"], "[X]?", ["\u200b[X]"], [None], None, 5, [], ["[X]", "a"]]
    names = [*CELLS[:7], "relation", "r", *ODD_VALUES[:12]]
    questions: dict = {}
    if chance.random() < 0.2:
        questions[chance.choice(names)] = chance.choice(templates)
    questions["r"] = chance.choice(templates[:3] * 9 + templates)
    if "relation" in table and chance.random() < 0.7:
        table["relation"] = "r"
    kind = chance.choice(("facts", "facts", "quiz", "questions"))
    if kind == "facts":
        written = datasets.write_dataset(table, questions, folder / "facts", seed)
        facts = datasets.load(written)
        for row in facts.itertuples():
            for text in (row.subject, row.object, *row.distractors):
                assert text == cells.visible_text(text) != ""
            keys = [comparison_key(text) for text in (row.object, *row.distractors)]
            assert len(set(keys)) == len(keys)
        return
    renamed = {"subject": "question", "object": "answer", "distractors": "options"}
    table = table.rename(columns=renamed)
    if "options" in table and chance.random() < 0.7:
        table["answer"] = chance.choice(("0", "x", 1, 1.0))
    ending = chance.choice((".csv", ".tsv", ".jsonl"))
    path = folder / f"table{ending}"
    try:
        if ending == ".jsonl":
            table.to_json(path, orient="records", lines=True)
        else:
            sep = "\t" if ending == ".tsv" else chance.choice(",;\t")
            encoding = chance.choice(("utf-8", "utf-8-sig", "utf-16", "cp1252"))
            table.to_csv(path, index=False, sep=sep, encoding=encoding)
    except Exception:  # what pandas cannot write
        raise UserError("not written") from None
    if kind == "quiz":
        multiple_choice.load_benchmark(path)
    else:
        seen_questions.read_questions(path)


def reader_outcome(name, seed, folder):
    """Give a reader a file that a seed breaks; return what came of it, or a traceback."""
    if name == TABLES:
        return _outcome(lambda: write_odd_table(seed, folder))
    file, given, read = READERS[name]
    chance = random.Random(seed)
    shutil.copytree(SAMPLES_FOLDER / name, folder, dirs_exist_ok=True)
    if seed is not None:
        data = (folder / file).read_bytes()
        inside = file.endswith((".eval", ".zip")) and chance.random() < 0.7
        (folder / file).write_bytes(
            _inside(data, chance) if inside else broken_bytes(data, chance)
        )
    return _outcome(lambda: read(folder / given))


def _outcome(work):
    """Return "read", "refused" or a traceback, of work that has so much time."""
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(SECONDS_PER_INPUT)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            work()
        return "read"
    except UserError:
        return "refused"
    except BaseException:
        return traceback.format_exc()
    finally:
        signal.alarm(0)


def _inside(data, chance):
    """Break a member of an archive; its manifest is signed again."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = (
        archive_.MANIFEST_FILE
        if archive_.MANIFEST_FILE in members
        else chance.choice(sorted(members))
    )
    members[name] = broken_bytes(members[name].replace(b"\n", b""), chance)
    with contextlib.suppress(ValueError, AttributeError, RecursionError):
        record = json.loads(members[name])
        members[name] = json.dumps(
            record | {"checksum": archive_.checksum_of_record(record)}
        )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


class TimeLimitExceeded(BaseException):
    """More seconds than an input may take; no reader may catch it."""


def _late(*_):
    raise TimeLimitExceeded


def main():
    """Break files until the time is over; print each new way in which a reader fails."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--readers", nargs="*", default=[*READERS, TABLES])
    args = parser.parse_args()
    with open("/proc/self/statm", encoding="ascii") as told:
        size = int(told.read().split()[0]) * resource.getpagesize() + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    end, seed = time.monotonic() + 60 * args.minutes, args.seed
    counts, seen = Counter(), set()
    while time.monotonic() < end:
        for name in args.readers:
            if name == "archive" and seed % 20:  # verified whole, it takes a second
                continue
            with tempfile.TemporaryDirectory() as folder:
                said = reader_outcome(name, seed, Path(folder))
            counts[name, said if len(said) < 9 else "failed"] += 1
            last = [line for line in said.splitlines() if line.startswith("  File")][
                -1:
            ]
            if len(said) > 9 and (name, *last) not in seen:
                seen.add((name, *last))
                print(f"{name}, seed {seed}:\n{said}", flush=True)
        seed += 1
    print(pd.Series(counts).to_string())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(
        f"{sum(counts.values()):,} inputs, at most {peak:,} MiB, {len(seen)} ways to fail"
    )
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
