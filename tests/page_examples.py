"""The examples of a page: each is run, and what it prints compared with what the page shows."""

import contextlib
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

DECIMAL_NUMBER = re.compile(r"-?\d+\.\d+")
ExampleBlock = tuple[str, str]  # code, and what it prints


def example_blocks(page: str) -> list[ExampleBlock]:
    """Return the examples of a page, in order."""
    return re.findall(
        r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", page, re.DOTALL
    )


def run_examples(
    examples: Sequence[ExampleBlock], folder: Path
) -> tuple[list[str], dict[str, Any]]:
    """Run examples in one session in a folder; return what they print, and their names."""
    names, found = {}, []
    with contextlib.chdir(folder), plt.rc_context():
        for code, _ in examples:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(code, "page.md", "exec"), names)
            found.append(out.getvalue())
        plt.close("all")
    return found, names


def compare_output(out: str, shown: str) -> None:
    """Compare what an example prints with what the page shows."""
    assert (
        DECIMAL_NUMBER.sub("0", out).split() == DECIMAL_NUMBER.sub("0", shown).split()
    )
    # On another processor the last digit may be the next one.
    digits = [len(number.partition(".")[2]) for number in DECIMAL_NUMBER.findall(shown)]
    pairs = zip(
        DECIMAL_NUMBER.findall(out), DECIMAL_NUMBER.findall(shown), digits, strict=True
    )
    assert all(abs(float(a) - float(b)) < 1.5 * 10**-n for a, b, n in pairs)
