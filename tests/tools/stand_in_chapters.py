"""Chapters that stand in for real ones and run in seconds."""

from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

PARAMETERS_CELL = """model = "atlas-s"  # bundled name, folder or hub id
n_facts = 3  # facts a relation
attribution = True
fail = ""  # how to fail
run_dir = ""  # where the run's files go"""
RUN_CELL = """import os, sys
import pandas as pd
from helpers import runs
from helpers import UserError
run = runs.start("monitor", {"model": model, "n_facts": n_facts}, run_dir)
table = pd.DataFrame({"n": range(n_facts), "folder": os.getcwd()})
print("said aloud")
print("progress 1/1", file=sys.stderr)"""
FAILING_CELL = """# a comment first
if fail == "user": raise UserError("The relation P99 is not there: choose P17.")
if fail == "bug": [][1]
if fail == "death": os._exit(9)"""
SAVE_CELL = """kind = {"name": model}
if fail != "silence":
    runs.save(run, answers=table, metrics=table, model=kind, dataset={"name": "none"})"""

KERNEL_METADATA = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
}


def write_stand_in_template(folder: Path) -> Path:
    """Write the stand-in as folder/monitor.ipynb and return the folder."""
    cells = [
        new_markdown_cell("# A chapter"),
        new_code_cell(PARAMETERS_CELL, metadata={"tags": ["parameters"]}),
        *map(new_code_cell, (RUN_CELL, FAILING_CELL, SAVE_CELL)),
        new_markdown_cell("## Summary"),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(
        new_notebook(cells=cells, metadata=KERNEL_METADATA), folder / "monitor.ipynb"
    )
    return folder


SYNTHESIS_CELL = """from helpers import runs
import pandas as pd
run = runs.start("summary", {"seed": seed}, run_dir)
read = runs.load(runs_dir)
runs.save(run, metrics=read[["model", "chapter"]], read=read)"""


def write_synthesis_template(folder: Path) -> None:
    """Write a chapter that reads the runs of others as folder/summary.ipynb."""
    declared = (
        'runs_dir = ""  # all runs\nseed = 0  # none\nrun_dir = ""  # of this one'
    )
    cells = [
        new_markdown_cell("# A summary"),
        new_code_cell(declared, metadata={"tags": ["parameters"]}),
        new_code_cell(SYNTHESIS_CELL),
        new_markdown_cell("## Its end"),
    ]
    nbformat.write(
        new_notebook(cells=cells, metadata=KERNEL_METADATA), folder / "summary.ipynb"
    )
