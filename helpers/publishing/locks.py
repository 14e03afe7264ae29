"""One process at a time writes to a place: a lock on the folders of a sweep, and the log of a run.

A lock ends with its process, however that ends.
"""

import contextlib
import errno
import fcntl
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from helpers import UserError

LOG = "run.log"
MARK = "error: "
OUTSIDE = "It was ended from outside: by a signal, for want of memory, or at its time limit."


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


class RunLog(logging.FileHandler):
    """A run's log: what its cells printed and, if it failed, one sentence that says why.

    It is locked until it is closed, and makes the run's folder where that is missing.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            super().__init__(folder / LOG, mode="a", encoding="utf-8")
        except OSError as error:
            raise unwritable("run", folder, error) from error
        try:
            hold(self.stream.fileno(), folder, "run")
        except UserError:
            self.close()
            raise
        self.stream.truncate(0)
        self.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))

    def handleError(self, record: logging.LogRecord) -> None:
        """Go on without a line that the disk has no room for: the run itself will say."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def write_error(self, error: UserError) -> UserError:
        """Write the sentence as the log's last line, if there is room; return the error."""
        try:
            self.stream.write(f"{MARK}{error}\n")
            self.stream.flush()
        except OSError:
            pass
        return error


@contextlib.contextmanager
def logged(folder: Path) -> Iterator[RunLog]:
    """Keep a run's log, and write into it why the run failed, if it does."""
    log = RunLog(folder)
    try:
        yield log
    except OSError as error:
        raise log.write_error(unwritable("run", folder, error)) from error
    except UserError as error:
        log.write_error(error)
        raise
    finally:
        log.close()


def last_words(folder: Path) -> str:
    """Return the sentence with which the run in a folder failed."""
    text = (folder / LOG).read_text(encoding="utf-8", errors="replace")
    last = (text.splitlines() or [""])[-1]
    return last.removeprefix(MARK) if last.startswith(MARK) else OUTSIDE
