"""A model's runs as one file: written the same each time, read without trusting it."""

import hashlib
import json
import os
import stat
import zipfile
from pathlib import Path
from typing import Any

from helpers import UserError, reraise_as_user_error, reraise_failed_write
from helpers.exchange.record import SharedRuns, record_file_name
from helpers.io.files import parse_json
from helpers.runs import environment
from helpers.studies import STUDIES

MANIFEST_FILE = "manifest.json"
LARGEST_ARCHIVE = 256 * 2**20  # bytes of an archive
MOST_MEMBERS = 100
PACK_ANEW_REMEDY = "pack or fetch it anew"
MEMBER_DATE = (1980, 1, 1, 0, 0, 0)  # the first that a zip can hold
MEMBER_SYSTEM = 3  # Unix, whichever system packs
MEMBER_ATTRIBUTES = (stat.S_IFREG | 0o644) << 16  # a plain file that all may read
BROKEN_ZIP_ERRORS = (
    zipfile.BadZipFile,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
)


def pack_archive(shared: SharedRuns, folder: str | Path) -> Path:
    """Write an archive of runs into a folder and return its path."""
    path = Path(folder) / f"{record_file_name(shared.record)}.zip"
    part = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    manifest = shared.record | {"checksum": checksum_of_record(shared.record)}
    members = {MANIFEST_FILE: _json(manifest).encode(), **shared.files}
    with reraise_failed_write(path, "give another --folder", part):
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            for name in sorted(members):
                info = zipfile.ZipInfo(name, MEMBER_DATE)
                info.create_system = MEMBER_SYSTEM
                info.external_attr = MEMBER_ATTRIBUTES
                archive.writestr(info, members[name])
        part.replace(path)
    return path


def read_archive(path: str | Path) -> SharedRuns:
    """Return the record and the files of an archive, nothing of which is trusted."""
    path = Path(path)
    if not path.is_file():
        raise UserError(f"There is no file {path}: give an archive that `pack` wrote.")
    if path.stat().st_size > LARGEST_ARCHIVE:
        raise UserError(f"it is larger than {LARGEST_ARCHIVE >> 20} MB")
    with reraise_as_user_error(
        "it is no whole zip archive", PACK_ANEW_REMEDY, *BROKEN_ZIP_ERRORS
    ):
        files = _files_of_zip(path)
    if MANIFEST_FILE not in files:
        raise UserError(f"it holds no {MANIFEST_FILE}")
    manifest = files.pop(MANIFEST_FILE)
    with reraise_as_user_error(
        f"its {MANIFEST_FILE} is not JSON", PACK_ANEW_REMEDY, ValueError
    ):
        record = parse_json(manifest.decode("utf-8"), f"its {MANIFEST_FILE}")
        json.dumps(record, allow_nan=False)
    return SharedRuns(record, files)


def _files_of_zip(path: Path) -> dict[str, bytes]:
    """Return the members of a zip archive; none is read before all are checked."""
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        _check_members(infos)
        offsets = [info.header_offset for info in infos]
        if infos and min(offsets) != 0:
            raise UserError("something stands before its first member")
        return {info.filename: archive.read(info) for info in infos}


def _check_members(infos: list[zipfile.ZipInfo]) -> None:
    """Refuse members that are no plain files, or could grow or hide each other."""
    names = [info.filename for info in infos]
    if len(names) > MOST_MEMBERS:
        raise UserError(
            f"it has {len(names)} members, and an archive of runs at most "
            f"{MOST_MEMBERS}"
        )
    for info in infos:
        member = f"its member {info.filename!r}"
        file_type = stat.S_IFMT(info.external_attr >> 16)
        is_stored = info.compress_type == zipfile.ZIP_STORED
        if names.count(info.filename) > 1:
            raise UserError(f"{member} is there twice")
        if info.is_dir() or file_type not in (0, stat.S_IFREG):
            raise UserError(f"{member} is no plain file")
        if not is_stored or info.file_size != info.compress_size:
            raise UserError(f"{member} is compressed, as `pack` never does")


def unpack_archive(shared: SharedRuns, folder: Path) -> None:
    """Write verified runs of a model into a folder, for `helpers.runs.load`."""
    for name in shared.record["runs"]:
        if name not in STUDIES:  # it could name a place outside the folder
            raise UserError(
                f"The archive holds a run of {name!r:.60}, which is no study: verify "
                "it before it is unpacked."
            )
    for name, run in shared.record["runs"].items():
        place = folder / name
        place.mkdir(parents=True)
        answers = shared.files[run["answers"]["file"]]
        (place / "answers.parquet").write_bytes(answers)
        model = shared.record["model"] | run["model"]
        manifest = run | {"chapter": name, "model": model}
        (place / "run.json").write_text(_json(manifest), encoding="utf-8")


def checksum_of_record(record: dict[str, Any]) -> str:
    """Return the SHA-256 of a record without its own, which shows later changes.

    >>> checksum = checksum_of_record({"format": 1})
    >>> checksum == checksum_of_record({"checksum": "a", "format": 1})
    True
    >>> checksum == checksum_of_record({})
    False
    """
    rest = {key: value for key, value in record.items() if key != "checksum"}
    return hashlib.sha256(_json(rest).encode()).hexdigest()


def _json(value: dict[str, Any]) -> str:
    """Return a value as JSON that is the same whenever it is written."""
    text = json.dumps(
        value,
        default=environment.json_value,
        indent=1,
        ensure_ascii=False,
        sort_keys=True,
    )
    return text + "\n"
