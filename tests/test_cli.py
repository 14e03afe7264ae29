"""Tests of the command line: help that fits a screen, and what commands are given."""

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from helpers import cli, datasets, runs, studies
from tests import saved_runs
from tests.program_calls import run_python


def test_help_needs_no_library(root):
    loaded = "import sys, helpers.cli as c; c.argument_parser().format_help(); "
    loaded += "print(sorted({name.partition('.')[0] for name in sys.modules} & set(sys.argv)))"
    heavy = ["torch", "pandas", "numpy", "papermill", "transformers"]
    assert run_python("-c", loaded, *heavy, cwd=root).stdout == "[]\n"


@pytest.fixture
def measured(monkeypatch):
    """Let every study take no time; return what it was asked for."""
    seen = []

    def measure(model, names, given, folder):
        seen.append((model, names, given, folder))
        rows = [("all", 0.5, 12), ("P17", 0.25, 4)]
        columns = {
            "relation": [row[0] for row in rows],
            "measure": "base",
            "low": 0.125,
        }
        columns |= {
            "estimate": [row[1] for row in rows],
            "high": 1.0,
            "n": [r[2] for r in rows],
        }
        for name in names:
            yield name, Path(folder) / "org--x" / name, pd.DataFrame(columns)

    declared = {
        "monitor": {"n_facts": 100, "match": "exact_match"},
        "other": {"n_items": 9},
    }
    stand_in = SimpleNamespace(
        measure_model=measure,
        default_run_settings=declared.__getitem__,
        MEASURED_FOLDER=Path("runs/measured"),
    )
    about = studies.mean_measure("base", "accuracy", meaning="facts that are right")
    known = dict.fromkeys(declared, SimpleNamespace(MEASURES=[about]))
    monkeypatch.setattr(runs, "measuring", stand_in, raising=False)
    monkeypatch.setattr(studies, "STUDIES", known)
    return seen


def test_measure_prints_a_table_with_intervals_and_where_the_run_is(measured, capsys):
    words = ["measure", "org/x", "monitor", "--runs", "here", "--set", "n_facts=5"]
    assert cli.main(words) == 0
    assert measured == [("org/x", ["monitor"], {"n_facts": 5}, Path("here"))]
    assert capsys.readouterr().out.splitlines() == [
        "monitor, with intervals of 95 %",
        "measure    title estimate   low  high  n",
        "   base accuracy    0.500 0.125 1.000 12",
        "base: facts that are right.",
        "The run is in here/org--x/monitor.",
    ]


def test_measure_takes_all_studies_and_the_settings_of_any(measured, capsys):
    assert cli.main(["measure", "org/x", "--set", "n_items=7"]) == 0
    assert measured == [
        ("org/x", ["monitor", "other"], {"n_items": 7}, Path("runs/measured"))
    ]
    assert cli.main(["measure", "org/x", "--set", "n_item=7"]) == 2
    told = capsys.readouterr().err
    assert told.startswith(
        "error: The studies have no parameter 'n_item': did you mean n_items?"
    )
    assert len(measured) == 1


def test_measure_takes_a_table_with_its_questions(measured, tmp_path, capsys):
    file = tmp_path / "cities.csv"
    file.write_text("subject,object\nLyon,France\nTurin,Italy\n")
    words = ["measure", "x", "--runs", str(tmp_path), "--set", f"dataset={file}"]
    question = ["--questions", "Where is [X]?"]
    studies.STUDIES.pop("other")
    measuring_settings = runs.measuring.default_run_settings("monitor")
    measuring_settings["dataset"] = "atlas"
    assert cli.main([*words, *question]) == 0
    _, _, given, _ = measured[0]
    facts = datasets.load(given["dataset"])
    assert facts["subject"].tolist() == ["Lyon", "Turin"]
    assert cli.main(["measure", "x", *question]) == 2
    assert "as in --set dataset=facts.csv" in capsys.readouterr().err


def test_no_command_lists_the_commands(capsys):
    assert cli.main([]) == 0
    told = capsys.readouterr().out
    assert all(f"    {command} " in told for command in cli.COMMANDS)


def test_runs_are_described_packed_and_verified(tmp_path, capsys):
    saved_runs.write_made_up_runs(
        tmp_path / "runs", "small", 0.6, ("monitor",), n_bootstrap=50
    )
    out = ["--folder", str(tmp_path / "out")]
    assert cli.main(["card", str(tmp_path / "runs" / "small"), *out]) == 0
    assert cli.main(["pack", str(tmp_path / "runs" / "small"), *out]) == 0
    told = [Path(line).name for line in capsys.readouterr().out.splitlines()]
    assert told == ["small.md", "small.html", "small.zip"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(told)
    assert cli.main(["verify", str(tmp_path / "out" / "small.zip")]) == 0
    line = "small.zip, small, monitor: 4 measures hold, from 96 answers\n"
    assert capsys.readouterr().out == line
    (tmp_path / "bad.zip").write_text(
        "no zip"
    )  # all are looked at, and all reasons told
    files = [str(tmp_path / name) for name in ("bad.zip", "out/small.zip", "none.zip")]
    assert cli.main(["verify", *files]) == 2
    told = capsys.readouterr()
    assert told.out == line
    assert told.err.startswith("error: bad.zip is refused: it is no whole zip archive")
    assert "none.zip is refused: There is no file" in told.err
    assert told.err.count("\n") == 1


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
def test_output_that_cannot_be_written_is_told_in_a_sentence(monkeypatch, capsys):
    commands = {"say": (lambda args: print("said"), "")}
    parser = cli.argument_parser(commands=commands)
    with FULL.open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        status = cli.run_command(parser, commands, ["say"])
    assert status == 2
    assert capsys.readouterr().err.startswith("error: The output cannot be written (No")


def test_a_closed_output_is_no_error(monkeypatch):
    commands = {"say": (lambda args: print("said"), "")}
    monkeypatch.setattr("sys.stdout", None)
    assert (
        cli.run_command(cli.argument_parser(commands=commands), commands, ["say"]) == 0
    )


def test_python_without_docstrings_is_refused_in_a_sentence(root):
    done = run_python("-OO", "-m", "helpers", "devices", cwd=root, code=2)
    assert done.stderr.startswith("error: python -OO takes away")
