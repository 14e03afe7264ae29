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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from helpers import UserError
from helpers.models import LanguageModel
from helpers.models import identity as identities

RESULT_SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        ("ids", pa.list_(pa.int64())),
        ("logprobs", pa.list_(pa.float64())),
        ("anchor_logprobs", pa.list_(pa.float64())),
    ]
)
CACHE_FILE_PATTERN = "answers-*.parquet"
CHUNK_ROWS = 500
CHUNK_SECONDS = 5.0
MOST_FILES = 64


@dataclass(frozen=True)
class Result:
    """A model's answer: token ids, their log-probabilities, and those of an anchor."""

    logprobs: tuple[float, ...]
    ids: tuple[int, ...] = ()
    anchor_logprobs: tuple[float, ...] = ()


def model_identity_hash(model: LanguageModel) -> str:
    """Return a hash of all that decides a model's numbers, libraries included."""
    decisive = (*model.identity(), identities.library_versions())
    text = json.dumps(decisive, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


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
    rows = [{"key": key, **vars(result)} for key, result in results.items()]
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
    # another process may be writing the same content
    temporary = file.with_suffix(f".{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(file)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)  # half a file fills a full disk even more
        raise _unwritable(folder, error) from error
    return file


def _unwritable(folder: Path, error: OSError) -> UserError:
    """Return the error of a folder that cannot be written."""
    reason = error.strerror or error
    return UserError(
        f"The cache folder {folder} cannot be written ({reason}); free space, "
        "mend its permissions or give another folder."
    )
