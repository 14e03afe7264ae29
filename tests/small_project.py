"""A copy of the project with one chapter that runs in seconds, for tests of whole commands."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from tests import program_calls as programs

ROOT = Path(__file__).resolve().parent.parent
PARAMETERS_CELL = """model = "a"  # a folder
n_facts = 3  # facts a relation
pause = 0.0  # seconds before it saves
run_dir = ""  # where the run's files go"""
START_CELL = """import time
from pathlib import Path
import pandas as pd
from helpers import runs
from helpers import UserError
run = runs.start("monitor", dict(model=model, n_facts=n_facts, pause=pause), run_dir)"""
ASK_CELL = """if (Path(model) / "broken").exists():
    raise UserError(f"{model} is broken: remove the file broken.")
time.sleep(pause)
table = pd.DataFrame({"n": range(n_facts), "prompt": "Which country is Lyon in?"})
table = table.assign(item=[f"fact {n}" for n in table["n"]], continuation=" France")
table = table.assign(variant="base", option=0, logprobs=0.0, tokens="", read="")"""
SAVE_CELL = """about = {"model": {"name": model}, "dataset": {"name": "none"}}
folder = runs.save(run, answers=table, metrics=table, **about)"""


def copy_small_project(
    top: Path, *models: str, chapters: Iterable[str] = ("monitor",)
) -> Path:
    """Copy the project to `top`, with stand-ins for chapters, and models of one file each."""
    hidden = shutil.ignore_patterns(
        "__pycache__", "weights", "_build", "chapters", "*.md", "atlas"
    )
    for name in ("helpers", "book"):
        shutil.copytree(ROOT / name, top / name, ignore=hidden)
    shutil.copytree(ROOT / "notebooks" / "profiles", top / "notebooks" / "profiles")
    shutil.copy(ROOT / "notebooks" / "Snakefile", top / "notebooks")
    shutil.copytree(
        ROOT / "notebooks" / "kit", top / "notebooks" / "kit", ignore=hidden
    )
    (top / "notebooks" / "analysis").mkdir()
    least = Path("notebooks", "analysis", "parameters.toml")
    shutil.copy(ROOT / least, top / least)
    for name in ("_config.yml", "Makefile", "requirements.txt", "constraints.txt"):
        shutil.copy(ROOT / name, top)
    for chapter in chapters:
        _write_chapter(top / "notebooks" / f"{chapter}.ipynb")
    contents = "".join(f"  - file: chapters/{chapter}\n" for chapter in chapters)
    (top / "book" / "_toc.yml").write_text(f"chapters:\n{contents}")
    for model in models:
        (top / model).mkdir()
        (top / model / "config.json").write_text("{}")
    return top


def _write_chapter(path: Path) -> None:
    cells = [new_code_cell(PARAMETERS_CELL, metadata={"tags": ["parameters"]})]
    start = START_CELL.replace("monitor", path.stem)
    cells += map(new_code_cell, (start, ASK_CELL, SAVE_CELL))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)


def page_commands(page: Path) -> list[str]:
    """Return the commands that a page shows, one for each block."""
    return re.findall(
        r"^```bash\n(.*?)\n```$", page.read_text(), flags=re.MULTILINE | re.DOTALL
    )


def run_make_line(top: Path, line: str, **more: str) -> subprocess.CompletedProcess:
    """Type a make command into the copy; this environment takes the place of .venv as it is."""
    words = line.replace("make", f'make -o install VENV="{sys.prefix}"', 1)
    variables = copy_environment() | more
    return programs.run_program(
        "sh", "-c", words, code=None, cwd=top, env=variables, timeout=1500
    )


def book_tools_command(*words: str) -> list[str]:
    return [sys.executable, "-m", "book.tools", *words]


def copy_environment() -> dict[str, str]:
    """Return the environment in which commands of a copy find the copy's own helpers.

    The ``make`` that runs these tests must not speak to the one that they start.
    """
    told = {"PYTHONPATH", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS", "ARGS"}
    kept = {name: value for name, value in os.environ.items() if name not in told}
    return {**kept, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}


def run_book_tools(top: Path, *words: str) -> subprocess.CompletedProcess:
    asked = dict(code=None, cwd=top, env=copy_environment(), timeout=1500)
    return programs.run_program(*book_tools_command(*words), **asked)
