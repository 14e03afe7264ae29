"""Logs as other tools write them, made by hand: lm-evaluation-harness 0.4.13 and Inspect 0.3."""

import json
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq

CITY_OPTIONS = ("Rome", "New York", "Oslo")
LOG_FILE_STAMP = "2026-01-02T03-04-05.678901"
OPTION_LOGPROBS = {0: (-1, -2, -3), 1: (-2, -1, -3), 2: (-3, -2, -1)}


def lm_eval_choice_line(doc, chosen, prompt, target="0", options=CITY_OPTIONS, **more):
    """Return a line of a multiple-choice task as lm-eval 0.4.13 writes it."""
    scores = OPTION_LOGPROBS[chosen] if isinstance(chosen, int) else chosen
    asked = {
        f"gen_args_{i}": {"arg_0": f"{prompt} {doc}?", "arg_1": f" {text}"}
        for i, text in enumerate(options)
    }
    pairs = [[str(score), "False"] for score in scores]
    line = {
        "doc_id": 0,
        "doc": {"q": doc},
        "target": target,
        "arguments": asked,
        "filter": "none",
    }
    line |= {
        "resps": [[pair] for pair in pairs],
        "filtered_resps": pairs,
        "metrics": ["acc"],
    }
    right = {str(scores.index(max(scores))), options[scores.index(max(scores))]}
    return line | {"doc_hash": doc, "acc": float(str(target) in right)} | more


def lm_eval_text_line(
    doc, said, right, prompt, target="Rome", metric="exact_match", **more
):
    """Return a line of a task with generated answers."""
    asked = {"gen_args_0": {"arg_0": f"{prompt} {doc}?", "arg_1": {"until": ["\n"]}}}
    line = {
        "doc_id": 0,
        "doc": {},
        "target": target,
        "arguments": asked,
        "filter": "none",
    }
    line |= {
        "resps": [[said]],
        "filtered_resps": [said],
        "metrics": [metric],
        metric: right,
    }
    return line | {"doc_hash": doc} | more


def write_lm_eval_log(folder, lines, task="capitals", model="m", sha=""):
    """Write a log with the results beside it, as lm-eval does; without a model, the log alone."""
    folder.mkdir(parents=True)
    if model:
        about = {"model_name": model, "config": {"model_sha": sha}}
        (folder / f"results_{LOG_FILE_STAMP}.json").write_text(json.dumps(about))
    path = folder / f"samples_{task}_{LOG_FILE_STAMP}.jsonl"
    path.write_text(
        "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    )
    return path


def write_three_runs(folder):
    """Write three runs: a says 0, 0, 1; b says 1, 2, 1; c says 2, 2, 2 and is right."""
    runs = [(0, 1, 2), (0, 2, 2), (1, 1, 2)]
    return [
        write_lm_eval_log(folder / str(k), [
            lm_eval_choice_line("a", a, f"p{k}"), lm_eval_choice_line("b", b, f"p{k}"), lm_eval_choice_line("c", c, f"p{k}", "2"),
        ])
        for k, (a, b, c) in enumerate(runs)
    ]  # fmt: skip


def inspect_sample(
    name, letter, value, choices=CITY_OPTIONS, target="A", prompt="p", **more
):
    """Return a sample of a multiple-choice task as Inspect 0.3 writes it."""
    messages = [
        {"role": "user", "content": prompt},
        {"role": "assistant", "content": letter},
    ]
    score = {"choice": {"value": value, "answer": letter, "explanation": letter}}
    row = {"id": name, "epoch": 1, "input": f"{name}?", "choices": choices}
    row |= {"target": target, "messages": messages, "output": {}, "scores": score}
    return row | more


def write_inspect_archive(path, samples, model="hf/m", head="header.json"):
    """Write an archive of Inspect."""
    about = {"task": "capitals", "model": model, "model_args": {}}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(head, json.dumps({"version": 2, "eval": about}))
        for row in samples:
            name = f"samples/{row['id']}_epoch_{row['epoch']}.json"
            made.writestr(name, json.dumps(row))
    return path


def pack_by_zstandard(path):
    """Pack the files of an archive as newer versions of Inspect do, which zipfile cannot."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as made:
        for name, said in parts.items():
            sink = pa.BufferOutputStream()
            with pa.CompressedOutputStream(sink, "zstd") as stream:
                stream.write(said)
            made.writestr(name, sink.getvalue().to_pybytes())
    whole = path.read_bytes()
    for head, at in (
        (b"PK\x03\x04", 8),
        (b"PK\x01\x02", 10),
    ):  # where each names its method
        first, *rest = whole.split(head)
        whole = head.join(
            [first, *(x[: at - 4] + b"\x5d\0" + x[at - 2 :] for x in rest)]
        )
    path.write_bytes(whole)


def write_lighteval_details(folder, rows, model="org/m", task="capitals|0"):
    """Write details as lighteval 0.13 does: a row is (id, query, choices, gold, answer)."""
    place = folder / "details" / model / LOG_FILE_STAMP
    place.mkdir(parents=True)
    records = []
    for name, query, choices, gold, said in rows:
        texts = isinstance(said[0], str)
        doc = {"id": name, "query": query, "choices": list(choices), "gold_index": gold}
        answer = {
            "input": query,
            "text": said if texts else [],
            "text_post_processed": None,
        }
        answer |= {"logprobs": [] if texts else [float(score) for score in said]}
        right = (
            said[0].strip() == choices[gold] if texts else said.index(max(said)) == gold
        )
        metric = {"em" if texts else "acc": float(right)}
        records.append({"doc": doc, "model_response": answer, "metric": metric})
    pq.write_table(
        pa.Table.from_pylist(records),
        place / f"details_{task}_{LOG_FILE_STAMP}.parquet",
    )
    return place / f"details_{task}_{LOG_FILE_STAMP}.parquet"
