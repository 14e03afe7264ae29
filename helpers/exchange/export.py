"""A model's runs in the format Every Eval Ever: an aggregate and its instances."""

import hashlib
import json
import math
import uuid
from collections.abc import Iterable
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
ABOUT_COLUMNS = (
    "relation",
    "variant",
    "variation",
    "logprobs",
    "identity",
    "dataset_checksum",
)
SUMMARY_COLUMNS = ("estimate", "low", "high", "n")


def export_runs(
    shared: SharedRuns, folder: str | Path, organization: str = "unknown"
) -> list[Path]:
    """Write a model's runs as Every Eval Ever has them, and return the files' paths.

    Parameters
    ----------
    shared : SharedRuns
        From :func:`helpers.exchange.describe_runs` or
        :func:`helpers.exchange.read_archive`.
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
        fields = _common_fields(name, run, shared.record["model"], organization)
        rows = answer_instances(name, run["parameters"], answers)
        instances = _json_lines(rows, fields)
        stem = _file_stem(instances, run, fields["model"])
        samples_file = f"{stem}_samples.jsonl"
        whole = fields | {
            "finished": run["finished"],
            "package_version": run.get("commit") or "unknown",
            "versions": _as_texts(run["versions"]),
            "measures": _measure_results(name, run, fields),
            "path": samples_file,
            "checksum": hashlib.sha256(instances).hexdigest(),
            "rows": len(rows),
        }
        aggregate = nested_record(EXPORT_FORMAT["run"], whole)
        text = json.dumps(aggregate, indent=1, ensure_ascii=False) + "\n"
        paths.append(_written(Path(folder) / f"{stem}.json", text.encode()))
        paths.append(_written(Path(folder) / samples_file, instances))
    return paths


def _written(path: Path, content: bytes) -> Path:
    """Write a file and its folders, and return its path."""
    with reraise_failed_write(path, "give another --folder"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return path


def _common_fields(name: str, run: Record, model: Record, organization: str) -> Record:
    """Return what the aggregate, its measures and its instances have in common."""
    fields = EXPORT_FORMAT["constants"] | _model_fields(model, run) | {"task": name}
    finished = datetime.fromisoformat(run["finished"])
    fields["seconds"] = str(int(finished.timestamp()))
    fields["organization"] = organization
    fields["run"] = f"{name}/{fields['model']}/{fields['seconds']}"
    return fields


def _json_lines(rows: list[Record], fields: Record) -> bytes:
    """Return the instances, one a line."""
    lines = []
    for row in rows:
        instance = nested_record(EXPORT_FORMAT["answer"], fields | row)
        lines.append(json.dumps(instance, ensure_ascii=False, allow_nan=False))
    return ("\n".join(lines) + "\n").encode()


def _file_stem(instances: bytes, run: Record, model: str) -> str:
    """Return what a study's files are called, after a checksum of their content."""
    content = instances + json.dumps(run, sort_keys=True).encode()
    digest = hashlib.sha256(content).digest()
    identifier = uuid.UUID(bytes=digest[:16], version=4)
    return f"data/{COLLECTION_NAME}/{model}/{identifier}"


def _measure_results(name: str, run: Record, fields: Record) -> list[Record]:
    """Return the measures of a run that are defined, as the format has them."""
    results = []
    for measure, reported in record.reported_measures(name, run):
        if reported["estimate"] is not None:
            values = fields | _measure_fields(name, measure, reported, run)
            results.append(nested_record(EXPORT_FORMAT["measure"], values))
    return results


def answer_instances(
    name: str, settings: Record, answers: pd.DataFrame
) -> list[Record]:
    """Return the answer to each prompt of a study, by our names in `formats.toml`."""
    study = STUDIES[name]
    instances = member(study, "instances")
    settings = settings_for_function(instances, default_settings(study) | settings)
    rows = instances(answers, **settings)
    rows["about"] = [_about(row) for row in rows.to_dict("records")]
    texts = rows["said"].map(str.strip)
    chosen = EXPORT_FORMAT["constants"]["chosen"]
    rows["texts"] = [[text] for text in texts]
    rows["target"] = [_stripped(targets) for targets in rows["target"]]
    rows["chosen"] = [[chosen | {"extracted_value": text}] for text in texts]
    rows["right"] = rows["right"].astype(bool)
    rows["score"] = rows["right"].astype(float)
    mean = getattr(study, "INSTANCES_MEAN", "")
    if mean:  # a choice of options
        rows["measure"] = f"{name}/{mean}"
        options = _options_of_prompts(answers)
        rows = rows.join(options, on=["item", "variant"])
    exported = rows.columns.intersection(EXPORT_FORMAT["answer"].values())
    return rows[exported].to_dict("records")


def _about(row: Record) -> dict[str, str]:
    """Return what else is known of an instance."""
    return _as_texts({column: row.get(column) for column in ABOUT_COLUMNS})


def _stripped(texts: Iterable[str]) -> list[str]:
    """Return texts without white space around them."""
    return [text.strip() for text in texts]


def _options_of_prompts(answers: pd.DataFrame) -> pd.Series:
    """Return the options of each item and prompt, in their order."""
    column = "choice" if "choice" in answers else "text"
    by_prompt = answers.sort_values("option").groupby(["item", "variant"])
    return by_prompt[column].agg(list).rename("options")


def _model_fields(model: Record, run: Record) -> Record:
    """Return who the model is; the format files it by developer and name."""
    origin = model["origin"]
    developer, _, name = model["name"].rpartition("/")
    if origin == "bundled":
        developer = COLLECTION_NAME
    elif origin != "hub":
        developer = "local"
    name = record.record_file_name({"model": {"name": name}})
    details = model | run["model"]
    del details["name"]
    on_server = origin == "server"
    public = origin in ("hub", "bundled")
    details["deployment_type"] = "unknown" if on_server else "self_deployed"
    details["model_availability"] = "open_weights" if public else "unknown"
    return {
        "name": model["name"],
        "model": f"{developer}/{name}",
        "engine": "server" if on_server else "transformers",
        "engine_version": (run["versions"] or {}).get("transformers"),
        "model_details": _as_texts(details),
    }


def _measure_fields(
    name: str, measure: Measure, reported: Record, run: Record
) -> Record:
    """Return a measure of a run, by our names in `formats.toml`."""
    least, most = measure.bounds
    dataset_details = run["dataset"].copy()
    dataset = dataset_details.pop("name")
    fields = {column: reported[column] for column in SUMMARY_COLUMNS}
    fields |= {
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
        "dataset": dataset,
        "dataset_details": _as_texts(dataset_details),
        "settings": _as_texts(run["parameters"]),
    }
    if reported["low"] is None:  # there is no interval
        fields["level"] = None
        fields["method"] = None
    return fields


def _as_texts(values: Record) -> dict[str, str]:
    """Return values as texts, which the format wants for whatever it does not name."""
    texts = {}
    for key, value in values.items():
        if pd.api.types.is_scalar(value) and pd.isna(value):
            continue
        if not isinstance(value, str):
            value = json.dumps(value, default=environment.json_value)
        texts[key] = value
    return texts
