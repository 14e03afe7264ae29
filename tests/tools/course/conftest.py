"""A chapter that is made up, to be broken in each test as it needs."""

from pathlib import Path

import pytest
from nbformat import write
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

CODE = """````{exercise} Add one, number NUMBER
:label: ex-code-NUMBER
*Difficulty 2 of 3, 10 minutes, code.* Write `more(x)`. It adds one to a {term}`number`.

```python
assert more(1) == 2
```
````

````{solution} ex-code-NUMBER
:class: dropdown
```python
import math


def half(x):
    return x / 2


def more(x):
    \"\"\"Add one.\"\"\"
    # not so simple
    return math.floor(half(2 * x)) + 1
```
One more is added.
````
"""
ARGUE = """````{exercise} Why?
:label: ex-why
*Difficulty 3 of 3, 15 minutes, to be argued.* Why is it so?
````

````{solution} ex-why
:class: dropdown
Because.
````
"""
BY_HAND = """:::{exercise} By hand
:label: ex-hand
*Difficulty 1 of 3, 5 minutes.* Two and two?
:::

:::{solution} ex-hand
Four.
:::
"""
HIDDEN = """import math


def ex_code_1(random):
    return [int(random.integers(9))]


def ex_code_2(random):
    return [math.pi]
"""
SOUND = "\n".join(
    ["## Exercises\n", BY_HAND, CODE.replace("NUMBER", "1"), CODE.replace("NUMBER", "2"), ARGUE]
)


@pytest.fixture
def chapter(tmp_path):
    """Return a function that writes a chapter with the text of its exercises, and its path."""

    def make(text: str = SOUND, *, install: bool = False) -> Path:
        cells = [new_markdown_cell("(made-up)=\n# Is it so?\n\nA question.", id="title")]
        if install:
            tags = {"tags": ["install", "remove-cell"]}
            cells.append(new_code_cell("%pip install something", id="colab", metadata=tags))
        path = tmp_path / "made_up.ipynb"
        (tmp_path / "hidden").mkdir(exist_ok=True)
        (tmp_path / "hidden" / "made_up.py").write_text(HIDDEN)
        write(new_notebook(cells=[*cells, new_markdown_cell(text, id="last")]), path)
        return path

    return make


@pytest.fixture
def sound() -> str:
    """Return the text of exercises that keep every promise."""
    return SOUND
