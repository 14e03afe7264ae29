"""Finished results of a model on disk, so that an interrupted run can go on.

Each parquet file of a cache is renamed to the checksum of its content once it is whole;
each row carries the hash of all that decides it.
"""

import contextlib
import hashlib
import io
import json
import os
import secrets
import warnings
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from helpers import UserError
from helpers.models import LanguageModel
from helpers.models import identity as identities
from helpers.models.language_model import Served
from helpers.models.server_address import is_same_sample

RESULT_SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("ids", pa.list_(pa.int64())),
        ("logprobs", pa.list_(pa.float64())),
        ("anchor_logprobs", pa.list_(pa.float64())),
    ]
)
SERVER_SAMPLES_FILE = "servers.json"
CACHE_FILE_PATTERN = "answers-*.parquet"
CHUNK_ROWS = 500
CHUNK_SECONDS = 5.0
MOST_FILES = 64


class Result(NamedTuple):
    """A model's answer: token ids, their log-probabilities, and those of an anchor."""

    logprobs: tuple[float, ...]
    ids: tuple[int, ...] = ()
    anchor_logprobs: tuple[float, ...] = ()


def model_identity_hash(model: LanguageModel) -> str:
    """Return a hash of all that decides a model's numbers, libraries included."""
    decisive = (*model.identity(), identities.library_versions())
    text = json.dumps(decisive, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def model_known_to_folder(folder: Path, model: LanguageModel) -> LanguageModel:
    """Return a model on a server with the sample that a folder has of it.

    A server's numbers differ a little each time: where the folder has a sample that may
    be this model's, its results are this model's, too.
    """
    if not isinstance(model, Served):
        return model
    _check_writable(folder)
    server = model.server
    unsampled = replace(model, server=replace(server, sample=()))
    identity = model_identity_hash(unsampled)
    samples = _known_samples(folder)
    for sample in samples.get(identity, []):
        if is_same_sample(sample, server.sample):
            return replace(model, server=replace(server, sample=tuple(sample)))
    samples.setdefault(identity, []).append(list(server.sample))
    text = json.dumps(samples)
    _write_whole(folder / SERVER_SAMPLES_FILE, text.encode())
    return model


def _known_samples(folder: Path) -> dict[str, list[list[float]]]:
    """Return the samples of servers' models that a folder has, by all else of them."""
    try:
        return dict(json.loads((folder / SERVER_SAMPLES_FILE).read_bytes()))
    except (OSError, ValueError, TypeError):  # not there, or not whole: begun anew
        return {}


def result_key(model_identity: str, ids: Sequence[int], *parts: Any) -> str:
    """Return the key of a result: a hash of the model's identity and what it reads."""
    # The many ids as bytes, behind what ends where it ends: five times faster than as
    # text.
    checksum = hashlib.sha256(json.dumps((model_identity, *parts)).encode())
    checksum.update(array("I", ids))
    return checksum.hexdigest()


def read_results(folder: Path, keys: Iterable[str]) -> dict[str, Result]:
    """Return those results of `keys` that a folder, which must be writable, holds."""
    _check_writable(folder)
    files = sorted(folder.glob(CACHE_FILE_PATTERN))
    tables = []
    for file in files:
        table = _table(file)
        if table is not None:
            tables.append(table)
    if len(tables) > MOST_FILES:
        merged = _write(folder, pa.concat_tables(tables))
        for file in files:  # only now are they removed
            if file != merged:
                file.unlink(missing_ok=True)
    wanted = pa.array(sorted(set(keys)), pa.string())
    results = {}
    for table in tables:
        is_wanted = pc.is_in(table["key"], value_set=wanted)
        for row in table.filter(is_wanted).to_pylist():
            results[row["key"]] = Result(
                logprobs=tuple(row["logprobs"]),
                ids=tuple(row["ids"]),
                anchor_logprobs=tuple(row["anchor_logprobs"]),
            )
    return results


def write_results(folder: Path, results: dict[str, Result]) -> None:
    """Put results on disk."""
    rows = [{"key": key, **result._asdict()} for key, result in results.items()]
    _write(folder, pa.Table.from_pylist(rows, RESULT_SCHEMA))


def _check_writable(folder: Path) -> None:
    """Make a folder, and refuse one that cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial = folder / f"trial-{os.getpid()}.tmp"
        trial.write_bytes(b"")
        trial.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _checksum(content: bytes) -> str:
    """Return the checksum in the name of a file, which tells whether it is whole."""
    return hashlib.sha256(content).hexdigest()[:32]


def _table(file: Path) -> pa.Table | None:
    """Return a file's table; None where it is broken, or another run just merged it."""
    try:
        content = file.read_bytes()
        if file.stem != f"answers-{_checksum(content)}":
            raise OSError("its content does not fit its name")
        table = pq.read_table(io.BytesIO(content))
        if table.column_names != RESULT_SCHEMA.names:
            raise OSError("it holds other columns")
        return table
    except FileNotFoundError:
        return None
    except (OSError, pa.ArrowException) as error:
        aside = file.with_suffix(".corrupt")
        file.replace(aside)
        warnings.warn(
            f"The cache file {file} cannot be read ({error}); it is set aside as "
            f"{aside.name} and what it held is computed again.",
            stacklevel=5,
        )
        return None


def _write(folder: Path, table: pa.Table) -> Path:
    """Write a table whole or not at all, and return its file."""
    stream = io.BytesIO()
    pq.write_table(table, stream)
    content = stream.getvalue()
    file = folder / f"answers-{_checksum(content)}.parquet"
    _write_whole(file, content)
    return file


def _write_whole(file: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    # another process may be writing the same content
    temporary = file.with_suffix(f".{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(file)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)  # half a file fills a full disk even more
        raise _unwritable(file.parent, error) from error


def _unwritable(folder: Path, error: OSError) -> UserError:
    """Return the error of a folder that cannot be written."""
    reason = error.strerror or error
    return UserError(
        f"The cache folder {folder} cannot be written ({reason}); free space, "
        "mend its permissions or give another folder."
    )
