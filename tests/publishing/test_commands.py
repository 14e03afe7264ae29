"""Tests of helpers.publishing.commands: help that fits a screen, and what commands are given."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers import UserError, runs
from helpers.publishing import chapters, commands

SCREEN = 24


@pytest.mark.parametrize("name", ["", *commands.COMMANDS])
def test_help_fits_a_screen(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        commands.main([*name.split(), "--help"])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= 80


def test_help_needs_no_library(root):
    loaded = "import sys, helpers.publishing.commands as c; c.parser().format_help(); "
    loaded += "print(sorted({name.partition('.')[0] for name in sys.modules} & set(sys.argv)))"
    heavy = ["torch", "pandas", "numpy", "papermill", "transformers"]
    done = subprocess.run(
        [sys.executable, "-c", loaded, *heavy], cwd=root, capture_output=True, text=True
    )
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize(
    ("raised", "status", "sentence"),
    [
        (UserError("Say it so."), 2, "error: Say it so.\n"),
        (KeyboardInterrupt(), 130, "error: Interrupted: the same command goes on where this stop"),
    ],
)
def test_what_stops_a_command_is_one_sentence(raised, status, sentence, monkeypatch, capsys):
    def stop(*given, **named):
        raise raised

    monkeypatch.setattr(chapters, "run", stop)
    assert commands.main(["run", "monitor"]) == status
    told = capsys.readouterr()
    assert told.err.startswith(sentence)
    assert told.err.count("\n") == 1
    assert told.out == ""


def test_measure_passes_on_what_it_is_given_and_prints_what_comes_back(monkeypatch, capsys):
    seen = []

    def measure(*given):
        seen.append(given)
        return iter(["one", "two"])

    stand_in = SimpleNamespace(measure=measure)
    monkeypatch.setitem(sys.modules, "helpers.runs.measuring", stand_in)
    monkeypatch.setattr(runs, "measuring", stand_in, raising=False)
    words = ["measure", "org/x", "monitor", "--runs", "here", "--set", "n_facts=5"]
    assert commands.main(words) == 0
    assert seen == [("org/x", ["monitor"], ["n_facts=5"], Path("here"))]
    assert capsys.readouterr().out == "one\ntwo\n"
