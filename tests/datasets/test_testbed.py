"""The testbed: facts, runs and their answers are what their page says."""

import numpy as np
import pandas as pd

from helpers import datasets
from helpers.datasets import testbed

RUNS = testbed.load_testbed_runs()


def test_the_facts_are_those_of_the_panel():
    kept = pd.read_csv(testbed.TESTBED_FACTS_FILE, keep_default_na=False)
    pd.testing.assert_frame_equal(kept, testbed.facts_to_be_scored())


def test_each_run_answers_each_fact_once():
    facts = set(testbed.facts_to_be_scored()["fact"])
    assert not RUNS.duplicated(["run", "item"]).any()
    for _, rows in RUNS.groupby("run"):
        assert set(rows["item"]) == facts


def test_the_exposures_of_the_bundled_runs_are_those_of_their_text():
    told = datasets.training_exposure("atlas-xs")
    rows = RUNS[RUNS["run"] == "xs-0"].set_index("item")
    expected = told.loc[rows.index]
    for column in ("exposures", "false_exposures", "pair_exposures"):
        assert (rows[column] == expected[column]).all()


def test_scores_are_log_probabilities_and_shares():
    logs = RUNS.filter(regex="^(qa|wp)[0-9] (right|wrong)")
    assert (logs.max() <= 0).all()
    shares = RUNS.filter(like="right after ")
    assert (shares.isna() | ((shares >= 0) & (shares <= 1))).all(axis=None)
    assert np.isfinite(RUNS["qa0 right"]).all()


def test_the_two_halves_are_about_equal_within_relations():
    table = testbed.facts_to_be_scored()
    shares = (table["split"] == "choosing").groupby(table["relation"]).mean()
    assert abs((table["split"] == "choosing").mean() - 0.5) < 0.05
    assert shares.between(0.2, 0.8).all()


def test_a_path_without_runs_has_none(tmp_path):
    assert testbed.load_testbed_runs(tmp_path / "none.parquet").empty
