"""Strangers' files: opened, bounded, turned into values; errors say what is wrong."""

import ast
import contextlib
import csv
import gzip
import io
import json
import re
import struct
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pandas as pd

from helpers import (
    UserError,
    first_line_of_error,
    printable_line,
    reraise_as_user_error,
)

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

# Bytes of a file, and of an archive's members when they are unpacked.
LARGEST_FILE = 2**30
LONGEST_LINE = 2**26  # characters of a line, in files that are read line by line
LARGEST_TABLE_IN_MEMORY = 4 * 2**30  # bytes that a table may take
# Compression of Inspect's newer archives, which zipfile cannot read.
ZSTANDARD_COMPRESSION = 93
BLOCK_SIZE = 2**20  # bytes of an archive's member that are unpacked at a time
# In a zip archive, the header of a member gives the lengths of its name and extra field
# at this offset, as two 16-bit numbers; the packed bytes follow these two.
NAME_LENGTH_OFFSET = 26
# What Git writes in the place of a large file that it did not fetch begins so.
LFS_POINTER_START = b"version https://git-lfs.github.com/spec/"
SPREADSHEET_ENDINGS = (".xlsx", ".xlsm", ".xls", ".ods", ".numbers")
SEPARATORS = (",", ";", "\t")  # of tables that spreadsheets save as text
WINDOWS_ENCODING = "cp1252"  # of spreadsheets in Western Europe and America
PARQUET_MARK = b"PAR1"
# How files of other kinds begin that are given for a text, a table or weights.
OTHER_KINDS = {
    b"PK\x03\x04": "a zip archive (as those of Excel and PyTorch are)",
    b"\xd0\xcf\x11\xe0": "a file of Microsoft Office",
    b"\x1f\x8b": "packed by gzip",
    b"BZh91AY&SY": "packed by bzip2",
    b"\xfd7zXZ": "packed by xz",
    b"\x28\xb5\x2f\xfd": "packed by zstandard",
    b"%PDF-": "a PDF",
    PARQUET_MARK: "a Parquet file",
    b"SQLite format 3": "a database of SQLite",
    b"GGUF\x03": "a GGUF model",
    b"\x80\x02\x8a\x0a": "a pickle of PyTorch",
    b"\x89HDF": "an HDF5 file",
    b"<!doctype html": "a web page",
    b"<html": "a web page",
}
# Letters with accents seldom follow each other, but those of other alphabets do.
MOST_ACCENTED_LETTERS = 2
LONGEST_MARK = 200  # bytes of a file that show what kind it is
LONGEST_DECIMAL = 32  # bytes of a number of fixed length
LONGEST_LIST = 200  # characters of columns' names in a sentence
RECORD_ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
csv.field_size_limit(LARGEST_FILE)  # a cell may be a whole document


@contextlib.contextmanager
def reraise_as_malformed_file(where: Path | str) -> Iterator[None]:
    """Turn what fails while a stranger's records are taken apart into one sentence."""
    try:
        yield
    except (UserError, ImportError):
        raise
    except Exception as error:  # of wrong types and broken archives any
        cause = f"{type(error).__name__}: {first_line_of_error(error)}"
        raise UserError(
            f"{where} is not in its form ({cause}): compare it "
            "with the page on data sets, or fetch it anew."
        ) from error


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a plain file that is not too large."""
    try:
        refuse_unreadable_file(path)
        if path.stat().st_size > LARGEST_FILE:
            raise UserError(
                f"{path} is larger than {LARGEST_FILE >> 20} MB: divide it."
            )
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None


def refuse_unreadable_file(path: Path) -> None:
    """Refuse what there is at a path if it is no plain file, or stands for another."""
    _check_plain_file(path)
    if path.is_symlink() and not path.exists():
        raise UserError(
            f"{path} is a link to a file that is not there; fetch it anew, or remove "
            "it."
        )
    try:
        with path.open("rb") as stream:
            start = stream.read(len(LFS_POINTER_START))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    if start == LFS_POINTER_START:
        raise UserError(
            f"{path} is a Git LFS pointer, not the file: run `git lfs pull` in its "
            "folder, or fetch the file anew."
        )


def _check_plain_file(path: Path) -> None:
    """Refuse a folder, a pipe and the like, and a spreadsheet."""
    if path.exists() and not path.is_file():
        raise UserError(
            f"{path} cannot be read: it is no plain file; name one that is."
        )
    if path.suffix.casefold() in SPREADSHEET_ENDINGS:
        raise UserError(
            f"{path} is a spreadsheet: save it as CSV UTF-8 and give that file."
        )


def other_kind(data: bytes) -> str:
    """Return what else a file is than text, by its first bytes; "" for a text."""
    start = data[:LONGEST_MARK]
    page = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    for mark, kind in OTHER_KINDS.items():
        if start.startswith(mark) or page.startswith(mark):
            return kind
    return ""


def read_text(path: Path, *others: str) -> str:
    """Return a file as text without byte order mark, in UTF-8 or another encoding.

    A file is read as UTF-16 or UTF-32 where its first bytes show it.
    """
    data = read_bytes(path)
    kind = other_kind(data)
    if kind:
        raise UserError(
            f"{path} is {kind}, not a text: save what it holds as UTF-8 text (Excel: "
            "CSV UTF-8), or fetch it anew."
        )
    encodings: list[str] = [json.detect_encoding(data)]
    if encodings == ["utf-8"]:
        encodings += others
    for encoding in encodings:
        with contextlib.suppress(UnicodeDecodeError):
            text = data.decode(encoding)
            if encoding != WINDOWS_ENCODING:
                return text
            if _is_western_text(text):
                print(
                    f"{path} is not UTF-8 text and is read as Windows-1252: save it "
                    "in UTF-8 if its accents come out wrong.",
                    file=sys.stderr,
                )
                return text
    raise UserError(
        f"{path} is not UTF-8 text: save it in that encoding (Excel: CSV UTF-8)."
    )


def _is_western_text(text: str) -> bool:
    """Tell whether what Windows-1252 makes of bytes is likely the text meant."""
    runs = re.findall(r"[^\W\d_]+", re.sub(r"[\x00-\x7f]+", " ", text))
    n_accented = max(map(len, runs), default=0)
    return "\0" not in text and n_accented <= MOST_ACCENTED_LETTERS


def first_json_object(path: Path) -> dict[str, Any]:
    """Return the object in the first line of JSON lines; an empty one for no such."""
    if not path.is_file():
        return {}
    try:
        line = next(filter(str.strip, read_lines(path)), "")
        value = parse_json(line.lstrip(), path)
    except UserError:
        return {}
    return value if isinstance(value, dict) else {}


def read_lines(path: Path) -> Iterator[str]:
    """Read a text file line by line, unpacked where it ends in .gz."""
    refuse_unreadable_file(path)
    unpack = gzip.open if path.suffix == ".gz" else open
    try:
        with unpack(path, "rb") as stream:
            encoding = json.detect_encoding(stream.read(4))
        with unpack(
            path, "rt", encoding=encoding, errors="replace", newline="\n"
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


def read_records(
    path: Path, columns: tuple[str, ...] = (), optional: tuple[str, ...] = ()
) -> list[dict[str, Any]]:
    """Read records, each with its place as ``where``; refuse one without a column.

    Columns, and optional ones, are known in any case.
    """
    kind = path.suffix.casefold()
    if kind == ".csv":
        return read_csv_rows(path, columns, optional=optional)
    if kind == ".tsv":
        return read_csv_rows(path, columns, separator="\t", optional=optional)
    if kind == ".jsonl":
        records = read_json_lines(path)
    elif kind == ".json":
        records = _json_records(read_text(path), path)
    elif kind == ".parquet":
        records = _read_parquet_records(path)
    else:
        _check_plain_file(path)
        raise UserError(
            f"{path} ends in {kind or 'nothing'}: give a file that ends in one of "
            f"{', '.join(RECORD_ENDINGS)}."
        )
    named_records = []
    for record in records:
        names = plain_header(tuple(record), (*columns, *optional))
        _refuse_name_twice(names, record["where"])
        named = dict(zip(names, record.values(), strict=True))
        check_keys(named, columns, record["where"])
        named_records.append(named)
    return named_records


def _json_records(text: str, path: Path) -> list[dict[str, Any]]:
    """Return a JSON list of objects, or one object, each with its place."""
    value = parse_json(text, path)
    records = value if isinstance(value, list) else [value]
    for record in records:
        if not isinstance(record, dict):
            raise UserError(f"{path} must hold one JSON object a record.")
    return _add_places(records, path)


def _read_parquet_records(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a Parquet file."""
    with _reraise_as_broken_table(path):
        table = _read_arrow_table(read_bytes(path), path)
        columns = [arrow_values(column) for column in table.columns]
    rows = zip(*columns, strict=True)
    records = [dict(zip(table.column_names, row, strict=True)) for row in rows]
    return _add_places(records, path)


def arrow_values(column: "pa.ChunkedArray") -> list[Any]:  # of any type
    """Return the values of an Arrow column; 32-bit 1.1 is 1.1, not 1.10000002."""
    values = column.to_pylist()
    if "float" not in str(column.type):
        return values
    return [_as_written(value, column.type) for value in values]


def _as_written(value: Any, kind: "pa.DataType") -> Any:  # of any type
    """Return a value of Arrow, its short floats as the numbers that are written."""
    import pyarrow as pa

    if value is None:
        return None
    if pa.types.is_floating(kind) and not pa.types.is_float64(kind):
        return float(str(kind.to_pandas_dtype()(value)))
    if isinstance(value, list) and not pa.types.is_map(kind):
        return [_as_written(item, kind.value_type) for item in value]
    if pa.types.is_struct(kind):
        fields = {}
        for field in kind:
            fields[field.name] = _as_written(value[field.name], field.type)
        return fields
    return value


def _add_places(records: list[dict[str, Any]], path: Path) -> list[dict[str, Any]]:
    """Return records with their place in a file as ``where``."""
    placed = []
    for number, record in enumerate(records, 1):
        placed.append({**record, "where": f"{path}, record {number}"})
    return placed


def read_csv_rows(
    path: Path,
    columns: tuple[str, ...] = (),
    separator: str = "",
    others: tuple[str, ...] = (WINDOWS_ENCODING,),
    optional: tuple[str, ...] = (),
    numbers: tuple[str, ...] = (),
) -> list[dict[str, Any]]:
    """Read a CSV file with a header; line breaks inside quoted cells are kept.

    Cells are parted as the header is, by comma, semicolon or tab, unless a `separator`
    is given. Rows whose cells are all empty are none. In columns of `numbers` a comma
    is a decimal point, if it does not part the cells.
    """
    text = read_text(path, *others)
    first_line, _, rest = text.partition("\n")
    if re.fullmatch(r"sep=.\r?", first_line):  # as Excel reads and writes it
        separator = first_line[len("sep=")]
        text = "\n" + rest  # so that lines are counted rightly
    stream = io.StringIO(text, newline="")
    separator = separator or _separator_of_header(text)
    reader = csv.reader(stream, delimiter=separator)
    first_row = next(filter(None, reader), [])
    header = plain_header(tuple(first_row), (*columns, *optional))
    _check_header(header, columns, path)
    with_decimal_comma = () if separator == "," else numbers
    rows = []
    where = f"{path}, line {reader.line_num + 1}"
    for cells in reader:
        is_filled = any(map(str.strip, cells))
        if is_filled and len(cells) != len(header):
            raise UserError(
                f"{where} has {len(cells)} cells and the header {len(header)}: put a "
                "text that holds a comma in double quotes, and leave no cell out."
            )
        if is_filled:
            row = dict(zip(header, cells, strict=True))
            row["where"] = where
            for name in with_decimal_comma:
                row[name] = row[name].replace(",", ".")
            rows.append(row)
        where = f"{path}, line {reader.line_num + 1}"
    return rows


def _separator_of_header(text: str) -> str:
    """Return the separator that stands most often in the first line, unquoted."""
    first_line = text.lstrip("\r\n").partition("\n")[0]
    unquoted = re.sub(r'"[^"]*"', "", first_line)
    return max(SEPARATORS, key=unquoted.count)


@lru_cache(maxsize=2**10)
def plain_header(header: tuple[str, ...], columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of columns without blanks, wanted ones in their own case."""
    names = list(map(printable_line, header))
    wanted = {name.casefold(): name for name in columns if name not in names}
    return tuple(wanted.get(name.casefold(), name) for name in names)


def _check_header(
    header: tuple[str, ...], columns: tuple[str, ...], path: Path
) -> None:
    """Refuse the header of a CSV file that lacks a column or names one twice."""
    missing = [name for name in columns if name not in header]
    if missing:
        noun = "columns" if len(missing) > 1 else "column"
        raise UserError(
            f"{path} lacks the {noun} {', '.join(missing)}; it has "
            f"{_names_in_words(header)}."
        )
    _refuse_name_twice(header, path)


def _refuse_name_twice(names: Sequence[str], where: Path | str) -> None:
    """Refuse a table or record in which two columns have one name."""
    for name, number in Counter(names).items():
        if name and number > 1:
            raise UserError(f"{where} has two columns {name!r}: leave one out.")


def _names_in_words(names: Iterable[str]) -> str:
    """Return the names of columns for a sentence."""
    return printable_line(", ".join(filter(None, names)))[:LONGEST_LIST] or "none"


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """Read one JSON object a line, with its place as ``where``; refuse other lines.

    A JSON list of objects is read, too, for some tools write one into such a file.
    """
    text = read_text(path)
    if text.lstrip().startswith("["):
        with contextlib.suppress(UserError):
            return _json_records(text, path)
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        value = parse_json(line, where)
        if not isinstance(value, dict):
            raise UserError(f"{where} is not a JSON object: write one object a line.")
        records.append({**value, "where": where})
    return records


def parse_json(text: str, where: Path | str) -> Any:  # JSON holds values of any type
    """Return a JSON text as a value, or say where it is none."""
    try:
        value = json.loads(text, object_pairs_hook=_object_without_conflicts)
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


def _object_without_conflicts(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, unless it gives two values to one key."""
    values = dict(pairs)
    if len(values) < len(pairs):
        for key, value in pairs:
            if value != values[key]:
                raise ValueError(f"it gives {key!r} twice")
    return values


def parse_python_literal(cell: str) -> Any:  # a literal has any type
    """Return what a cell says in Python's spelling of values; None where it is none."""
    try:
        return ast.literal_eval(cell)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def read_parquet_table(data: bytes | Path, where: Path | str) -> pd.DataFrame:
    """Read a Parquet file, or the bytes of one, if it fits into memory."""
    if isinstance(data, Path):
        data = read_bytes(data)
    with _reraise_as_broken_table(where):
        return _read_arrow_table(data, where).to_pandas()


@contextlib.contextmanager
def _reraise_as_broken_table(where: Path | str) -> Iterator[None]:
    """Make one sentence of what Arrow says of a table that cannot be read."""
    import pyarrow as pa

    broken = (OSError, ValueError, MemoryError, pa.ArrowException)
    what = f"{where} cannot be read as a table"
    with reraise_as_user_error(what, "write or fetch it anew", *broken):
        yield


def _read_arrow_table(data: bytes, where: Path | str) -> "pa.Table":
    """Read the bytes of a Parquet file as Arrow's table, if it fits into memory."""
    import pyarrow.parquet as pq

    kind = other_kind(data)
    if kind and not data.startswith(PARQUET_MARK):
        raise UserError(f"{where} is {kind}, not a Parquet file: fetch it anew.")
    file = pq.ParquetFile(io.BytesIO(data), page_checksum_verification=True)
    # What is damaged is refused here; reading a chunk's metadata, below, would end the
    # process.
    for group in range(file.num_row_groups):
        next(file.iter_batches(1, row_groups=[group], use_threads=False), None)
    for place in range(len(file.schema)):
        column = file.schema.column(place)
        is_fixed = column.physical_type == "FIXED_LEN_BYTE_ARRAY"
        if is_fixed and column.logical_type.type == "NONE":
            raise UserError(f"{where} holds bytes, and should hold texts and numbers.")
    if _size_in_memory(data, _column_chunks(file.metadata)) > LARGEST_TABLE_IN_MEMORY:
        raise UserError(
            f"{where} takes more than {LARGEST_TABLE_IN_MEMORY >> 30} GB of memory."
        )
    table = pq.read_table(io.BytesIO(data), page_checksum_verification=True)
    return table.replace_schema_metadata()


def _column_chunks(about: "pq.FileMetaData") -> "list[pq.ColumnChunkMetaData]":
    """Return the metadata of each column in each row group of a Parquet file."""
    chunks = []
    for number in range(about.num_row_groups):
        group = about.row_group(number)
        chunks += [group.column(place) for place in range(group.num_columns)]
    return chunks


def _size_in_memory(data: bytes, chunks: "list[pq.ColumnChunkMetaData]") -> int:
    """Return at most how many bytes the table of a Parquet file takes.

    A file holds a text once and may name it a billion times: sizes are counted before
    the texts are written out.
    """
    import pyarrow.parquet as pq

    size = 0
    for chunk in chunks:
        is_fixed = chunk.physical_type == "FIXED_LEN_BYTE_ARRAY"
        size += chunk.num_values * (LONGEST_DECIMAL if is_fixed else 8)
    if size > LARGEST_TABLE_IN_MEMORY:
        return size
    text_columns = set()
    for chunk in chunks:
        if chunk.physical_type == "BYTE_ARRAY":
            text_columns.add(chunk.path_in_schema)
    encoded = pq.read_table(
        io.BytesIO(data),
        read_dictionary=sorted(text_columns),
        page_checksum_verification=True,
    )
    return sum(_size_of_column(column) for column in encoded.columns)


def _size_of_column(column: "pa.ChunkedArray") -> int:
    """Return at most how many bytes a column takes with its texts written out."""
    import pyarrow as pa
    import pyarrow.compute as pc

    size = column.nbytes
    for chunk in column.chunks:
        while pa.types.is_list(chunk.type):
            chunk = chunk.flatten()
        if pa.types.is_dictionary(chunk.type) and len(chunk):
            longest = pc.max(pc.binary_length(chunk.dictionary)).as_py() or 0
            size += len(chunk) * longest
    return size


def read_zip_texts(path: Path, wanted: str) -> dict[str, str]:
    """Return as texts an archive's members whose names begin as a pattern says."""
    texts: dict[str, str] = {}
    with (
        reraise_as_malformed_file(path),
        zipfile.ZipFile(io.BytesIO(read_bytes(path))) as archive,
    ):
        members = [
            info for info in archive.infolist() if re.match(wanted, info.filename)
        ]
        names = {info.filename for info in members}
        if len(names) < len(members):
            raise UserError(f"{path} holds a file twice: write the archive anew.")
        room = LARGEST_FILE
        for info in members:
            data = _read_at_most(room, _member_stream(archive, info), path)
            room -= len(data)
            texts[info.filename] = data.decode("utf-8")
    return texts


def _read_at_most(most: int, stream: IO[bytes], path: Path) -> bytearray:
    """Read a member of an archive: what the archive says of its size may be false."""
    data = bytearray()
    while block := stream.read(BLOCK_SIZE):
        data += block
        if len(data) > most:
            raise UserError(
                f"{path} holds more than {LARGEST_FILE >> 20} MB: divide it."
            )
    return data


def _member_stream(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    """Return the stream of an archive's member, which zstandard may have packed."""
    if info.compress_type != ZSTANDARD_COMPRESSION:
        return archive.open(info)
    import pyarrow as pa

    file = archive.fp
    assert file is not None  # the archive is open
    file.seek(info.header_offset + NAME_LENGTH_OFFSET)
    name_length, extra_length = struct.unpack("<HH", file.read(4))
    file.seek(name_length + extra_length, io.SEEK_CUR)
    packed = file.read(info.compress_size)
    return pa.CompressedInputStream(pa.BufferReader(packed), "zstd")


def check_keys(row: dict[str, Any], keys: tuple[str, ...], where: str) -> None:
    """Refuse a record that lacks a key."""
    missing = [key for key in keys if key not in row]
    if missing:
        present = [key for key in row if key != "where"]
        raise UserError(
            f"{where} lacks {', '.join(missing)}; it has {_names_in_words(present)}."
        )
