"""How the package is laid out: layers that import downwards only, and a core without machinery."""

import configparser
from pathlib import Path

import pytest
from importlinter import cli

from tests.program_calls import run_python

CONTRACT = ".importlinter"
MACHINERY = ("cli", "exchange", "runs")
# Imports every module of the core where the machinery cannot be had.
ALONE = """
import pkgutil, sys
machinery = {machinery}
sys.modules.update(dict.fromkeys([f"helpers.{{name}}" for name in machinery]))  # None: not found
import helpers
for name in [part.name for part in pkgutil.iter_modules(helpers.__path__)]:
    if name in machinery or name == "__main__":
        continue
    package = __import__(f"helpers.{{name}}", fromlist=["_"])
    for part in pkgutil.walk_packages(getattr(package, "__path__", []), f"helpers.{{name}}."):
        __import__(part.name)
        print(part.name)
"""


def lint(config: Path) -> int:
    """Return the exit status of import-linter under a configuration."""
    return cli.lint_imports(config_filename=str(config), no_cache=True, no_logo=True)


@pytest.fixture(autouse=True)
def _at_the_top(root, monkeypatch):
    monkeypatch.chdir(root)
    # It would silence the loggers of ours that other tests listen to.
    monkeypatch.setattr("logging.config.dictConfig", lambda settings: None)


def test_packages_import_only_from_those_below_them(root):
    assert lint(root / CONTRACT) == cli.EXIT_STATUS_SUCCESS


def test_the_contract_can_be_broken(root, tmp_path):
    config = configparser.ConfigParser()
    config.read(root / CONTRACT)
    layers = config["importlinter:contract:layers"]
    layers["layers"] = "\n".join(reversed(layers["layers"].split("\n")))
    with (tmp_path / CONTRACT).open("w") as file:
        config.write(file)
    assert lint(tmp_path / CONTRACT) == cli.EXIT_STATUS_ERROR


@pytest.mark.slow
def test_the_core_works_without_the_machinery(root):
    done = run_python("-c", ALONE.format(machinery=MACHINERY), cwd=root)
    imported = set(done.stdout.split())
    modules = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for path in (root / "helpers").rglob("*.py")
        if path.relative_to(root).parts[1]
        not in (*MACHINERY, "__init__.py", "__main__.py")
    }
    packages = {name for name in modules if name.count(".") == 1}
    assert imported == modules - packages
