"""The package as pip installs it: whole, and enough for a chapter opened far from the project."""

import json
import os
import shutil
import subprocess
import tomllib
import zipfile
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from helpers import runs
from tests.program_calls import run_python

pytestmark = pytest.mark.slow

LIMIT = 100 * 2**20  # what PyPI takes
ROOT = Path(__file__).resolve().parent.parent
SCRIPT = """
from helpers import models
from notebooks.kit.plots import result_tables, shared_figures
from helpers.studies import monitor

lm = models.load("atlas-xs")
facts = monitor.facts(monitor.ask(lm, relations=["P36"], n_facts=3))
summary = monitor.summary(facts).query("relation == 'all'")
shared_figures.dot_plot(summary, "relation").figure.savefig("dots.png")
result_tables.export_table(summary, "t", "tables")
print(list(summary["measure"]))
"""
LIGHT = """
import runpy, sys

class Without:  # a finder that does not find some modules
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, *more):
        if name.partition(".")[0] not in {absent}:
            return self.finder.find_spec(name, *more)
    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Without, sys.meta_path)
if sys.argv[1:]:
    sys.argv[0] = "helpers"

{call}
"""
SMALL = {"model": "atlas-xs", "n_facts": 2, "relations": ["P36", "P30"]}
SMALL |= {"attribution": False, "n_bootstrap": 20, "n_panel": 4}


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory) -> Path:
    """Return a wheel, built without a network from a copy of what it is made of."""
    if find_spec("setuptools") is None:
        pytest.skip("setuptools, which builds the wheel, is not installed")
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, source)
    for name in ("helpers", "notebooks"):
        shutil.copytree(
            root / name, source / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    words = (
        "--no-deps",
        "--no-build-isolation",
        "--quiet",
        "--wheel-dir",
        target,
        source,
    )
    run_python("-m", "pip", "wheel", *words)
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
    paths = [
        part for part in os.environ["PYTHONPATH"].split(os.pathsep) if "offline" in part
    ]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(installed), *paths]))
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_holds_every_file_of_the_package_and_an_index_takes_it(
    root, installed, wheel
):
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
        "notebooks",
        f"what_language_models_know-{_project(root)['version']}.dist-info",
    }
    assert wheel.stat().st_size < LIMIT


def test_it_asks_for_what_scripts_need_and_offers_the_rest(installed, root):
    told = next(installed.glob("*.dist-info/METADATA")).read_text(encoding="utf-8")
    asked = {
        line.removeprefix("Requires-Dist: ")
        for line in told.splitlines()
        if "Dist: " in line
    }
    extras = {each for each in asked if "extra ==" in each}
    project = _project(root)
    assert {str(Requirement(each)) for each in asked - extras} == {
        str(Requirement(each)) for each in project["dependencies"]
    }
    assert len(extras) == sum(map(len, project["optional-dependencies"].values()))
    assert "License-Expression: MIT AND CC-BY-4.0" in told


def test_a_chapter_opened_elsewhere_runs_from_its_first_cell(
    root, elsewhere, installed
):
    template = shutil.copy(root / "notebooks" / "monitor.ipynb", elsewhere)
    papermill.execute_notebook(
        template,
        "done.ipynb",
        SMALL,
        kernel_name="python3",
        cwd=elsewhere,
        progress_bar=False,
    )
    said = run_python("-c", "import helpers; print(helpers.__file__)").stdout.strip()
    assert said == str(installed / "helpers" / "__init__.py")
    folder = elsewhere / "runs" / "atlas-xs" / "monitor"
    assert (
        runs.load_metrics(folder)
        .query("level == 'run'")["estimate"]
        .between(0, 1)
        .any()
    )
    assert json.loads((folder / "run.json").read_text())["commit"] is None
    cells = nbformat.read("done.ipynb", as_version=4).cells
    assert all(
        cell.execution_count
        for cell in cells
        if cell.cell_type == "code" and cell.source
    )
    assert not list(installed.rglob("run.json")), (
        "nothing is written where the package lies"
    )


def test_a_script_and_measure_need_none_of_the_books_packages(elsewhere):
    (elsewhere / "script.py").write_text(SCRIPT)
    done = light(elsewhere, "runpy.run_path('script.py')")
    assert done.stdout.split() == [
        "['MONITOR',",
        "'coverage',",
        "'base',",
        "'average']",
    ]
    assert (elsewhere / "tables" / "t.tex").is_file()
    words = ["measure", "atlas-xs", "monitor", "--set", "n_facts=2", "relations=P36"]
    done = light(elsewhere, "runpy.run_module('helpers', run_name='__main__')", *words)
    assert done.stdout.startswith("monitor, with intervals of 95 %")
    assert (
        elsewhere / "runs" / "measured" / "atlas-xs" / "monitor" / "run.json"
    ).is_file()


def light(folder: Path, call: str, *words: str) -> subprocess.CompletedProcess:
    """Run code where no package can be found but those that the library asks for."""
    code = LIGHT.format(absent=sorted(absent()), call=call)
    return run_python("-c", code, *words, cwd=folder)


def absent() -> set[str]:
    """Return the modules of all packages that are not the library's, nor theirs in turn."""
    kept, left = set(), [Requirement(each) for each in _project(ROOT)["dependencies"]]
    while left:
        each = left.pop()
        name = canonicalize_name(each.name)
        if name not in kept:
            kept.add(name)
            wanted = map(Requirement, metadata.requires(name) or [])
            extras = ["", *each.extras]
            left += [
                w
                for w in wanted
                if w.marker is None
                or any(w.marker.evaluate({"extra": e}) for e in extras)
            ]
    owners = metadata.packages_distributions()
    return {
        module
        for module, names in owners.items()
        if not kept & set(map(canonicalize_name, names))
    }


def _project(root: Path) -> dict[str, Any]:
    with (root / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]


def test_citation_and_package_have_one_version(root):
    version = _project(root)["version"]
    assert f"\nversion: {version}\n" in (root / "CITATION.cff").read_text(
        encoding="utf-8"
    )
    assert f"\n## {version}" in (root / ".github" / "CHANGELOG.md").read_text()
