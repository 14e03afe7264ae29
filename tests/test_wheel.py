"""The package as pip installs it: whole, and enough for a chapter opened far from the project."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path

import nbformat
import papermill
import pytest

from helpers import runs

INGREDIENTS = ("pyproject.toml", "requirements.txt", "README.md", "LICENSE")
LIMIT = 100 * 2**20  # what PyPI takes
SMALL = {"model": "atlas-xs", "n_facts": 2, "relations": ["P36", "P30"]}
SMALL |= {"attribution": False, "n_bootstrap": 20, "n_panel": 4}


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory) -> Path:
    """Return a wheel, built without a network from a copy of what it is made of."""
    if find_spec("setuptools") is None:
        pytest.skip("setuptools, which builds the wheel, is not installed")
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in INGREDIENTS:
        shutil.copy(root / name, source)
    shutil.copytree(
        root / "helpers", source / "helpers", ignore=shutil.ignore_patterns("__pycache__")
    )
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    command += ["--quiet", "--wheel-dir", target, source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(target.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """Return the folder into which the wheel is unpacked; nothing else of ours is in it."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture
def elsewhere(installed, tmp_path, monkeypatch) -> Path:
    """Return an empty folder to work in, where the installed package is found and no other."""
    paths = [part for part in os.environ["PYTHONPATH"].split(os.pathsep) if "offline" in part]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(installed), *paths]))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_holds_every_file_of_the_package(root, installed):
    wanted = {
        path.relative_to(root)
        for path in (root / "helpers").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    found = {path.relative_to(installed) for path in (installed / "helpers").rglob("*")}
    assert not wanted - found
    assert {path for path in found - wanted if (installed / path).is_file()} == set()
    assert {path.name for path in installed.iterdir()} == {
        "helpers",
        f"what_language_models_know-{_version(root)}.dist-info",
    }


def test_it_is_no_larger_than_an_index_takes(wheel):
    assert wheel.stat().st_size < LIMIT


def test_it_asks_for_the_pinned_packages(root, installed):
    told = next(installed.glob("*.dist-info/METADATA")).read_text(encoding="utf-8")
    asked = {line.removeprefix("Requires-Dist: ") for line in told.splitlines() if "Dist: " in line}
    lines = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert asked == {line.partition("#")[0].strip() for line in lines} - {""}
    assert "License-Expression: MIT AND CC-BY-4.0" in told


def test_a_chapter_opened_elsewhere_runs_from_its_first_cell(root, elsewhere, installed):
    template = shutil.copy(root / "notebooks" / "monitor.ipynb", elsewhere)
    papermill.execute_notebook(
        template, "done.ipynb", SMALL, kernel_name="python3", cwd=elsewhere, progress_bar=False
    )
    folder = elsewhere / "runs" / "atlas-xs" / "monitor"
    assert runs.metrics(folder).query("level == 'run'")["estimate"].between(0, 1).any()
    assert json.loads((folder / "run.json").read_text())["commit"] is None
    cells = nbformat.read("done.ipynb", as_version=4).cells
    assert all(cell.execution_count for cell in cells if cell.cell_type == "code" and cell.source)
    assert not list(installed.rglob("run.json")), "nothing is written where the package lies"


def test_what_is_run_elsewhere_is_the_installed_package(elsewhere, installed):
    code = "import helpers, helpers.runs as r; print(helpers.__file__); print(r.RUNS)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        str(installed / "helpers" / "__init__.py"),
        str(elsewhere / "runs"),
    ]


@pytest.mark.parametrize("chapter", ["atlas", "monitor"])
def test_the_command_runs_the_templates_of_the_folder_one_is_in(root, elsewhere, chapter):
    command = [sys.executable, "-m", "helpers", "run", chapter, "--model", "atlas-xs"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.strip() == f"error: There is no chapter '{chapter}': choose from none."


def _version(root: Path) -> str:
    with (root / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]["version"]


def test_citation_and_package_have_one_version(root):
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {_version(root)}\n" in citation
    assert f"\n## {_version(root)}" in (root / ".github" / "CHANGELOG.md").read_text()
