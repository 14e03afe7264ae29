"""Measure what a language model knows: facts, probes, answers, metrics, figures."""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing the package must not wait for pandas
    import pandas as pd

# Before torch is imported: on shared cores OpenMP's threads spin at every small matrix
# product, and a minute becomes half an hour. What the user has set wins.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


# Colours, links and the like, as terminals are told them.
_ESCAPE_SEQUENCE = re.compile(
    r"\x1b[P\]X^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # up to its end
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[()][0-9A-Z]"
)


class UserError(ValueError):
    """Something the user gave cannot be used; the message names it and the remedy."""


def first_line_of_error(error: BaseException | str) -> str:
    """Return the first line of an error or a text, short enough for a sentence.

    A line that announces the next one is told with it.
    """
    lines = str(error).strip().splitlines()
    first = lines[0] if lines else type(error).__name__
    if first.endswith(":"):
        first = " ".join([first, *map(str.strip, lines[1:2])])
    return first.rstrip(".")[:200]


def without_escape_sequences(text: str) -> str:
    r"""Return a text without what tells a terminal to colour it, to move and so on.

    >>> without_escape_sequences("\x1b[31mred\x1b[0m")
    'red'
    """
    return _ESCAPE_SEQUENCE.sub("", text)


def printable_line(text: object) -> str:
    r"""Return a text as one line, without what a terminal or a log takes for a command.

    >>> printable_line("a\nb\x1b\u202e")
    'a b'
    """
    line = " ".join(without_escape_sequences(str(text)).split())
    return "".join(filter(str.isprintable, line))


def check_columns(table: "pd.DataFrame", columns: Iterable[str], what: str) -> None:
    """Refuse a table (of answers, of facts ...) that lacks one of these columns."""
    missing = [name for name in dict.fromkeys(columns) if name not in table.columns]
    if missing:
        noun = "columns" if len(missing) > 1 else "column"
        raise UserError(f"The table of {what} lacks the {noun} {', '.join(missing)}.")


@contextlib.contextmanager
def reraise_as_user_error(
    what: str, remedy: str, *kinds: type[BaseException]
) -> Iterator[None]:
    """Make one sentence of a library's error, of some kinds or of any; our own pass."""
    kinds = kinds or (Exception,)
    try:
        yield
    except UserError:
        raise
    except kinds as error:
        raise UserError(f"{what} ({first_line_of_error(error)}): {remedy}.") from error


@contextlib.contextmanager
def reraise_failed_write(
    place: Path | str, remedy: str, *parts: Path
) -> Iterator[None]:
    """Make one sentence of a failed write; parts beside the place are removed."""
    try:
        yield
    except (OSError, RecursionError) as error:
        with contextlib.suppress(OSError):
            for part in parts:
                part.unlink(missing_ok=True)
        cause = "it lies too many folders deep"
        if isinstance(error, OSError):
            cause = error.strerror or str(error)
        raise UserError(f"{place} cannot be written ({cause}): {remedy}.") from error
