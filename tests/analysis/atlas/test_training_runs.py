"""Answers of training runs: what is kept of each fact is what the studies found."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from helpers import UserError, datasets, models
from helpers.datasets.exposure import BUNDLED_MODELS_FOLDER
from helpers.studies import latent_knowledge, multiplicity
from notebooks.atlas import training_runs
from notebooks.kit import trained_answers


@pytest.fixture(scope="module")
def facts():
    return datasets.panel_facts(3)


@pytest.fixture(scope="module")
def found(facts):
    return training_runs.measure_trained_models(
        [BUNDLED_MODELS_FOLDER / "atlas-xs"], facts
    )


def of(table, study, columns):
    return table[table["study"] == study].set_index("item")[columns]


def test_figures_are_those_of_the_studies(found, facts):
    lm = models.load("atlas-xs")
    lists = latent_knowledge.facts(
        latent_knowledge.ask(lm, facts, separator="space")
    ).set_index("item")
    kept = of(found, "latent_knowledge", ["right", "mass", "known"])
    assert kept["mass"].to_numpy() == pytest.approx(
        lists.loc[kept.index, "mass"].to_numpy(), 1e-6
    )
    assert (kept["known"] == kept["right"]).all()
    chosen = multiplicity.facts(multiplicity.ask(lm, facts)).set_index("item")
    kept = of(found, "multiplicity", list(found.filter(like="prompt ")))
    assert kept.shape == (3, 10)
    assert kept.mean(axis=1).to_numpy() == pytest.approx(
        chosen.loc[kept.index, "accuracy"].to_numpy()
    )


def test_each_fact_is_there_once_a_study(found, facts):
    assert set(found["item"]) == set(facts["fact"])
    assert found.groupby("study").size().eq(3).all()
    assert set(found["start"]) == {0}
    unseen = datasets.training_exposure("atlas-xs")["exposures"] == 0
    kept = of(found, "knowledge_base", ["seen"])["seen"]
    assert (kept == ~unseen[kept.index]).all()


def test_a_run_on_another_text_is_refused(tmp_path, facts):
    folder = tmp_path / "other"
    shutil.copytree(BUNDLED_MODELS_FOLDER / "atlas-xs", folder)
    table = pd.read_csv(folder / "exposures.csv")
    table.loc[0, "exposures"] += 1
    table.to_csv(folder / "exposures.csv", index=False)
    with pytest.raises(UserError, match="read another text than atlas-xs"):
        training_runs.measure_trained_models([folder], facts)


def test_another_start_is_kept_beside_the_first(tmp_path, found, facts):
    path = tmp_path / "runs.parquet"
    folder = tmp_path / "again"
    shutil.copytree(BUNDLED_MODELS_FOLDER / "atlas-xs", folder)
    told = json.loads((folder / "training.json").read_text())
    told["recipe"]["start"] = 1
    (folder / "training.json").write_text(json.dumps(told))
    training_runs.runs_with_new_answers(found, path).to_parquet(path, index=False)
    second = training_runs.measure_trained_models([folder], facts)
    both = training_runs.runs_with_new_answers(second, path)
    assert both["start"].tolist() == [0] * len(found) + [1] * len(found)
    numbers = both.select_dtypes(np.number).columns.drop("start")
    first, other = (
        both.loc[both["start"] == start, numbers].to_numpy() for start in (0, 1)
    )
    assert np.array_equal(first, other, equal_nan=True)
    both.to_parquet(path, index=False)
    assert len(training_runs.runs_with_new_answers(second, path)) == len(both)


def test_what_is_kept_is_whole():
    kept = trained_answers.load_training_runs()
    runs = kept.groupby(["model", "start"], sort=False)
    assert set(runs.groups) == {
        (m, s) for m in ("atlas-xs", "atlas-s") for s in range(3)
    }
    panel = set(datasets.panel_facts()["fact"])
    assert all(
        set(rows["item"]) == panel
        for _, rows in kept.groupby(["model", "start", "study"])
    )
    assert kept.groupby(["model", "start"])["weights"].nunique().eq(1).all()
    for name in ("atlas-xs", "atlas-s"):
        bundled = kept[(kept["model"] == name) & (kept["start"] == 0)]["weights"].iloc[
            0
        ]
        assert models.load(name).weights_sha.startswith(bundled)
