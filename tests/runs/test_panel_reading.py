"""Which runs are read together, and the sentence for those that are not."""

import json
import re

import pandas as pd
import pytest

from helpers import UserError, datasets, runs
from helpers.models.checkpoints import bundled_models, model_slug
from helpers.runs.panel import panel_answers


def _run(folder, model, chapter, place="", **changed):
    """Write a finished run with one answer about the panel."""
    told = {
        "seed": 0,
        "finished": "2026-01-01T00:00:00",
        "dataset": "atlas",
        "checksum": "data",
    }
    told |= {"weights": f"of {model}", "version": 1, "n_facts": 1}
    told |= {"settings": {"prompt_format": "bare"}} | changed
    place = folder / (place or model) / chapter
    place.mkdir(parents=True)
    answers = pd.DataFrame({"item": ["a"], "said": [chapter]})
    entry = panel_answers.save_panel_answers(
        place, answers, {name: told[name] for name in ("settings", "version")}
    )
    manifest = {
        "chapter": chapter,
        "parameters": {"seed": told["seed"]},
        "seconds": 1.0,
    }
    manifest |= {"device": "cpu", "commit": "0123456789"}
    manifest |= {name: told[name] for name in ("seed", "finished")}
    manifest |= {"model": {"name": model, "weights_sha": told["weights"]}}
    manifest |= {"dataset": {"name": told["dataset"], "checksum": told["checksum"]}}
    manifest |= {"panel": entry | {"n_facts": told["n_facts"]}}
    (place / "run.json").write_text(json.dumps(manifest))
    return place


def _family(folder, models=("atlas-s",), but=(), **panel):
    for model in models:
        for chapter in panel_answers.STUDIES:
            if (model, chapter) not in but:
                _run(folder, model, chapter, **panel)


def test_runs_are_found_and_read(tmp_path):
    _family(tmp_path, ("atlas-xs", "atlas-s"))
    table = panel_answers.panel_runs(tmp_path, ["atlas-s", "atlas-xs"])
    assert table["model"].tolist() == ["atlas-s"] * 4 + ["atlas-xs"] * 4
    assert (table["left_out"] == "").all()
    assert panel_answers.models_with_all_runs(table) == ["atlas-s", "atlas-xs"]
    assert (
        panel_answers.panel_answers(table["folder"].iloc[1])["said"].item()
        == "knowledge_base"
    )
    assert panel_answers.remarks_on_missing_runs(table, ["atlas-s"], tmp_path) == []


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"seed": 3}, "its seed is 3, not 0"),
        ({"checksum": "older data"}, "other data"),
        ({"n_facts": 9}, "a panel of another size"),
        ({"version": 0}, "another version"),
        ({"weights": "older"}, "other weights"),
    ],
)
def test_runs_that_do_not_fit_are_left_out_with_the_reason(tmp_path, changed, reason):
    _family(tmp_path, but=[("atlas-s", "monitor")], finished="2026-01-02T00:00:00")
    _run(tmp_path, "atlas-s", "monitor", **changed)
    table = panel_answers.panel_runs(tmp_path, ["atlas-s"])
    assert reason in table.loc[table["chapter"] == "monitor", "left_out"].item()
    assert (table.loc[table["chapter"] != "monitor", "left_out"] == "").all()
    assert panel_answers.models_with_all_runs(table) == []
    [remark] = panel_answers.remarks_on_missing_runs(table, ["atlas-s"], tmp_path)
    assert re.search(r"a run is missing: `.*run monitor --model atlas-s", remark)


def test_settings_must_agree_within_a_chapter(tmp_path):
    _family(tmp_path, ("atlas-s",), finished="2026-01-02T00:00:00")
    _family(tmp_path, ("atlas-xs",), settings={"prompt_format": "chat"})
    table = panel_answers.panel_runs(tmp_path, ["atlas-s", "atlas-xs"])
    assert (
        table.loc[table["model"] == "atlas-xs", "left_out"]
        .str.contains("settings")
        .all()
    )
    assert panel_answers.models_with_all_runs(table) == ["atlas-s"]
    assert (
        "atlas-xs is not read"
        in panel_answers.remarks_on_missing_runs(table, ["atlas-xs"], "runs")[0]
    )


def test_runs_that_lie_elsewhere_are_not_looked_at(tmp_path):
    _family(tmp_path)
    place = _run(tmp_path / "elsewhere", "atlas-s", "monitor", seed=5)
    place.rename(tmp_path / "elsewhere" / "monitor")
    assert len(runs.load(tmp_path)) == 5
    table = panel_answers.panel_runs(tmp_path, ["atlas-s"])
    assert len(table) == 4
    assert (table["left_out"] == "").all()


def test_a_run_without_the_panel_is_left_out(tmp_path):
    _family(tmp_path)
    path = tmp_path / "atlas-s" / "monitor" / "run.json"
    told = json.loads(path.read_text())
    del told["panel"]
    path.write_text(json.dumps(told))
    table = panel_answers.panel_runs(tmp_path, ["atlas-s"])
    assert (
        table.loc[table["chapter"] == "monitor", "left_out"].item()
        == "it did not ask the panel"
    )
    with pytest.raises(UserError, match="no answers about the panel"):
        panel_answers.panel_answers(path.parent)


def test_answers_of_another_run_are_refused(tmp_path):
    place = _run(tmp_path, "atlas-s", "monitor")
    pd.DataFrame({"item": ["b"]}).to_parquet(place / panel_answers.PANEL_FILE)
    with pytest.raises(UserError, match="not of the run"):
        panel_answers.panel_answers(place)


def test_missing_runs_name_the_command(tmp_path):
    table = panel_answers.panel_runs(tmp_path, ["atlas-m"])
    assert table.empty
    assert list(table) == panel_answers.PANEL_RUN_COLUMNS
    assert panel_answers.models_with_all_runs(table) == []
    [remark] = panel_answers.remarks_on_missing_runs(table, ["atlas-m"], tmp_path)
    assert re.search(
        r"run monitor --model atlas-m --runs .*, and likewise knowledge_base", remark
    )


@pytest.fixture
def own(tmp_path):
    """Return a data set with counts, and the manifests' entries of runs on it."""
    facts = datasets.load("atlas", relations=["P17"], n=9).assign(exposure=3)
    folder = datasets.write_dataset(facts, {"P17": ["Where is [X]?"]}, tmp_path / "own")
    source = datasets.source_record(folder)
    return str(folder), {"checksum": source["checksum"], "dataset": source["name"]}


def test_models_of_ones_own_data_are_read_without_the_bundled_ones(tmp_path, own):
    dataset, entry = own
    folder = tmp_path / "runs"
    _family(folder, ("atlas-s",), **entry)
    assert panel_answers.candidate_models(folder, dataset) == ["atlas-s"]
    for number, model in enumerate(
        ("org/one", "org/two")
    ):  # each in the form that suits it
        for chapter in panel_answers.STUDIES:
            told = {"prompt_format": ("qa", "chat")[number]}
            _run(
                folder, model, chapter, place=model_slug(model), settings=told, **entry
            )
    _run(folder, "org/other", "monitor", place=model_slug("org/other"))  # on other data
    models = panel_answers.candidate_models(folder, dataset)
    assert models == ["org/one", "org/two"]
    table = panel_answers.panel_runs(folder, models, dataset=dataset)
    assert (table["left_out"] == "").all()
    assert panel_answers.models_with_all_runs(table) == models
    assert panel_answers.candidate_models(folder) == bundled_models()
    both = panel_answers.panel_runs(folder, ["atlas-s"])
    assert both["left_out"].eq("it is about own, not atlas").all()


def test_without_a_run_on_ones_own_data_the_command_is_named(tmp_path, own):
    models = panel_answers.candidate_models(tmp_path, own[0])
    assert models == []
    table = panel_answers.panel_runs(tmp_path, models, dataset=own[0])
    [remark] = panel_answers.remarks_on_missing_runs(table, models, tmp_path, own[0])
    assert (
        f"run monitor --model MODEL --runs {tmp_path} --set dataset={own[0]}" in remark
    )
