"""Tell whether files have changed by what is in them: their times can lie."""

import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path

from helpers.models.checkpoints import sha256
from helpers.runs import shown

LARGE = 2**30  # bytes; larger files are not read, but told apart by their size and time


def digest(paths: Iterable[str | Path], top: Path | None = None) -> str:
    """Return a hash of the content and the names of files, in whatever order they are given.

    Names are those below `top`, where it is given; then moving all of it changes nothing.

    >>> digest([]) == digest(()) != digest([__file__]) == digest([__file__, __file__])
    True
    """
    files = sorted({Path(path).resolve() for path in paths})
    name = shown if top is None else (lambda file: file.relative_to(top.resolve()))
    lines = [f"{name(file)} {_hash(file, *_stamp(file))}" for file in files if file.is_file()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _stamp(file: Path) -> tuple[int, int]:
    return file.stat().st_size, file.stat().st_mtime_ns


@functools.cache
def _hash(file: Path, size: int, time: int) -> str:
    """Return the hash of a file, read once in this process while its size and time are the same."""
    return f"{size} {time}" if size > LARGE else sha256((file,))
