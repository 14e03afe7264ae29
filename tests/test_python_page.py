"""The page on scripts: its examples run as printed, and print what it shows."""

import ast
import contextlib
import io
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "book" / "python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", PAGE, re.DOTALL)
NAMES = [code.strip().splitlines()[-1][:40] for code, _ in BLOCKS]
NUMBER = re.compile(r"-?\d+\.\d+")


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Run all examples in order, as one session in a folder of its own; return what each prints."""
    folder, names, found = tmp_path_factory.mktemp("session"), {}, []
    with contextlib.chdir(folder), plt.rc_context():
        for code, _ in BLOCKS:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(code, "python.md", "exec"), names)
            found.append(out.getvalue())
        plt.close("all")
    return folder, found


@pytest.mark.parametrize("place", range(len(BLOCKS)), ids=NAMES)
def test_the_example_prints_what_the_page_shows(printed, place):
    shown, out = BLOCKS[place][1], printed[1][place]
    assert NUMBER.sub("0", out).split() == NUMBER.sub("0", shown).split()
    # On another processor the last digit may be the next one.
    digits = [len(number.partition(".")[2]) for number in NUMBER.findall(shown)]
    pairs = zip(NUMBER.findall(out), NUMBER.findall(shown), digits, strict=True)
    assert all(abs(float(a) - float(b)) < 1.5 * 10**-n for a, b, n in pairs)


def test_the_figure_is_the_one_shown(printed):
    drawn = plt.imread(printed[0] / "monitor.png")
    shown = plt.imread(ROOT / "book" / "_static" / "python_figure.png")
    assert drawn.shape == shown.shape
    assert np.abs(drawn - shown).mean() < 0.01  # a figure of other relations: 0.02


def test_the_counts_of_statements_are_those_of_the_examples():
    told = re.findall(r"\[above\]\(#([\w-]+)\)[^|]*\| (\d+) \|", PAGE)
    parts = {part.split("\n")[0].lower().replace(" ", "-"): part for part in PAGE.split("\n## ")}
    assert [name for name, _ in told] == ["measure-one-model", "ask-a-single-question"]
    for name, count in told:
        code = re.findall(r"```python\n(.*?)```", parts[name], re.DOTALL)[-1]
        loads = "models.load" in code or "from helpers import" in code
        own = len(ast.parse(code).body) + (0 if loads else 2)  # the import and the loading
        assert own == int(count)


def test_the_first_example_is_short():
    assert len(BLOCKS[0][0].strip().splitlines()) < 10
