"""Count the tokens that probes take while they are scored or answered, whoever asks."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

_open: list[Counter[str]] = []


@contextmanager
def metered() -> Iterator[Counter[str]]:
    """Count `probes`, `tokens` and `forwarded` of all that is scored or generated inside.

    >>> with metered() as work:
    ...     add(lambda: {"probes": 2, "tokens": 9})
    >>> work["tokens"]
    9
    """
    work: Counter[str] = Counter()
    _open.append(work)
    try:
        yield work
    finally:
        _open.remove(work)


def add(count: Callable[[], Mapping[str, int]]) -> None:
    """Add what a call takes, counted only where somebody wants to know."""
    if _open:
        found = count()
        for work in _open:
            work.update(found)
