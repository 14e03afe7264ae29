"""One plain line of progress on stderr: done, total, time left."""

import sys
import time
from collections.abc import Callable
from datetime import timedelta


def line(what: str, total: float, wanted: bool = True) -> Callable[[float], None]:
    """Return a function that shows how much of a piece of work is done.

    On a terminal one line is rewritten twice a second; elsewhere (a log file, a notebook) a line
    is added every 30 seconds, and the book drops what stands on stderr.
    """
    began = last = time.monotonic()
    live = sys.stderr.isatty()

    def show(done: float) -> None:
        nonlocal last
        now = time.monotonic()
        if not wanted or done == 0 or (now - last < (0.5 if live else 30) and done < total):
            return
        if not live and done == total and now - began < 30:
            return
        last = now
        left = (now - began) / done * (total - done)
        text = f"{what}: {done}/{total}, {timedelta(seconds=round(left))} left"
        end = "\n" if done == total or not live else ""
        print(f"\r{text:<60}" if live else text, end=end, file=sys.stderr, flush=True)

    return show
