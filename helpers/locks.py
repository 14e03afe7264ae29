"""Let one process at a time write to a place; the lock ends with the process, however it ends."""

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from helpers.errors import UserError


@contextlib.contextmanager
def alone(folder: Path, what: str) -> Iterator[int]:
    """Hold a folder for one command, which makes it where it is missing.

    Parameters
    ----------
    folder : Path
    what : str
        What is at work there, for the sentence: ``"sweep"``.

    Yields
    ------
    int
        The descriptor of the lock. A process that inherits it keeps the lock, too.

    Raises
    ------
    UserError
        If another process holds the folder, or it cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise UserError(
            f"The {what} cannot write to {folder} ({error.strerror}): "
            "free it, or give another folder with --runs."
        ) from error
    try:
        hold(descriptor, folder, what)
        yield descriptor
    finally:
        os.close(descriptor)


def hold(descriptor: int, folder: Path, what: str) -> None:
    """Lock an open file until it is closed, or its process ends.

    Raises
    ------
    UserError
        If another process has locked it. (A file system that knows no locks is no mistake.)
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise UserError(
                f"Another {what} is at work in {folder}: wait for it, end it, or give another "
                "folder with --runs."
            ) from error
