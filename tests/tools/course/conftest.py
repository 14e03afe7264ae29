"""A chapter that is made up, to be broken in each test as it needs."""

from pathlib import Path

import pytest
from nbformat import write
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

HIDDEN_TESTS_CODE = """import math


def ex_code_1(random):
    return [int(random.integers(9))]


def ex_code_2(random):
    return [math.pi]
"""
SOUND_EXERCISES = Path(__file__).with_name("sound.md").read_text(encoding="utf-8")


@pytest.fixture
def chapter(tmp_path):

    def make(text: str = SOUND_EXERCISES, *, install: bool = False) -> Path:
        cells = [
            new_markdown_cell("(made-up)=\n# Is it so?\n\nA question.", id="title")
        ]
        if install:
            tags = {"tags": ["install", "remove-cell"]}
            cells.append(
                new_code_cell("%pip install something", id="colab", metadata=tags)
            )
        path = tmp_path / "made_up.ipynb"
        (tmp_path / "hidden").mkdir(exist_ok=True)
        (tmp_path / "hidden" / "made_up.py").write_text(HIDDEN_TESTS_CODE)
        write(new_notebook(cells=[*cells, new_markdown_cell(text, id="last")]), path)
        return path

    return make


@pytest.fixture
def sound() -> str:
    """Return the text of exercises that keep every promise."""
    return SOUND_EXERCISES
