"""A model's runs in a format of others: Every Eval Ever, an aggregate and its instances."""

import hashlib
import json
import math
import uuid
from datetime import datetime
from pathlib import Path

import pandas as pd

from helpers import reraise_failed_write
from helpers.exchange import record
from helpers.exchange.logs.formats import EXCHANGE_FORMATS, nested_record
from helpers.exchange.record import Record, SharedRuns
from helpers.runs import environment
from helpers.stats.resampling import CONFIDENCE_LEVEL
from helpers.studies import (
    STUDIES,
    Measure,
    default_settings,
    member,
    settings_for_function,
)

EXPORT_FORMAT = EXCHANGE_FORMATS["every_eval_ever"]
COLLECTION_NAME = "what-language-models-know"


def export_runs(
    shared: SharedRuns, folder: str | Path, organization: str = "unknown"
) -> list[Path]:
    """Write a model's runs as Every Eval Ever has them, and return the paths of the files.

    Parameters
    ----------
    shared : Shared
        From :func:`describe` or :func:`read`.
    folder : path
        Written are ``data/<collection>/<developer>/<model>/<uuid>.json``, one a study,
        and beside it ``<uuid>_samples.jsonl``; both are the same whenever they are
        written.
    organization : str
        Who measured.

    Returns
    -------
    list of Path
        For each study its aggregate and its instances.
    """
    paths = []
    for name, run in shared.record["runs"].items():
        answers = shared.answers(name, "an archive")
        common = (
            EXPORT_FORMAT["constants"]
            | _model(shared.record["model"], run)
            | {"task": name}
        )
        when = datetime.fromisoformat(run["finished"])
        common |= {"seconds": str(int(when.timestamp())), "organization": organization}
        common["run"] = f"{name}/{common['model']}/{common['seconds']}"
        lines = [
            json.dumps(
                nested_record(EXPORT_FORMAT["answer"], common | row),
                ensure_ascii=False,
                allow_nan=False,
            )
            for row in answer_instances(name, run["parameters"], answers)
        ]
        data = ("\n".join(lines) + "\n").encode()
        key = hashlib.sha256(data + json.dumps(run, sort_keys=True).encode()).digest()[
            :16
        ]
        stem = f"data/{COLLECTION_NAME}/{common['model']}/{uuid.UUID(bytes=key, version=4)}"
        results = [
            nested_record(
                EXPORT_FORMAT["measure"],
                common | _measure(name, measure, reported, run),
            )
            for measure, reported in record.measured(name, run)
            if reported["estimate"] is not None
        ]
        whole = common | {
            "finished": run["finished"],
            "package_version": run.get("commit") or "unknown",
            "versions": _texts(run["versions"]),
            "measures": results,
            "path": f"{stem}_samples.jsonl",
            "checksum": hashlib.sha256(data).hexdigest(),
            "rows": len(lines),
        }
        text = (
            json.dumps(
                nested_record(EXPORT_FORMAT["run"], whole), indent=1, ensure_ascii=False
            )
            + "\n"
        )
        for path, content in ((f"{stem}.json", text.encode()), (whole["path"], data)):
            paths.append(Path(folder) / path)
            with reraise_failed_write(paths[-1], "give another --folder"):
                paths[-1].parent.mkdir(parents=True, exist_ok=True)
                paths[-1].write_bytes(content)
    return paths


def answer_instances(name: str, given: Record, answers: pd.DataFrame) -> list[Record]:
    """Return what was said under each prompt of a study, by the names of the format's table."""
    study = STUDIES[name]
    answered = member(study, "instances")
    taken = settings_for_function(answered, default_settings(study) | given)
    rows = answered(answers, **taken)
    rows["about"] = [
        _texts(
            {
                key: row.get(key)
                for key in ("relation", "variant", "variation", "logprobs")
            }
        )
        for row in rows.to_dict("records")
    ]
    rows["texts"] = [[text.strip()] for text in rows["said"]]
    rows["target"] = [[text.strip() for text in texts] for texts in rows["target"]]
    chosen = EXPORT_FORMAT["constants"]["chosen"]
    rows["chosen"] = [[chosen | {"extracted_value": text}] for (text,) in rows["texts"]]
    rows["right"] = rows["right"].astype(bool)
    rows["score"] = rows["right"].astype(float)
    if mean := getattr(study, "INSTANCES_MEAN", ""):  # a choice of options
        rows["measure"] = f"{name}/{mean}"
        options = answers.sort_values("option").groupby(["item", "variant"])
        options = options["choice" if "choice" in answers else "text"].agg(list)
        rows = rows.join(options.rename("options"), on=["item", "variant"])
    return rows[rows.columns.intersection(EXPORT_FORMAT["answer"].values())].to_dict(
        "records"
    )


def _model(model: Record, run: Record) -> Record:
    """Return who the model is; the format files it by developer and name."""
    developer, _, name = model["name"].rpartition("/")
    if model["origin"] != "hub":
        developer = COLLECTION_NAME if model["origin"] == "bundled" else "local"
    name = record.record_file_name({"model": {"name": name}})
    details = {
        key: value for key, value in (model | run["model"]).items() if key != "name"
    }
    server, public = model["origin"] == "server", model["origin"] in ("hub", "bundled")
    details["deployment_type"] = "unknown" if server else "self_deployed"
    details["model_availability"] = "open_weights" if public else "unknown"
    return {
        "name": model["name"],
        "model": f"{developer}/{name}",
        "engine": "server" if server else "transformers",
        "engine_version": (run["versions"] or {}).get("transformers"),
        "model_details": _texts(details),
    }


def _measure(name: str, measure: Measure, told: Record, run: Record) -> Record:
    least, most = measure.bounds
    dataset = {key: value for key, value in run["dataset"].items() if key != "name"}
    none = dict.fromkeys(
        ("level", "method") if told["low"] is None else ()
    )  # no interval
    found = {key: told[key] for key in ("estimate", "low", "high", "n")} | {
        "measure": f"{name}/{measure.name}",
        "metric": f"{COLLECTION_NAME}.{measure.name}",
        "title": measure.title,
        "meaning": measure.meaning,
        "unit": "proportion" if measure.percent else "ratio",
        "lower": measure.higher is False,
        "least": least,
        "most": "Infinity" if math.isinf(most) else most,
        "level": CONFIDENCE_LEVEL,
        "resamples": run["parameters"].get("n_bootstrap"),
        "dataset": run["dataset"]["name"],
        "dataset_details": _texts(dataset),
        "settings": _texts(run["parameters"]),
    }
    return found | none


def _texts(values: Record) -> dict[str, str]:
    """Return values as the texts that the format wants for whatever it does not name."""
    return {
        key: value
        if isinstance(value, str)
        else json.dumps(value, default=environment.json_value)
        for key, value in values.items()
        if not pd.api.types.is_scalar(value) or pd.notna(value)
    }
