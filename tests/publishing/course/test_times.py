"""Tests of measuring what chapters take."""

import json

import pandas as pd
import pytest

from helpers import UserError
from helpers.publishing import chapters, commands
from helpers.publishing.course import times


@pytest.fixture
def runs_of(monkeypatch):
    """Let runs take no time; return the folders that they were given."""
    folders = []

    def run(chapter, model, words=(), runs=None):
        folders.append(runs)
        folder = runs / model / chapter
        folder.mkdir(parents=True)
        manifest = {"peak_memory_mib": {"cpu": 1000.0}, "device": "cpu (x, 2 cores)"}
        (folder / "run.json").write_text(json.dumps(manifest))
        return folder

    monkeypatch.setattr(chapters, "run", run)
    return folders


def test_every_chapter_is_run_from_nothing(runs_of, tmp_path):
    table = tmp_path / "times.csv"
    assert commands.main(["times", "monitor", "atlas", "--model", "m", "--table", str(table)]) == 0
    assert len(set(runs_of)) == 2
    assert not any(folder.exists() for folder in runs_of)
    found = pd.read_csv(table)
    assert found["notebook"].tolist() == ["atlas", "monitor"]
    assert found["model"].tolist() == ["m", "m"]
    assert found["GB of memory"].tolist() == [1.0, 1.0]  # 1000 MiB are 1.05 GB
    assert found["machine"].unique().tolist() == ["cpu (x, 2 cores)"]


def test_another_model_adds_rows_and_the_same_replaces_them(runs_of, tmp_path):
    table = tmp_path / "times.csv"
    for model in ("m", "m", "other"):
        assert commands.main(["times", "monitor", "--model", model, "--table", str(table)]) == 0
    assert pd.read_csv(table)["model"].tolist() == ["m", "other"]


def test_a_chapter_that_asks_no_model_is_not_measured():
    assert {"atlas", "monitor"} <= set(times.timed())


def test_a_chapter_that_stops_ends_in_a_sentence(monkeypatch, tmp_path, capsys):
    def stop(*words, **named):
        raise UserError("The chapter monitor stopped.")

    monkeypatch.setattr(chapters, "run", stop)
    assert commands.main(["times", "monitor", "--table", str(tmp_path / "times.csv")]) == 2
    assert capsys.readouterr().err == "error: The chapter monitor stopped.\n"
    assert not (tmp_path / "times.csv").exists()
