"""A copy of the project with one chapter that runs in seconds, for tests of whole commands."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).resolve().parent.parent
PARAMETERS = """model = "a"  # a folder
n_facts = 3  # facts a relation
pause = 0.0  # seconds before it saves
run_dir = ""  # where the run's files go"""
START = """import time
from pathlib import Path
import pandas as pd
from helpers import runs
from helpers.errors import UserError
run = runs.start("monitor", dict(model=model, n_facts=n_facts, pause=pause), run_dir)"""
ASK = """if (Path(model) / "broken").exists():
    raise UserError(f"{model} is broken: remove the file broken.")
time.sleep(pause)
table = pd.DataFrame({"n": range(n_facts)})"""
SAVE = """about = {"model": {"name": model}, "dataset": {"name": "none"}}
folder = runs.save(run, answers=table, metrics=table, **about)"""


def make(top: Path, *models: str) -> Path:
    """Copy the project to `top`, with one chapter and models that are folders with one file."""
    hidden = shutil.ignore_patterns("__pycache__", "weights", "_build", "chapters", "*.md", "atlas")
    for name in ("helpers", "book"):
        shutil.copytree(ROOT / name, top / name, ignore=hidden)
    cells = [new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]})]
    cells += map(new_code_cell, (START, ASK, SAVE))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    (top / "notebooks").mkdir()
    notebook = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, top / "notebooks" / "monitor.ipynb")
    shutil.copytree(ROOT / "notebooks" / "profiles", top / "notebooks" / "profiles")
    shutil.copy(ROOT / "notebooks" / "Snakefile", top / "notebooks")
    shutil.copy(ROOT / "_config.yml", top)
    (top / "book" / "_toc.yml").write_text("chapters:\n  - file: chapters/monitor\n")
    for model in models:
        (top / model).mkdir()
        (top / model / "config.json").write_text("{}")
    return top


def command(*words: str) -> list[str]:
    """Return the call of a command of the project."""
    return [sys.executable, "-m", "helpers.chapters", *words]


def environment() -> dict[str, str]:
    """Return the environment in which commands of a copy find the copy's own helpers."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**kept, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


def call(top: Path, *words: str) -> subprocess.CompletedProcess:
    """Run a command of the copy."""
    done = subprocess.run(
        command(*words), cwd=top, env=environment(), capture_output=True, text=True, timeout=400
    )
    print(done.stdout, done.stderr)
    return done
