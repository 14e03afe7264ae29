"""Let one process at a time write to a place; the lock ends with the process, however it ends."""

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from helpers import UserError


@contextlib.contextmanager
def alone(folders: Sequence[Path], what: str) -> Iterator[list[int]]:
    """Hold folders for one command, and make those that are missing."""
    with contextlib.ExitStack() as stack:
        held = []
        for folder in folders:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                held.append(os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666))
            except OSError as error:
                raise unwritable(what, folder, error) from error
            stack.callback(os.close, held[-1])
            hold(held[-1], folder, what)
        yield held


def unwritable(what: str, folder: Path, error: OSError) -> UserError:
    """Return the sentence for a folder of runs that cannot be written to."""
    return UserError(
        f"The {what} cannot write to {folder} ({error.strerror or error}): "
        "free it, or give another folder with --runs."
    )


def hold(descriptor: int, folder: Path, what: str) -> None:
    """Lock an open file until it is closed, or its process ends."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise UserError(
                f"Another {what} is at work in {folder}: wait for it or end it, then run again."
            ) from error
