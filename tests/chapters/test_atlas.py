"""The chapter on the atlas models, run at toy size as a reader would run it."""

from functools import partial

import numpy as np
import pytest

from helpers import datasets, runs
from helpers.stats import wilson_interval
from notebooks.atlas import records
from tests.chapters import finished_runs

SMALL = ["n_facts=3", "copying_steps=100", "n_bootstrap=50"]
SMALL += ["toy_relations=P17,P36,P246", "toy_facts=50"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return finished_runs.run(
        "atlas", records.bundled_models()[0], SMALL, tmp_path_factory.mktemp("runs")
    )


def test_the_run_is_whole(folder):
    tables = {"facts", "kinds", "exposures", "family", "agreement", "effects"}
    finished_runs.check_finished_run(folder, SMALL, tables)
    assert finished_runs.printed_text(folder, "setup") == ""  # of a bundled model
    assert runs.load_manifest(folder)["family"] == records.bundled_models()


def test_metrics_can_be_computed_again_from_the_saved_answers(answers, metrics):
    assert answers["relation"].nunique() == 30
    exposures = datasets.training_exposure(records.bundled_models()[0])["exposures"]
    assert (
        answers["exposures"].to_numpy() == exposures[answers["item"]].to_numpy()
    ).all()
    right = (
        answers["text"].str.strip().str.casefold() == answers["object"].str.casefold()
    )
    assert (right == answers["right"]).mean() > 0.97  # the rest differ in punctuation
    whole = metrics.query("level == 'run'")
    assert whole["estimate"].item() == pytest.approx(answers["right"].mean())
    live = metrics.query("level == 'exposure'").set_index("exposures")
    for seen, group in answers.groupby("exposures"):
        expected = wilson_interval(int(group["right"].sum()), len(group))[:3]
        found = live.loc[seen, ["estimate", "low", "high"]].astype(float)
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_the_live_answers_agree_with_the_records(metrics):
    live = metrics.query("level == 'exposure'").set_index("exposures")
    once = metrics.query("level == 'recorded' and measure == 'none'")
    once = once[once["model"] == records.bundled_models()[0]]
    once = once.set_index("exposures")["estimate"].loc[live.index].astype(float)
    inside = (live["low"].astype(float) <= once) & (once <= live["high"].astype(float))
    assert inside.mean() >= 0.7
    weights = live["n"] / live["n"].sum()
    assert (weights * (live["estimate"] - once)).sum() == pytest.approx(0, abs=0.12)


def test_the_toy_recalls_what_it_read_often(metrics):
    toy = metrics.query("level == 'toy'")
    seen = toy[toy["measure"] == "toy"].set_index("exposures")
    assert seen.loc[0, "high"] < 0.35
    assert seen.loc[64, "low"] > 0.5
    assert (
        seen.loc[64, "estimate"]
        > seen.loc[8, "estimate"]
        > seen.loc[0, "estimate"] - 0.1
    )
    guess = toy[toy["measure"] == "commonest object"].set_index("exposures")
    assert guess.loc[64, "high"] < seen.loc[64, "low"]


def test_findings_name_their_model_and_count_the_same_facts(found):
    name, levels = records.bundled_models()[0], [32, 64, 128, 256]
    share = partial(
        records.share_of_right_answers,
        records.recorded_evaluation([name]),
        name,
        exposures=levels,
    )
    none, unrelated, wrong = map(share, ("none", "unrelated", "wrong"))
    told = found["a_wrong_word_is_more_than_distraction"]
    assert told.estimate == pytest.approx(unrelated.estimate - wrong.estimate)
    assert told.n == none.n == unrelated.n == wrong.n == 1961
    assert (
        f"costs {name} {100 * (none.estimate - unrelated.estimate):.1f} ["
        in told.sentence
    )
    assert f", {name} recalls " in found["accuracy_follows_exposure"].sentence
    told = found["unsure_follows_exposure_kept"].sentence
    assert "84.4 [68.2, 93.1] % of 32 facts read 16 times" in told
    assert "92.6 [76.6, 97.9] % of these 27 right" in told


@pytest.mark.slow
def test_another_model_gives_way_to_the_bundled_ones(tmp_path):
    small = [
        "n_facts=1",
        "copying_steps=50",
        "n_bootstrap=20",
        "toy_relations=P17",
        "toy_facts=8",
    ]
    done = finished_runs.run("atlas", "someone/some-model", small, tmp_path)
    chosen = records.model_or_stand_in("someone/some-model", records.bundled_models())
    assert (
        f"asks {chosen} in the place of someone/some-model"
        in finished_runs.printed_text(done, "setup")
    )
    assert runs.load_manifest(done)["model"]["name"] == chosen
