"""One process at a time writes to a folder, and each run keeps a log that says why it failed."""

import contextlib
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

from helpers import UserError, writing
from helpers.runs import store

LOG = "run.log"
MARK = "error: "
OUTSIDE = (
    "It was ended from outside: by a signal, for want of memory, or at its time limit."
)


class RunLog(logging.FileHandler):
    """A run's log: what its cells printed and, if it failed, one sentence that says why."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Go on without a line that the disk has no room for: the run itself will say."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def end(self, error: UserError) -> UserError:
        """Write the sentence as the log's last line, if there is room; return the error."""
        with contextlib.suppress(OSError):
            self.stream.write(f"{MARK}{error}\n")
            self.stream.flush()
        return error


@contextlib.contextmanager
def logged(folder: Path) -> Iterator[RunLog]:
    """Hold a run's folder and keep its log; write into it why the run failed, if it does."""
    with store.alone(folder):
        with writing(folder, store.ELSEWHERE):
            log = RunLog(folder / LOG, mode="w", encoding="utf-8")
        log.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        try:
            with writing(folder, store.ELSEWHERE):
                yield log
        except UserError as error:
            log.end(error)
            raise
        finally:
            with contextlib.suppress(OSError):
                log.close()


def last_words(folder: Path) -> str:
    """Return the sentence with which the run in a folder failed."""
    text = (folder / LOG).read_text(encoding="utf-8", errors="replace")
    last = (text.splitlines() or [""])[-1]
    return last.removeprefix(MARK) if last.startswith(MARK) else OUTSIDE
