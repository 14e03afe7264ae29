"""Every reader of strangers' files, given files that are broken in every way one can think of.

Each gives a table or one sentence, in bounded time and memory. ``python -m tests.fuzz
--minutes N`` goes on for as long as one likes and prints each input that does neither;
the tests take a few.
"""

import argparse
import contextlib
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
import pandas as pd

from helpers import UserError, datasets, exchange
from helpers.datasets import multiple_choice, seen_questions
from helpers.exchange import archive as archive_
from helpers.exchange import cooccurrence, logs
from helpers.models import adapters, checkpoints
from helpers.models import server_address as addresses
from helpers.models.server import completions, session
from helpers.runs import store
from notebooks.analysis import lpaqa
from tests import tool_logs

SECONDS, BYTES = 60, 3 * 2**30  # for one input; more than the process has at its start
ODD = [
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
ODD += [
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
BYTES_OF = [
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
BYTES_OF += [
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


def answered(path):
    """Let each reader of a server's answers read one."""
    asked = [ask({}, [1, 2]) for ask in (completions.prompt_logprobs, completions.echo)]
    asked += [completions.node({}, [1, 2], [1, 2]), completions.greedy({}, [1, 2], 1)]
    address = addresses.parse("http://localhost:1#m")
    limits = addresses.Limits(patience=0.01, tries=1)

    def answer(*_):
        return httpx2.Response(200), path.read_text(encoding="utf-8", errors="replace")

    for _, read in asked:
        with mock.patch.object(session.Session, "_answer", answer):
            session.ask(address, limits, completions.PATH, {}, read)


def log(path):
    return logs.read([path])


def runs(folder):
    return store.load(folder), store.manifest(folder / "m/monitor")


def documents(path):
    return sum(1 for _ in cooccurrence.documents(path))


SAMPLES = Path(__file__).parent / "strangers"  # a folder of whole files for each reader
STAMP = f"{tool_logs.STAMP}.json"
# A reader: the file that is broken, what is given to it ("" is the folder), and what
# reads that.
READERS = {
    "facts": ("P1.json", "", datasets.load),
    "choices.csv": ("train.csv", "", datasets.load),
    "choices.jsonl": ("train.jsonl", "", datasets.load),
    "choices.parquet": ("train.parquet", "", datasets.load),
    "laureates": ("nobel.csv", "", datasets.load),
    "own": ("own.csv", "own.csv", multiple_choice.load),
    "mc1": ("mc_task.json", "", multiple_choice.load),
    "truthfulqa": ("TruthfulQA.csv", "", multiple_choice.load),
    "factor": ("wiki_factor.csv", "", multiple_choice.load),
    "medhalt": ("reasoning_fake.csv", "", multiple_choice.load),
    "commonsenseqa": ("dev_rand_split.jsonl", "", multiple_choice.load),
    "fever": ("shared_task_dev.jsonl", "", multiple_choice.load),
    "truefalse": ("cities_true_false.csv", "", multiple_choice.load),
    "popqa": ("q.jsonl", "q.jsonl", seen_questions.read),
    "trivia": ("q.json", "q.json", seen_questions.read),
    "tsv": ("q.tsv", "q.tsv", seen_questions.read),
    "lm_eval": (f"samples_t_{STAMP}l", f"samples_t_{STAMP}l", log),
    "lm_eval_results": (f"results_{STAMP}", f"samples_t_{STAMP}l", log),
    "lm_eval_texts": ("samples_t.jsonl", "samples_t.jsonl", log),
    "inspect": ("l.json", "l.json", log),
    "inspect_archive": ("l.eval", "l.eval", log),
    "corpus": ("c.jsonl", "c.jsonl", documents),
    "packed_corpus": ("c.txt.gz", "c.txt.gz", documents),
    "lpaqa": ("mine/P1.jsonl", "", lpaqa.read),
    "lpaqa_texts": ("manual_paraphrase/P1.txt", "", lpaqa.read),
    "archive": ("a.zip", "a.zip", exchange.verify),
    "manifest": ("m/monitor/run.json", "", runs),
    "adapter": ("adapter_config.json", "", lambda folder: adapters.base(folder, "m")),
    "index": (
        checkpoints.INDEX,
        "",
        lambda folder: checkpoints.weight_files(folder, "m"),
    ),
    "answer": ("answer.json", "answer.json", answered),
}


def broken(data, chance):
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
        odd = chance.choice([each for each in ODD if isinstance(each, str)])
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
        holder[key] = chance.choice(ODD)
    lines[place] = json.dumps(top[0]).encode()
    return b"\n".join(lines)


def _bytes(data, chance):
    """Cut, repeat, flip or put in bytes."""
    first, last = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    last = min(last, first + 200) if chance.random() < 0.8 else last
    middle = chance.choice((b"", data[first:last] * 2, chance.choice(BYTES_OF)))
    if chance.random() < 0.3 and data:
        middle, last = bytes([chance.randrange(256)]), first + 1
    return data[:first] + middle + data[last:]


def tried(name, seed, folder):
    """Give a reader a file that a seed breaks; return what came of it, or a traceback."""
    file, given, read = READERS[name]
    chance = random.Random(seed)
    shutil.copytree(SAMPLES / name, folder, dirs_exist_ok=True)
    if seed is not None:
        data = (folder / file).read_bytes()
        inside = file.endswith((".eval", ".zip")) and chance.random() < 0.7
        (folder / file).write_bytes(
            _inside(data, chance) if inside else broken(data, chance)
        )
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(folder / given)
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
        archive_.MANIFEST
        if archive_.MANIFEST in members
        else chance.choice(sorted(members))
    )
    members[name] = broken(members[name].replace(b"\n", b""), chance)
    with contextlib.suppress(ValueError, AttributeError, RecursionError):
        record = json.loads(members[name])
        members[name] = json.dumps(record | {"checksum": archive_.checksum(record)})
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


class Late(BaseException):
    """More seconds than an input may take; no reader may catch it."""


def _late(*_):
    raise Late


def main():
    """Break files until the time is over; print each new way in which a reader fails."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with open("/proc/self/statm", encoding="ascii") as told:
        size = int(told.read().split()[0]) * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    end, seed = time.monotonic() + 60 * args.minutes, args.seed
    counts, seen = Counter(), set()
    while time.monotonic() < end:
        for name in READERS:
            if name == "archive" and seed % 20:  # verified whole, it takes a second
                continue
            with tempfile.TemporaryDirectory() as folder:
                said = tried(name, seed, Path(folder))
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
