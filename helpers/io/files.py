"""Strangers' files: opened, bounded, turned into values here; a `UserError` names what is wrong."""

import ast
import contextlib
import csv
import gzip
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import UserError, first_line_of_error, reraise_as_user_error

LARGEST_FILE = (
    2**30
)  # bytes of a file, and of an archive's members when they are unpacked
LONGEST_LINE = 2**26  # characters of a line, in files that are read line by line
LARGEST_TABLE_IN_MEMORY = 4 * 2**30  # bytes that a table may take
ZSTANDARD_COMPRESSION = (
    93  # compression of Inspect's newer archives, which zipfile cannot read
)
csv.field_size_limit(LARGEST_FILE)  # a cell may be a whole document


@contextlib.contextmanager
def reraise_as_malformed_file(where: Path | str) -> Iterator[None]:
    """Turn what fails while a stranger's records are taken apart into one sentence."""
    try:
        yield
    except (UserError, ImportError):
        raise
    except Exception as error:  # of wrong types and broken archives any
        raise UserError(
            f"{where} is not in its form ({type(error).__name__}: {first_line_of_error(error)}): compare it "
            "with the page on data sets, or fetch it anew."
        ) from error


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a plain file that is not too large."""
    try:
        if path.exists() and not path.is_file():
            raise UserError(
                f"{path} cannot be read: it is no plain file; name one that is."
            )
        if path.stat().st_size > LARGEST_FILE:
            raise UserError(
                f"{path} is larger than {LARGEST_FILE >> 20} MB: divide it."
            )
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None


def read_text(path: Path, *others: str) -> str:
    """Return a file as text, a byte order mark taken off, in UTF-8 or one of other encodings."""
    data = read_bytes(path)
    for encoding in ("utf-8-sig", *others):
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(encoding)
    raise UserError(
        f"{path} is not UTF-8 text: save it in that encoding (Excel: CSV UTF-8)."
    )


def read_lines(path: Path) -> Iterator[str]:
    """Read a text file line by line, unpacked where it ends in .gz."""
    if path.exists() and not path.is_file():
        raise UserError(
            f"{path} cannot be read: it is no plain file; name one that is."
        )
    unpack = gzip.open if path.suffix == ".gz" else open
    try:
        with unpack(
            path, "rt", encoding="utf-8", errors="replace", newline="\n"
        ) as stream:
            while line := stream.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise UserError(
                        f"{path} has a line of more than {LONGEST_LINE:,} characters."
                    )
                yield line
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(
            f"{path} cannot be read ({error}): fetch or unpack it again."
        ) from None


def read_records(path: Path, columns: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Read a file of records, each with its place as ``where``; refuse one without a column."""
    kind = path.suffix.casefold()
    if kind in (".csv", ".tsv"):
        return read_csv_rows(path, columns, "\t" if kind == ".tsv" else ",")
    if kind == ".jsonl":
        found = read_json_lines(path)
    else:
        import pyarrow as pa

        value = (
            parse_json(read_text(path), path)
            if kind == ".json"
            else read_parquet_table(path, path)
        )
        if isinstance(value, pd.DataFrame):
            value = pa.Table.from_pandas(value, preserve_index=False).to_pylist()
        found = value if isinstance(value, list) else [value]
        if not all(isinstance(row, dict) for row in found):
            raise UserError(f"{path} must hold one JSON object a record.")
        found = [
            {**row, "where": f"{path}, record {n}"} for n, row in enumerate(found, 1)
        ]
    for row in found:
        check_keys(row, columns, row["where"])
    return found


def read_csv_rows(
    path: Path,
    columns: tuple[str, ...] = (),
    separator: str = ",",
    others: tuple[str, ...] = (),
) -> list[dict[str, Any]]:
    """Read a CSV file with a header; line breaks inside quoted cells are kept."""
    text = io.StringIO(read_text(path, *others), newline="")
    reader = csv.reader(text, delimiter=separator)
    header = next(reader, [])
    if missing := [name for name in columns if name not in header]:
        raise UserError(
            f"{path} lacks the column {', '.join(missing)}; it has "
            f"{', '.join(filter(None, header)) or 'none'}"
            f"{': save it with commas' * (len(header) == 1 and ';' in header[0])}."
        )
    if twice := next(
        (name for name in header if name and header.count(name) > 1), None
    ):
        raise UserError(f"{path} has two columns {twice!r}: leave one out.")
    rows, where = [], f"{path}, line {reader.line_num + 1}"
    for cells in reader:
        if cells and len(cells) != len(header):
            raise UserError(
                f"{where} has {len(cells)} cells and the header {len(header)}: put a "
                "text that holds a comma in double quotes, and leave no cell out."
            )
        if cells:
            rows.append({**dict(zip(header, cells)), "where": where})
        where = f"{path}, line {reader.line_num + 1}"
    return rows


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """Read one JSON object a line, with its place under ``"where"``; refuse a line that is none."""
    found = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        value = parse_json(line, where)
        if not isinstance(value, dict):
            raise UserError(f"{where} is not a JSON object: write one object a line.")
        found.append({**value, "where": where})
    return found


def parse_json(text: str, where: Path | str) -> Any:
    """Return a JSON text as a value, or say where it is none."""
    try:
        value = json.loads(text, object_pairs_hook=_object)
        if "\\ud" in text.lower():  # half a character, which JSON can spell, is no text
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except json.JSONDecodeError as error:
        raise UserError(
            f"{where} is not JSON ({error.msg}, at character {error.pos})."
        ) from None
    except (ValueError, RecursionError) as error:  # endless digits, a thousand brackets
        raise UserError(
            f"{where} cannot be read as JSON ({first_line_of_error(error)})."
        ) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, unless it says two things of one key."""
    found = dict(pairs)
    if len(found) < len(pairs):
        for key, value in pairs:
            if value != found[key]:
                raise ValueError(f"it gives {key!r} twice")
    return found


def parse_python_literal(cell: str) -> Any:
    """Return what a cell says in Python's spelling of values; None where it is none."""
    try:
        return ast.literal_eval(cell)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def read_parquet_table(data: bytes | Path, where: Path | str) -> pd.DataFrame:
    """Read a Parquet file, or the bytes of one, if it fits into memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = read_bytes(data) if isinstance(data, Path) else data
    options = {"page_checksum_verification": True}
    broken = (OSError, ValueError, MemoryError, pa.ArrowException)
    with reraise_as_user_error(
        f"{where} cannot be read as a table", "write or fetch it anew", *broken
    ):
        # A value is held once and may be named a billion times: counted before it is
        # written out.
        file = pq.ParquetFile(io.BytesIO(data), **options)
        about, places = file.metadata, range(file.num_row_groups)
        for (
            place
        ) in places:  # what is damaged is refused here; `column` below ends the process
            next(file.iter_batches(1, row_groups=[place], use_threads=False), None)
        groups = (about.row_group(place) for place in places)
        columns = [
            group.column(place)
            for group in groups
            for place in range(group.num_columns)
        ]
        if any(column.physical_type == "FIXED_LEN_BYTE_ARRAY" for column in columns):
            raise UserError(f"{where} holds bytes, and should hold texts and numbers.")
        size = 8 * sum(column.num_values for column in columns)
        if size <= LARGEST_TABLE_IN_MEMORY:
            texts = {
                c.path_in_schema for c in columns if c.physical_type == "BYTE_ARRAY"
            }
            short = pq.read_table(
                io.BytesIO(data), read_dictionary=sorted(texts), **options
            )
            size = sum(map(_size, short.columns))
        if size > LARGEST_TABLE_IN_MEMORY:
            raise UserError(
                f"{where} takes more than {LARGEST_TABLE_IN_MEMORY >> 30} GB of memory."
            )
        return (
            pq.read_table(io.BytesIO(data), **options)
            .replace_schema_metadata()
            .to_pandas()
        )


def _size(column: Any) -> int:
    """Return at most how many bytes a column takes with its texts written out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = column.nbytes
    for chunk in column.chunks:
        while pa.types.is_list(chunk.type):
            chunk = chunk.flatten()
        if pa.types.is_dictionary(chunk.type) and len(chunk):
            total += len(chunk) * (
                pc.max(pc.binary_length(chunk.dictionary)).as_py() or 0
            )
    return total


def read_zip_texts(path: Path, wanted: str) -> dict[str, str]:
    """Return as texts the members of a zip archive whose names begin as a pattern says."""
    found: dict[str, str] = {}
    with (
        reraise_as_malformed_file(path),
        zipfile.ZipFile(io.BytesIO(read_bytes(path))) as archive,
    ):
        infos = [info for info in archive.infolist() if re.match(wanted, info.filename)]
        if len({info.filename for info in infos}) < len(infos):
            raise UserError(f"{path} holds a file twice: write the archive anew.")
        left = LARGEST_FILE
        for info in infos:
            data = bytearray()
            stream = _member(archive, info)
            while block := stream.read(
                1 << 20
            ):  # what the archive says of sizes may be false
                data += block
                if len(data) > left:
                    raise UserError(
                        f"{path} holds more than {LARGEST_FILE >> 20} MB: divide it."
                    )
            left -= len(data)
            found[info.filename] = data.decode("utf-8")
    return found


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    """Return the stream of one file of an archive, by pyarrow where it is packed by zstandard."""
    if info.compress_type != ZSTANDARD_COMPRESSION:
        return archive.open(info)
    import pyarrow as pa

    archive.fp.seek(
        info.header_offset + 26
    )  # of the local header: lengths of name and extra
    archive.fp.seek(sum(struct.unpack("<HH", archive.fp.read(4))), 1)
    packed = archive.fp.read(info.compress_size)
    return pa.CompressedInputStream(pa.BufferReader(packed), "zstd")


def check_keys(row: dict[str, Any], keys: tuple[str, ...], where: str) -> None:
    """Refuse a record that lacks a key."""
    if missing := [key for key in keys if key not in row]:
        raise UserError(f"{where} lacks {', '.join(missing)}.")
