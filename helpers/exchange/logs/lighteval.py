"""Details of lighteval: one Parquet file a task, rewritten as lines of lm-evaluation-harness."""

import json
from hashlib import sha256
from pathlib import Path

from helpers import UserError
from helpers.exchange.logs import lm_eval
from helpers.exchange.logs.formats import EXCHANGE_FORMATS, flat_record
from helpers.exchange.logs.log import Log, Record
from helpers.io import files

ANSWER_PATHS = EXCHANGE_FORMATS["lighteval"]["answer"]


def read_lighteval_log(path: Path, rule: str, repeats: bool) -> Log:
    """Read details; the folder above the run's is the model, as lighteval lays them."""
    rows = [
        flat_record(ANSWER_PATHS, each) | {"where": each["where"]}
        for each in files.read_records(path)
    ]
    if not rows or any(row["answer"] is None or not row["prompt"] for row in rows):
        raise UserError(f"{path} is no file of details that lighteval has finished.")
    stamp, *above = path.parent.name, *reversed(path.parent.parts[:-1])
    task = path.stem.removeprefix("details_").removesuffix(f"_{stamp}")
    model = (
        "/".join(reversed(above[: above.index("details")]))
        if "details" in above
        else ""
    )
    lines = [_line(row) for row in rows]
    return lm_eval.log_of_lines((path, "lighteval", task, model), lines, rule, repeats)


def _line(row: Record) -> Record:
    """Return a row as lm-evaluation-harness would have logged it."""
    gold = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
    options, texts = row["options"] or [], row["texts"] or []
    named = json.dumps([row["id"], sorted(options), [options[each] for each in gold]])
    marks = {
        name: value for name, value in (row["marks"] or {}).items() if value is not None
    }
    prompt = str(row["read"] or row["prompt"])
    line = {"doc_hash": sha256(named.encode()).hexdigest(), "where": row["where"]}
    if row["scores"] and not texts:
        if len(gold) != 1:
            raise UserError(
                f"{row['where']} has {len(gold)} correct options: one is needed."
            )
        pairs = [[score, False] for score in row["scores"]]
        return line | {
            "target": gold[0],
            "arguments": [[prompt, text] for text in options],
            "resps": [[pair] for pair in pairs],
            "filtered_resps": pairs,
            "acc": marks.get("acc"),
        }
    said = (row["final"] or texts or [""])[0]
    return line | {
        "target": options[gold[0]],
        "arguments": [[prompt, None]],
        "resps": [texts],
        "filtered_resps": [said],
        "metrics": list(marks),
        **marks,
    }
