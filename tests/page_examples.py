"""The examples of a page: each is run, and what it prints compared with what the page shows."""

import contextlib
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

NUMBER = re.compile(r"-?\d+\.\d+")
Block = tuple[str, str]  # code, and what it prints


def blocks(page: str) -> list[Block]:
    """Return the examples of a page, in order."""
    return re.findall(
        r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", page, re.DOTALL
    )


def run(examples: Sequence[Block], folder: Path) -> tuple[list[str], dict[str, Any]]:
    """Run examples in one session in a folder; return what they print, and their names."""
    names, found = {}, []
    with contextlib.chdir(folder), plt.rc_context():
        for code, _ in examples:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(code, "page.md", "exec"), names)
            found.append(out.getvalue())
        plt.close("all")
    return found, names


def compare(out: str, shown: str) -> None:
    """Compare what an example prints with what the page shows."""
    assert NUMBER.sub("0", out).split() == NUMBER.sub("0", shown).split()
    # On another processor the last digit may be the next one.
    digits = [len(number.partition(".")[2]) for number in NUMBER.findall(shown)]
    pairs = zip(NUMBER.findall(out), NUMBER.findall(shown), digits, strict=True)
    assert all(abs(float(a) - float(b)) < 1.5 * 10**-n for a, b, n in pairs)
