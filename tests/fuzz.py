"""Every reader of strangers' files, given files that are broken in every way one can think of.

Each gives a table or one sentence, in bounded time and memory. ``python -m tests.fuzz --minutes N``
goes on for as long as one likes and prints each input that does neither; the tests take a few.
"""

import argparse
import contextlib
import gzip
import io
import json
import random
import resource
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

from helpers import UserError, datasets
from helpers.datasets import logs, multiple_choice, questions
from helpers.models import adapters, checkpoints
from helpers.models import address as addresses
from helpers.models.server import completions, session
from helpers.runs import sharing, store
from helpers.runs.sharing import archive as archive_
from notebooks.analysis import lpaqa
from tests import tool_logs

SECONDS, BYTES = 60, 3 * 2**30  # for one input; more than the process has at its start
ODD = [None, True, 5, -1, 1e400, float("nan"), "", " ", "²", "\ud800", "\x1b[2J\x00", "-" * 10**5]
ODD += ["9" * 5000, "[" * 10**5, [], [[]], {}, {"a": None}, "x" * 10**5, 10**400, -0.0, "nan"]
BYTES_OF = [b"[" * 10**5, b"9" * 5000, b'"', b"\\", b"\xff", b"\x00", b"\r", b",", b"NaN", b"\n"]
BYTES_OF += [b'"\\ud800"', b"-Infinity", b"null", "²".encode(), b"{", b"}", b"]", b"1e999", b"|"]
FACT = {"subject": "a", "object": "b", "taxonomy": ["c", "d"], "exposure": 3}
CHOICES = "Relation_ID,Subject,Object,Multiple Choices\n7,a,b,\"['c', 'd']\"\n8,e,f,\"['g']\"\n"
MC1 = [{"question": "q", "mc1_targets": {"a": 1, "b": 0}}]
CSQA = {"id": "1", "question": {"stem": "q", "choices": [{"label": "A", "text": "a"},
        {"label": "B", "text": "b"}]}, "answerKey": "A"}  # fmt: skip
FEVER = {"id": 1, "claim": "c", "label": "SUPPORTS"}
POPQA = {"question": "q?", "obj": "a", "possible_answers": '["a", "b"]', "o_aliases": '["b"]'}
TRIVIA = {"Data": [{"Question": "q?", "Answer": {"Value": "a", "Aliases": ["b"]}}]}
SAMPLES = [tool_logs.choice("a", 0, "p"), tool_logs.choice("b", 1, "p", "2")]
ABOUT = {"eval": {"task": "t", "model": "m", "model_args": {}, "dataset": {"sample_ids": ["s"]}}}
SCORED = tool_logs.sample("s", "A", "C")
PARAMETERS = {"name": "m", "dataset": "atlas", "seed": 0}
MANIFEST = {"chapter": "monitor", "seed": 0, "finished": "2026", "seconds": 1.0, "device": "cpu",
            "parameters": PARAMETERS, "model": {"name": "m"}, "dataset": {"name": "d"}}  # fmt: skip
LOGPROBS = {"tokens": ["token_id:1", "token_id:2"], "token_logprobs": [-1.0, -2.0],
            "top_logprobs": [{"token_id:1": -1.0, "token_id:2": -2.0}, {}]}  # fmt: skip
ANSWER = {"usage": {"prompt_tokens": 2}, "choices": [{"finish_reason": "stop", "logprobs": LOGPROBS,
          "prompt_logprobs": [None, {"2": {"logprob": -1.0}}]}]}  # fmt: skip


def rows(*values):
    return "\n".join(json.dumps(value) for value in values).encode()


def zipped(members):
    """Return members as the bytes of a zip archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def parquet():
    """Return a table of choices as the bytes of a Parquet file."""
    stream = io.BytesIO()
    pd.read_csv(io.StringIO(CHOICES)).to_parquet(stream)
    return stream.getvalue()


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


# A reader: the files that it is given (the first is broken), and what reads them.
READERS = {
    "facts": ({"P1.json": rows({"relations": ["[X]?"]}, FACT, FACT)}, datasets.load),
    "choices.csv": ({"train.csv": CHOICES.encode(), "test.csv": CHOICES.encode()}, None),
    "choices.jsonl": ({"train.jsonl": rows(*pd.read_csv(io.StringIO(CHOICES)).to_dict("records")),
                       "test.csv": CHOICES.encode()}, None),
    "choices.parquet": ({"train.parquet": parquet(), "test.csv": CHOICES.encode()}, None),
    "laureates": ({"nobel.csv": b"firstname,surname,born_date\nA,B,1900-01-01\n"}, None),
    "own": ({"own.csv": b'question,options,answer\nq,"[""a"", ""b""]",a\nr,c|d,1\n'}, "options"),
    "mc1": ({"mc_task.json": json.dumps(MC1).encode()}, "options"),
    "truthfulqa": ({"TruthfulQA.csv": b"Category,Question,Best Answer,Incorrect Answers\n"
                    b"c,q,a,b; d\n"}, "options"),
    "factor": ({"wiki_factor.csv": b"context,completion,contradiction_0,contradiction_1,"
                b'contradiction_2,paraphrases\nt,a,b,c,d,"[""u""]"\n'}, "options"),
    "medhalt": ({"reasoning_fake.csv": b"question,options\n"
                 b"q,\"{'0': 'a', '1': 'I do not know'}\"\n"}, "options"),
    "commonsenseqa": ({"dev_rand_split.jsonl": rows(CSQA)}, "options"),
    "fever": ({"shared_task_dev.jsonl": rows(FEVER)}, "options"),
    "truefalse": ({"cities_true_false.csv": b"statement,label\ns,1\nt,0\n"}, "options"),
    "popqa": ({"q.jsonl": rows(POPQA, {"question": "p", "answer": ["a"]})}, questions.read),
    "trivia": ({"q.json": json.dumps(TRIVIA).encode()}, questions.read),
    "tsv": ({"q.tsv": b'question\tobj\tpossible_answers\nq?\ta\t"[""a""]"\n'}, questions.read),
    "lm_eval": ({f"samples_t_{tool_logs.STAMP}.jsonl": rows(*SAMPLES),
                 f"results_{tool_logs.STAMP}.json": b'{"model_name": "m"}'}, "log"),
    "lm_eval results": ({f"results_{tool_logs.STAMP}.json": b'{"model_name": "m", "config": {}}',
                         f"samples_t_{tool_logs.STAMP}.jsonl": rows(*SAMPLES)}, "log"),
    "lm_eval texts": ({"samples_t.jsonl": rows(tool_logs.text("a", "Rome", 1.0, "p"))}, "log"),
    "inspect": ({"l.json": json.dumps({**ABOUT, "samples": [SCORED]}).encode()}, "log"),
    "inspect archive": ({"l.eval": zipped({"header.json": json.dumps(ABOUT),
                         "samples/s_epoch_1.json": json.dumps(SCORED)})}, "log"),
    "corpus": ({"c.jsonl": rows({"text": "a b"}, {"text": "c"})}, "corpus"),
    "packed corpus": ({"c.txt.gz": gzip.compress(b"a b\nc\n" * 50)}, "corpus"),
    "lpaqa": ({"mine/P1.jsonl": rows({"template": "[X] is [Y]", "weight": 0.5})}, lpaqa.read),
    "lpaqa texts": ({"manual_paraphrase/P1.txt": b"[X] is [Y]\n"}, lpaqa.read),
    "archive": ({"a.zip": (Path(__file__).parents[1] / "results/smollm2.zip").read_bytes()},
                sharing.verify),
    "manifest": ({"m/monitor/run.json": json.dumps(MANIFEST).encode()}, "runs"),
    "adapter": ({"adapter_config.json": b'{"base_model_name_or_path": "m", "revision": null}'},
                lambda folder: adapters.base(folder, "m")),
    "index": ({checkpoints.INDEX: b'{"weight_map": {"a": "model-00001-of-00002.safetensors"}}'},
              lambda folder: checkpoints.weight_files(folder, "m")),
    "answer": ({"answer.json": json.dumps(ANSWER).encode()}, answered),
}  # fmt: skip
KINDS = {
    None: datasets.load,
    "options": lambda folder: multiple_choice.load(folder),
    "log": lambda path: logs.read([path]),
    "corpus": lambda path: sum(1 for _ in datasets.documents(path)),
    "runs": lambda folder: (store.load(folder), store.manifest(folder / "m/monitor")),
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
    files, read = READERS[name]
    chance = random.Random(seed)
    for number, (file, data) in enumerate(files.items()):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        if number == 0 and seed is not None:
            inside = file.endswith((".eval", ".zip")) and chance.random() < 0.7
            data = _inside(data, chance) if inside else broken(data, chance)
        (folder / file).write_bytes(data)
    named = {"log": [f for f in files if "results" not in f], "corpus": [*files]}.get(read)
    alone = named or (read in (questions.read, sharing.verify, answered) and [*files])
    place = folder / alone[0] if alone else folder
    place = folder / "own.csv" if name == "own" else place
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            KINDS.get(read, read)(place)
        return "read"
    except UserError:
        return "refused"
    except BaseException:
        return traceback.format_exc()
    finally:
        signal.alarm(0)


def _inside(data, chance):
    """Break a member of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = archive_.MANIFEST if archive_.MANIFEST in members else chance.choice(sorted(members))
    members[name] = broken(members[name].replace(b"\n", b""), chance)
    with contextlib.suppress(
        ValueError, AttributeError, RecursionError
    ):  # an archive's manifest is signed
        record = json.loads(members[name])
        members[name] = json.dumps(record | {"checksum": archive_.checksum(record)})
    return zipped(members)


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
            last = [line for line in said.splitlines() if line.startswith("  File")][-1:]
            if len(said) > 9 and (name, *last) not in seen:
                seen.add((name, *last))
                print(f"{name}, seed {seed}:\n{said}", flush=True)
        seed += 1
    print(pd.Series(counts).to_string())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{sum(counts.values()):,} inputs, at most {peak:,} MiB, {len(seen)} ways to fail")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
