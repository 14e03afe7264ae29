"""Tests of helpers.publishing.opening: the cell that installs the package where it is missing."""

import importlib.util
import json
import subprocess
import sys

import pytest

from helpers.publishing import opening

CONFIG = "repository:\n  url: https://example.org/somebody/book\n"
PACKAGE = "what-language-models-know[book] @ git+https://example.org/somebody/book"
NOTEBOOK = {
    "nbformat": 4,
    "nbformat_minor": 5,
    "metadata": {},
    "cells": [
        {"id": "title", "cell_type": "markdown", "metadata": {}, "source": "# Größe"},
        {"id": "end", "cell_type": "markdown", "metadata": {}, "source": ["One\n", "two"]},
    ],
}


@pytest.fixture
def first(tmp_path):
    """Return the cell for a repository of somebody's own."""
    config = tmp_path / "_config.yml"
    config.write_text(CONFIG)
    return opening.cell(config)


@pytest.fixture
def template(tmp_path):
    """Return a template without the cell."""
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(NOTEBOOK, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def test_it_names_the_repository_of_the_settings(first):
    assert f'package = "{PACKAGE}"\n' in "".join(first["source"])


def test_it_stands_behind_the_title_and_all_else_stays(template, first):
    before = template.read_text(encoding="utf-8")
    assert opening.put(template, first)
    after = template.read_text(encoding="utf-8")
    assert [cell["id"] for cell in json.loads(after)["cells"]] == ["title", "install", "end"]
    start = after.index('  {\n   "cell_type": "code"')
    end = after.index('  {\n   "id": "end"')
    assert after[:start] + after[end:] == before


def test_an_old_one_is_replaced_and_a_good_one_left(template, first):
    old = first | {"source": ["import old"]}
    assert opening.put(template, old)
    assert opening.put(template, first)
    assert "import old" not in template.read_text(encoding="utf-8")
    assert not opening.put(template, first)


@pytest.mark.parametrize("found", [True, False])
def test_it_installs_only_where_the_package_is_not_at_hand(first, found, monkeypatch):
    asked = []
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if found else None)
    monkeypatch.setattr(subprocess, "run", lambda command, check: asked.append(command))
    exec("".join(first["source"]), {})
    wanted = [sys.executable, "-m", "pip", "install", "-q"]
    assert asked == ([] if found else [[*wanted, PACKAGE]])
