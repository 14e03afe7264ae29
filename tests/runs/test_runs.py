"""Tests of helpers.runs: folders, manifests, tables that are whole or absent."""

import hashlib
import json
import sys
import time

import numpy as np
import pandas as pd
import pytest

from helpers import UserError, runs

ANSWERS = pd.DataFrame(
    {"item": ["P17-0001"], "logprobs": [[-0.5, -1.25]], "tokens": [["A", "b"]]}
)
METRICS = pd.DataFrame({"item": ["P17-0001"], "monitor": [0.25]})
MODEL = {"name": "atlas-s", "revision": None, "weights_sha": "ab" * 32}
DATASET = {"name": "atlas", "checksum": "cd" * 32}


def finished(folder, chapter="monitor", model="atlas-s", **parameters):
    """Save a small run in folder/model/chapter."""
    parameters = {"model": model, "seed": 7, **parameters}
    run = runs.start(chapter, parameters, folder / model / chapter)
    given = {"model": {**MODEL, "name": model}, "dataset": DATASET}
    return runs.save(
        run, answers=ANSWERS, metrics=METRICS, **given, extra={"n_facts": 1}
    )


def manifest(folder):
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


def test_folders_default_to_the_project_and_share_a_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(runs.store, "RUNS_FOLDER", tmp_path)
    first = runs.start("monitor", {"model": "org/name"})
    second = runs.start("other", {"model": "org/name"})
    assert first.folder == tmp_path / "org--name" / "monitor"
    assert first.cache == second.cache == tmp_path / "org--name" / "cache"
    assert first.folder.is_dir()
    assert first.cache.is_dir()


def test_tables_come_back_as_they_went(tmp_path):
    folder = finished(tmp_path)
    back = runs.load_answers(folder)
    assert back.drop(columns=["logprobs", "tokens"]).equals(ANSWERS[["item"]])
    assert [list(value) for value in back["logprobs"]] == [[-0.5, -1.25]]
    assert [list(value) for value in back["tokens"]] == [["A", "b"]]
    pd.testing.assert_frame_equal(runs.load_metrics(folder), METRICS, check_dtype=False)


def test_the_manifest_tells_how_the_run_came_about(tmp_path):
    before = time.time()
    folder = finished(tmp_path, alphas=[0.5, 0.25, 0.25])
    told = manifest(folder)
    assert told["chapter"] == "monitor"
    assert told["parameters"] == {
        "model": "atlas-s",
        "seed": 7,
        "alphas": [0.5, 0.25, 0.25],
    }
    assert told["seed"] == 7
    assert told["model"] == MODEL
    assert told["dataset"] == DATASET
    assert told["n_facts"] == 1
    assert told["versions"]["pandas"] == pd.__version__
    assert told["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert {"torch", "transformers", "numpy"} <= set(told["versions"])
    assert 0 <= told["seconds"] <= time.time() - before + 1
    assert 20 < told["peak_memory_mib"]["cpu"] < 1e6
    finish = pd.Timestamp(told["finished"])
    assert abs(finish.timestamp() - time.time()) < 60
    assert told["device"]
    assert told["commit"] is None or len(told["commit"].removesuffix("+changes")) == 40


def test_seconds_count_from_the_start(tmp_path):
    run = runs.start("monitor", {"model": "m"}, tmp_path / "m" / "monitor")
    late = runs.Run(
        run.chapter, run.parameters, run.folder, run.cache, run.started - 100
    )
    runs.save(late, answers=ANSWERS, metrics=METRICS, model=MODEL, dataset=DATASET)
    assert 100 <= manifest(run.folder)["seconds"] < 130


def test_numpy_values_and_paths_enter_the_manifest(tmp_path):
    odd = {"n": np.int64(3), "x": np.float32(0.5), "a": np.array([1, 2]), "p": tmp_path}
    told = manifest(finished(tmp_path, **odd))["parameters"]
    assert (told["n"], told["x"], told["a"], told["p"]) == (
        3,
        0.5,
        [1, 2],
        str(tmp_path),
    )


def test_a_failed_write_leaves_the_old_file_and_no_half_one(tmp_path, monkeypatch):
    folder = finished(tmp_path)
    old = (folder / "answers.parquet").read_bytes()

    def full(table, path, **options):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", full)
    with pytest.raises(
        UserError, match=r"answers\.parquet cannot be written \(No space left"
    ):
        finished(tmp_path)
    assert (folder / "answers.parquet").read_bytes() == old
    names = {"answers.parquet", "metrics.parquet", "run.json"}
    assert {path.name for path in folder.iterdir()} == names


def test_load_lists_runs_by_time_and_warns_of_broken_ones(tmp_path):
    finished(tmp_path, model="b", n_facts=5)
    finished(tmp_path, model="a")
    for model, stamp in (
        ("b", "2026-01-01T00:00:00+00:00"),
        ("a", "2026-01-02T00:00:00+00:00"),
    ):
        path = tmp_path / model / "monitor" / "run.json"
        path.write_text(json.dumps({**manifest(path.parent), "finished": stamp}))
    broken = tmp_path / "c" / "monitor"
    broken.mkdir(parents=True)
    (broken / "run.json").write_text('{"chapter": "moni')
    with pytest.warns(UserWarning, match=r"c/monitor/run\.json is left out"):
        table = runs.load(tmp_path)
    assert table["model"].tolist() == ["b", "a"]
    assert table["dataset"].tolist() == ["atlas", "atlas"]
    assert table.loc[0, "parameters"] == {"model": "b", "seed": 7, "n_facts": 5}
    assert table.loc[1, "folder"] == tmp_path / "a" / "monitor"


def test_load_without_runs_is_an_empty_table(tmp_path):
    table = runs.load(tmp_path)
    assert len(table) == 0
    assert {"model", "chapter", "folder", "parameters"} <= set(table.columns)


def test_an_unfinished_run_has_no_tables(tmp_path):
    with pytest.raises(UserError, match=r"holds no metrics\.parquet"):
        runs.load_metrics(tmp_path)


def test_a_synthesis_says_what_it_read_and_is_no_run_of_a_model(tmp_path):
    finished(tmp_path, model="a")
    lost = finished(tmp_path, model="b")
    run = runs.start(
        "comparison", {"seed": 3}, tmp_path / runs.SYNTHESIS / "comparison"
    )
    read = runs.load(tmp_path)
    folder = runs.save(run, metrics=METRICS, read=read, extra={"n_groups": 1})
    told = manifest(folder)
    assert (told["kind"], told["seed"], told["n_groups"]) == ("synthesis", 3, 1)
    assert [row["model"] for row in told["read"]] == ["a", "b"]
    first = told["read"][0]
    table = (tmp_path / "a" / "monitor" / "metrics.parquet").read_bytes()
    assert first["sha256"] == hashlib.sha256(table).hexdigest()
    assert (runs.PROJECT_FOLDER / first["folder"]).resolve() == (
        tmp_path / "a" / "monitor"
    ).resolve()
    assert (first["dataset"], first["seed"], first["chapter"]) == (
        "atlas",
        7,
        "monitor",
    )
    pd.testing.assert_frame_equal(runs.load_metrics(folder), METRICS, check_dtype=False)
    assert runs.load(tmp_path)["model"].tolist() == ["a", "b"]
    assert manifest(runs.save(run, metrics=METRICS))["read"] == []
    (lost / "metrics.parquet").unlink()
    with pytest.raises(UserError, match=r"b/monitor holds no metrics\.parquet"):
        runs.save(run, metrics=METRICS, read=read)


def test_a_synthesis_has_its_folder_among_those_of_the_models(tmp_path, monkeypatch):
    monkeypatch.setattr(runs.store, "RUNS_FOLDER", tmp_path)
    assert (
        runs.start("published", {"seed": 0}).folder
        == tmp_path / "synthesis" / "published"
    )
