"""Tests of helpers.publishing.timing: what a build took, from the manifests of its runs."""

import json

import pandas as pd
import pytest

from helpers.publishing import timing


def note(folder, model, chapter, seconds):
    """Leave a manifest with a time."""
    path = folder / model / chapter / "run.json"
    path.parent.mkdir(parents=True)
    told = {"seconds": seconds, "peak_memory_mib": {"cpu": 10 * seconds}, "device": "cpu (x)"}
    path.write_text(json.dumps(told))


def test_seconds_of_the_books_model_stand_apart(tmp_path):
    note(tmp_path, "atlas-m", "monitor", 30)
    note(tmp_path, "atlas-s", "monitor", 8)
    note(tmp_path, "atlas-xs", "monitor", 4)
    table = timing.seconds(tmp_path, ["monitor", "multiplicity"], "atlas-m")
    assert table.loc["monitor", ["shown", "others", "models", "memory"]].tolist() == [
        30,
        12,
        2,
        300,
    ]
    assert pd.isna(table.loc["multiplicity", "shown"])


def test_the_page_adds_up_and_leaves_room_for_the_rendering(tmp_path, monkeypatch):
    kinds = {"monitor": "measure", "comparison": "synthesis"}
    monkeypatch.setattr(timing.jobs, "kind", kinds.get)
    note(tmp_path, "m", "monitor", 60)
    note(tmp_path, "n", "monitor", 20)
    note(tmp_path, "synthesis", "comparison", 10)
    page = timing.page(tmp_path, ["monitor", "comparison"], "m")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert rows[2].split("|")[2:4] == [" 60 ", " 20 (1) "]
    assert rows[3].split("|")[1:4] == [" {doc}`chapters/comparison` ", " 10 ", " – "]
    assert rows[4].split("|")[1:4] == [" all ", " 70 ", " 20 "]
    assert timing.RENDERING in rows[5]
    assert "1.5 minutes" in page
    assert "cpu (x)" in page


@pytest.mark.parametrize("chapters", [[], ["monitor"]])
def test_without_runs_there_is_still_a_page(tmp_path, chapters):
    assert "rendering" in timing.page(tmp_path, chapters, "m")
