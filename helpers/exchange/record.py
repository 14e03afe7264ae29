"""What is made public of a model's runs: settings, answers, measures, but no path."""

import hashlib
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from helpers import UserError, reraise_as_user_error, schemas, stats
from helpers.io.files import read_parquet_table
from helpers.models import server_address
from helpers.models.checkpoints import HUB_ID_PATTERN, bundled_models
from helpers.prompts import labels
from helpers.runs import store
from helpers.studies import STUDIES, Measure, member, settings_for_function

# Of archives: raise it with every change that older versions cannot read.
ARCHIVE_FORMAT_VERSION = 1
# In all of its runs.
SHARED_MODEL_FIELDS = (
    "revision",
    "weights_sha",
    "files_sha",
    "architecture",
    "kind",
    "n_parameters",
)
RUN_MODEL_FIELDS = ("prompt_format", "dtype", "quantization")
RUN_FIELDS = (
    "seed",
    "versions",
    "commit",
    "device",
    "seconds",
    "peak_memory_mib",
    "finished",
)
DATASET_FIELDS = ("title", "version", "licence", "checksum", "rows")
# Of answers, beside those that `helpers.schemas` tells: what chapters and banks add.
FURTHER_ANSWER_COLUMNS = frozenset(
    (
        *("option", "correct", "type", "pool", "part", "text", "kind"),
        *("exposures", "false_object", "false_exposures", "plain", "n_choices"),
    )
)
PLACE_SETTINGS = {"model", "run_dir", "runs_dir"}  # settings that say where, not what
SNAPSHOT_PATTERN = re.compile(r"models--([^/\\]+)[/\\]snapshots")  # of the hub's cache

Record = dict[str, Any]  # what JSON calls an object


class SharedRuns(NamedTuple):
    """A record of a model's runs, and the files of answers that it names."""

    record: Record
    files: dict[str, bytes]

    def answers(self, study: str, where: str = "it") -> pd.DataFrame:
        """Return a study's answers, of older runs with the columns that they lack."""
        file = self.record["runs"][study]["answers"]["file"]
        return labels.add_columns(read_parquet_table(self.files[file], where))


def describe_runs(folder: str | Path) -> SharedRuns:
    """Return what is made public of a model's runs, measures computed from answers."""
    folder = Path(folder)
    record: Record = {"format": ARCHIVE_FORMAT_VERSION, "model": None, "runs": {}}
    files = {}
    for place in _run_folders(folder):
        manifest = _manifest(place)
        study = manifest["chapter"]
        model = _public_model(manifest["model"])
        if record["model"] not in (None, model):
            raise UserError(
                f"The runs in {folder} are of different weights: run the older studies "
                "again, or give the folder of one."
            )
        file = f"{study}/answers.parquet"
        answers = store.load_answers(place)
        answers = answers[public_columns(study, answers)]
        files[file] = _parquet_bytes(answers)
        record["model"] = model
        record["runs"][study] = _public_run(manifest, file, files[file])
    return SharedRuns(record, files)


def public_columns(study: str, answers: pd.DataFrame) -> list[str]:
    """Return the columns of answers that an archive may hold.

    They are those of the study's schema; all, of a study that has none.
    """
    columns = schemas.columns_of("answers", study)
    if not any(column.study == study for column in columns):
        return list(answers)
    known = {column.column for column in columns} | FURTHER_ANSWER_COLUMNS
    return [name for name in answers if name in known]


def _parquet_bytes(answers: pd.DataFrame) -> bytes:
    """Return answers as a Parquet file, the same bytes whenever it is written."""
    table = pa.Table.from_pandas(answers, preserve_index=False)
    stream = io.BytesIO()
    pq.write_table(
        table.replace_schema_metadata(),
        stream,
        compression="zstd",
        write_page_checksum=True,
    )
    return stream.getvalue()


def _public_run(manifest: Record, file: str, content: bytes) -> Record:
    """Return what is made public of one run, whose answers are in a file."""
    study = manifest["chapter"]
    answers = read_parquet_table(content, file)
    settings = {}
    for name, value in store.settings_of_run(manifest).items():
        if name not in PLACE_SETTINGS:
            settings[name] = _public_value(value)
    dataset = {"name": _public_value(manifest["dataset"]["name"])}
    dataset |= _fields(manifest["dataset"], DATASET_FIELDS)
    work = manifest.get("work") or {}
    run: Record = {
        "answers": {
            "file": file,
            "sha256": hashlib.sha256(content).hexdigest(),
            "rows": len(answers),
        },
        "parameters": settings,
        "model": _fields(manifest["model"], RUN_MODEL_FIELDS)
        | _server_fields(manifest["model"]),
        "dataset": dataset,
    }
    run |= _fields(manifest, RUN_FIELDS)
    run["versions"] = {
        **(run["versions"] or {}),
        "intervals": stats.INTERVALS_VERSION,
        **member(STUDIES[study], "DEFINITIONS"),
    }
    run["cost"] = {"prompts": work.get("probes"), "tokens": work.get("tokens")}
    run["measures"] = measures_from_answers(study, settings, answers)
    return run


def _fields(values: Record, names: Iterable[str]) -> Record:
    """Return some values by their names, None where there is none."""
    return {name: values.get(name) for name in names}


def measures_from_answers(
    name: str, settings: Record, answers: pd.DataFrame
) -> list[Record]:
    """Compute a study's measures of all facts from the answers, as its summary does."""
    study = STUDIES[name]
    facts = facts_from_answers(name, settings, answers)
    summary = study.summary(
        facts,
        n_resamples=settings.get("n_bootstrap", 1000),
        seed=settings.get("seed") or 0,
    )
    of_all_facts = summary.head(len(study.MEASURES)).drop(columns="relation")
    of_all_facts = of_all_facts.drop(columns="unanswered", errors="ignore")
    return [_without_nan(row) for row in of_all_facts.to_dict("records")]


def _without_nan(row: Record) -> Record:
    """Return a row of a table with None where it has NaN, which JSON lacks."""
    return {key: None if pd.isna(value) else value for key, value in row.items()}


def has_older_definitions(study: str, run: Record) -> bool:
    """Say whether a run's measures were computed by other rules than today's."""
    versions = run["versions"] or {}
    definitions = member(STUDIES[study], "DEFINITIONS")
    return any(versions.get(name) != value for name, value in definitions.items())


def reported_measures(name: str, run: Record) -> Iterator[tuple[Measure, Record]]:
    """Yield each measure of a study that a run reports, with what it reports of it."""
    reported = {row["measure"]: row for row in run["measures"]}
    for measure in STUDIES[name].MEASURES:
        if measure.name in reported:
            yield measure, reported[measure.name]


def facts_from_answers(
    name: str, settings: Record, answers: pd.DataFrame
) -> pd.DataFrame:
    """Return a study's table of facts, from its answers and settings."""
    study = STUDIES[name]
    return study.facts(answers, **settings_for_function(study.facts, settings))


def record_file_name(record: Record) -> str:
    """Return what the files that are made of a record are called, without an ending."""
    name = record["model"]["name"].replace("/", "--")
    return re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".") or "model"


def _run_folders(folder: Path) -> list[Path]:
    """Return the folders of the studies' runs; the folder itself if it is one."""
    if not folder.is_dir():
        raise UserError(
            f"There is no folder {folder}: give a model's, such as runs/atlas-m."
        )
    if (folder / "run.json").is_file():
        return [folder]
    run_folders = []
    for name in STUDIES:
        if (folder / name / "run.json").is_file():
            run_folders.append(folder / name)
    if not run_folders:
        raise UserError(
            f"{folder} holds no finished run of a study: give a folder with one of "
            f"{', '.join(STUDIES)}, such as runs/atlas-m or runs/measured/atlas-m."
        )
    return run_folders


def _manifest(folder: Path) -> Record:
    """Return the manifest of a study's run."""
    with reraise_as_user_error(
        f"{folder / 'run.json'} is damaged", "run the chapter again"
    ):
        manifest = store.load_manifest(folder)
        study = manifest["chapter"]
        # Looked up here, so that what lacks them is called damaged.
        _ = manifest["model"]["name"]
        _ = manifest["dataset"]["name"]
        _ = dict(manifest["parameters"])
    if study not in STUDIES:
        raise UserError(
            f"{folder} is a run of {study}: give one of {', '.join(STUDIES)}."
        )
    return manifest


def _public_model(described: Record) -> Record:
    """Return what all runs of a model say of it, without its folder or server."""
    name = described["name"]
    if "server" in described:
        origin = "server"
        name = _public_value(server_address.parse_server_address(name).model)
    elif name in bundled_models():
        origin = "bundled"
    elif described.get("revision"):
        origin = "hub"
    else:
        origin = "folder"
        name = _last_part(name)
    base = described.get("base")
    if base:
        base = _last_part(base)
    model = {"name": name, "origin": origin, "base": base}
    return model | _fields(described, SHARED_MODEL_FIELDS)


def _server_fields(described: Record) -> Record:
    """Return how far a server's numbers move with other texts, if the run says so."""
    checked = (described.get("server") or {}).get("cache_check")
    if not checked:
        return {}
    differences = ", ".join(f"{name} {value:.4g}" for name, value in checked.items())
    return {"server_differences": differences}


def _public_value(value: Any) -> Any:
    """Return a setting without what it says of a machine: of a path, its last part.

    >>> _public_value(["popqa", "/home/ann/my questions.csv", "org/model@v1", 3])
    ['popqa', 'my questions.csv', 'org/model@v1', 3]
    >>> _public_value("[X] is in [Y]/[Z]")
    '[X] is in [Y]/[Z]'
    >>> _public_value("https://ann:secret@example.org/a.jsonl?token=1")
    'https://example.org/a.jsonl'
    >>> _public_value("http://gpu7:8000#m")
    'm'
    """
    if isinstance(value, list):
        return [_public_value(part) for part in value]
    if not isinstance(value, str):
        return value
    is_template = "[X]" in value
    if is_template or not re.search(r"[/\\~]", value):
        return value
    if re.match(r"https?://", value):
        return _public_address(value)
    if HUB_ID_PATTERN.fullmatch(value.partition("@")[0]):
        return value
    return _last_part(value)


def _public_address(address: str) -> str:
    """Return an address without user and query; of a model on a server, its name."""
    parts = urlsplit(address)
    if parts.fragment:
        return _public_value(parts.fragment)
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, query="").geturl()


def _last_part(path: str) -> str:
    """Return the last part of any system's path; of the hub's snapshot, its name."""
    snapshot = SNAPSHOT_PATTERN.search(path)
    if snapshot:
        return snapshot[1].replace("--", "/")
    return PureWindowsPath(path).name
