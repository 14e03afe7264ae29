"""Finished runs side by side: figures of all, facts of all, and runs that were asked alike."""

import pandas as pd

from helpers import runs
from notebooks.analysis import finished

ANSWERS = pd.DataFrame({"item": ["P17-0001"], "logprobs": [[-0.5]]})
DATASET = {"name": "atlas", "checksum": "cd" * 32}


def save(folder, chapter="monitor", model="a", **parameters):
    """Save a run without figures in folder/model/chapter."""
    run = runs.start(chapter, {"model": model, "seed": 7, **parameters}, folder / model / chapter)
    metrics = pd.DataFrame({"item": ["P17-0001"], "monitor": [0.25]})
    return runs.save(run, answers=ANSWERS, metrics=metrics, model={"name": model}, dataset=DATASET)


def test_overall_gives_one_row_a_run_for_all_facts_or_for_a_relation(tmp_path):
    for model, estimate in (("small", 0.5), ("large", 0.25)):
        run = runs.start("monitor", {"model": model}, tmp_path / model / "monitor")
        table = pd.DataFrame(
            [
                ("run", "all", "MONITOR", estimate, 0.125, 0.75),
                ("mean of relations", "mean", "MONITOR", 9.0, 9.0, 9.0),
                ("relation", "P17", "MONITOR", 2 * estimate, 0.25, 1.5),
            ],
            columns=["level", "relation", "measure", "estimate", "low", "high"],
        )
        given = {"model": {"name": model, "n_parameters": 10}, "dataset": DATASET}
        runs.save(run, answers=ANSWERS, metrics=table, **given)
    save(tmp_path, chapter="other")
    whole = finished.overall("monitor", tmp_path).set_index("model")
    assert whole["MONITOR"].to_dict() == {"small": 0.5, "large": 0.25}
    assert whole.loc["small", ["n_parameters", "MONITOR_low", "MONITOR_high"]].tolist() == [
        10,
        0.125,
        0.75,
    ]
    one = finished.overall("monitor", tmp_path, "P17").set_index("model")
    assert one["MONITOR"].to_dict() == {"small": 1.0, "large": 0.5}
    assert finished.overall("monitor", tmp_path, "P36").filter(like="MONITOR").empty
    assert finished.overall("nothing", tmp_path).empty


def test_facts_of_many_runs_stand_side_by_side(tmp_path):
    for model, items, size in (("a", ["x", "y"], 1), ("org/b", ["y", "z"], 2)):
        run = runs.start(
            "latent_knowledge", {"model": model, "seed": 0}, tmp_path / model[-1] / "c"
        )
        # Of two choices the wrong one is likelier for the first item, the right one for the other.
        likelier = [(item, right, -1.0 - (right == (item == items[0]))) for item in items
                    for right in (True, False)]  # fmt: skip
        said = pd.DataFrame(likelier, columns=["item", "correct", "logprob"])
        said["option"] = said.groupby("item").cumcount()
        said = said.assign(relation="P17", variant="list", choice=said["option"].map(str))
        said["logprobs"] = [[value] for value in said.pop("logprob")]
        about = {"model": {"name": model, "n_parameters": size}, "dataset": DATASET}
        runs.save(run, answers=said, metrics=said[["item"]], **about)
    found, sizes = finished.by_fact("latent_knowledge", "atlas", "right", tmp_path)
    assert sizes == {"a": 1, "b": 2}
    assert found.fillna(-1).to_dict("index") == {
        "x": {"a": 0.0, "b": -1},
        "y": {"a": 1.0, "b": 0.0},
        "z": {"a": -1, "b": 1.0},
    }
    assert finished.by_fact("latent_knowledge", "fktc", "right", tmp_path)[0].empty


def test_runs_alike_share_parameters_and_chapter(tmp_path):
    save(tmp_path, model="a", n=3, path=tmp_path)
    save(tmp_path, model="b", n=3, path=tmp_path)
    save(tmp_path, model="c", n=4, path=tmp_path)
    save(tmp_path, chapter="other", model="d", n=3, path=tmp_path)
    parameters = {"model": "a", "seed": 7, "n": 3, "path": tmp_path}
    run = runs.start("monitor", parameters, tmp_path / "a" / "monitor")
    found = finished.alike(run, ["n", "path"], tmp_path)
    assert found["model"].tolist() == ["b"]
    assert set(finished.alike(run, ["seed"], tmp_path)["model"]) == {"b", "c"}
    assert finished.alike(run, ["n"], tmp_path / "empty").empty
