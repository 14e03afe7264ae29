"""The log of a run: what its cells printed and, if it failed, one sentence that tells why.

While it is open, no other process can run the same chapter in the same folder.
"""

import logging
import sys
from pathlib import Path

from helpers import UserError
from helpers.publishing import locks

NAME = "run.log"
MARK = "error: "
OUTSIDE = "It was ended from outside: by a signal, for want of memory, or at its time limit."


class RunLog(logging.FileHandler):
    """A run's log file, locked until it is closed.

    Parameters
    ----------
    folder : Path
        The run's folder, made where it is missing.

    Raises
    ------
    UserError
        If the folder cannot be written to, or another process runs in it.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            super().__init__(folder / NAME, mode="a", encoding="utf-8")
        except OSError as error:
            raise locks.unwritable("run", folder, error) from error
        try:
            locks.hold(self.stream.fileno(), folder, "run")
        except UserError:
            self.close()
            raise
        self.stream.truncate(0)
        self.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))

    def handleError(self, record: logging.LogRecord) -> None:
        """Go on without a line that the disk has no room for: the run itself will tell."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def told(self, error: UserError) -> UserError:
        """Write the sentence as the log's last line, if there is room; return the error."""
        try:
            self.stream.write(f"{MARK}{error}\n")
            self.stream.flush()
        except OSError:
            pass
        return error


def last_words(folder: Path) -> str:
    """Return the sentence with which the run in a folder failed."""
    text = (folder / NAME).read_text(encoding="utf-8", errors="replace")
    last = (text.splitlines() or [""])[-1]
    return last.removeprefix(MARK) if last.startswith(MARK) else OUTSIDE
