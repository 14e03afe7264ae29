"""Facts of finished runs side by side."""

import pandas as pd

from helpers import runs
from notebooks.analysis import finished

DATASET = {"name": "atlas", "checksum": "cd" * 32}


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
