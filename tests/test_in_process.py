"""Notebooks executed in the tests' process show what they show from a kernel."""

import nbformat
import papermill
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from papermill.exceptions import PapermillExecutionError

from tests.chapters import in_process

CELLS = (
    "n = 1  # a parameter",
    "import sys, warnings\nprint('said', n); print('aside', file=sys.stderr)",
    "warnings.warn('mind this')",
    "import pandas as pd\nfrom IPython.display import HTML, display\n"
    "shown = display(HTML('<p>soon</p>'), display_id=True)",
    "pd.DataFrame({'a': [n]})",
    "import matplotlib.pyplot as plt\nplt.plot([1, n]);",
    "shown.update(HTML('<p>done</p>'))",
    "print('before'); [][n]",
    "print('never')",
)


def executed(folder) -> list[dict]:
    """Execute the cells; return of each cell what it left, by kinds."""
    cells = [new_code_cell(source) for source in CELLS]
    cells[0].metadata["tags"] = ["parameters"]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / "in.ipynb")
    with pytest.raises(PapermillExecutionError, match="list index out of range") as raised:
        papermill.execute_notebook(
            folder / "in.ipynb", folder / "out.ipynb", {"n": 7}, progress_bar=False
        )
    assert (raised.value.ename, raised.value.source) == ("IndexError", CELLS[-2])
    found = []
    for cell in nbformat.read(folder / "out.ipynb", 4).cells:
        left = {"exception": cell.metadata.get("papermill", {}).get("exception")}
        for output in cell.get("outputs", []):
            text = output.get("text", "")
            left[output.get("name", "shown")] = text.partition(": ")[2] or text
            data = output.get("data", {})
            left |= {kind: data[kind] for kind in data if kind == "text/html"}
            left["drawn"] = "image/png" in data or left.get("drawn", False)
        found.append(left)
    return found


def test_a_notebook_leaves_what_it_leaves_with_a_kernel(tmp_path):
    usual = executed(tmp_path)
    with in_process.instead_of_kernels():
        assert executed(tmp_path) == usual
    assert sum(left.get("drawn", False) for left in usual) == 1
    assert any(left.get("text/html") == "<p>done</p>" for left in usual)
    assert any("mind this" in left.get("stderr", "") for left in usual)
