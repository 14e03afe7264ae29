"""One process writes to a folder, and a run keeps a log that says why it failed."""

import contextlib
import logging
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from helpers import UserError, reraise_failed_write
from helpers.runs import store

LOG_FILE_NAME = "run.log"
ERROR_PREFIX = "error: "
TERMINAL_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
KILLED_SENTENCE = (
    "It was ended from outside: by a signal, for want of memory, or at its time limit."
)


class RunLog(logging.FileHandler):
    """A run's log: what its cells printed and, if it failed, why in a sentence."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 its base's
        """Go on without a line for which the disk has no room: the run will say."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def end(self, error: UserError) -> UserError:
        """Write the sentence as the last line, if there is room; return the error."""
        with contextlib.suppress(OSError):
            self.stream.write(f"{ERROR_PREFIX}{error}\n")
            self.stream.flush()
        return error


@contextlib.contextmanager
def open_run_log(folder: Path) -> Iterator[RunLog]:
    """Hold a run's folder and keep its log, with the reason if the run fails."""
    with store.lock_folder(folder):
        with reraise_failed_write(folder, store.OTHER_FOLDER_REMEDY):
            log = RunLog(folder / LOG_FILE_NAME, mode="w", encoding="utf-8")
        log.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        try:
            with reraise_failed_write(folder, store.OTHER_FOLDER_REMEDY):
                yield log
        except UserError as error:
            log.end(error)
            raise
        finally:
            with contextlib.suppress(OSError):
                log.close()


def failure_sentence(folder: Path) -> str:
    """Return the sentence with which the run in a folder failed."""
    text = (folder / LOG_FILE_NAME).read_text(encoding="utf-8", errors="replace")
    lines = text.splitlines()
    if lines and lines[-1].startswith(ERROR_PREFIX):
        return lines[-1].removeprefix(ERROR_PREFIX)
    return KILLED_SENTENCE
