"""Logs of lm-evaluation-harness (`--log_samples`) and Inspect (`.eval`), joined by document."""

import json
import re
import struct
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers import UserError
from helpers.datasets import files

RULES = ("sum", "per_character")  # lm-eval's acc and acc_norm
ZSTANDARD = 93  # compression of Inspect's newer archives, which zipfile cannot read
MARKS = {"C": True, "I": False, "N": False, "1": True, "0": False, "True": True, "False": False}
NO_OPTION = "(no option)"
COLUMNS = ["item", "relation", "variation", "option", "answer", "text", "right"]


@dataclass(frozen=True)
class Run:
    """One log: `rows` are its answers by document, `kind` is "choices" or "texts"."""

    path: Path
    tool: str
    kind: str
    task: str
    model: str
    rows: dict[str, dict[str, Any]]
    notes: list[str]


def read(paths: Sequence[str | Path], rule: str = "sum") -> pd.DataFrame:
    """Read several logs of one task, each with other prompts, as one table of choices.

    Parameters
    ----------
    paths : sequence of str or Path
        Files ``samples_*.jsonl`` of lm-evaluation-harness, or ``.eval`` or ``.json`` of Inspect.
        The first one is the default prompt.
    rule : {"sum", "per_character"}
        How lm-evaluation-harness' log-likelihoods choose an option: ``"sum"`` is its ``acc``,
        ``"per_character"`` its ``acc_norm``. In a tie the first option is chosen, as there. The
        number of tokens is not logged, so a mean over tokens cannot be had.

    Returns
    -------
    DataFrame
        One row a document and log: ``item`` (the document's hash), ``relation`` (the task),
        ``variation`` (the number of the log), ``option`` and ``answer`` (numbers of the chosen and
        the correct option; -1 where answers are texts), ``text`` (chosen or generated), ``right``
        (by the log's own mark where answers are texts). ``attrs["notes"]`` are sentences on what
        is left out and what the logs do not say.

    Raises
    ------
    UserError
        If a file is no such log, or if logs differ in tool, model, documents or options.

    Examples
    --------
    >>> read(["samples_arc.jsonl", "samples_arc.jsonl"])
    Traceback (most recent call last):
    helpers.UserError: A log is named twice: name each file once.
    """
    if rule not in RULES:
        raise UserError(
            f"A log holds sums of log-probabilities, not tokens: rule is {' or '.join(RULES)}, "
            f"not {rule!r}."
        )
    paths = [Path(path) for path in paths]
    if len({path.resolve() for path in paths}) < len(paths):
        raise UserError("A log is named twice: name each file once.")
    runs = [_run(path, rule) for path in paths]
    if not runs:
        raise UserError("No log is named: give two files or more.")
    notes = [note for run in runs for note in run.notes]
    notes += _alike(runs)
    shared = [item for item in runs[0].rows if all(item in run.rows for run in runs)]
    everything = set().union(*(run.rows for run in runs))
    if not shared:
        raise UserError("The logs share no document: give runs of one task on the same data.")
    if lost := len(everything) - len(shared):
        notes.append(
            f"{lost} of {len(everything)} documents are left out, because some log lacks them."
        )
    notes += _same_prompts(runs, shared)
    rows = []
    for item in shared:
        for variation, run in enumerate(runs):
            row = _numbered(run, item, runs[0].rows[item])
            rows.append({"item": item, "relation": runs[0].task, "variation": variation} | row)
    table = pd.DataFrame(rows)[COLUMNS]
    table.attrs = {"notes": notes, "model": runs[0].model, "kind": runs[0].kind}
    return table


def _run(path: Path, rule: str) -> Run:
    """Read one log of either tool."""
    if path.suffix in (".eval", ".json"):
        return _inspect(path)
    if path.suffix == ".jsonl":
        return _harness(path, rule)
    raise UserError(
        f"{path} is no log that can be read: give samples_*.jsonl of lm-evaluation-harness or "
        ".eval of Inspect."
    )


def _alike(runs: list[Run]) -> list[str]:
    """Refuse logs of two tools, models or kinds of answers; say which names are unknown."""
    for what, values in (
        ("tools", {run.tool for run in runs}),
        ("models", {run.model for run in runs} - {""}),
        ("kinds of answers", {run.kind for run in runs}),
    ):
        if len(values) > 1:
            raise UserError(
                f"The logs are of different {what} ({', '.join(sorted(values))}): give runs of "
                "one model on one task."
            )
    notes = []
    if nameless := sum(not run.model for run in runs):
        notes.append(
            f"{nameless} of {len(runs)} logs do not name their model: its results_*.json is not "
            "beside the samples, so nothing shows that it is the same model."
        )
    names = sorted({run.task for run in runs})
    if len(names) > 1:
        notes.append(f"The tasks have different names ({', '.join(names)}) and the same documents.")
    return notes


def _same_prompts(runs: list[Run], shared: list[str]) -> list[str]:
    """Refuse, or for sampled texts report, logs whose prompts are all the same."""
    asked = Counter(tuple(run.rows[item]["prompt"] for item in shared) for run in runs)
    if len(asked) == len(runs):
        return []
    if runs[0].kind == "choices" and runs[0].tool == "lm-evaluation-harness":
        raise UserError(
            "Two of the logs have the same prompts, so they are one run: give runs with other "
            "few-shot seeds, prompts or templates."
        )
    return [f"{len(runs)} logs have {len(asked)} different prompts; the rest repeat one."]


def _numbered(run: Run, item: str, first: dict[str, Any]) -> dict[str, Any]:
    """Return an answer with its options numbered as in the first log."""
    row, known = run.rows[item], first["options"]
    options = row["options"]
    if len(options) != len(known):
        raise UserError(
            f"{run.path} has {len(options)} options for a document where another log has "
            f"{len(known)}: give runs of one task."
        )
    number = {text: place for place, text in enumerate(known)}
    if set(options) == set(known) and len(number) == len(options):
        places = [number[text] for text in options]
    else:  # letters here, texts there
        places = list(range(len(options)))
    places.append(len(options))  # no option chosen
    option, answer = (places[row[name]] if options else -1 for name in ("option", "answer"))
    same = answer == first["answer"] if options else row["target"] == first["target"]
    if not same:
        raise UserError(
            f"{run.path} has another correct answer to a document than the first log: the task "
            "has changed, or its options are in an order that the log does not tell."
        )
    return row | {"option": option, "answer": answer}


def _harness(path: Path, rule: str) -> Run:
    """Read `--log_samples` of lm-evaluation-harness."""
    lines = files.json_lines(path)
    if not lines:
        raise UserError(f"{path} is empty: give a file that lm-evaluation-harness has finished.")
    for line in lines:
        files.need(
            line, ("doc_hash", "target", "arguments", "resps", "filtered_resps"), line["where"]
        )
    notes, rows = [], {}
    filters = list(dict.fromkeys(line.get("filter", "none") for line in lines))
    if len(filters) > 1:
        notes.append(f"{path.name} has answers by the filters {', '.join(filters)}: the first.")
    lines = [line for line in lines if line.get("filter", "none") == filters[0]]
    kinds = {_kind(line) for line in lines}
    if len(kinds) > 1:
        raise UserError(f"{path} mixes choices and texts: give the samples of one task.")
    for line in lines:
        row = _chosen(line, rule) if kinds == {"choices"} else _generated(line)
        rows.setdefault(line["doc_hash"], row)
    if twice := len(lines) - len(rows):
        notes.append(f"{path.name} has {twice} documents once more: the first counts.")
    if any(isinstance(line["resps"][0], list) and len(line["resps"][0]) > 1 for line in lines):
        notes.append(f"{path.name} has several answers to a prompt: the one it marks counts.")
    return Run(path, "lm-evaluation-harness", *kinds, *_named(path), rows, notes)


def _kind(line: dict[str, Any]) -> str:
    """Return "choices" for log-likelihoods of options, "texts" for generated answers."""
    first = line["filtered_resps"][0]
    if isinstance(first, str):
        return "texts"
    if isinstance(first, list) and len(first) == 2 and len(line["filtered_resps"]) > 1:
        return "choices"
    raise UserError(
        f"{line['where']} has neither options nor one generated answer: multiplicity needs tasks "
        "of the output type multiple_choice or generate_until."
    )


def _arguments(line: dict[str, Any]) -> list[list[Any]]:
    """Return what each request was, as (prompt, continuation); older versions log lists."""
    asked = line["arguments"]
    if isinstance(asked, list):
        return asked
    return [[each["arg_0"], each.get("arg_1")] for each in asked.values()]


def _chosen(line: dict[str, Any], rule: str) -> dict[str, Any]:
    """Return the likeliest option of a document."""
    asked = _arguments(line)
    pairs = [(a, float(score[0])) for a, score in zip(asked, line["filtered_resps"]) if a[0]]
    prompts = {prompt for (prompt, _), _ in pairs}  # an empty one is lm-eval's own baseline
    if len(prompts) != 1:
        raise UserError(
            f"{line['where']} puts its options into the prompt, and such a log does not say which "
            "one is correct: use a task whose options follow the prompt."
        )
    options = [str(said).strip() for (_, said), _ in pairs]
    scores = np.array([score for _, score in pairs])
    if rule == "per_character":
        scores = scores / [max(len(text), 1) for text in options]
    option, answer = int(np.argmax(scores)), _correct(line, options)
    return {
        "prompt": prompts.pop(),
        "options": options,
        "option": option,
        "answer": answer,
        "text": options[option],
        "right": option == answer,
    }


def _correct(line: dict[str, Any], options: list[str]) -> int:
    """Return the number of the correct option; lm-eval logs it as a number or as its text."""
    target = str(line["target"]).strip()
    if target.isdigit() and int(target) < len(options):
        return int(target)
    if target in options:
        return options.index(target)
    raise UserError(
        f"{line['where']} has the target {target[:40]!r}, which is not one of its {len(options)} "
        "options: multiplicity needs exactly one correct option."
    )


def _generated(line: dict[str, Any]) -> dict[str, Any]:
    """Return the generated answer of a document, right or wrong by the log's first metric."""
    metrics = line.get("metrics") or []
    metric = "exact_match" if "exact_match" in metrics else next(iter(metrics), "")
    return {
        "prompt": str(_arguments(line)[0][0]),
        "options": [],
        "target": str(line["target"]),
        "text": line["filtered_resps"][0],
        "right": _mark(line.get(metric), metric, line["where"]),
    }


def _mark(value: Any, metric: str, where: str) -> bool:
    """Return a mark as right or wrong; refuse one in between."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if str(value) not in MARKS:
        raise UserError(
            f"{where} has {value} for {metric or 'a metric'}, neither right nor wrong: use a "
            "metric such as exact_match."
        )
    return MARKS[str(value)]


def _named(path: Path) -> tuple[str, str]:
    """Return the task by the file's name, and the model by the results that lie beside it."""
    found = re.fullmatch(r"samples_(.+?)_(\d{4}-\d\d-\d\dT[\d.:-]+)", path.stem)
    if not found:
        return path.stem, ""
    results = path.with_name(f"results_{found[2]}.json")
    if not results.is_file():
        return found[1], ""
    said = files.parse_json(files.read_text(results), results)
    name = said.get("model_name") or ""
    version = (said.get("config") or {}).get("model_sha") or ""
    return found[1], f"{name}@{version}" if name and version else name


def _inspect(path: Path) -> Run:
    """Read a log of Inspect, an archive of JSON files or one such file."""
    about, samples = _archive(path) if path.suffix == ".eval" else _whole(path)
    notes, rows, failed = [], {}, 0
    ids = (about.get("dataset") or {}).get("sample_ids") or []
    place = {name: number for number, name in enumerate(ids)}  # an archive is in order of finishing
    samples = sorted(samples, key=lambda sample: place.get(sample["id"], len(place)))
    again = sum(sample["epoch"] > 1 for sample in samples)
    if again:
        notes.append(f"{path.name} has {again} answers of later epochs: the first epoch counts.")
    samples = [sample for sample in samples if sample["epoch"] == 1]
    for sample in samples:
        if not sample.get("scores"):
            failed += 1
            continue
        key, row = _answered(sample, f"{path}, sample {sample['id']}")
        rows.setdefault(key, row)
    if failed:
        notes.append(f"{path.name} has {failed} samples without a score.")
    if none := sum(row["text"] == NO_OPTION for row in rows.values()):
        notes.append(f"{path.name} has {none} answers that name no option; they count as wrong.")
    kinds = {"choices" if row["options"] else "texts" for row in rows.values()}
    if len(kinds) != 1:
        raise UserError(f"{path} holds no scored samples of one kind: give a finished log.")
    extra = about.get("model_args") or {}
    model = "@".join([about["model"], *(str(extra[k]) for k in ("revision",) if extra.get(k))])
    return Run(path, "Inspect", *kinds, about["task"], model, rows, notes)


def _whole(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read Inspect's log in one JSON file."""
    said = files.parse_json(files.read_text(path), path)
    if not isinstance(said, dict):
        raise UserError(f"{path} is no log of Inspect.")
    files.need(said, ("eval", "samples"), str(path))
    return said["eval"], said["samples"]


def _archive(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read Inspect's log in an archive; one that was cut short has its start, but no header."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            head = next(n for n in ("header.json", "_journal/start.json") if n in names)
            about = files.parse_json(_member(archive, head), f"{path}, {head}")["eval"]
            parts = [name for name in names if name.startswith("samples/")]
            return about, [files.parse_json(_member(archive, name), path) for name in parts]
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (zipfile.BadZipFile, StopIteration, KeyError):
        raise UserError(f"{path} is no log of Inspect, or is damaged.") from None


def _member(archive: zipfile.ZipFile, name: str) -> str:
    """Return one file of an archive as text, through pyarrow where it is packed by zstandard."""
    info = archive.getinfo(name)
    if info.compress_type != ZSTANDARD:
        return archive.read(name).decode("utf-8")
    import pyarrow as pa

    archive.fp.seek(info.header_offset + 26)  # of the local header: lengths of name and extra
    archive.fp.seek(sum(struct.unpack("<HH", archive.fp.read(4))), 1)
    packed = archive.fp.read(info.compress_size)
    return pa.CompressedInputStream(pa.BufferReader(packed), "zstd").read().decode("utf-8")


def _answered(sample: dict[str, Any], where: str) -> tuple[str, dict[str, Any]]:
    """Return a sample's hash and its answer; Inspect has no hash of documents, but an id."""
    scorer, score = next(iter(sample["scores"].items()))
    options, target = sample.get("choices") or [], _texts(sample["target"])
    row = {"prompt": json.dumps(_prompt(sample)), "options": options, "target": target}
    row["right"] = _mark(score["value"], scorer, where)
    if not options:
        said = score.get("answer")
        row["text"] = said if said is not None else sample["output"].get("completion", "")
        return _hash([sample["id"], target]), row
    answer, option = _letter(target, options), _letter([score.get("answer") or ""], options)
    if answer == len(options):
        raise UserError(f"{where} has the target {target}: it needs one letter of its choices.")
    if (option == answer) != row["right"]:
        raise UserError(f"{where} is marked {score['value']}, against its answer and its target.")
    row |= {"answer": answer, "option": option, "text": [*options, NO_OPTION][option]}
    return _hash([sample["id"], sorted(options), options[answer]]), row


def _letter(said: list[str], options: list[str]) -> int:
    """Return the number of a letter's option, and the number of options if it is none."""
    letter = said[0].strip() if len(said) == 1 else ""
    place = ord(letter) - ord("A") if len(letter) == 1 else -1
    return place if 0 <= place < len(options) else len(options)


def _prompt(sample: dict[str, Any]) -> list[Any]:
    """Return what the model read: the messages before its last answer."""
    messages = sample.get("messages") or []
    return [each.get("content") for each in messages[:-1]] or [sample["input"]]


def _texts(value: str | Iterable[str]) -> list[str]:
    """Return one text or several as a list."""
    return [value] if isinstance(value, str) else list(value)


def _hash(parts: list[Any]) -> str:
    """Return a hash of what names a document."""
    return sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()
