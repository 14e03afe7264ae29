"""What is made public of a model's runs: settings, answers, measures, and no path of a machine."""

import hashlib
import io
import re
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from helpers import UserError, reraise_as_user_error, stats
from helpers.io.files import read_parquet_table
from helpers.models import server_address
from helpers.models.checkpoints import HUB_ID_PATTERN, bundled_models
from helpers.prompts import labels
from helpers.runs import store
from helpers.studies import STUDIES, Measure, settings_for_function

ARCHIVE_FORMAT_VERSION = (
    1  # of archives: raise it with every change that older versions cannot read
)
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
PLACE_SETTINGS = {"model", "run_dir", "runs_dir"}  # settings that say where, not what


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
    """Return what is made public of a model's runs, its measures computed from the answers."""
    folder = Path(folder)
    record: Record = {"format": ARCHIVE_FORMAT_VERSION, "model": None, "runs": {}}
    files = {}
    for place in _places(folder):
        manifest = _manifest(place)
        name, model = manifest["chapter"], _model(manifest["model"])
        if record["model"] not in (None, model):
            raise UserError(
                f"The runs in {folder} are of different weights: run the older studies again, or "
                "give the folder of one."
            )
        file = f"{name}/answers.parquet"
        stream = io.BytesIO()  # the same bytes whenever it is written
        told = pa.Table.from_pandas(store.load_answers(place), preserve_index=False)
        written = {"compression": "zstd", "write_page_checksum": True}
        pq.write_table(told.replace_schema_metadata(), stream, **written)
        files[file] = stream.getvalue()
        answers = read_parquet_table(files[file], file)
        told = store.settings_of_run(manifest)
        given = {k: _public(v) for k, v in told.items() if k not in PLACE_SETTINGS}
        work = manifest.get("work") or {}
        record["model"] = model
        record["runs"][name] = {
            "answers": {
                "file": file,
                "sha256": hashlib.sha256(files[file]).hexdigest(),
                "rows": len(answers),
            },
            "parameters": given,
            "model": {key: manifest["model"].get(key) for key in RUN_MODEL_FIELDS},
            "dataset": {
                "name": _public(manifest["dataset"]["name"]),
                **{key: manifest["dataset"].get(key) for key in DATASET_FIELDS},
            },
            **{key: manifest.get(key) for key in RUN_FIELDS},
            "versions": {
                **(manifest.get("versions") or {}),
                "intervals": stats.INTERVALS_VERSION,
            },
            "cost": {"prompts": work.get("probes"), "tokens": work.get("tokens")},
            "measures": measures_from_answers(name, given, answers),
        }
    return SharedRuns(record, files)


def measures_from_answers(
    name: str, given: Record, answers: pd.DataFrame
) -> list[Record]:
    """Compute a study's measures of all facts from the answers, as its summary does."""
    study = STUDIES[name]
    draws = {
        "n_resamples": given.get("n_bootstrap", 1000),
        "seed": given.get("seed") or 0,
    }
    found = study.summary(facts_from_answers(name, given, answers), **draws).head(
        len(study.MEASURES)
    )
    return [
        {key: None if pd.isna(value) else value for key, value in row.items()}
        for row in found.drop(columns="relation").to_dict("records")
    ]


def measured(name: str, run: Record) -> Iterator[tuple[Measure, Record]]:
    """Yield each measure of a study with what a run reports of it, where it does."""
    reported = {each["measure"]: each for each in run["measures"]}
    for measure in STUDIES[name].MEASURES:
        if measure.name in reported:
            yield measure, reported[measure.name]


def facts_from_answers(name: str, given: Record, answers: pd.DataFrame) -> pd.DataFrame:
    """Return a study's table of facts, from its answers and settings."""
    study = STUDIES[name]
    return study.facts(answers, **settings_for_function(study.facts, given))


def record_file_name(record: Record) -> str:
    """Return what the files that are made of a record are called, without an ending."""
    name = record["model"]["name"].replace("/", "--")
    return re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".") or "model"


def _places(folder: Path) -> list[Path]:
    """Return the folders of the studies' runs; the folder itself if it is one."""
    if not folder.is_dir():
        raise UserError(
            f"There is no folder {folder}: give a model's, such as runs/atlas-m."
        )
    if (folder / "run.json").is_file():
        return [folder]
    found = [
        folder / name for name in STUDIES if (folder / name / "run.json").is_file()
    ]
    if not found:
        raise UserError(
            f"{folder} holds no finished run of a study: give a folder with one of "
            f"{', '.join(STUDIES)}, such as runs/atlas-m or runs/measured/atlas-m."
        )
    return found


def _manifest(folder: Path) -> Record:
    with reraise_as_user_error(
        f"{folder / 'run.json'} is damaged", "run the chapter again"
    ):
        found = store.load_manifest(folder)
        chapter, *_ = found["chapter"], found["model"]["name"], found["dataset"]["name"]
        dict(found["parameters"])
    if chapter not in STUDIES:
        raise UserError(
            f"{folder} is a run of {chapter}: give one of {', '.join(STUDIES)}."
        )
    return found


def _model(described: Record) -> Record:
    """Return what all runs of one model say of it, without the folder or server that it is in."""
    name = described["name"]
    if "server" in described:
        origin, name = (
            "server",
            _public(server_address.parse_server_address(name).model),
        )
    elif name in bundled_models():
        origin = "bundled"
    else:
        origin = "hub" if described.get("revision") else "folder"
        name = name if origin == "hub" else _last(name)
    base = described.get("base")
    found = {"name": name, "origin": origin, "base": base and _last(base)}
    return found | {key: described.get(key) for key in SHARED_MODEL_FIELDS}


def _public(value: Any) -> Any:
    """Return a setting without what it says of a machine: of a path, its last part is left.

    >>> _public(["popqa", "/home/ann/my questions.csv", "org/model@v1", "[X] is in [Y]", 3])
    ['popqa', 'my questions.csv', 'org/model@v1', '[X] is in [Y]', 3]
    >>> _public("https://ann:secret@example.org/a.jsonl?token=1"), _public("http://gpu7:8000#m")
    ('https://example.org/a.jsonl', 'm')
    """
    if isinstance(value, list):
        return [_public(each) for each in value]
    if not isinstance(value, str) or "[X]" in value or not re.search(r"[/\\~]", value):
        return value
    if re.match(r"https?://", value):
        parts = urlsplit(value)
        if parts.fragment:  # a model on a server
            return _public(parts.fragment)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()
    return value if HUB_ID_PATTERN.fullmatch(value.partition("@")[0]) else _last(value)


def _last(path: str) -> str:
    """Return the last part of a path of whichever system; of a snapshot on the hub, its name."""
    if hub := re.search(r"models--([^/\\]+)[/\\]snapshots", path):
        return hub[1].replace("--", "/")
    return PureWindowsPath(path).name
